package codetools

import (
	"bytes"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A fault is a place that the language refuses although its grammar here does
// not.
type fault struct {
	offset  int
	message string
}

// strictFault is the first of them, or nil. Only files without syntax errors
// are asked about.
func strictFault(f *syntax.File) *fault {
	switch f.Language {
	case syntax.Python:
		if bad := emptyBlock(f); bad != nil {
			return bad
		}
		return badIndentation(f)
	case syntax.Go:
		return nil
	}
	return doubleComma(f)
}

// emptyBlock is one of Python without a statement, such as that of a function
// cut off behind its colon.
func emptyBlock(f *syntax.File) *fault {
	for n := range f.Tree.Root().All() {
		if n.Kind() == "block" && n.Start() == n.End() {
			return &fault{n.Start(), "a block has no statement"}
		}
	}
	return nil
}

// doubleComma is one behind another in an object, which only an array may have.
func doubleComma(f *syntax.File) *fault {
	for n := range f.Tree.Root().All() {
		if n.Kind() != "object" {
			continue
		}
		last := "{"
		for c := range n.Children() {
			if c.Kind() == "," && (last == "," || last == "{") {
				return &fault{c.Start(), "a comma behind another"}
			}
			if c.Kind() != "comment" {
				last = c.Kind()
			}
		}
	}
	return nil
}

// A depth is how far a line is indented, once with tabs that go on to the next
// multiple of eight and once with tabs of one column. Python compares both, so
// that no width of a tab makes one block of two.
type depth struct{ wide, narrow int }

// badIndentation finds what Python's tokenizer refuses: a line that is deeper
// without a block that begins, one that is not where any block around it is, and
// tabs and spaces that cannot be compared.
func badIndentation(f *syntax.File) *fault {
	stack, opened := []depth{{}}, false
	for line := range logicalLines(f) {
		d, top := depthOf(f.Source[line.start:line.code]), stack[len(stack)-1]
		switch {
		case d.wide == top.wide:
			if d.narrow != top.narrow {
				return &fault{line.code, "tabs and spaces are mixed so that the depth is not clear"}
			}
			if opened {
				return &fault{line.code, "a block has no statement"}
			}
		case d.wide > top.wide:
			if d.narrow <= top.narrow {
				return &fault{line.code, "tabs and spaces are mixed so that the depth is not clear"}
			}
			if !opened {
				return &fault{line.code, "the line is indented, and no block begins here"}
			}
			stack = append(stack, d)
		default:
			if opened {
				return &fault{line.code, "a block has no statement"}
			}
			for stack[len(stack)-1].wide > d.wide {
				stack = stack[:len(stack)-1]
			}
			if top = stack[len(stack)-1]; top.wide != d.wide {
				return &fault{line.code, "the line is indented like no block around it"}
			}
			if top.narrow != d.narrow {
				return &fault{line.code, "tabs and spaces are mixed so that the depth is not clear"}
			}
		}
		opened = line.opens
	}
	if opened {
		return &fault{len(f.Source), "a block has no statement"}
	}
	return nil
}

func depthOf(white []byte) (d depth) {
	for _, c := range white {
		switch c {
		case '\t':
			d.wide, d.narrow = (d.wide/8+1)*8, d.narrow+1
		case '\f':
			d = depth{}
		default:
			d.wide, d.narrow = d.wide+1, d.narrow+1
		}
	}
	return d
}

// A logicalLine is a line of Python with those that continue it.
type logicalLine struct {
	start, code int  // where its white space begins and ends
	opens       bool // it ends in the colon of a block
}

// logicalLines are those with something on them but comments.
func logicalLines(f *syntax.File) func(yield func(logicalLine) bool) {
	return func(yield func(logicalLine) bool) {
		src, opaque := f.Source, opaqueSpans(f)
		at := len(src) - len(bytes.TrimPrefix(src, []byte("\ufeff")))
		for at < len(src) {
			line := logicalLine{start: at}
			for at < len(src) && bytes.IndexByte([]byte(" \t\f"), src[at]) >= 0 {
				at++
			}
			line.code = at
			var last byte
			at, last, opaque = endOfLogical(src, at, opaque)
			line.opens = last == ':'
			if last != 0 && !yield(line) {
				return
			}
		}
	}
}

// opaqueSpans are the strings and comments, outermost ones only.
func opaqueSpans(f *syntax.File) (spans []opaqueSpan) {
	end := 0
	for n := range f.Tree.Root().All() {
		if n.Start() < end {
			continue
		}
		switch n.Kind() {
		case "string", "comment":
			spans = append(spans, opaqueSpan{n.Start(), n.End(), n.Kind() == "comment"})
			end = n.End()
		}
	}
	return spans
}

type opaqueSpan struct {
	start, end int
	comment    bool
}

// endOfLogical is where the next line begins, and the last byte before that
// which is more than white space or a comment; 0 for none.
func endOfLogical(src []byte, at int, opaque []opaqueSpan) (next int, last byte, rest []opaqueSpan) {
	brackets := 0
	for at < len(src) {
		for len(opaque) > 0 && opaque[0].end <= at {
			opaque = opaque[1:]
		}
		if len(opaque) > 0 && opaque[0].start == at && opaque[0].end > at {
			if !opaque[0].comment {
				last = '"'
			}
			at = opaque[0].end
			continue
		}
		switch c := src[at]; c {
		case '\r', '\n':
			if c == '\r' && at+1 < len(src) && src[at+1] == '\n' {
				at++
			}
			if brackets <= 0 {
				return at + 1, last, opaque
			}
		case '\\': // a line break behind it counts for nothing
			if at+2 < len(src) && src[at+1] == '\r' && src[at+2] == '\n' {
				at++
			}
			at++
		case ' ', '\t', '\f':
		default:
			switch c {
			case '(', '[', '{':
				brackets++
			case ')', ']', '}':
				brackets--
			}
			last = c
		}
		at++
	}
	return at, last, opaque
}
