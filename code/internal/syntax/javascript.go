package syntax

import (
	"slices"
	"strings"
)

// javascriptRoles serve TypeScript too: its grammar is the other one with more
// rules.
var javascriptRoles = map[string]role{
	"function_declaration": roleFunction, "function_expression": roleFunction, "arrow_function": roleFunction,
	"generator_function": roleFunction, "generator_function_declaration": roleFunction, "method_definition": roleFunction,
	"class_declaration": roleClass, "class": roleClass, "abstract_class_declaration": roleClass,
	"interface_declaration": roleClass, "enum_declaration": roleClass, "type_alias_declaration": roleClass,
	"if_statement": roleIf, "else_clause": roleElse,
	"for_statement": roleLoop, "for_in_statement": roleLoop, "while_statement": roleLoop, "do_statement": roleLoop,
	"catch_clause": roleCatch, "ternary_expression": roleTernary,
	"switch_statement": roleSwitch, "switch_case": roleCase,
	"binary_expression": roleLogical, "augmented_assignment_expression": roleLogical,
	"parenthesized_expression": roleParens,
	"break_statement":          roleJump, "continue_statement": roleJump,
	"statement_block": roleBlock, "comment": roleComment, "html_comment": roleComment,
	"import_statement": roleImport, "export_statement": roleImport, "call_expression": roleImport,
	"variable_declarator": roleVariable, "decorator": roleDecorator,
}

type javascriptReader struct{ *walk }

func (j javascriptReader) function(n Node, f *Function) int {
	binding := bindingOf(n)
	statement := j.statement(n, binding)
	f.Whole = j.whole(statement)
	f.Name = n.Field("name").Text()
	f.Parameters = parameters(n.Field("parameters"))
	if one := n.Field("parameter"); one.OK() {
		f.Parameters = []string{short(one)}
	}
	for c := range n.Children() {
		switch c.Kind() {
		case "async":
			f.Async = true
		case "get":
			f.Kind = Getter
		case "set":
			f.Kind = Setter
		}
	}
	if n.Kind() == "arrow_function" {
		f.Kind = Arrow
	}
	switch n.Kind() {
	case "method_definition":
		j.method(n, f)
	case "function_declaration", "generator_function_declaration":
		f.Owner, f.Class = "", -1
	default:
		j.bound(binding, f)
	}
	if statement == n {
		return f.Span.Start
	}
	return statement.Start()
}

// method fills in what a method in a class or an object literal is.
func (j javascriptReader) method(n Node, f *Function) {
	if f.Kind == PlainFunction {
		f.Kind = Method
	}
	if n.Parent().Kind() != "class_body" {
		f.Class = -1
		f.Owner = objectName(n.Parent())
		f.Qualified = dotted(f.Owner, f.Name)
		return
	}
	if f.Name == "constructor" {
		f.Kind = Constructor
	}
}

// bound names a function after what it is assigned to.
func (j javascriptReader) bound(binding Node, f *Function) {
	if k := binding.Kind(); k != "field_definition" && k != "public_field_definition" {
		f.Owner, f.Class = "", -1
	}
	owner, name := boundName(binding)
	if f.Name == "" {
		f.Name = name
	}
	if owner == "" {
		return
	}
	f.Owner = owner
	f.Qualified = dotted(owner, f.Name)
	if name != "" {
		f.Qualified = dotted(owner, name)
	}
	if strings.HasSuffix(binding.Field("left").Field("object").Text(), ".prototype") {
		f.Kind = Method
	}
}

func dotted(owner, name string) string {
	if owner == "" || name == "" {
		return name
	}
	return owner + "." + name
}

// bindingOf is the declarator, assignment, pair or field that a function or
// class is the value of.
func bindingOf(n Node) Node {
	child := n
	p := n.Parent()
	for {
		switch p.Kind() {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			child, p = p, p.Parent()
			continue
		case "variable_declarator", "pair", "field_definition", "public_field_definition":
			if p.Field("value") == child {
				return p
			}
		case "assignment_expression":
			if p.Field("right") == child {
				return p
			}
		}
		return Node{}
	}
}

