package codetools

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// maxFiles is how many other files one call looks into.
const maxFiles = 100

// crossFile adds what the search found imported from other files of the
// project: one step, not what those depend on in turn. In Go the other files of
// the package count as well. Files that cannot be read or parsed are passed
// over.
func (p *Project) crossFile(ctx context.Context, d *search) error {
	budget := maxFiles
	for _, i := range d.imports {
		wanted := d.wantedOf(i)
		if len(wanted) == 0 {
			continue
		}
		if err := p.definitions(ctx, d, p.moduleFiles(ctx, d.file, i.Path), wanted, &budget); err != nil {
			return err
		}
	}
	if d.file.Language != syntax.Go {
		return nil
	}
	var wanted []string
	for name := range d.used {
		wanted = append(wanted, name)
	}
	return p.definitions(ctx, d, p.goFiles(ctx, path.Dir(d.file.Path), false), wanted, &budget)
}

// wantedOf are the names of a module that are used.
func (d *search) wantedOf(i syntax.Import) (names []string) {
	for _, n := range i.Names {
		if d.used[n.Local()] {
			names = append(names, n.Name)
		}
	}
	for _, local := range i.Locals {
		names = append(names, d.members[local]...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// definitions adds the symbols of those names from some files.
func (p *Project) definitions(ctx context.Context, d *search, files, wanted []string, budget *int) error {
	for _, name := range files {
		if name == d.file.Path {
			continue
		}
		if *budget--; *budget < 0 {
			d.more = true
			return nil
		}
		f, err := p.File(ctx, name, "")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			continue
		}
		for _, s := range Symbols(f) {
			if !slices.Contains(wanted, exported(s.Name)) {
				continue
			}
			if !d.add(f, s, f.Path) {
				return nil
			}
		}
	}
	return nil
}

// exported is a symbol's name as importers know it.
func exported(name string) string {
	return strings.TrimPrefix(strings.TrimPrefix(name, "module."), "exports.")
}

// moduleFiles are the files of the project that an import means; none for what
// lies outside.
func (p *Project) moduleFiles(ctx context.Context, f *syntax.File, module string) []string {
	dir := path.Dir(f.Path)
	switch f.Language {
	case syntax.Go:
		return p.goPackage(ctx, dir, module)
	case syntax.Python:
		return p.firstOf(pythonCandidates(dir, module))
	}
	if !strings.HasPrefix(module, ".") {
		return nil
	}
	return p.firstOf(scriptCandidates(path.Join(dir, module)))
}

// firstOf is the first of some files that exists.
func (p *Project) firstOf(candidates []string) []string {
	for _, c := range candidates {
		if name, _, err := p.root.Stat(c); err == nil {
			return []string{name}
		}
	}
	return nil
}

// pythonCandidates are where a module may lie: below the folder of the file and
// each one above it; relative ones only where their dots say.
func pythonCandidates(dir, module string) (files []string) {
	name := strings.TrimLeft(module, ".")
	up := len(module) - len(name)
	sub := strings.ReplaceAll(name, ".", "/")
	if up > 0 {
		for range up - 1 {
			dir = path.Join(dir, "..")
		}
		return pythonFiles(path.Join(dir, sub))
	}
	for at := dir; ; at = path.Dir(at) {
		files = append(files, pythonFiles(path.Join(at, sub))...)
		if at == "." || at == "/" || strings.HasPrefix(at, "..") {
			return append(files, pythonFiles(path.Join("src", sub))...)
		}
	}
}

func pythonFiles(module string) []string {
	return []string{module + ".py", path.Join(module, "__init__.py")}
}

// scriptCandidates are the files that JavaScript's and TypeScript's tools try
// for a relative path.
func scriptCandidates(p string) []string {
	files := []string{p}
	endings := []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs"}
	for _, e := range endings {
		files = append(files, p+e)
	}
	if base, ok := strings.CutSuffix(p, ".js"); ok { // how TypeScript names what it compiles
		files = append(files, base+".ts", base+".tsx")
	}
	for _, e := range endings {
		files = append(files, path.Join(p, "index"+e))
	}
	return files
}

// goPackage are the files of a package of the module that a file belongs to.
func (p *Project) goPackage(ctx context.Context, dir, importPath string) []string {
	for {
		if mod, err := p.root.Read(ctx, path.Join(dir, "go.mod"), 1<<20); err == nil {
			rest, ok := strings.CutPrefix(importPath+"/", moduleName(string(mod.Data))+"/")
			if !ok {
				return nil
			}
			return p.goFiles(ctx, path.Join(dir, rest), false)
		} else if !errors.Is(err, &tool.Error{Code: tool.NotFound}) || dir == "." {
			return nil
		}
		dir = path.Dir(dir)
	}
}

func moduleName(mod string) string {
	for line := range strings.Lines(mod) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), `"`)
		}
	}
	return ""
}

// goFiles are the Go files right in a folder: the tests, or the others.
func (p *Project) goFiles(ctx context.Context, dir string, tests bool) (files []string) {
	entries, err := p.root.List(ctx, dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && strings.HasSuffix(name, "_test.go") == tests && e.Type().IsRegular() {
			files = append(files, path.Join(dir, name))
		}
	}
	return files
}
