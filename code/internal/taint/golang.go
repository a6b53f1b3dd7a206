package taint

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// golang brings what go/parser made of a Go file into a program. Types are
// known as far as the file itself says them.
type golang struct {
	tree    *syntax.GoTree
	imports map[string]string // the file's name of a package to its path
	fields  map[string]string // of program
}

func lowerGo(f *syntax.File) *program {
	g := &golang{tree: f.Go, imports: map[string]string{}, fields: map[string]string{}}
	if f.Go == nil || f.Go.File == nil {
		return &program{}
	}
	p := &program{fields: g.fields, errors: true}
	for _, i := range f.Imports {
		for _, name := range i.Locals {
			g.imports[name] = i.Path
			p.body = append(p.body, imported(int32(i.Span.Start), name, i.Path))
		}
	}
	for _, d := range f.Go.File.Decls {
		g.structs(d)
	}
	for _, d := range f.Go.File.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			p.body = g.declaration(p.body, d)
		case *ast.FuncDecl:
			if d.Body != nil {
				p.body = append(p.body, stmt{kind: doFunction, at: g.at(d), fn: g.function(d.Name.Name, d.Recv, d.Type, d.Body)})
			}
		}
	}
	return p
}

func (g *golang) at(n ast.Node) int32 { return int32(g.tree.Offset(n.Pos())) }

// structs notes the types of the fields of a file's structs.
func (g *golang) structs(d ast.Decl) {
	gen, ok := d.(*ast.GenDecl)
	if !ok {
		return
	}
	for _, s := range gen.Specs {
		t, ok := s.(*ast.TypeSpec)
		if !ok {
			continue
		}
		if st, ok := t.Type.(*ast.StructType); ok {
			for _, f := range st.Fields.List {
				for _, name := range f.Names {
					if typed, _ := g.typed(f.Type); typed != "" {
						g.fields[t.Name.Name+"."+name.Name] = typed
					}
				}
			}
		}
	}
}

// typed is the path of a type, and whether text can be in it.
func (g *golang) typed(x ast.Expr) (name string, text bool) {
	switch t := x.(type) {
	case *ast.Ident:
		switch t.Name {
		case "string", "any", "byte", "rune":
			return "", true
		case "bool", "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "float32", "float64", "error":
			return "", false
		}
		return t.Name, false
	case *ast.StarExpr:
		return g.typed(t.X)
	case *ast.ParenExpr:
		return g.typed(t.X)
	case *ast.SelectorExpr:
		if pkg, ok := t.X.(*ast.Ident); ok {
			name = cmp.Or(g.imports[pkg.Name], pkg.Name) + "." + t.Sel.Name
			switch name {
			case "net/url.Values", "io.Reader", "io.ReadCloser", "encoding/json.RawMessage":
				return name, true
			}
			return name, false
		}
	case *ast.ArrayType:
		_, text = g.typed(t.Elt)
		return "", text
	case *ast.Ellipsis:
		_, text = g.typed(t.Elt)
		return "", text
	case *ast.MapType:
		_, key := g.typed(t.Key)
		_, value := g.typed(t.Value)
		return "", key || value
	case *ast.InterfaceType:
		return "", t.Methods == nil || len(t.Methods.List) == 0
	}
	return "", false
}

func (g *golang) function(name string, recv *ast.FieldList, t *ast.FuncType, body *ast.BlockStmt) *function {
	fn := &function{name: name, at: g.at(t)}
	for _, list := range []*ast.FieldList{recv, t.Params} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			typed, text := g.typed(f.Type)
			for _, n := range f.Names {
				fn.params = append(fn.params, param{name: n.Name, typed: cmp.Or(typed, "value"), harmless: !text, at: g.at(n)})
			}
		}
	}
	fn.body = g.block(body)
	return fn
}

func (g *golang) block(b *ast.BlockStmt) (out []stmt) {
	if b == nil {
		return nil
	}
	return g.list(b.List)
}

