package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonc"
)

// Clients write their configurations as JSON, some with comments and trailing
// commas. Here such text becomes nodes, as YAML does in document.go, so that the
// same reader checks both and tells places in both.

// maxImportNodes bounds what is kept of a file. What is skipped does not count.
const maxImportNodes = 100_000

// jsonReader makes nodes of JSON. Its methods return errStop once a problem is
// on the list that ends the reading.
type jsonReader struct {
	*reader
	data []byte
	dec  *jsontext.Decoder
	made int

	// The place of one byte, from which that of later ones is counted: a file may
	// be one long line.
	seen, line, column int
}

var errStop = errors.New("told already")

func newJSONReader(r *reader, data []byte) *jsonReader {
	// Names that stand twice are told here, where that matters.
	dec := jsontext.NewDecoder(bytes.NewBuffer(jsonc.Plain(data)), jsontext.AllowDuplicateNames(true))
	return &jsonReader{reader: r, data: data, dec: dec, line: 1, column: 1}
}

// at is the place of a byte.
func (j *jsonReader) at(offset int) (line, column int) {
	offset = min(max(offset, 0), len(j.data))
	if offset < j.seen {
		j.seen, j.line, j.column = 0, 1, 1
	}
	between := j.data[j.seen:offset]
	if last := bytes.LastIndexByte(between, '\n'); last >= 0 {
		j.line += bytes.Count(between, []byte("\n"))
		between, j.column = between[last+1:], 1
	}
	j.column += utf8.RuneCount(between)
	j.seen = offset
	return j.line, j.column
}

func (j *jsonReader) stop(offset int, hint, format string, args ...any) error {
	line, column := j.at(offset)
	j.problems = append(j.problems, Problem{Line: line, Column: column, Message: fmt.Sprintf(format, args...), Hint: hint})
	return errStop
}

// broken tells of text that is not JSON. What the library says of it may quote
// the file, secrets included.
func (j *jsonReader) broken(err error) error {
	offset := len(j.data)
	if s, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		offset = int(s.ByteOffset)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return j.stop(len(j.data), "a closing quote, bracket or comment end is missing", "the file ends in the middle of a value")
	}
	return j.stop(offset, "look for a missing comma, colon or quote just before", "not valid JSON")
}

// kind is what comes next; 0 where that is not JSON.
func (j *jsonReader) kind() jsontext.Kind { return j.dec.PeekKind() }

func (j *jsonReader) skip() error {
	if err := j.dec.SkipValue(); err != nil {
		return j.broken(err)
	}
	return nil
}

// end sees that nothing comes after the value.
func (j *jsonReader) end() error {
	_, err := j.dec.ReadToken()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err != nil:
		return j.broken(err)
	}
	return j.stop(int(j.dec.InputOffset())-1, "", "there is more after the end of the JSON value")
}

// object calls visit for each member, which reads or skips the value.
func (j *jsonReader) object(visit func(e entry) error) error {
	if _, err := j.dec.ReadToken(); err != nil {
		return j.broken(err)
	}
	for j.kind() != '}' {
		name, err := j.scalar()
		if err != nil {
			return err
		}
		if err := visit(entry{key: name.text, line: name.line, column: name.column}); err != nil {
			return err
		}
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return j.broken(err)
	}
	return nil
}

// node reads the next value with all that is in it.
func (j *jsonReader) node() (*node, error) {
	if j.made++; j.made > maxImportNodes {
		return nil, j.stop(int(j.dec.InputOffset()), "", "the file describes more than %s values", countText(maxImportNodes))
	}
	if j.dec.StackDepth() > maxLevels {
		return nil, j.stop(int(j.dec.InputOffset()), "", "values are nested deeper than %d levels", maxLevels)
	}
	switch j.kind() {
	case '{':
		return j.mapping()
	case '[':
		return j.list()
	}
	return j.scalar()
}

func (j *jsonReader) mapping() (*node, error) {
	n := &node{kind: mapNode, size: 1, levels: 1}
	seen := make(map[string]int) // the line of each key
	err := j.object(func(e entry) error {
		if n.line == 0 {
			n.line, n.column = e.line, e.column
		}
		var err error
		if e.value, err = j.node(); err != nil {
			return err
		}
		if first, twice := seen[e.key]; twice {
			j.problems = append(j.problems, Problem{Line: e.line, Column: e.column,
				Message: fmt.Sprintf("key %q is written twice", showKey(e.key)), Hint: fmt.Sprintf("the first one is on line %d", first)})
			return nil
		}
		seen[e.key] = e.line
		n.entries = append(n.entries, e)
		n.add(e.value)
		return nil
	})
	if n.line == 0 {
		n.line, n.column = j.at(int(j.dec.InputOffset()) - 1)
	}
	return n, err
}

func (j *jsonReader) list() (*node, error) {
	if _, err := j.dec.ReadToken(); err != nil {
		return nil, j.broken(err)
	}
	n := &node{kind: listNode, size: 1, levels: 1}
	n.line, n.column = j.at(int(j.dec.InputOffset()) - 1)
	for j.kind() != ']' {
		item, err := j.node()
		if err != nil {
			return nil, err
		}
		n.items = append(n.items, item)
		n.add(item)
	}
	if _, err := j.dec.ReadToken(); err != nil {
		return nil, j.broken(err)
	}
	return n, nil
}

func (j *jsonReader) scalar() (*node, error) {
	raw, err := j.dec.ReadValue()
	if err != nil {
		return nil, j.broken(err)
	}
	n := &node{size: 1, levels: 1}
	n.line, n.column = j.at(int(j.dec.InputOffset()) - len(raw))
	switch raw.Kind() {
	case '"':
		text, err := jsontext.AppendUnquote(nil, raw)
		if err != nil {
			return nil, j.broken(err)
		}
		n.scalar(stringNode, string(text))
	case '0':
		n.scalar(numberNode, string(raw))
	case 't', 'f':
		n.scalar(boolNode, string(raw))
	}
	return n, nil
}
