package codetools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// packagesAround are the packages that Python's import a.b.c makes known besides
// the module: a and a.b.
func (l *layout) packagesAround(f *syntax.File, im syntax.Import) (all []target) {
	if f.Language != syntax.Python || im.Kind == syntax.FromImport || im.Alias != "" {
		return nil
	}
	for at, c := range im.Path {
		if c != '.' || at == 0 {
			continue
		}
		if file, ok := l.pythonFile(l.pythonModule(f.Path, im.Path[:at])); ok {
			all = append(all, target{path: file, module: im.Path[:at]})
		}
		if len(all) > 20 { // a name of many dots is no package
			break
		}
	}
	return all
}

// takeMembers finds the imports of whole modules in which the name is looked up.
func (u *nameUse) takeMembers(f *syntax.File) {
	objects := map[string]bool{}
	for _, p := range u.places {
		if p.member && p.name == u.wanted.name && p.object != "" {
			objects[p.object] = true
		}
	}
	for i, im := range f.Imports {
		if len(im.Names) == 0 && (objects[im.Path] || slices.ContainsFunc(im.Locals, func(local string) bool { return objects[local] })) {
			u.imports[i].takes = true
		}
	}
}

// tellUnfollowed names the modules from which the name is taken and that could
// not be looked into: whoever reads the answer must not conclude that nobody
// uses it.
func (s *referenceSearch) tellUnfollowed(uses []*nameUse, byPath map[string]*nameUse) {
	var unfollowed []string
	for _, u := range uses {
		for _, im := range u.imports {
			if !im.takes || slices.ContainsFunc(im.targets, func(t target) bool { return byPath[t.path] != nil }) {
				continue
			}
			unfollowed = append(unfollowed, im.path)
		}
	}
	if len(unfollowed) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("%d imports of %q could not be followed, and are not listed: what they name is not among the files that were searched (%s). "+
			"If that is a part of this project, there are more uses", len(unfollowed), s.wanted.name, someOf(unfollowed)))
	}
}

// someOf quotes the first few different ones of the imports that an answer tells
// of.
func someOf(imports []string) string {
	const most = 5
	var quoted []string
	for _, text := range imports {
		if text = fmt.Sprintf("%q", bounded(text, 100)); len(quoted) < most && !slices.Contains(quoted, text) {
			quoted = append(quoted, text)
		}
	}
	return strings.Join(quoted, ", ")
}
