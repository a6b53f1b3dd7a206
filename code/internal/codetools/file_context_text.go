package codetools

import (
	"bytes"
	"context"
	"go/ast"
	"path"
	"regexp"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// purpose is what the documentation of a file says. Where a Go file has none, it
// is the first paragraph of its package's: the rest would be the same for each
// file of the package.
func (p *Project) purpose(ctx context.Context, f *syntax.File) string {
	switch f.Language {
	case syntax.Go:
		if text := packageDoc(f); text != "" {
			return text
		}
		for _, name := range p.goFiles(ctx, path.Dir(f.Path), false) {
			other, err := p.File(ctx, name, "")
			if err == nil && other.Go.File.Name.Name == f.Go.File.Name.Name {
				if text, _, _ := strings.Cut(packageDoc(other), "\n\n"); text != "" {
					return text
				}
			}
		}
		return ""
	case syntax.Python:
		return moduleDoc(f)
	}
	return headComment(f)
}

// firstParagraphs is the beginning of a text, cut at the end of a paragraph or
// line where that can be.
func firstParagraphs(text string) string {
	text = strings.TrimSpace(text)
	if len(text) <= maxPurpose {
		return text
	}
	text = text[:maxPurpose]
	for _, end := range []string{"\n\n", "\n", " "} {
		if i := strings.LastIndex(text, end); i > maxPurpose/3 {
			return strings.TrimSpace(text[:i]) + " …"
		}
	}
	return strings.ToValidUTF8(text, "") + "…"
}

func packageDoc(f *syntax.File) string {
	doc := f.Go.File.Doc
	if doc == nil {
		return ""
	}
	return firstParagraphs((&ast.CommentGroup{List: doc.List}).Text())
}

// moduleDoc is a Python module's docstring.
func moduleDoc(f *syntax.File) string {
	for n := range f.Tree.Root().NamedChildren() {
		switch n.Kind() {
		case "comment":
			continue
		case "expression_statement":
			if s := n.Child("string"); s.OK() {
				text := strings.TrimLeft(s.Text(), "rRuUbB")
				return firstParagraphs(dedent(strings.Trim(text, `"'`)))
			}
		}
		return ""
	}
	return ""
}

// dedent removes the white space before each line.
func dedent(text string) string {
	var w strings.Builder
	for line := range strings.Lines(text) {
		w.WriteString(strings.TrimLeft(line, " \t"))
	}
	return w.String()
}

// headComment is what comments say at the top of a JavaScript file: the last
// ones before the code, since a licence comes first. One right above a
// declaration is about that alone.
func headComment(f *syntax.File) string {
	text, before, last := "", "", 0
	for n := range f.Tree.Root().NamedChildren() {
		switch n.Kind() {
		case "hash_bang_line":
			continue
		case "comment":
			said := commentText(n.Text())
			if said == "" || isLicence(said) || strings.HasPrefix(said, "eslint") || strings.HasPrefix(said, "@ts-") {
				continue
			}
			if line, _ := f.Position(n.Start()); line == last+1 && text != "" {
				text += "\n" + said
			} else if text == "" || !strings.HasPrefix(said, "Module dep") {
				before, text = text, said
			}
			last, _ = f.Position(n.End() - 1)
			continue
		case "expression_statement":
			if n.Child("string").OK() { // "use strict"
				continue
			}
		case "import_statement":
		default:
			if line, _ := f.Position(n.Start()); line == last+1 && last > 0 {
				text = before
			}
		}
		break
	}
	return firstParagraphs(text)
}

// isLicence says whether a comment only says whose the file is.
func isLicence(text string) bool {
	return strings.Contains(text, "Copyright") || strings.Contains(text, "Licensed") || strings.Contains(text, "@license")
}

// commentText is what a comment says without its signs.
func commentText(text string) string {
	text = strings.TrimPrefix(strings.TrimSuffix(text, "*/"), "/*")
	var w strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimLeft(line, " \t")
		line = strings.TrimLeft(strings.TrimPrefix(line, "//"), "*!")
		w.WriteString(strings.TrimPrefix(line, " "))
	}
	return strings.TrimSpace(w.String())
}

// marker finds the word in a line of a comment.
var marker = regexp.MustCompile(`^[\s/*#!;-]*\b(TODO|FIXME|HACK|XXX|BUG|Deprecated)\b(.*)`)

// markers are the notes in the comments of a file.
func markers(f *syntax.File) []MarkerOut {
	out := []MarkerOut{}
	add := func(start int, text []byte) {
		for line := range bytes.Lines(text) {
			if m := marker.FindSubmatch(line); m != nil && len(out) <= maxMarkers {
				n, _ := f.Position(start)
				rest := strings.TrimSuffix(strings.TrimSpace(string(m[2])), "*/")
				rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(rest), ":"))
				out = append(out, MarkerOut{string(m[1]), n, bounded(rest, maxMarker)})
			}
			start += len(line)
		}
	}
	if f.Go != nil {
		for _, group := range f.Go.File.Comments {
			for _, c := range group.List {
				at := f.Go.Offset(c.Pos())
				add(at, f.Source[at:min(f.Go.Offset(c.End()), len(f.Source))])
			}
		}
		return out
	}
	for n := range f.Tree.Root().All() {
		if k := n.Kind(); k == "comment" || k == "html_comment" {
			add(n.Start(), n.Bytes())
		}
	}
	return out
}
