package syntax

import "strings"

var pythonRoles = map[string]role{
	"function_definition": roleFunction, "lambda": roleFunction,
	"class_definition": roleClass,
	"if_statement":     roleIf, "elif_clause": roleElif, "else_clause": roleElse,
	"for_statement": roleLoop, "while_statement": roleLoop,
	"except_clause": roleCatch, "conditional_expression": roleTernary,
	"match_statement": roleSwitch, "case_clause": roleCase,
	"for_in_clause": roleFilter, "if_clause": roleFilter,
	"boolean_operator": roleLogical, "parenthesized_expression": roleParens,
	"block": roleBlock, "comment": roleComment,
	"import_statement": roleImport, "import_from_statement": roleImport, "future_import_statement": roleImport,
	"expression_statement": roleDocstring,
}

type pythonReader struct{ *walk }

func (p pythonReader) function(n Node, f *Function) int {
	outer := decorated(n)
	f.Whole = p.whole(outer)
	f.Async = n.Child("async").OK()
	f.Parameters = parameters(n.Field("parameters"))
	if n.Kind() == "lambda" {
		f.Kind = Lambda
		f.Owner, f.Class = "", -1
		if a := n.Parent(); a.Kind() == "assignment" && a.Field("left").Kind() == "identifier" {
			f.Name = a.Field("left").Text()
		}
		return n.Start()
	}
	f.Name = n.Field("name").Text()
	if f.Class >= 0 {
		f.Kind = pythonMethod(outer, f.Name)
	}
	return n.Start()
}

// pythonMethod tells by name and decorators.
func pythonMethod(outer Node, name string) FunctionKind {
	if name == "__init__" {
		return Constructor
	}
	for c := range outer.Children() {
		if c.Kind() != "decorator" {
			continue
		}
		switch d := c.Text(); {
		case d == "@property" || d == "@cached_property" || d == "@functools.cached_property":
			return Getter
		case strings.HasSuffix(d, ".setter"):
			return Setter
		}
	}
	return Method
}

// decorated is a definition with its decorators.
func decorated(n Node) Node {
	if p := n.Parent(); p.Kind() == "decorated_definition" {
		return p
	}
	return n
}

func (p pythonReader) class(n Node, c *Class) {
	c.Name = n.Field("name").Text()
	c.Whole = p.whole(decorated(n))
	for b := range n.Field("superclasses").NamedChildren() {
		if p.role(b) != roleComment {
			c.Bases = append(c.Bases, short(b))
		}
	}
}

func (p pythonReader) docstring(body Node) Node {
	for s := range body.NamedChildren() {
		if s.Kind() == "comment" {
			continue
		}
		if s.Kind() != "expression_statement" || !onlyString(s) {
			return Node{}
		}
		return s
	}
	return Node{}
}

func onlyString(s Node) bool {
	count, text := 0, false
	for c := range s.NamedChildren() {
		count++
		text = c.Kind() == "string" && !c.Child("interpolation").OK() || c.Kind() == "concatenated_string"
	}
	return count == 1 && text
}

func (p pythonReader) decides(n Node) bool {
	if n.Kind() != "case_clause" {
		return true
	}
	if n.Field("guard").OK() {
		return true
	}
	patterns, last := 0, Node{}
	for c := range n.Children() {
		if c.Kind() == "case_pattern" {
			patterns, last = patterns+1, c
		}
	}
	return patterns != 1 || last.Text() != "_"
}

func (p pythonReader) chained(Node) bool { return false }

func (p pythonReader) flatElse(n Node) bool { return n.Parent().Kind() == "try_statement" }

func (p pythonReader) imports(n Node) {
	switch n.Kind() {
	case "import_statement":
		for c := range n.NamedChildren() {
			if name, alias := importedName(c); name != "" {
				local := alias
				if local == "" {
					local, _, _ = strings.Cut(name, ".")
				}
				p.add(Import{Path: name, Alias: alias, Kind: PlainImport, Locals: []string{local}, Span: p.span(n)})
			}
		}
	case "future_import_statement":
		p.add(p.from("__future__", n, Node{}))
	default:
		module := n.Field("module_name")
		p.add(p.from(compact(module.Text()), n, module))
	}
}

func (w *walk) add(i Import) { w.file.Imports = append(w.file.Imports, i) }

func (p pythonReader) from(path string, n, module Node) Import {
	i := Import{Path: path, Kind: FromImport, Span: p.span(n)}
	for c := range n.NamedChildren() {
		if c == module {
			continue
		}
		name, alias := importedName(c)
		if c.Kind() == "wildcard_import" {
			name = "*"
		}
		if name == "" {
			continue
		}
		i.Names = append(i.Names, ImportedName{name, alias})
		if name != "*" {
			i.Locals = append(i.Locals, i.Names[len(i.Names)-1].Local())
		}
	}
	return i
}

// importedName is a module or name with its alias.
func importedName(n Node) (name, alias string) {
	switch n.Kind() {
	case "dotted_name":
		return compact(n.Text()), ""
	case "aliased_import":
		return compact(n.Field("name").Text()), n.Field("alias").Text()
	}
	return "", ""
}

// compact is a dotted name without the blanks that it may contain.
func compact(name string) string { return strings.Join(strings.Fields(name), "") }

func (p pythonReader) variable(n Node) {
	if !p.topLevel() || n.Parent().Kind() != "module" {
		return
	}
	a := n.Child("assignment")
	if !a.OK() {
		return
	}
	whole := p.whole(n)
	for left := range a.Field("left").All() {
		switch left.Kind() {
		case "identifier":
			p.file.Variables = append(p.file.Variables, Variable{left.Text(), p.span(a), whole})
		case "attribute", "subscript":
			return // changes something, declares nothing
		}
	}
}

// maxParameters is how many of a function are told.
const maxParameters = 100

// parameters are the texts of a list's members.
func parameters(list Node) []string {
	var texts []string
	for p := range list.NamedChildren() {
		if len(texts) == maxParameters {
			break
		}
		if k := p.Kind(); k != "comment" {
			texts = append(texts, short(p))
		}
	}
	return texts
}
