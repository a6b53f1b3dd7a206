package syntax

import (
	"go/ast"
	"go/token"
)

// A goVisitor goes through one declaration, and counts decisions for the
// function that it is in.
type goVisitor struct {
	walk *goWalk
	in   *goScope     // nil outside of functions
	nest int          // how deep the place is nested
	op   token.Token  // the logical operator whose operand this is, or ILLEGAL
	decl *ast.GenDecl // the declaration around a spec
}

// A goScope is a function that is being counted.
type goScope struct {
	index  int
	base   int // the nesting right inside
	events int // of cognitive complexity that count nesting
}

func (v goVisitor) function() *Function { return &v.walk.file.Functions[v.in.index] }

func (v goVisitor) decision() {
	if v.in != nil {
		v.function().Cyclomatic++
	}
}

func (v goVisitor) flat() {
	if v.in != nil {
		v.function().Cognitive++
	}
}

func (v goVisitor) nested() {
	if v.in != nil {
		v.function().Cognitive += 1 + v.nest - v.in.base
		v.in.events++
	}
}

func (v goVisitor) deeper() goVisitor {
	v.nest++
	return v
}

// Visit implements ast.Visitor.
func (v goVisitor) Visit(n ast.Node) ast.Visitor {
	if v.walk.err != nil {
		return nil
	}
	op := v.op
	v.op = token.ILLEGAL
	switch n := n.(type) {
	case *ast.ParenExpr:
		v.op = op
	case *ast.BinaryExpr:
		v.binary(n, op)
		if n.Op == token.LAND || n.Op == token.LOR {
			v.op = n.Op
		}
	case *ast.GenDecl:
		v.decl = n
	case *ast.TypeSpec:
		v.class(n)
	case *ast.ValueSpec:
		v.assigned(identifiers(n.Names), n.Values)
	case *ast.AssignStmt:
		v.assigned(n.Lhs, n.Rhs)
	case *ast.FuncDecl:
		return v.declaration(n)
	case *ast.FuncLit:
		v.literal(n)
		return nil
	default:
		return v.statement(n)
	}
	return v
}

func (v goVisitor) binary(n *ast.BinaryExpr, around token.Token) {
	if n.Op != token.LAND && n.Op != token.LOR {
		return
	}
	v.decision()
	if around != n.Op {
		v.flat()
	}
}

func (v goVisitor) statement(n ast.Node) ast.Visitor {
	switch n := n.(type) {
	case *ast.IfStmt:
		v.branches(n)
		return nil
	case *ast.ForStmt:
		v.decision()
		return v.nesting(n.Body, n.Init, n.Cond, n.Post)
	case *ast.RangeStmt:
		v.decision()
		return v.nesting(n.Body, n.Key, n.Value, n.X)
	case *ast.SwitchStmt:
		return v.nesting(n.Body, n.Init, n.Tag)
	case *ast.TypeSwitchStmt:
		return v.nesting(n.Body, n.Init, n.Assign)
	case *ast.SelectStmt:
		return v.nesting(n.Body)
	case *ast.CaseClause:
		if n.List != nil {
			v.decision()
		}
	case *ast.CommClause:
		if n.Comm != nil {
			v.decision()
		}
	case *ast.BranchStmt:
		if n.Label != nil {
			v.flat()
		}
	}
	return v
}

// nesting visits a statement whose body lies deeper than its head. Nothing of it
// is left to be visited.
func (v goVisitor) nesting(body *ast.BlockStmt, head ...ast.Node) ast.Visitor {
	v.nested()
	v.all(head...)
	ast.Walk(v.deeper(), body)
	return nil
}

// all visits what there is of some nodes.
func (v goVisitor) all(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			ast.Walk(v, n)
		}
	}
}

// branches goes along a chain of else if, which is no deeper for being long.
func (v goVisitor) branches(n *ast.IfStmt) {
	v.nested()
	for {
		v.decision()
		v.all(n.Init, n.Cond)
		ast.Walk(v.deeper(), n.Body)
		if n.Else == nil {
			return
		}
		v.flat()
		next, chained := n.Else.(*ast.IfStmt)
		if !chained {
			ast.Walk(v.deeper(), n.Else)
			return
		}
		n = next
	}
}

func (v goVisitor) declaration(d *ast.FuncDecl) ast.Visitor {
	if d.Body == nil {
		return nil
	}
	v.in = &goScope{index: v.walk.declared(d)}
	v.nest = 0
	return v
}

func (v goVisitor) literal(l *ast.FuncLit) {
	parent := -1
	if v.in != nil {
		parent = v.in.index
	}
	inner := v.deeper()
	inner.in = &goScope{index: v.walk.literal(l, parent), base: inner.nest}
	ast.Walk(inner, l.Type)
	ast.Walk(inner, l.Body)
	if v.in != nil {
		v.function().Cognitive += inner.function().Cognitive + inner.in.events*(inner.in.base-v.in.base)
		v.in.events += inner.in.events
	}
}

func (v goVisitor) class(spec *ast.TypeSpec) {
	if v.decl == nil {
		return
	}
	prefix := ""
	if v.in != nil {
		prefix = longPrefix(v.function().Qualified, "")
	}
	v.walk.class(spec, v.decl, prefix)
}

// assigned remembers what function literals are assigned to.
func (v goVisitor) assigned(names, values []ast.Expr) {
	if len(names) != len(values) {
		return
	}
	for i, value := range values {
		literal, ok := value.(*ast.FuncLit)
		if id, named := names[i].(*ast.Ident); ok && named && id.Name != "_" {
			v.walk.names[literal] = id.Name
		}
	}
}

func identifiers(names []*ast.Ident) []ast.Expr {
	all := make([]ast.Expr, len(names))
	for i, n := range names {
		all[i] = n
	}
	return all
}
