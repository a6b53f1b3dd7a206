package syntax

import (
	"bytes"
	"context"
	"errors"
	"time"
	"unicode/utf8"

	"github.com/parleyhq/parley/tool"
)

// Bounds on what is parsed. They concern hostile files: no file that a person
// writes comes near them.
const (
	// MaxBytes is how large a file may be.
	MaxBytes = 2 << 20
	// MaxDepth is how deep brackets, and a tree, may be nested. A sum of n terms, or
	// a row of n calls, is a tree n deep, however it looks.
	MaxDepth = 20_000
	// MaxErrors is how many syntax errors are told of one file.
	MaxErrors = 100
	// maxNodes bounds the memory of one tree to 80 MB.
	maxNodes = 4_000_000
	// maxMemory bounds what the parser takes of memory while it works, in bytes.
	maxMemory = 256 << 20
	// maxSymbols bounds what is told of one file: functions, classes, variables
	// and imports together.
	maxSymbols = 50_000
	// patience is how much of the processor's time one file may take; every MiB
	// of it adds as much.
	patience = time.Second
)

var (
	errTooNested     = tool.Errorf(tool.TooLarge, "the code has brackets that are nested more than %d deep", MaxDepth)
	errTooDeep       = tool.Errorf(tool.TooLarge, "the code's syntax tree is more than %d levels deep: each part of a row of calls, indexes or operators is a level", MaxDepth)
	errTooManyNodes  = tool.Errorf(tool.TooLarge, "the code has more than %d tokens and expressions", maxNodes)
	errTooMuchMemory = tool.Errorf(tool.TooLarge, "parsing the code takes more than %d MiB of memory", maxMemory>>20)
	errTooMany       = tool.Errorf(tool.TooLarge, "the code declares and imports more than %d things", maxSymbols)
	errTooSlow       = tool.Errorf(tool.Timeout, "parsing the code took more than %v of the processor's time for a start and as much for each MiB", patience)
	errGrammar       = errors.New("tree-sitter refuses the grammar's version")
)

// Parse reads src, which must not be changed afterwards. Syntax errors are no
// error: they stand in the File, and the rest is there too.
//
// Errors are *[tool.Error]: invalid_argument for a language that is not known
// and for what is not text, too_large and timeout for what is out of bounds. A
// context that ends gives its own error.
func Parse(ctx context.Context, l Language, name string, src []byte) (*File, error) {
	if err := checkText(l, src); err != nil {
		return nil, err
	}
	f := &File{Path: name, Language: l, Source: src, lines: lineStarts(src)}
	if bracketDepth(src) > MaxDepth {
		return nil, errTooNested
	}
	var err error
	if g := l.grammar(); g != nil {
		err = f.parseTree(ctx, g)
	} else {
		err = f.parseGo(ctx)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkText refuses what no parser should see. It never tells a byte of it.
func checkText(l Language, src []byte) error {
	switch {
	case !l.Known():
		return tool.Errorf(tool.InvalidArgument, "the language is not one of %v", Languages())
	case len(src) > MaxBytes:
		return tool.Errorf(tool.TooLarge, "%d bytes of code are more than the %d that are analysed", len(src), MaxBytes)
	case bytes.HasPrefix(src, []byte{0xff, 0xfe}) || bytes.HasPrefix(src, []byte{0xfe, 0xff}):
		return tool.Errorf(tool.InvalidArgument, "the text is UTF-16; only UTF-8 is read")
	}
	if i := bytes.IndexByte(src, 0); i >= 0 {
		return tool.Errorf(tool.InvalidArgument, "this is binary, not text: there is a zero byte at offset %d", i)
	}
	if !utf8.Valid(src) {
		at := invalidAt(src)
		return tool.Errorf(tool.InvalidArgument, "the text is not UTF-8: the byte at offset %d, on line %d, belongs to no character",
			at, 1+bytes.Count(src[:at], []byte{'\n'}))
	}
	return nil
}

func invalidAt(src []byte) int {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(src)
}

// bracketDepth is how deep brackets are nested, wherever they stand. Parsers
// take long for what is nested too deep, and that of Go recurses; no strings and
// comments that anybody writes have twenty thousand brackets that are not
// closed.
func bracketDepth(src []byte) int {
	depth, deepest := 0, 0
	for _, c := range src {
		switch c {
		case '(', '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ')', ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

func (f *File) parseTree(ctx context.Context, g *grammar) error {
	nodes, err := parseNodes(ctx, g.language, f.Source, patience*time.Duration(1+len(f.Source)>>20))
	if err != nil {
		return err
	}
	f.Tree = &Tree{grammar: g, source: f.Source, nodes: nodes}
	w := &walk{file: f, tree: f.Tree}
	if f.Language == Python {
		w.language = pythonReader{w}
	} else {
		w.language = javascriptReader{w}
	}
	if err := w.run(); err != nil {
		return err
	}
	f.Lines = countLines(f.Source, f.lines, w.remarks)
	return nil
}

func (f *File) tooMany() error {
	if len(f.Functions)+len(f.Classes)+len(f.Variables)+len(f.Imports) > maxSymbols {
		return errTooMany
	}
	return nil
}

// Bytes is about what the file takes of memory.
func (f *File) Bytes() int64 {
	const perSymbol = 1000 // a Function with its texts, and what is derived of it
	n := int64(cap(f.Source)) + int64(4*len(f.lines)) +
		perSymbol*int64(len(f.Functions)+len(f.Classes)+len(f.Variables)+len(f.Imports)+len(f.Errors))
	const perName = 48 // an ImportedName and what the file calls it
	for _, i := range f.Imports {
		n += perName * int64(len(i.Names))
	}
	if f.Tree != nil {
		n += f.Tree.bytes()
	}
	if f.Go != nil {
		n += goTreeFactor * int64(len(f.Source))
	}
	return n
}
