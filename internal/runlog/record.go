package runlog

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The most that is kept, in bytes as they stand in the file.
const (
	MaxRecord = 16 << 20 // one record
	MaxRun    = 64 << 20 // all records of one run
	MaxName   = 256      // a run's name, in bytes of UTF-8
)

// A Record is one thing that happened in a run.
type Record struct {
	Kind string         `json:"kind"`          // not empty; what it means is the caller's affair
	Data jsontext.Value `json:"data,omitzero"` // strict JSON, or nothing
}

// header is the first line of a file.
type header struct {
	Version int    `json:"version"`
	Name    string `json:"name"`
}

const version = 1

// line is a record as it stands in the file.
func (r Record) line() ([]byte, error) {
	if r.Kind == "" {
		return nil, errors.New("a record without a kind")
	}
	if len(r.Data) > MaxRecord {
		return nil, fmt.Errorf("a record %q of %d bytes: %w", r.Kind, len(r.Data), ErrSize)
	}
	if len(r.Data) == 0 {
		r.Data = nil
	}
	line, err := seal(r)
	if err == nil && len(line) > MaxRecord {
		return nil, fmt.Errorf("a record %q of %d bytes: %w", r.Kind, len(line), ErrSize)
	}
	return line, err
}

// seal makes a line of a value. JSON has no line ends in it once it is compact,
// so a line's end is a record's.
func seal(v any) ([]byte, error) {
	// As it is by default, strings would be written anew.
	text, err := json.Marshal(v, jsontext.PreserveRawStrings(true))
	if err != nil {
		return nil, fmt.Errorf("what is to be kept is no JSON: %w", err)
	}
	line := append(checksum(make([]byte, 0, sumLen+len(text)+2), text), ' ')
	return append(append(line, text...), '\n'), nil
}

// unseal is the JSON of a line without its end, if it is as it was written.
func unseal(line []byte) (text []byte, ok bool) {
	if len(line) <= sumLen || line[sumLen] != ' ' {
		return nil, false
	}
	text = line[sumLen+1:]
	var sum [sumLen]byte
	return text, bytes.Equal(line[:sumLen], checksum(sum[:0], text))
}

// sumLen is how many digits a checksum has.
const sumLen = 2 * crc32.Size

// castagnoli finds every change within 32 bits in a row, and processors have an
// instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(to, text []byte) []byte {
	var sum [crc32.Size]byte
	binary.BigEndian.PutUint32(sum[:], crc32.Checksum(text, castagnoli))
	return hex.AppendEncode(to, sum[:])
}