func (g *golang) list(list []ast.Stmt) (out []stmt) {
	for _, s := range list {
		out = g.stmt(out, s)
	}
	return out
}

func (g *golang) stmt(out []stmt, n ast.Stmt) []stmt {
	if n == nil {
		return out
	}
	at := g.at(n)
	switch n := n.(type) {
	case *ast.ExprStmt:
		return append(out, stmt{kind: doExpr, at: at, value: g.expr(n.X)})
	case *ast.AssignStmt:
		return g.assign(out, n)
	case *ast.DeclStmt:
		if d, ok := n.Decl.(*ast.GenDecl); ok {
			return g.declaration(out, d)
		}
	case *ast.IfStmt:
		s := stmt{kind: doIf, at: at, value: g.expr(n.Cond), body: g.block(n.Body), other: g.stmt(nil, n.Else)}
		return append(out, g.scoped(at, n.Init, s))
	case *ast.ForStmt:
		s := stmt{kind: doLoop, at: at, value: g.condition(n.Cond, at), body: g.stmt(g.block(n.Body), n.Post)}
		return append(out, g.scoped(at, n.Init, s))
	case *ast.RangeStmt:
		s := stmt{kind: doLoop, at: at, from: g.expr(n.X), body: g.block(n.Body)}
		for _, t := range []ast.Expr{n.Key, n.Value} {
			if t != nil && !counts(t) {
				s.targets = append(s.targets, g.expr(t))
			}
		}
		return append(out, s)
	case *ast.SwitchStmt:
		return append(out, g.scoped(at, n.Init, g.cases(n)))
	case *ast.TypeSwitchStmt:
		s := stmt{kind: doSwitch, at: at, clauses: g.clauses(n.Body, false)}
		return append(out, g.scoped(at, n.Init, stmt{kind: doBlock, at: at, body: append(g.stmt(nil, n.Assign), s)}))
	case *ast.SelectStmt:
		return append(out, stmt{kind: doSwitch, at: at, clauses: g.clauses(n.Body, false)})
	case *ast.BlockStmt:
		return append(out, stmt{kind: doBlock, at: at, body: g.block(n)})
	case *ast.LabeledStmt:
		return g.stmt(out, n.Stmt)
	case *ast.ReturnStmt:
		s := stmt{kind: doReturn, at: at}
		if len(n.Results) > 0 {
			s.value = g.expr(n.Results[0])
		}
		for _, r := range n.Results[min(1, len(n.Results)):] {
			out = append(out, stmt{kind: doExpr, at: g.at(r), value: g.expr(r)})
		}
		return append(out, s)
	case *ast.BranchStmt:
		switch n.Tok {
		case token.BREAK:
			return append(out, stmt{kind: doBreak, at: at})
		case token.CONTINUE:
			return append(out, stmt{kind: doContinue, at: at})
		}
	case *ast.DeferStmt:
		return append(out, stmt{kind: doExpr, at: at, value: g.expr(n.Call)})
	case *ast.GoStmt:
		return append(out, stmt{kind: doExpr, at: at, value: g.expr(n.Call)})
	case *ast.SendStmt:
		return append(out, stmt{kind: doExpr, at: at, value: &expr{kind: anUnknown, parts: []*expr{g.expr(n.Chan), g.expr(n.Value)}, at: at}})
	}
	return out
}

// counts says whether a loop's variable is by its name a number.
func counts(x ast.Expr) bool {
	name, ok := x.(*ast.Ident)
	return ok && (name.Name == "i" || name.Name == "j" || name.Name == "n" || name.Name == "idx" || name.Name == "index")
}

func (g *golang) scoped(at int32, init ast.Stmt, s stmt) stmt {
	if init == nil {
		return s
	}
	return stmt{kind: doBlock, at: at, body: append(g.stmt(nil, init), s)}
}

func (g *golang) condition(x ast.Expr, at int32) *expr {
	if x == nil {
		return &expr{kind: aNumber, text: "true", at: at}
	}
	return g.expr(x)
}

