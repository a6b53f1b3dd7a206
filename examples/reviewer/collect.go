package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/parleyhq/parley/examples/reviewer/patch"
	"github.com/parleyhq/parley/tool"
)

const (
	maxText = 48 << 10 // of one file as the model reads it, in bytes
	maxDiff = 4 << 20  // of a diff, in bytes
	maxAll  = 10_000   // files that a call may name; more is a mistake
)

// A part is what one branch reviews.
type part struct {
	file string
	text string         // with the lines' numbers
	has  func(int) bool // whether the text shows a line
}

// collect finds what is to be reviewed, in the order in which it was given, and
// what cannot be. The error is the caller's mistake.
func (r *reviewer) collect(in input) (parts []part, left []leftOut, err error) {
	switch {
	case (in.Diff == "") == (len(in.Files) == 0):
		return nil, nil, tool.Errorf(tool.InvalidArgument, "give either diff or files")
	case len(in.Diff) > maxDiff:
		return nil, nil, tool.Errorf(tool.TooLarge, "the diff has %d bytes; the most is %d", len(in.Diff), maxDiff)
	case len(in.Files) > maxAll:
		return nil, nil, tool.Errorf(tool.TooLarge, "there are %d files; the most is %d", len(in.Files), maxAll)
	case in.Diff != "":
		return ofDiff(in.Diff)
	}
	for _, s := range in.Files {
		p, l, err := r.ofSource(s)
		switch {
		case err != nil:
			return nil, nil, err
		case l != nil:
			left = append(left, *l)
		default:
			parts = append(parts, *p)
		}
	}
	return parts, left, nil
}

// ofDiff makes a part of each file that a diff changes.
func ofDiff(text string) (parts []part, left []leftOut, err error) {
	files, err := patch.Parse(text)
	if err != nil {
		return nil, nil, tool.Errorf(tool.InvalidArgument, "the diff cannot be read: %w", err)
	}
	for _, f := range files {
		shown := f.Numbered()
		switch {
		case f.Binary:
			left = append(left, leftOut{f.Name, binary, "the diff does not say what has changed"})
		case f.Deleted, shown == "":
			left = append(left, leftOut{f.Name, nothingNew, "the diff adds nothing to it"})
		default:
			if l := unfit(f.Name, shown); l != nil {
				left = append(left, *l)
				continue
			}
			parts = append(parts, part{f.Name, shown, f.Has})
		}
	}
	return parts, left, nil
}

// ofSource makes a part of a file, or says why not.
func (r *reviewer) ofSource(s source) (*part, *leftOut, error) {
	if s.Path == "" || len(s.Path) > 4096 {
		return nil, nil, tool.Errorf(tool.InvalidPath, "a file has a path of %d bytes; it needs 1 to 4096", len(s.Path))
	}
	text := ""
	if s.Content != nil {
		text = *s.Content
	} else {
		if r.root == nil {
			return nil, nil, tool.Errorf(tool.InvalidArgument, "%q comes without content, and the server was started without a folder to read it from", clip(s.Path, 100))
		}
		var l *leftOut
		if text, l = r.read(s.Path); l != nil {
			return nil, l, nil
		}
	}
	if l := unfit(s.Path, text); l != nil {
		return nil, l, nil
	}
	shown, lines := numbered(text)
	if lines == 0 {
		return nil, &leftOut{s.Path, nothingNew, "it is empty"}, nil
	}
	return &part{s.Path, shown, func(n int) bool { return n >= 1 && n <= lines }}, nil, nil
}

// read reads a file below the folder, and no more of it than a branch is given.
func (r *reviewer) read(name string) (string, *leftOut) {
	local := filepath.FromSlash(path.Clean(name))
	info, err := r.root.Stat(local)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", &leftOut{name, notFound, "there is no such file in the folder"}
	case err != nil:
		return "", &leftOut{name, forbidden, "it lies outside of the folder, or cannot be read"}
	case !info.Mode().IsRegular():
		return "", &leftOut{name, forbidden, "it is no regular file"}
	}
	text, err := head(r.root, local)
	if err != nil {
		return "", &leftOut{name, forbidden, "it cannot be read"}
	}
	return text, nil
}

// head is the beginning of a file, one byte longer than a branch is given.
func head(root *os.Root, name string) (string, error) {
	f, err := root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return string(text), err
}

// unfit says why a model is not shown a text; nil where it is.
func unfit(file, text string) *leftOut {
	switch {
	case len(text) > maxText:
		return &leftOut{file, tooLarge, fmt.Sprintf("it has more than %d bytes", maxText)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return &leftOut{file, notText, "it is no text in UTF-8"}
	}
	return nil
}

// numbered is a text with its lines' numbers in front, and how many there are.
func numbered(text string) (string, int) {
	var out strings.Builder
	n := 0
	for line := range strings.Lines(text) {
		n++
		fmt.Fprintf(&out, "%5d   %s\n", n, strings.TrimRight(line, "\r\n"))
	}
	return out.String(), n
}

// clip is the beginning of a text, between characters.
func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most] + "…"
}
