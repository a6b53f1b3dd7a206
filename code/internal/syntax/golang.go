package syntax

import (
	"cmp"
	"context"
	"go/ast"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// goTreeFactor is about how much memory go/ast takes for each byte of source.
const goTreeFactor = 12

func (f *File) parseGo(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	tree, found := parseGoAround(f.Source)
	f.Go = tree
	f.goErrors(found)
	w := &goWalk{file: f, tree: f.Go, names: map[*ast.FuncLit]string{}}
	if err := w.run(); err != nil {
		return err
	}
	f.Lines = countLines(f.Source, f.lines, f.goRemarks())
	return nil
}

func (f *File) goErrors(list scanner.ErrorList) {
	for _, e := range list {
		if len(f.Errors) == MaxErrors {
			return
		}
		message, _, _ := strings.Cut(e.Msg, ", found ")
		message, _, _ = strings.Cut(message, " (found ")
		if strings.HasPrefix(message, "illegal character") || strings.HasPrefix(message, "invalid ") {
			message = "illegal character or literal"
		}
		at := min(max(e.Pos.Offset, 0), len(f.Source))
		f.Errors = append(f.Errors, Error{f.Span(at, min(at+1, len(f.Source))), message})
	}
}

// goRemarks are the comments. What was blanked out has some, too.
func (f *File) goRemarks() []remark {
	if len(f.Errors) > 0 {
		return goComments(f.Source)
	}
	var all []remark
	for _, group := range f.Go.File.Comments {
		for _, c := range group.List {
			all = append(all, remark{f.Go.Offset(c.Pos()), f.Go.Offset(c.End())})
		}
	}
	return all
}

// goWalk reads a Go file's declarations, nested ones too.
type goWalk struct {
	file  *File
	tree  *GoTree
	names map[*ast.FuncLit]string // what literals are assigned to
	err   error
}

func (w *goWalk) run() error {
	for _, spec := range w.tree.File.Imports {
		w.imported(spec)
	}
	for _, decl := range w.tree.File.Decls {
		if g, ok := decl.(*ast.GenDecl); ok {
			w.variables(g)
		}
		ast.Walk(goVisitor{walk: w}, decl)
	}
	slices.SortStableFunc(w.file.Classes, func(a, b Class) int { return a.Span.Start - b.Span.Start })
	return w.err
}

func (w *goWalk) span(n ast.Node) Span {
	start := w.tree.Offset(n.Pos())
	return w.file.Span(start, max(start, w.tree.Offset(n.End())))
}

// whole is a declaration's span with its comment.
func (w *goWalk) whole(n ast.Node, doc *ast.CommentGroup) Span {
	s := w.span(n)
	if doc != nil {
		return w.file.Span(w.tree.Offset(doc.Pos()), s.End)
	}
	return s
}

func (w *goWalk) imported(spec *ast.ImportSpec) {
	p, err := strconv.Unquote(spec.Path.Value)
	if err != nil {
		return
	}
	i := Import{Path: p, Kind: PlainImport, Span: w.span(spec)}
	if spec.Name != nil {
		i.Alias = spec.Name.Name
	}
	switch i.Alias {
	case "_", ".":
	case "":
		i.Locals = []string{packageName(p)}
	default:
		i.Locals = []string{i.Alias}
	}
	w.file.Imports = append(w.file.Imports, i)
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

// packageName guesses what a package calls itself from its path.
func packageName(p string) string {
	base := path.Base(p)
	if majorVersion.MatchString(base) && path.Dir(p) != "." {
		base = path.Base(path.Dir(p))
	}
	base, _, _ = strings.Cut(base, ".") // gopkg.in/yaml.v3
	base = strings.TrimSuffix(strings.TrimPrefix(base, "go-"), "-go")
	return strings.ReplaceAll(base, "-", "_")
}

func (w *goWalk) variables(g *ast.GenDecl) {
	if g.Tok != token.VAR && g.Tok != token.CONST {
		return
	}
	for _, s := range g.Specs {
		spec := s.(*ast.ValueSpec)
		whole := w.whole(spec, spec.Doc)
		if len(g.Specs) == 1 {
			whole = w.whole(g, g.Doc)
		}
		for _, name := range spec.Names {
			if name.Name != "_" {
				w.file.Variables = append(w.file.Variables, Variable{name.Name, w.span(spec), whole})
			}
		}
	}
}

// class adds a named type, which g declares.
func (w *goWalk) class(spec *ast.TypeSpec, g *ast.GenDecl, prefix string) {
	c := Class{Name: spec.Name.Name, Qualified: spec.Name.Name, Kind: NamedType, Span: w.span(spec), Go: spec}
	if prefix != "" {
		c.Qualified = prefix + "." + c.Name
	}
	doc := spec.Doc
	c.Whole = w.whole(spec, doc)
	if len(g.Specs) == 1 {
		c.Whole = w.whole(g, g.Doc)
		doc = cmp.Or(doc, g.Doc)
	}
	c.Documented = doc != nil
	switch t := spec.Type.(type) {
	case *ast.StructType:
		c.Kind, c.Bases = Struct, w.embedded(t.Fields)
	case *ast.InterfaceType:
		c.Kind, c.Bases = Interface, w.embedded(t.Methods)
	}
	if spec.Assign.IsValid() {
		c.Kind = Alias
	}
	w.file.Classes = append(w.file.Classes, c)
}

// embedded are the members without names.
func (w *goWalk) embedded(list *ast.FieldList) (bases []string) {
	if list == nil {
		return nil
	}
	for _, m := range list.List {
		if len(m.Names) == 0 {
			bases = append(bases, w.text(m.Type, 100))
		}
	}
	return bases
}

func (w *goWalk) text(n ast.Node, most int) string {
	s := w.span(n)
	return shorten(w.file.Source[s.Start:s.End], most)
}

// function adds a function and returns its index.
func (w *goWalk) function(f Function, t *ast.FuncType, body *ast.BlockStmt) int {
	f.Body = w.span(body)
	f.Cyclomatic, f.Class = 1, -1
	f.Signature = shorten(w.file.Source[f.Span.Start:max(f.Span.Start, f.Body.Start)], 400)
	f.Parameters = w.parameters(t)
	w.file.Functions = append(w.file.Functions, f)
	if w.err == nil {
		w.err = w.file.tooMany()
	}
	return len(w.file.Functions) - 1
}

func (w *goWalk) parameters(t *ast.FuncType) (texts []string) {
	if t.Params == nil {
		return nil
	}
	for _, p := range t.Params.List {
		kind := w.text(p.Type, 100)
		if len(p.Names) == 0 {
			texts = append(texts, kind)
		}
		for _, name := range p.Names {
			texts = append(texts, shorten([]byte(name.Name+" "+kind), 100))
		}
		if len(texts) >= maxParameters {
			return texts[:maxParameters]
		}
	}
	return texts
}

func (w *goWalk) declared(d *ast.FuncDecl) int {
	f := Function{
		Name: d.Name.Name, Qualified: d.Name.Name, Kind: PlainFunction, Parent: -1, Go: d,
		Span: w.span(d), Whole: w.whole(d, d.Doc), Documented: d.Doc != nil,
	}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		f.Kind = Method
		f.Owner, f.Receiver = receiver(d.Recv.List[0].Type)
		f.Qualified = dotted(f.Owner, f.Name)
	}
	return w.function(f, d.Type, d.Body)
}

func (w *goWalk) literal(l *ast.FuncLit, parent int) int {
	f := Function{Name: w.names[l], Kind: Lambda, Span: w.span(l), Parent: parent, Go: l}
	f.Whole, f.Qualified = f.Span, f.Name
	if parent >= 0 && f.Name != "" {
		f.Qualified = dotted(longPrefix(w.file.Functions[parent].Qualified, ""), f.Name)
	}
	return w.function(f, l.Type, l.Body)
}

// receiver is a receiver's type, without and with its star.
func receiver(t ast.Expr) (owner, whole string) {
	star := ""
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t, star = x.X, "*"
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name, star + x.Name
		default:
			return "", ""
		}
	}
}
