package codetools

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// Bounds on what is type-checked for one call.
const (
	maxPackages   = 400
	maxGoBytes    = 48 << 20
	maxCheckDepth = 3_000 // of a tree: the type checker recurses
)

var errNotChecked = errors.New("the package is not checked")

// A goChecker type-checks packages of the project from their source. What lies
// outside of the folder is not read, so what depends on it stays unknown.
type goChecker struct {
	ctx      context.Context
	search   *referenceSearch
	set      *token.FileSet
	wanted   map[string]bool // folders whose function bodies are of interest
	tested   map[string]bool // those of them whose tests are, too
	packages map[string]*goPackage
	bytes    int // of what was parsed

	definitions []goDefinition
	uses        []goUse
	seen        map[string]bool // files that were checked
}

type goPackage struct {
	types *types.Package // nil while it is checked, and where it cannot be
	files []*ast.File
}

type goDefinition struct {
	pos       token.Pos
	pkg, full string
	value     bool // a field that cannot be called
}

type goUse struct {
	pos, of token.Pos // NoPos for what could not be resolved
	called  bool
	member  bool
	from    string // the package that it is looked up in, where that could not be resolved
}

func newGoChecker(ctx context.Context, s *referenceSearch) *goChecker {
	return &goChecker{
		ctx: ctx, search: s, set: token.NewFileSet(),
		wanted: map[string]bool{}, tested: map[string]bool{}, packages: map[string]*goPackage{}, seen: map[string]bool{},
	}
}

// Import implements types.Importer for packages of the project.
func (c *goChecker) Import(importPath string) (*types.Package, error) {
	if importPath == "unsafe" {
		return types.Unsafe, nil
	}
	dir, ok := c.search.layout.goDir(importPath)
	if !ok || c.ctx.Err() != nil {
		return nil, errNotChecked
	}
	if p := c.load(dir); p.types != nil {
		return p.types, nil
	}
	return nil, errNotChecked
}

// load checks the package of a folder, once.
func (c *goChecker) load(dir string) *goPackage {
	if p, ok := c.packages[dir]; ok {
		return p
	}
	p := &goPackage{}
	c.packages[dir] = p
	if len(c.packages) > maxPackages {
		return p
	}
	p.files = c.parse(dir, false)
	if len(p.files) == 0 {
		return p
	}
	p.types = c.check(c.search.layout.importPath(dir), p.files, c.wanted[dir], c)
	if !c.wanted[dir] {
		p.files = nil
	}
	return p
}

// checkAll checks a folder with its tests.
func (c *goChecker) checkAll(dir string) {
	p := c.load(dir)
	if !c.tested[dir] {
		p.files = nil
		return
	}
	var inside, outside []*ast.File
	for _, f := range c.parse(dir, true) {
		if strings.HasSuffix(f.Name.Name, "_test") && (len(p.files) == 0 || f.Name.Name != p.files[0].Name.Name) {
			outside = append(outside, f)
		} else {
			inside = append(inside, f)
		}
	}
	importPath := c.search.layout.importPath(dir)
	imports := types.Importer(c)
	if len(inside) > 0 {
		if with := c.check(importPath, append(slices.Clone(p.files), inside...), true, c); with != nil {
			imports = instead{c, importPath, with}
		}
	}
	if len(outside) > 0 {
		c.check(importPath+"_test", outside, true, imports)
	}
	p.files = nil
}

// instead imports a package with its tests.
type instead struct {
	types.Importer
	path string
	with *types.Package
}

func (i instead) Import(importPath string) (*types.Package, error) {
	if importPath == i.path {
		return i.with, nil
	}
	return i.Importer.Import(importPath)
}

// parse reads the files of a folder that are built for the platform: the tests,
// or the others.
func (c *goChecker) parse(dir string, tests bool) (files []*ast.File) {
	for _, name := range c.search.project.goFiles(c.ctx, dir, tests) {
		if f := c.parseFile(name); f != nil {
			files = append(files, f)
		}
	}
	if tests || len(files) == 0 {
		return files
	}
	return slices.DeleteFunc(files, func(f *ast.File) bool { return f.Name.Name != files[0].Name.Name }) // a package has one name
}

