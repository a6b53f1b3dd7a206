package codetools

import (
	"cmp"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/code/internal/source"
	"github.com/parleyhq/parley/code/internal/syntax"
)

// Bounds on what is looked at to know where things lie.
const (
	maxEntriesSeen = 500_000
	maxManifests   = 1_000
	maxManifest    = 1 << 20
	maxHeads       = 500 // Go files that are asked what they import
)

// A layout is where the modules of a project lie: enough to say which file an
// import means without asking the disk. It is made anew for each call, since
// files come and go.
type layout struct {
	files     []string // of our languages, in the order of [source.Root.Files]
	known     map[string]bool
	goDirs    map[string]bool
	goModules []goModule // those with the longest folders first
	packages  map[string]manifest
	// above are the names of the folders down to the served one, which may be a
	// package that its own files import by name.
	above []string

	foldersLeftOut int  // too deep, or the disk does not let them be read
	unlisted       bool // there is more than is listed here
}

type goModule struct {
	dir, name string
	guessed   bool
}

// A manifest is a package.json.
type manifest struct {
	dir  string
	Name string         `json:"name"`
	Main string         `json:"main"`
	Bin  jsontext.Value `json:"bin"`
}

// layout lists the project and, where a search from its top would not get there,
// a folder that somebody asks for.
func (p *Project) layout(ctx context.Context, asked string) (*layout, error) {
	l := &layout{known: map[string]bool{}, goDirs: map[string]bool{}, packages: map[string]manifest{}}
	l.above = strings.FieldsFunc(filepath.ToSlash(p.root.Dir().Name()), func(r rune) bool { return r == '/' })
	starts := []string{"."}
	if source.Skips(asked) {
		starts = append(starts, asked)
	}
	for _, start := range starts {
		if err := p.list(ctx, l, start); err != nil {
			return nil, err
		}
	}
	if len(l.goModules) == 0 && len(l.goDirs) > 1 {
		l.guessModule(p.importedPaths(ctx, l))
	}
	slices.SortStableFunc(l.goModules, func(a, b goModule) int { return cmp.Compare(len(b.dir), len(a.dir)) })
	return l, ctx.Err()
}

// list adds what lies below a folder.
func (p *Project) list(ctx context.Context, l *layout, start string) error {
	seen, manifests := 0, 0
	for e, err := range p.root.Files(ctx, start) {
		if err != nil {
			return err
		}
		if seen++; seen > maxEntriesSeen {
			l.unlisted = true
			break
		}
		base := path.Base(e.Path)
		switch {
		case e.LeftOut:
			l.foldersLeftOut++
		case base == "go.mod" || base == "package.json":
			if manifests++; manifests <= maxManifests {
				p.manifest(ctx, l, e.Path)
			}
		case syntax.LanguageOf(base) != "":
			l.files = append(l.files, e.Path)
			l.known[e.Path] = true
			if strings.HasSuffix(base, ".go") && !strings.HasSuffix(base, "_test.go") {
				l.goDirs[path.Dir(e.Path)] = true
			}
		}
	}
	return nil
}

// incomplete says whether there may be files that are not listed.
func (l *layout) incomplete() bool { return l.unlisted || l.foldersLeftOut > 0 }

// notes say what of the project is not among the files, and why there are none.
func (l *layout) notes(dir string, files int) (notes []string) {
	if l.foldersLeftOut > 0 {
		notes = append(notes, fmt.Sprintf("%d folders were not looked into: the disk denies it, or they lie more than 100 levels deep, where path can name a deeper one to begin at", l.foldersLeftOut))
	}
	if l.unlisted {
		notes = append(notes, fmt.Sprintf("the project has more than %d files: those after them were not looked at", maxEntriesSeen))
	}
	if files == 0 {
		notes = append(notes, fmt.Sprintf("there is no Go, Python, JavaScript or TypeScript file below %s, or all are left out: tests that were not asked for, "+
			"links, hidden folders, and those of others' or built code such as node_modules, vendor, dist and build. To look into such a folder, give it as path", bounded(strconv.Quote(dir), maxName)))
	}
	return notes
}

// manifest reads a go.mod or package.json; one that cannot be read says nothing.
func (p *Project) manifest(ctx context.Context, l *layout, name string) {
	file, err := p.root.Read(ctx, name, maxManifest)
	if err != nil {
		return
	}
	dir := path.Dir(name)
	if path.Base(name) == "go.mod" {
		if m := moduleName(string(file.Data)); m != "" {
			l.goModules = append(l.goModules, goModule{dir: dir, name: m})
		}
		return
	}
	m := manifest{dir: dir}
	if json.Unmarshal(file.Data, &m) == nil {
		l.packages[cmp.Or(m.Name, dir)] = m
	}
}

