package mcpstdio

import (
	"bufio"
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

// part is one message with the bytes that it came in.
type part struct {
	raw []byte
	msg jsonrpc.Message
	bad *jsonrpc.Error // why it is no message, where it is none
}

// takeApart reads what came on one line or in one body: a message, or a batch of
// 2025-03-26. A batch that is not JSON to its end has no parts that are done.
func takeApart(data []byte) []part {
	data = bytes.TrimSpace(data)
	if jsontext.Value(data).Kind() != '[' {
		return []part{takeOne(data)}
	}
	var parts []part
	for v, err := range jsonrpc.Values(data) {
		switch {
		case err != nil:
			return []part{notJSON()}
		case len(parts) == jsonrpc.MaxBatch:
			return []part{notMessage("a batch has too many messages")}
		}
		parts = append(parts, takeOne(v))
	}
	if len(parts) == 0 {
		return []part{notMessage("a batch is empty")}
	}
	return parts
}

func takeOne(raw []byte) part {
	if k := jsontext.Value(raw).Kind(); k != '{' && jsontext.Value(raw).IsValid() {
		return notMessage("a message is a JSON object")
	}
	messages, err := jsonrpc.Decode(raw)
	switch {
	case err != nil && !jsontext.Value(raw).IsValid():
		return notJSON()
	case err != nil:
		return notMessage("neither a request nor a notification nor a response")
	}
	m := messages[0]
	if m.IsResponse() && m.Result == nil && m.Error == nil {
		return notMessage("neither a method nor a result nor an error")
	}
	return part{raw: raw, msg: m}
}

func notJSON() part {
	return part{bad: &jsonrpc.Error{Code: jsonrpc.CodeParseError, Message: "not valid JSON"}}
}

func notMessage(why string) part {
	return part{bad: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "not a JSON-RPC message: " + why}}
}

// line is one line of the client, or, where it is nil, one that was too long.
type line []byte

// readLines hands on line after line until in ends, blank ones left out.
func readLines(in io.Reader, max int, yield func(line) bool) error {
	r := bufio.NewReaderSize(in, 32<<10)
	for {
		l, long, err := readLine(r, max)
		if l = bytes.TrimSpace(l); long && !yield(nil) || len(l) > 0 && !yield(l) {
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// readLine reads to the end of the line, and keeps at most max bytes of it: of
// what is longer nothing.
func readLine(r *bufio.Reader, max int) (l []byte, long bool, err error) {
	for {
		piece, err := r.ReadSlice('\n')
		if long = long || len(l)+len(piece) > max; long {
			l = nil
		} else {
			l = append(l, piece...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l, long, err
		}
	}
}

// key tells ids apart: a string may be written in more than one way.
func key(id jsontext.Value) string {
	if id.Kind() == '"' {
		if s, err := jsontext.AppendUnquote(nil, id); err == nil {
			return `"` + string(s)
		}
	}
	return string(id)
}