// cases is a switch. One without a value is a chain of ifs in a switch that is
// only there to break out of.
func (g *golang) cases(n *ast.SwitchStmt) stmt {
	at := g.at(n)
	if n.Tag != nil {
		return stmt{kind: doSwitch, at: at, value: g.expr(n.Tag), clauses: g.clauses(n.Body, true)}
	}
	var chain []stmt
	list := g.clauses(n.Body, true)
	for _, c := range list {
		if c.fallback {
			chain = c.body
		}
	}
	for _, c := range slices.Backward(list) {
		if c.fallback || len(c.values) == 0 {
			continue
		}
		cond := c.values[0]
		for _, v := range c.values[1:] {
			cond = &expr{kind: anOr, parts: []*expr{cond, v}, at: v.at}
		}
		chain = []stmt{{kind: doIf, at: cond.at, value: cond, body: c.body, other: chain}}
	}
	return stmt{kind: doSwitch, at: at, clauses: []clause{{fallback: true, body: chain}}}
}

func (g *golang) clauses(b *ast.BlockStmt, values bool) (out []clause) {
	for _, s := range b.List {
		switch c := s.(type) {
		case *ast.CaseClause:
			one := clause{body: g.list(c.Body), fallback: c.List == nil}
			if n := len(c.Body); n > 0 {
				branch, ok := c.Body[n-1].(*ast.BranchStmt)
				one.falls = ok && branch.Tok == token.FALLTHROUGH
			}
			for _, v := range c.List {
				if values {
					one.values = append(one.values, g.expr(v))
				}
			}
			out = append(out, one)
		case *ast.CommClause:
			out = append(out, clause{body: append(g.stmt(nil, c.Comm), g.list(c.Body)...), fallback: c.Comm == nil})
		}
	}
	return out
}

func (g *golang) assign(out []stmt, n *ast.AssignStmt) []stmt {
	at := g.at(n)
	one := func(targets []ast.Expr, failed, value *expr, adds bool) {
		s := stmt{kind: doAssign, at: at, declare: n.Tok == token.DEFINE, adds: adds, value: value}
		for _, t := range targets {
			s.targets = append(s.targets, g.expr(t))
		}
		if failed != nil {
			s.targets = append(s.targets, failed)
		}
		out = append(out, s)
	}
	switch {
	case n.Tok != token.ASSIGN && n.Tok != token.DEFINE:
		one(n.Lhs, nil, g.expr(n.Rhs[0]), true)
	case len(n.Rhs) == len(n.Lhs):
		for i := range n.Lhs {
			one(n.Lhs[i:i+1], nil, g.expr(n.Rhs[i]), false)
		}
	default:
		g.several(n, one)
	}
	return out
}

// several is an assignment of one call's results to several names. What is
// called err is an error, and holds no text of the call's. The second of an
// index's two results tells whether it was there.
func (g *golang) several(n *ast.AssignStmt, one func([]ast.Expr, *expr, *expr, bool)) {
	var rest []ast.Expr
	var failed *expr
	for i, t := range n.Lhs {
		name, _ := t.(*ast.Ident)
		_, index := n.Rhs[0].(*ast.IndexExpr)
		switch {
		case name != nil && name.Name == "_":
		case name != nil && (name.Name == "err" || strings.HasSuffix(name.Name, "Err")):
			failed = &expr{kind: anError, parts: []*expr{g.expr(t)}, at: g.at(t)}
		case index && i == 1:
			defer one([]ast.Expr{t}, nil, g.expr(n.Rhs[0]), false)
		default:
			rest = append(rest, t)
		}
	}
	one(rest, failed, g.expr(n.Rhs[0]), false)
}

