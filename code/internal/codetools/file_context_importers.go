package codetools

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// importers finds the files of the project that import a file, or in Go its
// package.
func (p *Project) importers(ctx context.Context, call *tool.Call, l *layout, f *syntax.File, asked int, out *ContextOut) error {
	l.known[f.Path] = true // it may lie in a folder that searches pass over
	files := slices.DeleteFunc(l.below(".", true), func(name string) bool { return name == f.Path || !mayImport(name, f.Language) })
	if most := limitOf(call, "max_files", asked, len(files)); most < len(files) {
		out.Unread, out.Truncated = len(files)-most, true
		files = nearest(f.Path, files)[:most]
	}
	out.Searched = len(files)
	out.Notes = l.notes(".", len(l.files))
	out.Truncated = out.Truncated || l.incomplete()
	wanted := f.Path
	if f.Language == syntax.Go {
		wanted = path.Dir(f.Path)
	}
	word := []byte(spokenName(l, f))
	lines, unsure := make([]int, len(files)), make([]string, len(files))
	var failed givenUp
	err := eachFile(ctx, len(files), func(i int) {
		var err error
		if lines[i], unsure[i], err = p.importLine(ctx, l, files[i], wanted, word); err != nil {
			failed.add(files[i], err)
		}
	})
	if err != nil {
		return err
	}
	out.GivenUpOut = failed.out()
	out.Truncated = out.Truncated || out.FailedFiles > 0
	if note := unsureNote(unsure); note != "" {
		out.Notes = append(out.Notes, note)
	}
	for i, line := range lines {
		if line > 0 {
			out.Importers = append(out.Importers, ImporterOut{files[i], line, isTest(files[i])})
		}
	}
	slices.SortFunc(out.Importers, func(a, b ImporterOut) int { return strings.Compare(a.Path, b.Path) })
	out.Importers = atMost(out.Importers, maxImporters, &out.Truncated)
	return nil
}

// mayImport says whether files of a name can import what is in a language.
func mayImport(name string, l syntax.Language) bool {
	other := syntax.LanguageOf(name)
	if l == syntax.Go || l == syntax.Python {
		return other == l
	}
	return other != syntax.Go && other != syntax.Python
}

// nearest sorts files by how much of their path they share with another.
func nearest(to string, files []string) []string {
	shared := func(name string) int {
		n := 0
		for n < min(len(name), len(to)) && name[n] == to[n] {
			n++
		}
		return n
	}
	slices.SortStableFunc(files, func(a, b string) int { return shared(b) - shared(a) })
	return files
}

// spokenName is what stands in the text of every file that imports this one.
// "" for what may be imported without a name: a folder's index.
func spokenName(l *layout, f *syntax.File) string {
	switch f.Language {
	case syntax.Go:
		return path.Base(l.importPath(path.Dir(f.Path)))
	case syntax.Python:
		return simple(l.pythonName(f.Path))
	}
	for _, m := range l.packages {
		if file, ok := l.script(path.Join(m.dir, m.Main)); ok && file == f.Path {
			return "" // by the name of its package
		}
	}
	if stem := stemOf(f.Path); stem != "index" {
		return stem
	}
	return ""
}

// unsureNote tells of imports that may mean the file: it must not look unused
// because they could not be followed.
func unsureNote(unsure []string) string {
	unsure = slices.DeleteFunc(unsure, func(text string) bool { return text == "" })
	if len(unsure) == 0 {
		return ""
	}
	return fmt.Sprintf("%d more files have an import that ends in the name of this one and that means nothing in the project as it is known here (%s): they may import it", len(unsure), someOf(unsure))
}

// importLine is on which line a file imports another; 0 for none, and then
// perhaps an import that could not be followed and may mean it. Most files do not
// mention its name, and are not parsed.
func (p *Project) importLine(ctx context.Context, l *layout, name, wanted string, word []byte) (line int, unsure string, err error) {
	file, err := p.root.Read(ctx, name, syntax.MaxBytes)
	if err != nil || !bytes.Contains(file.Data, word) {
		return 0, "", err
	}
	f, err := p.File(ctx, name, "")
	if err != nil {
		return 0, "", err
	}
	for _, im := range f.Imports {
		targets := l.targets(name, f.Language, im)
		for _, t := range targets {
			if t.path == wanted {
				return im.Span.Line, "", nil
			}
		}
		if len(targets) == 0 && l.mayMean(f, im, string(word)) {
			unsure = im.Path
		}
	}
	return 0, unsure, nil
}

// mayMean says whether an import that could not be followed ends in a name. In Go
// it is known what belongs to a module, unless the module was guessed.
func (l *layout) mayMean(f *syntax.File, im syntax.Import, word string) bool {
	switch f.Language {
	case syntax.Go:
		name, guessed := l.goModule(path.Dir(f.Path))
		return (name == "" || guessed) && path.Base(im.Path) == word
	case syntax.Python:
		return simple(im.Path) == word || slices.ContainsFunc(im.Names, func(n syntax.ImportedName) bool { return n.Name == word })
	}
	return word != "" && (path.Base(im.Path) == word || stemOf(im.Path) == word)
}
