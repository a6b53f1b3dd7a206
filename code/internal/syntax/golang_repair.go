package syntax

import (
	"bytes"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"slices"
)

// maxRepairs is how many broken declarations are worked around.
const maxRepairs = 10

const goMode = parser.ParseComments | parser.SkipObjectResolution | parser.AllErrors

// parseGoAround parses a file. go/parser loses sight of what follows an error,
// often all of it, so a declaration with one is blanked out and the rest is
// parsed again. Errors are the first of each such declaration, or all where
// none can be told apart. The tree is of what is left of the text, at its old
// places.
func parseGoAround(src []byte) (*GoTree, scanner.ErrorList) {
	tree, found := parseGoOnce(src)
	var told scanner.ErrorList
	for range maxRepairs {
		if len(found) == 0 {
			return tree, told
		}
		start, end := brokenDeclaration(src, found[0].Pos.Offset)
		if start < 0 {
			break
		}
		told = append(told, found[0])
		src = blankOut(src, start, end)
		tree, found = parseGoOnce(src)
	}
	return tree, append(told, found...)
}

func parseGoOnce(src []byte) (*GoTree, scanner.ErrorList) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", src, goMode)
	list, _ := errors.AsType[scanner.ErrorList](err)
	return &GoTree{File: file, Set: set, tok: set.File(file.FileStart)}, list
}

var goDeclarations = [][]byte{[]byte("func "), []byte("type "), []byte("var "), []byte("const "), []byte("import ")}

// brokenDeclaration is the text from the keyword that begins the line at or
// before an offset to the next such keyword. Its start is negative where there
// is none.
func brokenDeclaration(src []byte, offset int) (start, end int) {
	offset = min(max(offset, 0), len(src))
	start = -1
	for at := 0; at < len(src); {
		if declares(src[at:]) {
			if at > offset {
				return start, at
			}
			start = at
		}
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return start, len(src)
}

func declares(line []byte) bool {
	return slices.ContainsFunc(goDeclarations, func(word []byte) bool { return bytes.HasPrefix(line, word) })
}

// blankOut replaces all but line breaks with blanks.
func blankOut(src []byte, start, end int) []byte {
	src = bytes.Clone(src)
	for i := start; i < end; i++ {
		if src[i] != '\n' {
			src[i] = ' '
		}
	}
	return src
}

// goComments reads a text's comments as the scanner finds them, also those that
// stand in what was blanked out.
func goComments(src []byte) []remark {
	var all []remark
	set := token.NewFileSet()
	file := set.AddFile("", -1, len(src))
	var s scanner.Scanner
	s.Init(file, src, func(token.Position, string) {}, scanner.ScanComments)
	for {
		pos, tok, text := s.Scan()
		switch tok {
		case token.EOF:
			return all
		case token.COMMENT:
			all = append(all, remark{file.Offset(pos), file.Offset(pos) + len(text)})
		}
	}
}
