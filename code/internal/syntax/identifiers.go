package syntax

import (
	"go/ast"
	"iter"
)

// Identifier is one occurrence of a name in the code: not in comments, nor in
// strings, but in what is interpolated into strings.
type Identifier struct {
	Name       string
	Start, End int // byte offsets
	// Member says that the name is looked up in something: after a dot, as the
	// name of an argument, of a method or of an object's or struct's field.
	Member bool
}

// Identifiers are the occurrences of names within a span, in the order of the
// text.
func (f *File) Identifiers(within Span) iter.Seq[Identifier] {
	if f.Go != nil {
		return f.goIdentifiers(within)
	}
	return f.treeIdentifiers(within)
}

func (f *File) treeIdentifiers(within Span) iter.Seq[Identifier] {
	return func(yield func(Identifier) bool) {
		for n := f.Tree.Root(); n.OK() && int(n.index) < f.Tree.Len() && n.Start() < within.End; {
			if n.End() <= within.Start {
				n.index = n.after() // none of it is of interest
				continue
			}
			if n.Start() >= within.Start && n.at().size == 1 {
				member, ok := isIdentifier(n)
				if ok && n.Start() < n.End() && !yield(Identifier{n.Text(), n.Start(), n.End(), member}) {
					return
				}
			}
			n.index++
		}
	}
}

// isIdentifier says whether a node is a name, and whether of a member.
func isIdentifier(n Node) (member, ok bool) {
	switch n.Kind() {
	case "identifier":
		switch n.FieldName() {
		case "attribute":
			return true, true
		case "name":
			k := n.Parent().Kind()
			return k == "keyword_argument", true
		}
		return false, true
	case "property_identifier", "private_property_identifier":
		return true, true
	case "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier":
		return false, true
	}
	return false, false
}

func (f *File) goIdentifiers(within Span) iter.Seq[Identifier] {
	return func(yield func(Identifier) bool) {
		v := &goIdentifierVisitor{file: f, within: within, yield: yield, members: map[*ast.Ident]bool{}}
		for _, decl := range f.Go.File.Decls {
			if v.done {
				return
			}
			ast.Walk(v, decl)
		}
	}
}

type goIdentifierVisitor struct {
	file    *File
	within  Span
	yield   func(Identifier) bool
	members map[*ast.Ident]bool
	done    bool
}

// Visit implements ast.Visitor.
func (v *goIdentifierVisitor) Visit(n ast.Node) ast.Visitor {
	if n == nil || v.done || v.outside(n) {
		return nil
	}
	switch n := n.(type) {
	case *ast.SelectorExpr:
		v.members[n.Sel] = true
	case *ast.FuncDecl:
		if n.Recv != nil {
			v.members[n.Name] = true
		}
	case *ast.StructType:
		v.fields(n.Fields)
	case *ast.InterfaceType:
		v.fields(n.Methods)
	case *ast.CompositeLit:
		v.keys(n)
	case *ast.Ident:
		v.identifier(n)
	}
	return v
}

// outside asks declarations and statements only: how long an expression is
// takes a walk to find out.
func (v *goIdentifierVisitor) outside(n ast.Node) bool {
	switch n.(type) {
	case ast.Decl, ast.Stmt, ast.Spec:
		g := v.file.Go
		return g.Offset(n.End()) <= v.within.Start || g.Offset(n.Pos()) >= v.within.End
	}
	return false
}

func (v *goIdentifierVisitor) fields(list *ast.FieldList) {
	if list == nil {
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			v.members[name] = true
		}
	}
}

// keys of a literal without a type of its own, or of a named type, are taken
// for fields; those of maps and arrays are not.
func (v *goIdentifierVisitor) keys(c *ast.CompositeLit) {
	switch c.Type.(type) {
	case *ast.MapType, *ast.ArrayType:
		return
	}
	for _, e := range c.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if key, ok := kv.Key.(*ast.Ident); ok {
				v.members[key] = true
			}
		}
	}
}

func (v *goIdentifierVisitor) identifier(id *ast.Ident) {
	start := v.file.Go.Offset(id.Pos())
	end := start + len(id.Name)
	if start < v.within.Start || end > v.within.End || id.Name == "_" {
		return
	}
	if !v.yield(Identifier{id.Name, start, end, v.members[id]}) {
		v.done = true
	}
}
