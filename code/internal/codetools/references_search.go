package codetools

import (
	"bytes"
	"context"
	"go/build"
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A referenceSearch looks for one name.
type referenceSearch struct {
	project    *Project
	layout     *layout
	platform   *build.Context
	wanted     wantedSymbol
	candidates []string
	found      []ReferenceOut
	notes      []string
	inGo       bool // the symbol is defined in Go
	failed     givenUp
}

// mentioning makes candidates of the files whose text has the name in it, or
// that may hand it on without naming it.
func (s *referenceSearch) mentioning(ctx context.Context, files []string) error {
	has := make([]bool, len(files))
	err := eachFile(ctx, len(files), func(i int) {
		file, err := s.project.root.Read(ctx, files[i], syntax.MaxBytes)
		if err != nil {
			s.failed.add(files[i], err)
			return
		}
		has[i] = bytes.Contains(file.Data, []byte(s.wanted.name)) || takesAll(files[i], file.Data)
	})
	for i, name := range files {
		if has[i] {
			s.candidates = append(s.candidates, name)
		}
	}
	return err
}

// takesAll says whether a file imports or exports all that another one has.
func takesAll(name string, text []byte) bool {
	return syntax.LanguageOf(name) != syntax.Go && (bytes.Contains(text, []byte("import *")) || bytes.Contains(text, []byte("export *")))
}

func (s *referenceSearch) run(ctx context.Context) error {
	var golang, others []string
	for _, name := range s.candidates {
		if syntax.LanguageOf(name) == syntax.Go {
			golang = append(golang, name)
		} else {
			others = append(others, name)
		}
	}
	if err := s.golang(ctx, golang); err != nil {
		return err
	}
	uses := make([]*nameUse, len(others))
	err := eachFile(ctx, len(others), func(i int) {
		f, err := s.project.File(ctx, others[i], "")
		if err != nil {
			s.failed.add(others[i], err)
			return
		}
		uses[i] = newNameUse(f, s.layout, s.wanted)
	})
	if err != nil {
		return err
	}
	s.scoped(slices.DeleteFunc(uses, func(u *nameUse) bool { return u == nil }))
	return nil
}

// scoped finds the places in Python, JavaScript and TypeScript: from the
// definitions along the imports.
func (s *referenceSearch) scoped(uses []*nameUse) {
	defined := false
	for _, u := range uses {
		defined = defined || len(u.symbols) > 0
	}
	if s.inGo && !defined {
		return // what has the same name elsewhere is another thing
	}
	byPath := map[string]*nameUse{}
	for _, u := range uses {
		u.begin(defined)
		byPath[u.path] = u
	}
	for range 10 { // a name that goes through more files than that is lost
		changed := false
		for _, u := range uses {
			changed = u.follow(byPath) || changed
		}
		if !changed {
			break
		}
	}
	if !defined && len(uses) > 0 {
		s.notes = append(s.notes, "no definition of that name was found in what was searched: the places share a name, and may mean different things")
	}
	owners := map[string]bool{}
	for _, u := range uses {
		for owner := range u.owners {
			owners[simple(owner)] = true
		}
	}
	for _, u := range uses {
		s.found = append(s.found, u.found(byPath, owners, defined)...)
	}
	if defined {
		s.tellUnfollowed(uses, byPath)
	}
}

// moduleName is what stands before a symbol's name when it is asked for with its
// module.
func (l *layout) moduleName(f *syntax.File) string {
	if f.Language == syntax.Python {
		return l.pythonName(f.Path)
	}
	return stemOf(f.Path)
}

// stemOf is a file's name without its folder and ending.
func stemOf(file string) string {
	base := path.Base(file)
	return strings.TrimSuffix(base, path.Ext(base))
}
