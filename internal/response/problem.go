package response

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

// maxProblems is how many problems are told at once; nobody repairs more.
const maxProblems = 100

// Problem is one thing that is wrong with a file, at one place of it.
type Problem struct {
	Line, Column int // from 1; columns count characters. Zero where it concerns the whole file
	Message      string
	Hint         string // what to do about it; may be empty
}

// asError is the first of problems, with a word about the others.
func asError(name string, problems []Problem) *parley.Error {
	p := problems[0]
	place := name
	if p.Line > 0 {
		place = fmt.Sprintf("%s:%d:%d", name, p.Line, p.Column)
	}
	e := parley.Errorf(parley.InvalidConfig, "%s: %s", place, p.Message)
	if more := len(problems) - 1; more > 0 {
		e.Message += fmt.Sprintf(" (and %d more)", more)
	}
	e.Hint = p.Hint
	return e
}

// place is where a byte of a file is, in lines and characters from 1.
func place(data []byte, offset int) (line, column int) {
	before := data[:min(max(offset, 0), len(data))]
	line = bytes.Count(before, []byte("\n")) + 1
	return line, utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
}
