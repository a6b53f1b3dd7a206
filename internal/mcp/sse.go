package mcp

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"
	"time"
)

// Event is one server-sent event.
type Event struct {
	ID    string        // the stream can be resumed behind it; "" where absent
	Retry time.Duration // how long to wait before that; 0 where absent
	Data  []byte        // memory of its own; nil where absent
}

// ErrTooLong is about a message or event with more bytes than are taken in.
var ErrTooLong = errors.New("a message of the MCP server is too long")

// MaxRetryDelay bounds how long a server can ask us to stay away.
const MaxRetryDelay = 30 * time.Second

// Events reads server-sent events (WHATWG HTML, section 9.2) until the stream
// ends, which yields no error, or breaks. An event may have max bytes. Lines
// end in LF or CRLF; a lone CR, which the format allows, no server writes.
func Events(from io.Reader, max int) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		r := bufio.NewReaderSize(from, 32<<10)
		var e Event
		size, some := 0, false
		for {
			line, err := readEventLine(r, max-size)
			size += len(line)
			line = bytes.TrimRight(line, "\r\n")
			if len(line) > 0 {
				some = e.add(line) || some
			}
			// The end of the stream ends the last event as well.
			if some && (len(line) == 0 || err == io.EOF) {
				if !yield(e, nil) {
					return
				}
				e, some = Event{}, false
			}
			if len(line) == 0 || !some { // comments, which keep a connection alive, do not add up
				size = 0
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// readEventLine is a line with its end.
func readEventLine(r *bufio.Reader, max int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > max {
			return nil, fmt.Errorf("%w: one event fills more than is allowed", ErrTooLong)
		}
		line = append(line, part...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
	}
}

// add takes in one line, and says whether it had a field that we use. Events
// with a name other than "message" are not MCP's, yet their data, if it is
// a message, can mean nothing else; so names are not looked at.
func (e *Event) add(line []byte) bool {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		if e.Data != nil {
			e.Data = append(e.Data, '\n')
		}
		e.Data = append(e.Data, value...)
		if e.Data == nil {
			e.Data = []byte{}
		}
	case "id":
		if bytes.IndexByte(value, 0) >= 0 {
			return false
		}
		e.ID = string(value)
	case "retry":
		ms, err := strconv.ParseUint(string(value), 10, 31)
		if err != nil {
			return false
		}
		e.Retry = min(time.Duration(ms)*time.Millisecond, MaxRetryDelay)
	default:
		return false
	}
	return true
}
