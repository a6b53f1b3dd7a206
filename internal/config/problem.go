package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// maxProblems is how many problems are told at once; nobody repairs more.
const maxProblems = 100

var errNotRegular = errors.New("not a regular file")

// Problem is one thing that is wrong, or odd, at one place of the file.
type Problem struct {
	Line, Column int    // from 1; zero where it concerns the file as a whole
	Path         string // the keys down to it, as spaces.demo.participants.agent.token
	Message      string
	Hint         string // what to do about it; may be empty
}

// Format is the problem as it is printed: NAME:LINE:COLUMN: MESSAGE, and the
// hint, where there is one, indented on the next line.
func (p Problem) Format(name string) string {
	var b strings.Builder
	b.WriteString(name)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": " + p.Message)
	if p.Hint != "" {
		b.WriteString("\n    " + p.Hint)
	}
	return b.String()
}

// Error is everything that is wrong with one configuration.
type Error struct {
	Name     string    // of the file
	Problems []Problem // at least one, by line; of more than 100 the first
	err      error     // why the file could not be read; may be nil
}

// Error is one line for each problem, hints on lines of their own.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Format(e.Name)
	}
	return strings.Join(lines, "\n")
}

// Unwrap is the file system's error, where that is the problem.
func (e *Error) Unwrap() error { return e.err }

// tidy sorts by place and drops repeats: an alias leads to one mistake many
// times.
func tidy(ps []Problem) []Problem {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column), cmp.Compare(a.Message, b.Message))
	})
	ps = slices.CompactFunc(ps, func(a, b Problem) bool {
		return a.Line == b.Line && a.Column == b.Column && a.Message == b.Message
	})
	if more := len(ps) - maxProblems; more > 0 {
		ps = ps[:maxProblems]
		ps[maxProblems-1].Message += fmt.Sprintf(" (and %d more problems)", more)
	}
	return ps
}

// cause is what a file system error says beyond the path, which is known.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}
