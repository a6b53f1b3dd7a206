package codetools

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// twice are the names that are declared several times now and were not before,
// at the top level or in a class. An error is for those that the language
// refuses.
func (e *edit) twice() ([]string, error) {
	if e.after.Language == syntax.Go {
		if names := grown(goDeclared(e.before), goDeclared(e.after)); len(names) > 0 {
			return nil, tool.Errorf(tool.InvalidArgument, "%q would be declared twice: the file has one outside of the code", bounded(names[0], 100))
		}
		return nil, nil
	}
	if names := grown(overloads(e.before), overloads(e.after)); len(names) > 0 {
		return nil, tool.Errorf(tool.InvalidArgument, "the file has the signature %q above the function already: give the code without it, as extract_code shows it", bounded(names[0].text, 100))
	}
	var names []string
	for _, k := range grown(declared(e.before), declared(e.after)) {
		names = append(names, k.name)
	}
	return names, nil
}

// grown are the keys that occur several times, and oftener than before.
func grown[K comparable](was, is []K) (keys []K) {
	before, now := map[K]int{}, map[K]int{}
	for _, k := range was {
		before[k]++
	}
	for _, k := range is {
		if now[k]++; now[k] == max(before[k], 1)+1 && len(keys) < maxTold {
			keys = append(keys, k)
		}
	}
	return keys
}

type nameAndKind struct{ name, kind string }

// declared are the symbols that are not within a function, where each block may
// have its own.
func declared(f *syntax.File) (all []nameAndKind) {
	for _, s := range Symbols(f) {
		if s.Function < 0 || f.Functions[s.Function].Parent < 0 {
			all = append(all, nameAndKind{s.Name, s.Kind})
		}
	}
	return all
}

// goDeclared are the names of a file's top level, and those of methods behind
// their type.
func goDeclared(f *syntax.File) (names []string) {
	for i := range f.Functions {
		if d, ok := f.Functions[i].Go.(*ast.FuncDecl); ok && (d.Name.Name != "init" || d.Recv != nil) {
			names = append(names, f.Functions[i].Qualified)
		}
	}
	for _, v := range f.Variables {
		names = append(names, v.Name)
	}
	for _, d := range f.Go.File.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.TYPE {
			for _, spec := range g.Specs {
				names = append(names, spec.(*ast.TypeSpec).Name.Name)
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return simple(name) == "_" })
}

// A signature is one of TypeScript that stands alone, above its function.
type signature struct {
	class string
	text  string
}

func overloads(f *syntax.File) (all []signature) {
	for n := range f.Tree.Root().All() {
		around := n.Parent()
		switch k := n.Kind(); {
		case k == "function_signature" && (around.Kind() == "program" || around.Kind() == "export_statement"):
			all = append(all, signature{"", oneLine(n.Text())})
		case k == "method_signature" && around.Kind() == "class_body":
			all = append(all, signature{around.Parent().Field("name").Text(), oneLine(n.Text())})
		}
	}
	return all
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
