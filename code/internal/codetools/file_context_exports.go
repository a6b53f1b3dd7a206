package codetools

import (
	"bytes"
	"cmp"
	"go/token"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// exportsOf are the symbols that other files can use: in Go by their capital
// letter, in Python by __all__ or the lack of an underscore, in JavaScript and
// TypeScript by export, exports and module.exports. Public methods of such
// classes are among them.
func exportsOf(f *syntax.File) []ExportOut {
	var public func(name string) bool
	switch f.Language {
	case syntax.Go:
		public = func(name string) bool {
			return !slices.ContainsFunc(strings.Split(name, "."), func(part string) bool { return !token.IsExported(part) })
		}
	case syntax.Python:
		public = pythonPublic(f)
	default:
		public = scriptPublic(f)
	}
	out := []ExportOut{}
	imported := requiredNames(f)
	for _, s := range Symbols(f) {
		if s.Function >= 0 && f.Functions[s.Function].Parent >= 0 || !public(s.Name) || s.Kind == "variable" && imported[s.Name] {
			continue
		}
		e := ExportOut{Name: s.Name, Kind: s.Kind, Line: s.Span.Line, EndLine: s.Span.EndLine}
		switch {
		case s.Function >= 0:
			fn := &f.Functions[s.Function]
			e.Signature, e.Documented = fn.Signature, fn.Documented
		case s.Class >= 0:
			e.Documented = f.Classes[s.Class].Documented
		}
		out = append(out, e)
	}
	slices.SortStableFunc(out, func(a, b ExportOut) int { return cmp.Compare(a.Line, b.Line) })
	return slices.CompactFunc(out, func(a, b ExportOut) bool { return a.Name == b.Name && a.Line == b.Line })
}

// requiredNames are the variables that only hold what was imported.
func requiredNames(f *syntax.File) map[string]bool {
	names := map[string]bool{}
	for _, im := range f.Imports {
		if im.Kind == syntax.Require {
			for _, name := range im.Locals {
				names[name] = true
			}
		}
	}
	return names
}

func pythonPublic(f *syntax.File) func(string) bool {
	all := pythonAll(f)
	return func(name string) bool {
		top, member, isMember := strings.Cut(name, ".")
		if all != nil {
			return all[top] && (!isMember || !strings.HasPrefix(member, "_"))
		}
		return !strings.HasPrefix(top, "_") && (!isMember || !strings.HasPrefix(member, "_"))
	}
}

// pythonAll is what __all__ names; nil where there is none that can be read.
func pythonAll(f *syntax.File) map[string]bool {
	for n := range f.Tree.Root().NamedChildren() {
		a := n.Child("assignment")
		if a.Field("left").Text() != "__all__" {
			continue
		}
		names := map[string]bool{}
		for s := range a.Field("right").NamedChildren() {
			if s.Kind() == "string" {
				names[strings.Trim(s.Text(), `"'`)] = true
			}
		}
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

// scriptPublic knows what a JavaScript or TypeScript file exports.
func scriptPublic(f *syntax.File) func(string) bool {
	names := map[string]bool{"exports": true, "module": true}
	for n := range f.Tree.Root().NamedChildren() {
		switch n.Kind() {
		case "export_statement":
			exportedNames(n, names)
		case "expression_statement":
			commonNames(n.Child("assignment_expression"), names)
		case "variable_declaration", "lexical_declaration":
			for d := range n.NamedChildren() {
				if v := d.Field("value"); assignsExports(v) {
					names[d.Field("name").Text()] = true // var app = module.exports = {}
					commonNames(v, names)
				}
			}
		}
	}
	return func(name string) bool {
		top, member, _ := strings.Cut(name, ".")
		return names[top] && !strings.HasPrefix(member, "#")
	}
}

// exportedNames adds what an export statement names.
func exportedNames(n syntax.Node, names map[string]bool) {
	if n.Field("source").OK() {
		return // of another file
	}
	if d := n.Field("declaration"); d.OK() {
		if name := d.Field("name"); name.OK() {
			names[name.Text()] = true
		}
		for v := range d.NamedChildren() {
			if v.Kind() == "variable_declarator" {
				for id := range v.Field("name").All() {
					names[id.Text()] = true
				}
			}
		}
	}
	if v := n.Field("value"); v.Kind() == "identifier" {
		names[v.Text()] = true
	}
	for s := range n.Child("export_clause").NamedChildren() {
		names[s.Field("name").Text()] = true
	}
}

// commonNames adds what an assignment to module.exports names.
func commonNames(a syntax.Node, names map[string]bool) {
	if !assignsExports(a) {
		return
	}
	for a.Field("right").Kind() == "assignment_expression" {
		a = a.Field("right")
	}
	switch right := a.Field("right"); right.Kind() {
	case "identifier":
		names[right.Text()] = true
	case "object":
		for m := range right.NamedChildren() {
			if m.Kind() == "shorthand_property_identifier" {
				names[m.Text()] = true
			} else if v := m.Field("value"); v.Kind() == "identifier" {
				names[v.Text()] = true
			}
		}
	}
}

// assignsExports says whether one of a row of assignments is to exports or
// module.exports, or a member of them.
func assignsExports(a syntax.Node) bool {
	for ; a.Kind() == "assignment_expression"; a = a.Field("right") {
		left := a.Field("left").Bytes()
		if bytes.Equal(left, []byte("exports")) || bytes.HasPrefix(left, []byte("exports.")) || bytes.HasPrefix(left, []byte("module.exports")) {
			return true
		}
	}
	return false
}