func (c *goChecker) parseFile(name string) *ast.File {
	file, err := c.search.project.root.Read(c.ctx, name, syntax.MaxBytes)
	if err != nil || c.bytes+len(file.Data) > maxGoBytes || tooManyBrackets(file.Data) {
		return nil
	}
	if !builtFor(c.search.platform, name, file.Data) {
		return nil
	}
	c.bytes += len(file.Data)
	f, _ := parser.ParseFile(c.set, name, file.Data, parser.SkipObjectResolution)
	if f == nil || f.Name == nil || tooDeep(f) {
		return nil
	}
	c.define(f)
	return f
}

// tooManyBrackets is a rough bound, made before the parser recurses.
func tooManyBrackets(src []byte) bool {
	depth := 0
	for _, b := range src {
		switch b {
		case '(', '[', '{':
			if depth++; depth > maxCheckDepth {
				return true
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return false
}

// tooDeep says whether the type checker would recurse too deep.
func tooDeep(f *ast.File) bool {
	deep := false
	ast.Walk(depthVisitor{&deep, 0}, f)
	return deep
}

type depthVisitor struct {
	deep  *bool
	depth int
}

// Visit implements ast.Visitor.
func (v depthVisitor) Visit(ast.Node) ast.Visitor {
	if v.depth > maxCheckDepth {
		*v.deep = true
	}
	if *v.deep {
		return nil
	}
	return depthVisitor{v.deep, v.depth + 1}
}

// check type-checks a package, and keeps the places of the wanted name where
// its function bodies are of interest. It is nil where that fails altogether.
func (c *goChecker) check(importPath string, files []*ast.File, bodies bool, imports types.Importer) (pkg *types.Package) {
	defer func() {
		if recover() != nil { // a fault of the checker, on code that does not compile
			pkg = nil
		}
	}()
	conf := types.Config{
		Importer: imports, Error: func(error) {}, FakeImportC: true, IgnoreFuncBodies: !bodies, DisableUnusedImportCheck: true,
		Sizes: types.SizesFor("gc", c.search.platform.GOARCH),
	}
	var info *types.Info
	if bodies {
		info = &types.Info{Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}}
	}
	pkg, _ = conf.Check(importPath, c.set, files, info)
	if bodies && pkg != nil {
		for _, f := range files {
			c.collect(f, info)
		}
	}
	return pkg
}

// collect takes down where the name stands in a file.
func (c *goChecker) collect(f *ast.File, info *types.Info) {
	at := c.set.PositionFor(f.Package, false).Filename
	if c.seen[at] {
		return // it was checked without the tests already
	}
	c.seen[at] = true
	name := c.search.wanted.name
	calls := goCalls(f, name)
	members, from := map[*ast.Ident]bool{}, map[*ast.Ident]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			members[n.Sel] = true
			if id, ok := n.X.(*ast.Ident); ok {
				if pkg, ok := info.Uses[id].(*types.PkgName); ok {
					from[n.Sel] = pkg.Imported().Path()
				}
			}
		case *ast.KeyValueExpr:
			if id, ok := n.Key.(*ast.Ident); ok {
				members[id] = true
			}
		case *ast.Ident:
			if obj, declares := info.Defs[n]; n.Name == name && n != f.Name && (!declares || info.Uses[n] != nil || obj == nil && members[n]) {
				c.uses = append(c.uses, goUse{n.Pos(), definedAt(info.Uses[n]), calls[int(n.Pos()-f.FileStart)], members[n], from[n]})
			}
		}
		return true
	})
}

// definedAt is where an object is declared, a generic one for its instances.
func definedAt(obj types.Object) token.Pos {
	switch o := obj.(type) {
	case nil:
		return token.NoPos
	case *types.Func:
		obj = o.Origin()
	case *types.Var:
		obj = o.Origin()
	}
	if obj.Pos() == token.NoPos { // a builtin: known, and not ours
		return token.Pos(-1)
	}
	return obj.Pos()
}