// boundName is what a binding calls its value, and the object that it belongs
// to.
func boundName(binding Node) (owner, name string) {
	switch binding.Kind() {
	case "variable_declarator":
		if id := binding.Field("name"); id.Kind() == "identifier" {
			return "", id.Text()
		}
	case "field_definition":
		return "", binding.Field("property").Text()
	case "public_field_definition":
		return "", binding.Field("name").Text()
	case "pair":
		key := strings.Trim(binding.Field("key").Text(), `"'`)
		if len(key) > 100 {
			return "", ""
		}
		return objectName(binding.Parent()), key
	case "assignment_expression":
		return assigned(binding.Field("left"))
	}
	return "", ""
}

// assigned is the name that an assignment goes to. An owner that is more than a
// dotted name is left out.
func assigned(left Node) (owner, name string) {
	switch left.Kind() {
	case "identifier":
		return "", left.Text()
	case "member_expression":
		owner := strings.TrimSuffix(left.Field("object").Text(), ".prototype")
		if len(owner) > 100 || !isDotted(owner) {
			owner = ""
		}
		return owner, left.Field("property").Text()
	}
	return "", ""
}

func isDotted(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r == '.' || r == '_' || r == '$' || r == '#' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127)
	})
}

// objectName is what an object literal is assigned to.
func objectName(object Node) string {
	if object.Kind() != "object" {
		return ""
	}
	owner, name := "", ""
	if b := bindingOf(object); b.Kind() != "pair" {
		owner, name = boundName(b)
	}
	if name = dotted(owner, name); len(name) > 100 {
		return ""
	}
	return name
}

// statement is the statement that serves only to declare n.
func (j javascriptReader) statement(n, binding Node) Node {
	top := n
	switch binding.Kind() {
	case "variable_declarator":
		if d := binding.Parent(); onlyNamed(d) {
			top = d
		}
	case "assignment_expression":
		for a := binding; ; a = a.Parent() {
			if p := a.Parent(); p.Kind() == "expression_statement" {
				top = p
				break
			} else if p.Kind() != "assignment_expression" {
				break
			}
		}
	case "pair", "field_definition", "public_field_definition":
		top = binding
	}
	if p := top.Parent(); p.Kind() == "export_statement" || p.Kind() == "ambient_declaration" {
		top = p
	}
	return top
}

// onlyNamed says whether a declaration declares one thing. It looks at no more
// than it must.
func onlyNamed(d Node) bool {
	count := 0
	for c := range d.NamedChildren() {
		if c.Kind() != "comment" {
			count++
		}
		if count > 1 {
			return false
		}
	}
	return true
}

func (j javascriptReader) class(n Node, c *Class) {
	binding := bindingOf(n)
	c.Whole = j.whole(j.statement(n, binding))
	c.Name = n.Field("name").Text()
	if c.Name == "" {
		_, c.Name = boundName(binding)
	}
	switch n.Kind() {
	case "interface_declaration":
		c.Kind = Interface
	case "enum_declaration":
		c.Kind = Enum
	case "type_alias_declaration":
		c.Kind = Alias
	}
	for part := range n.NamedChildren() {
		switch part.Kind() {
		case "class_heritage", "extends_type_clause", "extends_clause":
			c.Bases = append(c.Bases, heritage(part)...)
		}
	}
}

func heritage(clause Node) (bases []string) {
	for b := range clause.NamedChildren() {
		switch b.Kind() {
		case "extends_clause", "implements_clause":
			bases = append(bases, heritage(b)...)
		case "comment", "type_arguments":
		default:
			bases = append(bases, short(b))
		}
	}
	return bases
}

func (j javascriptReader) docstring(Node) Node { return Node{} }

var shortCircuits = []string{"&&", "||", "??", "&&=", "||=", "??="}

func (j javascriptReader) decides(n Node) bool {
	if n.Kind() == "switch_case" {
		return true
	}
	if k := n.Kind(); k == "break_statement" || k == "continue_statement" {
		return n.Field("label").OK()
	}
	return slices.Contains(shortCircuits, operator(n))
}

