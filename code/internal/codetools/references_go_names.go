package codetools

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"sort"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// goUnchecked takes the files that no checked package holds by their names.
func (s *referenceSearch) goUnchecked(c *goChecker, candidates []string, about goTargets) {
	left := 0
	for _, name := range candidates {
		if c.seen[name] {
			continue
		}
		f, err := s.project.File(c.ctx, name, "")
		if err != nil {
			s.failed.add(name, err)
			continue
		}
		places := s.goByName(f, about)
		if len(places) > 0 {
			left++
		}
		s.found = append(s.found, places...)
	}
	if left > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d Go files are not built for the platform, or their package could not be checked: in them, names are followed instead of types", left))
	}
}

// goByName finds places in a file whose types are not known. Parameters and
// variables of the function around hide what the package has under their name.
func (s *referenceSearch) goByName(f *syntax.File, about goTargets) (all []ReferenceOut) {
	places := identifiersOf(f, s.wanted.name)
	defined := s.goDefined(f, places)
	own := about.none || about.packages[path.Dir(f.Path)]
	modules := map[string]bool{}
	for _, im := range f.Imports {
		for _, t := range s.layout.targets(f.Path, f.Language, im) {
			modules[t.module] = modules[t.module] || about.packages[t.path]
		}
	}
	local := map[int]map[string]bool{}
	calls := goCalls(f.Go.File, s.wanted.name)
	for _, id := range places {
		line, column := f.Position(id.Start)
		r := ReferenceOut{Path: f.Path, Line: line, Column: column, Kind: isReference, By: byScope}
		if calls[id.Start] {
			r.Kind = isCall
		}
		object := wordBefore(f.Source, id.Start)
		switch name, ok := defined[id.Start]; {
		case ok:
			r.Kind, r.Symbol = isDefinition, name
		case !id.Member && (!own || goShadowed(f, local, id)):
			continue
		case id.Member && modules[object] && object != "":
		case id.Member && calls[id.Start] && !about.called:
			continue
		case id.Member && (about.members || about.none):
			r.By = byName
		case id.Member:
			continue
		}
		all = append(all, r)
	}
	return all
}

// identifiersOf are the places where a name stands, in the order of the text.
func identifiersOf(f *syntax.File, name string) (places []syntax.Identifier) {
	for id := range f.Identifiers(f.Span(0, len(f.Source))) {
		if id.Name == name {
			places = append(places, id)
		}
	}
	slices.SortFunc(places, func(a, b syntax.Identifier) int { return a.Start - b.Start })
	return places
}

// goDefined is where a file declares the symbol, by offset. The places are those
// of its name.
func (s *referenceSearch) goDefined(f *syntax.File, places []syntax.Identifier) map[int]string {
	defined := map[int]string{}
	for _, symbol := range Symbols(f) {
		if symbol.Simple() != s.wanted.name || !s.wanted.matches(f.Go.File.Name.Name, symbol.Name) {
			continue
		}
		i := sort.Search(len(places), func(i int) bool { return places[i].Start >= symbol.Span.Start })
		if i < len(places) && places[i].Start < symbol.Span.End {
			defined[places[i].Start] = symbol.Name
		}
	}
	return defined
}

// wordBefore is the name that a member is looked up in, as far as the text right
// before it tells.
func wordBefore(src []byte, at int) string {
	if at == 0 || src[at-1] != '.' {
		return ""
	}
	return nameAtEnd(src[:at-1])
}

// goShadowed says whether the function around declares the name for itself.
func goShadowed(f *syntax.File, local map[int]map[string]bool, id syntax.Identifier) bool {
	decls := f.Go.File.Decls // in the order of the text
	i := sort.Search(len(decls), func(i int) bool { return f.Go.Offset(decls[i].Pos()) > id.Start }) - 1
	if i < 0 || id.Start >= f.Go.Offset(decls[i].End()) {
		return false
	}
	if _, ok := decls[i].(*ast.FuncDecl); !ok {
		return false
	}
	if local[i] == nil {
		local[i] = map[string]bool{}
		goLocals(decls[i], local[i])
	}
	return local[i][id.Name]
}

// goCalls are the offsets of a name that is called.
func goCalls(file *ast.File, name string) map[int]bool {
	calls := map[int]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if id := calledName(c.Fun); id != nil && id.Name == name {
				calls[int(id.Pos()-file.FileStart)] = true
			}
		}
		return true
	})
	return calls
}

func calledName(f ast.Expr) *ast.Ident {
	for {
		switch x := f.(type) {
		case *ast.Ident:
			return x
		case *ast.SelectorExpr:
			return x.Sel
		case *ast.ParenExpr:
			f = x.X
		case *ast.IndexExpr:
			f = x.X
		case *ast.IndexListExpr:
			f = x.X
		default:
			return nil
		}
	}
}
