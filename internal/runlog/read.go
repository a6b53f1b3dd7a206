package runlog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
)

// content is what a file holds.
type content struct {
	name    string
	records []Record
	size    int // of the lines that are whole; what is behind them is torn
}

// read reads a file's text. An error is a *DamageError without its file.
func read(text []byte) (c content, err error) {
	if c.name, c.size, err = readHeader(text); err != nil {
		return c, err
	}
	for c.size < len(text) {
		line, _, whole := bytes.Cut(text[c.size:], newline)
		if !whole && torn(line) {
			return c, nil
		}
		r, err := readRecord(line)
		if err != nil {
			return c, &DamageError{Offset: int64(c.size), Reason: err.Error()}
		}
		c.records = append(c.records, r)
		c.size += len(line) + len(newline)
	}
	return c, nil
}

var newline = []byte{'\n'}

// torn says whether a line without an end can be what a crash left of an
// append. A record with another byte where its end should be cannot: that is
// a record that somebody may have been told is kept.
func torn(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	_, whole := unseal(line[:len(line)-1])
	return !whole
}

// readHeader reads the first line, and says how long it is with its end. No
// crash leaves a part of it, since a file gets its name when its header is on disk.
func readHeader(text []byte) (name string, size int, err error) {
	line, _, whole := bytes.Cut(text[:min(len(text), maxHeader)], newline)
	sealed, ok := unseal(line)
	var h header
	switch {
	case !whole || !ok:
		return "", 0, &DamageError{Reason: "the first line is not the one that was written"}
	case json.Unmarshal(sealed, &h) != nil || h.Version < 1:
		return "", 0, &DamageError{Reason: "the first line is none of a run"}
	case h.Version != version:
		return "", 0, &DamageError{Reason: fmt.Sprintf("it is of version %d, and %d is known", h.Version, version)}
	case checkName(h.Name) != nil:
		return "", 0, &DamageError{Reason: "the run has a name that no run can have"}
	}
	return h.Name, len(line) + len(newline), nil
}

// maxHeader is more than the first line can have: a byte of a name takes six at most.
const maxHeader = 6*MaxName + 128

// readRecord reads a line without its end.
func readRecord(line []byte) (r Record, err error) {
	sealed, ok := unseal(line)
	if !ok {
		return r, errors.New("the line is not the one that was written")
	}
	if err := json.Unmarshal(sealed, &r, json.RejectUnknownMembers(true)); err != nil || r.Kind == "" {
		return r, errors.New("the line is no record")
	}
	return r, nil
}
