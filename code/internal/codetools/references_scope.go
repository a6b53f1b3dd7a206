package codetools

import (
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// A scope is a piece of a file in which names are declared.
type scope struct {
	node   syntax.Node
	parent int // -1 for the module
	class  int // the scope of the class around; -1 for none
	kind   scopeKind
}

type scopeKind uint8

const (
	moduleScope scopeKind = iota
	functionScope
	classScope
	blockScope // of braces, or a comprehension
)

// unbound is the scope of a name that the file declares nowhere.
const unbound = -1

// pythonScopes and scriptScopes are the nodes that open one.
var pythonScopes = map[string]scopeKind{
	"function_definition": functionScope, "lambda": functionScope, "class_definition": classScope,
	"list_comprehension": blockScope, "set_comprehension": blockScope, "dictionary_comprehension": blockScope, "generator_expression": blockScope,
}

var scriptScopes = map[string]scopeKind{
	"function_declaration": functionScope, "function_expression": functionScope, "arrow_function": functionScope, "method_definition": functionScope,
	"generator_function": functionScope, "generator_function_declaration": functionScope, "function_signature": functionScope,
	"class_declaration": classScope, "class": classScope, "abstract_class_declaration": classScope, "class_static_block": functionScope,
	"interface_declaration": blockScope, "type_alias_declaration": blockScope,
	"statement_block": blockScope, "for_statement": blockScope, "for_in_statement": blockScope, "switch_body": blockScope, "catch_clause": blockScope,
}

// An occurrence is a place where a name stands.
type occurrence struct {
	node   syntax.Node
	name   string
	scope  int // where it stands
	bound  int // where it is declared; unbound for nowhere
	member bool
	// declares says that it declares the name, as a variable or as a member.
	declares bool
	imports  bool // within an import statement
	inClass  bool // declared in the body of a class
	start    int  // byte offset
}

// A scoping is the scopes of a file, and where some names stand in them.
type scoping struct {
	file        *syntax.File
	python      bool
	scopes      []scope
	occurrences []occurrence
	declared    map[binding]bool
	outward     map[binding]int // Python's global and nonlocal: the scope that is meant
}

type binding struct {
	scope int
	name  string
}

// newScoping goes once through a file, looking for names.
func newScoping(f *syntax.File, names map[string]bool) *scoping {
	s := &scoping{
		file: f, python: f.Language == syntax.Python,
		scopes: []scope{{node: f.Tree.Root(), parent: -1, class: -1}}, declared: map[binding]bool{}, outward: map[binding]int{},
	}
	opens := scriptScopes
	if s.python {
		opens = pythonScopes
	}
	open := []int{0}
	for n := range f.Tree.Root().All() {
		for len(open) > 1 && !s.scopes[open[len(open)-1]].node.Contains(n) {
			open = open[:len(open)-1]
		}
		at := open[len(open)-1]
		if kind, ok := opens[n.Kind()]; ok && n.Named() {
			if n.Kind() == "statement_block" && s.scopes[at].kind == functionScope && n.Parent() == s.scopes[at].node {
				continue // the body of a function: its parameters are declared in it
			}
			in := scope{n, at, s.scopes[at].class, kind}
			if kind == classScope {
				in.class = len(s.scopes)
			}
			s.scopes = append(s.scopes, in)
			open = append(open, len(s.scopes)-1)
			continue
		}
		if name, member, ok := nameAt(n); ok && names[name] && !(n.Parent().Kind() == "export_specifier" && n.FieldName() == "alias") {
			s.occur(occurrence{node: n, name: name, scope: at, member: member})
		}
	}
	resolved := map[binding]int{} // deep scopes are not climbed for each place
	for i := range s.occurrences {
		o := &s.occurrences[i]
		o.bound = unbound
		if !o.member {
			at, ok := resolved[binding{o.scope, o.name}]
			if !ok {
				at = s.resolve(o.scope, o.name)
				resolved[binding{o.scope, o.name}] = at
			}
			o.bound = at
			o.inClass = o.bound >= 0 && s.scopes[o.bound].kind == classScope
		}
	}
	return s
}

// nameAt is the name that a node is, and whether it is looked up in something.
func nameAt(n syntax.Node) (name string, member, ok bool) {
	switch n.Kind() {
	case "identifier":
		member = n.FieldName() == "attribute" || n.FieldName() == "name" && n.Parent().Kind() == "keyword_argument"
	case "property_identifier", "private_property_identifier":
		member = true
	case "shorthand_property_identifier", "shorthand_property_identifier_pattern", "type_identifier":
	default:
		return "", false, false
	}
	return n.Text(), member, n.Start() < n.End()
}

// occur takes down one place, and what it declares.
func (s *scoping) occur(o occurrence) {
	p := o.node.Parent()
	o.scope = s.ownScope(o)
	switch {
	case o.member:
		o.declares = declaresMember(o.node)
	case s.python && (p.Kind() == "global_statement" || p.Kind() == "nonlocal_statement"):
		s.reachOut(o, p.Kind() == "global_statement")
	default:
		if in, ok := s.declaredIn(&o); ok {
			o.declares = true
			s.declared[binding{in, o.name}] = true
		}
	}
	s.occurrences = append(s.occurrences, o)
}

// ownScope is where a name is looked up that stands in the head of a function,
// class or comprehension: what is no parameter belongs to what is around it.
func (s *scoping) ownScope(o occurrence) int {
	in := s.scopes[o.scope]
	if in.parent < 0 {
		return o.scope
	}
	switch in.node.Kind() {
	case "function_definition", "lambda", "class_definition":
		body := in.node.Field("body")
		if (!body.OK() || o.node.Start() < body.Start()) && !(in.kind == functionScope && isParameter(o.node, in.node)) {
			return in.parent
		}
	case "list_comprehension", "set_comprehension", "dictionary_comprehension", "generator_expression":
		first := in.node.Child("for_in_clause")
		if first.Field("right").Contains(o.node) {
			return in.parent
		}
	case "function_declaration", "generator_function_declaration", "class_declaration", "abstract_class_declaration",
		"interface_declaration", "type_alias_declaration", "function_signature":
		if o.node.FieldName() == "name" && o.node.Parent() == in.node {
			return in.parent
		}
	}
	return o.scope
}

// isParameter says whether a name in the head of a Python function is declared
// there, and not used as a default or type.
func isParameter(n, function syntax.Node) bool {
	for range 10 {
		p := n.Parent()
		switch p.Kind() {
		case "parameters", "lambda_parameters":
			return p.Parent() == function
		case "default_parameter", "typed_default_parameter":
			if n.FieldName() != "name" {
				return false
			}
		case "typed_parameter":
			if n.FieldName() == "type" {
				return false
			}
		case "list_splat_pattern", "dictionary_splat_pattern", "tuple_pattern":
		default:
			return false
		}
		n = p
	}
	return false
}

// declaredIn is the scope in which an occurrence declares its name, if it does.
func (s *scoping) declaredIn(o *occurrence) (int, bool) {
	if s.python {
		return s.pythonDeclares(o)
	}
	return s.scriptDeclares(o)
}

func (s *scoping) pythonDeclares(o *occurrence) (int, bool) {
	n, p := o.node, o.node.Parent()
	switch p.Kind() {
	case "function_definition", "class_definition":
		return s.function(o.scope), n.FieldName() == "name"
	case "aliased_import":
		o.imports = true
		return s.function(o.scope), n.FieldName() == "alias"
	case "dotted_name":
		return s.pythonImports(o, p)
	case "named_expression":
		return s.function(o.scope), n.FieldName() == "name"
	}
	at := s.scopes[o.scope]
	if at.kind == functionScope && isParameter(n, at.node) {
		return o.scope, true
	}
	if isTarget(n) {
		if within(n, "for_in_clause", at.node) {
			return o.scope, true
		}
		return s.function(o.scope), true
	}
	return 0, false
}

// pythonImports reads a name of an import statement: of a module only its first
// part is declared.
func (s *scoping) pythonImports(o *occurrence, dotted syntax.Node) (int, bool) {
	in := dotted.Parent()
	switch in.Kind() {
	case "aliased_import":
		o.imports = true
		return 0, false
	case "import_statement":
		o.imports = true
		return s.function(o.scope), dotted.Start() == o.node.Start()
	case "import_from_statement", "future_import_statement":
		o.imports = true
		return s.function(o.scope), dotted.FieldName() == "name"
	case "case_pattern": // captures what it matches
		return s.function(o.scope), dotted.Start() == o.node.Start() && dotted.End() == o.node.End()
	}
	return 0, false
}

// within says whether a node lies in one of a kind below a root.
func within(n syntax.Node, kind string, root syntax.Node) bool {
	for range 50 {
		n = n.Parent()
		if !root.Contains(n) {
			return false
		}
		if n.Kind() == kind {
			return true
		}
	}
	return false
}

// isTarget says whether a Python name is assigned to, in whatever way.
func isTarget(n syntax.Node) bool {
	for range 50 {
		p := n.Parent()
		switch p.Kind() {
		case "assignment", "augmented_assignment", "for_statement", "for_in_clause":
			return n.FieldName() == "left"
		case "as_pattern_target":
			return true
		case "delete_statement":
			return true
		case "pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "tuple", "list", "expression_list", "parenthesized_expression", "list_splat",
			"splat_pattern":
		default:
			return false
		}
		n = p
	}
	return false
}

// function is the nearest scope that is no comprehension or block.
func (s *scoping) function(at int) int {
	for s.scopes[at].kind == blockScope {
		at = s.scopes[at].parent
	}
	return at
}

// reachOut takes down that a name is declared elsewhere.
func (s *scoping) reachOut(o occurrence, global bool) {
	in := s.function(o.scope)
	if global {
		s.outward[binding{in, o.name}] = 0
		s.declared[binding{0, o.name}] = true
	} else {
		s.outward[binding{in, o.name}] = s.scopes[in].parent
	}
}

func (s *scoping) scriptDeclares(o *occurrence) (int, bool) {
	n, p := o.node, o.node.Parent()
	switch p.Kind() {
	case "function_declaration", "generator_function_declaration", "function_expression", "generator_function", "class_declaration",
		"abstract_class_declaration", "class", "interface_declaration", "type_alias_declaration", "enum_declaration", "function_signature", "internal_module", "module":
		return o.scope, n.FieldName() == "name"
	case "type_parameter":
		return o.scope, true
	case "import_clause", "namespace_import", "import_require_clause":
		o.imports = true
		return o.scope, true
	case "import_specifier":
		o.imports = true
		return o.scope, n.FieldName() == "alias" || !p.Field("alias").OK()
	case "export_specifier":
		o.imports = p.Parent().Parent().Field("source").OK()
		return 0, false
	}
	return s.scriptPattern(o)
}

// scriptPattern climbs through the pattern that a name may be declared in.
func (s *scoping) scriptPattern(o *occurrence) (int, bool) {
	n := o.node
	for range 50 {
		p := n.Parent()
		field := n.FieldName()
		switch p.Kind() {
		case "variable_declarator":
			if field != "name" {
				return 0, false
			}
			if p.Parent().Kind() == "variable_declaration" { // var
				return s.function(o.scope), true
			}
			return o.scope, true
		case "for_in_statement":
			if field != "left" || !p.Field("kind").OK() {
				return 0, false
			}
			if p.Field("kind").Text() == "var" {
				return s.function(o.scope), true
			}
			return o.scope, true
		case "formal_parameters":
			return o.scope, true
		case "arrow_function", "catch_clause":
			return o.scope, field == "parameter"
		case "required_parameter", "optional_parameter":
			if field != "pattern" {
				return 0, false
			}
		case "assignment_pattern", "object_assignment_pattern":
			if field != "left" {
				return 0, false
			}
		case "pair_pattern":
			if field != "value" {
				return 0, false
			}
		case "object_pattern", "array_pattern", "rest_pattern":
		default:
			return 0, false
		}
		n = p
	}
	return 0, false
}

// declaresMember says whether a member is defined where it stands.
func declaresMember(n syntax.Node) bool {
	p := n.Parent()
	switch p.Kind() {
	case "method_definition", "public_field_definition", "method_signature", "property_signature", "abstract_method_signature", "enum_assignment":
		return n.FieldName() == "name"
	case "enum_body":
		return true
	case "field_definition":
		return n.FieldName() == "property"
	case "pair":
		return n.FieldName() == "key"
	case "member_expression":
		a := p.Parent()
		return a.Kind() == "assignment_expression" && p.FieldName() == "left"
	}
	return false
}

// resolve is the scope that a name means which stands in a scope.
func (s *scoping) resolve(at int, name string) int {
	for from := at; at >= 0; at = s.scopes[at].parent {
		if out, ok := s.outward[binding{at, name}]; ok {
			if out == 0 {
				return 0
			}
			at, from = out, -1
		}
		if s.python && s.scopes[at].kind == classScope && at != from {
			continue // methods do not see the names of their class
		}
		if s.declared[binding{at, name}] {
			return at
		}
	}
	return unbound
}

// isCalled says whether a name, or the member that it names, is called.
func isCalled(n syntax.Node) bool {
	p := n.Parent()
	if k := p.Kind(); (k == "attribute" || k == "member_expression") && (n.FieldName() == "attribute" || n.FieldName() == "property") {
		n, p = p, p.Parent()
	}
	switch p.Kind() {
	case "call", "call_expression":
		return n.FieldName() == "function"
	case "new_expression":
		return n.FieldName() == "constructor"
	}
	return false
}

// objectOf is the text of what a member is looked up in; "" for what is more
// than names and dots.
func objectOf(n syntax.Node) string {
	o := n.Parent().Field("object")
	if o.End()-o.Start() > maxName {
		return ""
	}
	if t := o.Text(); strings.IndexFunc(t, func(r rune) bool { return r != '.' && !isNameByte(byte(min(r, 0x80))) }) < 0 {
		return t
	}
	return ""
}
