package codetools

import (
	"go/ast"
	"go/token"
	"go/types"
)

// define takes down what a file declares under the name, variables of functions
// apart.
func (c *goChecker) define(f *ast.File) {
	name := c.search.wanted.name
	add := func(id *ast.Ident, owner string) {
		if id.Name == name {
			c.definitions = append(c.definitions, goDefinition{id.Pos(), f.Name.Name, dottedName(owner, id.Name), false})
		}
	}
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			owner := ""
			if d.Recv != nil && len(d.Recv.List) > 0 {
				owner = receiverName(d.Recv.List[0].Type)
			}
			add(d.Name, owner)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Name, "")
				case *ast.ValueSpec:
					for _, id := range s.Names {
						add(id, "")
					}
				}
			}
		}
	}
	goFields(f, func(id *ast.Ident, owner string, t ast.Expr) {
		if add(id, owner); id.Name == name {
			c.definitions[len(c.definitions)-1].value = !mayBeCalled(t)
		}
	})
}

func dottedName(owner, name string) string {
	if owner == "" {
		return name
	}
	return owner + "." + name
}

// goFields are the fields and methods in all types of a file, with the name of
// the type, "" for one that has none, and what they are.
func goFields(f *ast.File, add func(id *ast.Ident, owner string, t ast.Expr)) {
	owner, end := "", token.NoPos
	ast.Inspect(f, func(n ast.Node) bool {
		var list *ast.FieldList
		switch n := n.(type) {
		case *ast.TypeSpec:
			owner, end = n.Name.Name, n.End()
		case *ast.StructType:
			list = n.Fields
		case *ast.InterfaceType:
			list = n.Methods
		}
		if list == nil {
			return true
		}
		within := owner
		if list.Pos() >= end {
			within = ""
		}
		for _, field := range list.List {
			for _, id := range field.Names {
				add(id, within, field.Type)
			}
		}
		return true
	})
}

// mayBeCalled says whether a field of a type may be a function, as far as its
// text tells: a name may stand for a type of functions.
func mayBeCalled(t ast.Expr) bool {
	switch t := t.(type) {
	case *ast.ArrayType, *ast.MapType, *ast.ChanType, *ast.StructType, *ast.InterfaceType, *ast.StarExpr:
		return false
	case *ast.Ident:
		_, builtin := types.Universe.Lookup(t.Name).(*types.TypeName)
		return !builtin
	}
	return true
}

func receiverName(t ast.Expr) string {
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name
		default:
			return ""
		}
	}
}
