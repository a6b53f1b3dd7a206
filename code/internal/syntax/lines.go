package syntax

import (
	"bytes"
	"sort"
	"strings"
)

// lineStarts are the offsets at which lines begin. What follows the last line
// break is a line only if there is something.
func lineStarts(src []byte) []int32 {
	starts := make([]int32, 0, 1+bytes.Count(src, []byte{'\n'}))
	for at := 0; at < len(src); {
		starts = append(starts, int32(at))
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return starts
}

// Position is the line and column of an offset, both from 1; the column counts
// bytes.
func (f *File) Position(offset int) (line, column int) {
	if len(f.lines) == 0 {
		return 1, 1
	}
	i := sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset }) - 1
	i = max(i, 0)
	return i + 1, offset - int(f.lines[i]) + 1
}

// Span is the piece from start to end, byte offsets of which the second one is
// after it.
func (f *File) Span(start, end int) Span {
	s := Span{Start: start, End: end}
	s.Line, s.Column = f.Position(start)
	s.EndLine, s.EndColumn = f.Position(max(start, end-1))
	return s
}

// Text is the source text of a span.
func (f *File) Text(s Span) string { return string(f.Source[s.Start:s.End]) }

// LineSpan is what lies on the lines from first to last, from 1, both included
// and the last line break too. Lines that do not exist are left out.
func (f *File) LineSpan(first, last int) Span {
	first, last = max(first, 1), min(last, len(f.lines))
	if first > last {
		return Span{}
	}
	end := len(f.Source)
	if last < len(f.lines) {
		end = int(f.lines[last])
	}
	return f.Span(int(f.lines[first-1]), end)
}

// breaksBetween counts the line breaks between two offsets, where there is only
// white space between them, and is -1 otherwise. It reads backwards, so that
// what lies far before is not read again for every declaration of a long line.
func (f *File) breaksBetween(start, end int) int {
	n := 0
	for i := end - 1; i >= start; i-- {
		if !isBlank(f.Source[i]) {
			return -1
		}
		if f.Source[i] == '\n' {
			n++
		}
	}
	return n
}

// beginsLine says whether only white space stands before an offset on its line.
func (f *File) beginsLine(offset int) bool {
	for i := offset - 1; i >= 0 && f.Source[i] != '\n'; i-- {
		if !isBlank(f.Source[i]) {
			return false
		}
	}
	return true
}

// white is what counts as white space, in all languages.
const white = " \t\r\n\f\v"

func isBlank(c byte) bool { return strings.IndexByte(white, c) >= 0 }

// A remark is a comment or docstring.
type remark struct{ start, end int }

// countLines sorts lines into code, comments and blank ones. The remarks are in
// the order of the text.
func countLines(src []byte, starts []int32, remarks []remark) Lines {
	n := Lines{Total: len(starts)}
	next := 0
	for i, start := range starts {
		end := len(src)
		if i+1 < len(starts) {
			end = int(starts[i+1])
		}
		if blank(src[start:end]) {
			n.Blank++
			continue
		}
		code := false
		at := int(start)
		for next < len(remarks) && remarks[next].start < end {
			r := remarks[next]
			code = code || r.start > at && !blank(src[at:r.start])
			at = max(at, min(r.end, end))
			if r.end > end {
				break // it goes on below
			}
			next++
		}
		if code || !blank(src[at:end]) {
			n.Code++
		} else {
			n.Comment++
		}
	}
	return n
}

// blank says whether a text is white space only.
func blank(text []byte) bool { return len(bytes.TrimLeft(text, white)) == 0 }