// importedPaths are what Go files import.
func (p *Project) importedPaths(ctx context.Context, l *layout) (paths []string) {
	heads := 0
	for _, name := range l.files {
		if !strings.HasSuffix(name, ".go") {
			continue
		}
		if heads++; heads > maxHeads || ctx.Err() != nil {
			break
		}
		file, err := p.root.Read(ctx, name, syntax.MaxBytes)
		if err != nil {
			continue
		}
		head, _ := parser.ParseFile(token.NewFileSet(), "", file.Data, parser.ImportsOnly)
		if head == nil {
			continue
		}
		for _, i := range head.Imports {
			if text, err := strconv.Unquote(i.Path.Value); err == nil {
				paths = append(paths, text)
			}
		}
	}
	return paths
}

// guessModule concludes what import paths begin with where no go.mod says it:
// what most often stands before a path that names one of the folders.
func (l *layout) guessModule(paths []string) {
	votes := map[string]int{}
	for _, text := range paths {
		for at := 0; ; {
			i := strings.IndexByte(text[at:], '/')
			if i < 0 {
				break
			}
			at += i + 1
			if l.goDirs[text[at:]] {
				votes[text[:at-1]]++
			}
		}
	}
	best := ""
	for name, n := range votes {
		if n > votes[best] || n == votes[best] && name < best {
			best = name
		}
	}
	if best != "" {
		l.goModules = append(l.goModules, goModule{dir: ".", name: best, guessed: true})
	}
}

// below are the files of a folder.
func (l *layout) below(dir string, tests bool) (files []string) {
	for _, name := range l.files {
		if (dir == "." || strings.HasPrefix(name, dir+"/")) && (tests || !isTest(name)) {
			files = append(files, name)
		}
	}
	return files
}

// isTest says by its name whether a file holds tests.
func isTest(name string) bool {
	stem := stemOf(name)
	switch syntax.LanguageOf(name) {
	case syntax.Go:
		return strings.HasSuffix(stem, "_test")
	case syntax.Python:
		if strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "conftest" {
			return true
		}
	default:
		if strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") {
			return true
		}
	}
	for part := range strings.SplitSeq(path.Dir(name), "/") {
		if part == "test" || part == "tests" || part == "__tests__" {
			return true
		}
	}
	return false
}

// goModule is the module that a folder belongs to.
func (l *layout) goModule(dir string) (name string, guessed bool) {
	for _, m := range l.goModules {
		if m.holds(dir) {
			return m.name, m.guessed
		}
	}
	return "", false
}

func (m goModule) holds(dir string) bool {
	return m.dir == "." || dir == m.dir || strings.HasPrefix(dir, m.dir+"/")
}

// prefix is what stands before a path below the module's folder.
func (m goModule) prefix() string {
	if m.name == "std" { // the standard library's packages have short names
		return ""
	}
	return m.name
}

// importPath is how a folder with a Go package is imported; the folder where
// that cannot be told.
func (l *layout) importPath(dir string) string {
	for _, m := range l.goModules {
		if m.holds(dir) {
			rest := strings.TrimPrefix(strings.TrimPrefix(dir, m.dir), "/")
			if m.dir == "." {
				rest = strings.TrimPrefix(dir, ".")
			}
			return path.Join(m.prefix(), rest)
		}
	}
	return dir
}

// goDir is the folder that a Go import means.
func (l *layout) goDir(importPath string) (dir string, ok bool) {
	for _, m := range l.goModules {
		rest, inside := strings.CutPrefix("/"+importPath+"/", path.Join("/", m.prefix())+"/")
		if m.prefix() == "" {
			rest, inside = importPath, true
		}
		if dir := path.Join(m.dir, rest); inside && l.goDirs[dir] {
			return dir, true
		}
	}
	return "", false
}

// entries are the programs that package.json files name.
func (l *layout) entries(below string) (entries []EntryOut) {
	for _, m := range l.packages {
		if below != "." && m.dir != below && !strings.HasPrefix(m.dir, below+"/") {
			continue
		}
		if file, ok := l.script(path.Join(m.dir, m.Main)); m.Main != "" && ok {
			entries = append(entries, EntryOut{Path: file, Line: 1, Kind: "library", Name: bounded(m.Name, maxName)})
		}
		for name, target := range m.programs() {
			if file, ok := l.script(path.Join(m.dir, target)); ok {
				entries = append(entries, EntryOut{Path: file, Line: 1, Kind: "bin", Name: bounded(name, maxName)})
			}
		}
	}
	slices.SortFunc(entries, func(a, b EntryOut) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name))
	})
	return entries
}

// programs are the commands of a package.json: one, or several by name.
func (m manifest) programs() map[string]string {
	var one string
	if json.Unmarshal(m.Bin, &one) == nil {
		return map[string]string{m.Name: one}
	}
	var several map[string]string
	if json.Unmarshal(m.Bin, &several) != nil {
		return nil
	}
	return several
}
