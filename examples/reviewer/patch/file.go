// Package patch reads unified diffs, as git and "diff -u" write them, so that
// each file of one can be looked at by itself.
//
//	files, err := patch.Parse(text)
//	for _, f := range files {
//		fmt.Println(f.Name)
//		fmt.Print(f.Numbered())
//	}
//
// # Guarantees
//
// Whatever the text, Parse returns or fails with a [*SyntaxError] that names the
// line; it never takes more memory than a few times the text. How many lines a hunk has is what its
// header says, so that a removed line that looks like a header is none.
//
// # Concurrency
//
// The package does no I/O and keeps no state.
package patch

import (
	"fmt"
	"strings"
)

// A File is what a diff does to one file.
type File struct {
	Name    string // as it is called afterwards; of a deleted one, before
	Old     string // as it was called before, where that is another name
	Deleted bool
	Binary  bool   // changed, and the diff does not say how
	Lines   []Line // of all hunks; none where only the name or the mode changes
}

// A Line is one of a hunk.
type Line struct {
	Op     Op
	Number int    // in the file as it is afterwards, from 1; 0 for a removed one
	Text   string // without the sign and the end of the line
}

// An Op is what happens to a line.
type Op byte

// The ops, as a diff writes them.
const (
	Kept    Op = ' '
	Added   Op = '+'
	Removed Op = '-'
)

// Has says whether the diff shows a line of the file as it is afterwards.
func (f File) Has(number int) bool {
	for _, l := range f.Lines {
		if l.Number == number && number > 0 {
			return true
		}
	}
	return false
}

// Numbered is the hunks with each line's number in the file as it is afterwards,
// so that whoever reads them can say which line is meant. Three dots stand
// for what the diff leaves out.
func (f File) Numbered() string {
	var text strings.Builder
	last := 0
	for _, l := range f.Lines {
		if l.Number > last+1 {
			text.WriteString("…\n")
		}
		if l.Op == Removed {
			fmt.Fprintf(&text, "      %c %s\n", l.Op, l.Text)
			continue
		}
		fmt.Fprintf(&text, "%5d %c %s\n", l.Number, l.Op, l.Text)
		last = l.Number
	}
	return text.String()
}