func (j javascriptReader) chained(n Node) bool { return n.Parent().Kind() == "else_clause" }

func (j javascriptReader) flatElse(Node) bool { return false }

func (j javascriptReader) variable(n Node) {
	d := n.Parent()
	around := d.Parent()
	if around.Kind() == "export_statement" {
		d, around = around, around.Parent()
	}
	if !j.topLevel() || around.Kind() != "program" {
		return
	}
	whole := j.whole(d)
	for name := range n.Field("name").All() {
		switch name.Kind() {
		case "identifier", "shorthand_property_identifier_pattern":
			j.file.Variables = append(j.file.Variables, Variable{name.Text(), j.span(n), whole})
		}
	}
}

func (j javascriptReader) imports(n Node) {
	switch n.Kind() {
	case "call_expression":
		j.call(n)
	case "export_statement":
		if source := n.Field("source"); source.OK() {
			i := Import{Path: unquote(source), Kind: ReExport, Span: j.span(n)}
			for s := range n.Child("export_clause").NamedChildren() {
				if s.Kind() == "export_specifier" {
					i.Names = append(i.Names, specifier(s))
				}
			}
			if n.Child("*").OK() || n.Child("namespace_export").OK() {
				i.Names = []ImportedName{{Name: "*"}}
			}
			j.add(i)
		}
	default:
		j.statementImport(n)
	}
}

func (j javascriptReader) statementImport(n Node) {
	i := Import{Path: unquote(n.Field("source")), Kind: PlainImport, Span: j.span(n)}
	if r := n.Child("import_require_clause"); r.OK() { // TypeScript's import x = require("y")
		i.Kind, i.Path = Require, unquote(r.Field("source"))
		i.Alias = r.Child("identifier").Text()
		i.Locals = []string{i.Alias}
	}
	for c := range n.Child("import_clause").NamedChildren() {
		switch c.Kind() {
		case "identifier":
			i.Names = append(i.Names, ImportedName{"default", c.Text()})
		case "namespace_import":
			i.Alias = c.Child("identifier").Text()
			i.Names = append(i.Names, ImportedName{"*", i.Alias})
		case "named_imports":
			for s := range c.NamedChildren() {
				if s.Kind() == "import_specifier" {
					i.Names = append(i.Names, specifier(s))
				}
			}
		}
	}
	for _, name := range i.Names {
		i.Locals = append(i.Locals, name.Local())
	}
	if i.Path != "" {
		j.add(i)
	}
}

func specifier(s Node) ImportedName {
	return ImportedName{s.Field("name").Text(), s.Field("alias").Text()}
}

// call reads require("x") and import("x").
func (j javascriptReader) call(n Node) {
	kind := Require
	switch f := n.Field("function"); {
	case f.Kind() == "import":
		kind = DynamicImport
	case f.Kind() == "identifier" && f.Text() == "require":
	default:
		return
	}
	source := n.Field("arguments").Child("string")
	if !source.OK() || !onlyNamed(n.Field("arguments")) {
		return
	}
	i := Import{Path: unquote(source), Kind: kind, Span: j.span(n)}
	if b := bindingOf(n); b.Kind() == "variable_declarator" {
		i.Span = j.span(j.statement(n, b))
		i.required(b.Field("name"))
	}
	j.add(i)
}

// required reads what a require is assigned to.
func (i *Import) required(name Node) {
	if name.Kind() == "identifier" {
		i.Alias = name.Text()
		i.Locals = []string{i.Alias}
		return
	}
	for p := range name.NamedChildren() {
		var n ImportedName
		switch p.Kind() {
		case "shorthand_property_identifier_pattern":
			n.Name = p.Text()
		case "pair_pattern":
			n = ImportedName{p.Field("key").Text(), p.Field("value").Text()}
		default:
			continue
		}
		i.Names = append(i.Names, n)
		i.Locals = append(i.Locals, n.Local())
	}
}

func unquote(s Node) string {
	text := s.Text()
	if len(text) < 2 {
		return ""
	}
	return text[1 : len(text)-1]
}