func (g *golang) declaration(out []stmt, d *ast.GenDecl) []stmt {
	for _, s := range d.Specs {
		v, ok := s.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, name := range v.Names {
			at := g.at(name)
			one := stmt{kind: doAssign, at: at, declare: true, targets: []*expr{g.expr(name)}}
			switch typed, _ := g.typed(v.Type); {
			case i < len(v.Values):
				one.value = g.expr(v.Values[i])
			case len(v.Values) == 1:
				one.value = g.expr(v.Values[0])
			case typed != "":
				one.value = &expr{kind: aPath, text: typed, at: at}
			default:
				one.value = &expr{kind: aLiteral, at: at}
			}
			out = append(out, one)
		}
	}
	return out
}

func (g *golang) expr(n ast.Expr) *expr {
	if n == nil {
		return nil
	}
	x := &expr{at: g.at(n)}
	switch n := n.(type) {
	case *ast.Ident:
		x.kind, x.text = aName, n.Name
		switch n.Name {
		case "true", "false", "nil":
			x.kind = aNumber
		}
	case *ast.BasicLit:
		x.kind, x.text = aNumber, n.Value
		if n.Kind == token.STRING {
			x.kind = aLiteral
			x.text, _ = strconv.Unquote(n.Value)
		}
	case *ast.SelectorExpr:
		x.kind, x.text, x.parts = aMember, n.Sel.Name, []*expr{g.expr(n.X)}
		x.at = int32(g.tree.Offset(n.Sel.Pos()))
	case *ast.IndexExpr:
		x.kind, x.parts = anIndex, []*expr{g.expr(n.X), g.expr(n.Index)}
	case *ast.CallExpr:
		g.call(x, n)
	case *ast.BinaryExpr:
		g.binary(x, n)
	case *ast.UnaryExpr:
		switch n.Op {
		case token.NOT:
			x.kind, x.parts = aNot, []*expr{g.expr(n.X)}
		case token.AND, token.ARROW:
			return g.expr(n.X)
		case token.SUB:
			if lit, ok := n.X.(*ast.BasicLit); ok {
				x.kind, x.text = aNumber, "-"+lit.Value
			}
		}
	case *ast.CompositeLit:
		g.composite(x, n)
	case *ast.FuncLit:
		x.kind, x.fn = aFunction, g.function("", nil, n.Type, n.Body)
	case *ast.StarExpr:
		return g.expr(n.X)
	case *ast.ParenExpr:
		return g.expr(n.X)
	case *ast.TypeAssertExpr:
		return g.expr(n.X)
	case *ast.SliceExpr:
		return g.expr(n.X)
	case *ast.IndexListExpr:
		return g.expr(n.X)
	case *ast.ArrayType, *ast.MapType, *ast.InterfaceType, *ast.FuncType, *ast.ChanType, *ast.StructType:
		x.kind, x.text = aPath, "[]type"
	}
	return x
}

func (g *golang) call(x *expr, n *ast.CallExpr) {
	x.kind, x.parts = aCall, []*expr{g.expr(n.Fun)}
	for i, a := range n.Args {
		name := ""
		if n.Ellipsis.IsValid() && i == len(n.Args)-1 {
			name = "..."
		}
		x.add(name, g.expr(a))
	}
}

func (g *golang) binary(x *expr, n *ast.BinaryExpr) {
	x.parts = []*expr{g.expr(n.X), g.expr(n.Y)}
	switch n.Op {
	case token.ADD:
		x.kind = aText
		x.fold()
	case token.LAND:
		x.kind = anAnd
	case token.LOR:
		x.kind = anOr
	case token.EQL, token.NEQ, token.LSS, token.GTR, token.LEQ, token.GEQ:
		x.kind, x.text = aComparison, n.Op.String()
	}
}

// composite is a struct, a map or a list.
func (g *golang) composite(x *expr, n *ast.CompositeLit) {
	x.kind = aList
	if n.Type != nil {
		x.text, _ = g.typed(n.Type)
	}
	for _, e := range n.Elts {
		name := ""
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e, name = kv.Value, "?"
			switch key := kv.Key.(type) {
			case *ast.Ident:
				if x.text != "" || n.Type == nil {
					name = key.Name
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(key.Value); err == nil && text != "" {
					name = text
				}
			}
		}
		x.add(name, g.expr(e))
	}
}
