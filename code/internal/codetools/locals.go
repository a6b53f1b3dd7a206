package codetools

import (
	"go/ast"
	"go/token"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// declaredIn are the names that a function declares for itself: parameters and
// local variables. They hide what the file has under the same name.
func declaredIn(f *syntax.File, s Symbol) map[string]bool {
	if s.Function < 0 {
		return nil
	}
	names := map[string]bool{}
	fn := f.Functions[s.Function]
	if f.Go != nil {
		goLocals(fn.Go, names)
		return names
	}
	treeLocals(fn.Node, names)
	return names
}

// selfNames are what a method calls the object that it belongs to.
func selfNames(f *syntax.File, s Symbol) []string {
	if s.Function < 0 {
		return nil
	}
	if d, ok := f.Functions[s.Function].Go.(*ast.FuncDecl); ok {
		if d.Recv != nil && len(d.Recv.List) > 0 && len(d.Recv.List[0].Names) > 0 {
			return []string{d.Recv.List[0].Names[0].Name}
		}
		return nil
	}
	return []string{"self", "cls", "this"}
}

func goLocals(root ast.Node, names map[string]bool) {
	declare := func(list ...ast.Expr) {
		for _, e := range list {
			if id, ok := e.(*ast.Ident); ok {
				names[id.Name] = true
			}
		}
	}
	ast.Inspect(root, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				declare(n.Lhs...)
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				declare(n.Key, n.Value)
			}
		case *ast.ValueSpec:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		case *ast.StructType, *ast.InterfaceType:
			return false
		case *ast.Field:
			for _, id := range n.Names {
				names[id.Name] = true
			}
		}
		return true
	})
}

// declaring says under which fields of which nodes names are declared. A name
// that stands in a value or type there is used, not declared.
var declaring = map[string]string{
	"variable_declarator": "name", "catch_clause": "parameter", "arrow_function": "parameter",
	"assignment": "left", "for_statement": "left", "for_in_clause": "left", "named_expression": "name", "for_in_statement": "left",
}

func treeLocals(root syntax.Node, names map[string]bool) {
	for n := range root.All() {
		switch n.Kind() {
		case "identifier", "shorthand_property_identifier_pattern":
			if isDeclared(n, root) {
				names[n.Text()] = true
			}
		}
	}
}

// isDeclared climbs from a name through the pattern that it stands in.
func isDeclared(n, root syntax.Node) bool {
	for range 20 { // patterns are not nested deeper
		p := n.Parent()
		if !root.Contains(p) {
			return false
		}
		switch p.Kind() {
		case "parameters", "formal_parameters", "lambda_parameters", "as_pattern_target":
			return true
		case "attribute", "subscript", "member_expression", "subscript_expression", "call", "call_expression":
			return false
		}
		field := n.FieldName()
		if field == "value" && p.Kind() != "pair_pattern" || field == "right" || field == "type" || field == "key" || field == "body" {
			return false
		}
		if declaring[p.Kind()] == field && field != "" {
			return true
		}
		n = p
	}
	return false
}
