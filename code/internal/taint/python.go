package taint

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// python brings Python's tree into a program.
type python struct {
	rules *rules
}

func lowerPython(f *syntax.File) *program {
	p := &python{rules: pythonRules()}
	return &program{body: p.block(f.Tree.Root())}
}

func nodeAt(n syntax.Node) int32 { return int32(n.Start()) }

// only is the first named child that is no comment.
func only(n syntax.Node) syntax.Node {
	for c := range n.NamedChildren() {
		if c.Kind() != "comment" {
			return c
		}
	}
	return syntax.Node{}
}

func (p *python) block(n syntax.Node) (out []stmt) {
	for c := range n.NamedChildren() {
		out = p.stmt(out, c)
	}
	return out
}

func (p *python) stmt(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	switch n.Kind() {
	case "expression_statement":
		for c := range n.NamedChildren() {
			out = p.expressionStmt(out, c)
		}
	case "if_statement":
		out = append(out, p.choice(n))
	case "for_statement":
		out = append(out, stmt{kind: doLoop, at: at, targets: []*expr{p.expr(n.Field("left"))}, from: p.expr(n.Field("right")),
			body: p.block(n.Field("body")), other: p.alternative(n)})
	case "while_statement":
		out = append(out, stmt{kind: doLoop, at: at, value: p.expr(n.Field("condition")), body: p.block(n.Field("body")), other: p.alternative(n)})
	case "try_statement":
		out = append(out, p.try(n))
	case "with_statement":
		out = p.with(out, n)
	case "match_statement":
		out = append(out, p.match(n))
	case "function_definition":
		out = append(out, stmt{kind: doFunction, at: at, fn: p.function(n, false)})
	case "decorated_definition":
		out = p.decorated(out, n)
	case "class_definition":
		out = append(out, stmt{kind: doBlock, at: at, body: p.block(n.Field("body"))})
	case "return_statement":
		out = append(out, stmt{kind: doReturn, at: at, value: p.expr(only(n))})
	case "raise_statement":
		out = append(out, stmt{kind: doLeave, at: at, value: p.expr(only(n))})
	case "break_statement":
		out = append(out, stmt{kind: doBreak, at: at})
	case "continue_statement":
		out = append(out, stmt{kind: doContinue, at: at})
	case "assert_statement":
		out = append(out, stmt{kind: doIf, at: at, value: p.expr(only(n)), other: []stmt{{kind: doLeave, at: at}}})
	case "import_statement", "import_from_statement":
		out = p.imports(out, n)
	case "block", "ERROR":
		out = append(out, p.block(n)...)
	case "delete_statement", "print_statement", "exec_statement":
		out = append(out, stmt{kind: doExpr, at: at, value: &expr{kind: anUnknown, parts: p.exprs(n), at: at}})
	}
	return out
}

func (p *python) expressionStmt(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	switch n.Kind() {
	case "assignment":
		var targets []*expr
		value := n
		for value.Kind() == "assignment" {
			targets = append(targets, p.expr(value.Field("left")))
			value = value.Field("right")
		}
		if !value.OK() {
			return out
		}
		return append(out, stmt{kind: doAssign, at: at, targets: targets, value: p.expr(value)})
	case "augmented_assignment":
		return append(out, stmt{kind: doAssign, at: at, adds: true,
			targets: []*expr{p.expr(n.Field("left"))}, value: p.expr(n.Field("right"))})
	}
	return append(out, stmt{kind: doExpr, at: at, value: p.expr(n)})
}

// choice is an if with its elifs.
func (p *python) choice(n syntax.Node) stmt {
	first := stmt{kind: doIf, at: nodeAt(n), value: p.expr(n.Field("condition")), body: p.block(n.Field("consequence"))}
	last := &first
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "elif_clause":
			last.other = []stmt{{kind: doIf, at: nodeAt(c), value: p.expr(c.Field("condition")), body: p.block(c.Field("consequence"))}}
			last = &last.other[0]
		case "else_clause":
			last.other = p.block(c.Field("body"))
		}
	}
	return first
}

func (p *python) alternative(n syntax.Node) []stmt {
	if c := n.Child("else_clause"); c.OK() {
		return p.block(c.Field("body"))
	}
	return nil
}

func (p *python) try(n syntax.Node) stmt {
	s := stmt{kind: doTry, at: nodeAt(n), body: p.block(n.Field("body"))}
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "except_clause", "except_group_clause":
			s.clauses = append(s.clauses, clause{body: p.block(c.Child("block"))})
		case "else_clause":
			s.body = append(s.body, p.block(c.Field("body"))...)
		case "finally_clause":
			s.other = p.block(c.Child("block"))
		}
	}
	return s
}

func (p *python) with(out []stmt, n syntax.Node) []stmt {
	for c := range n.Child("with_clause").NamedChildren() {
		item := c.Field("value")
		if item.Kind() != "as_pattern" {
			out = append(out, stmt{kind: doExpr, at: nodeAt(c), value: p.expr(item)})
			continue
		}
		out = append(out, stmt{kind: doAssign, at: nodeAt(c),
			targets: []*expr{p.expr(only(item.Field("alias")))}, value: p.expr(only(item))})
	}
	return append(out, p.block(n.Field("body"))...)
}

func (p *python) match(n syntax.Node) stmt {
	s := stmt{kind: doSwitch, at: nodeAt(n), value: p.expr(n.Field("subject"))}
	for c := range n.Field("body").NamedChildren() {
		if c.Kind() != "case_clause" {
			continue
		}
		one := clause{body: p.block(c.Field("consequence"))}
		for pattern := range c.NamedChildren() {
			if pattern.Kind() != "case_pattern" {
				continue
			}
			one.values = append(one.values, p.known(pattern)...)
			one.fallback = pattern.Text() == "_"
		}
		s.clauses = append(s.clauses, one)
	}
	return s
}

// known are the literals of a pattern, if it consists of nothing else.
func (p *python) known(pattern syntax.Node) (out []*expr) {
	inside := only(pattern)
	if inside.Kind() != "union_pattern" {
		inside = pattern
	}
	for c := range inside.NamedChildren() {
		switch c.Kind() {
		case "string", "integer":
			out = append(out, p.expr(c))
		default:
			return nil
		}
	}
	return out
}

func (p *python) decorated(out []stmt, n syntax.Node) []stmt {
	route, app := false, ""
	for c := range n.NamedChildren() {
		if c.Kind() != "decorator" {
			continue
		}
		x := only(c)
		if x.Kind() == "call" {
			x = x.Field("function")
		}
		if p.rules.first("?."+lastWord(x.Text()), aRoute) != nil {
			route = true
			app, _, _ = strings.Cut(x.Text(), ".")
		}
	}
	def := n.Field("definition")
	if def.Kind() != "function_definition" {
		return p.stmt(out, def)
	}
	fn := p.function(def, route)
	fn.app = app
	return append(out, stmt{kind: doFunction, at: nodeAt(n), fn: fn})
}

func (p *python) function(n syntax.Node, route bool) *function {
	fn := &function{name: n.Field("name").Text(), route: route, at: nodeAt(n)}
	fn.params, fn.body = p.parameters(n.Field("parameters"))
	if body := n.Field("body"); n.Kind() == "lambda" {
		fn.body = append(fn.body, stmt{kind: doReturn, at: nodeAt(body), value: p.expr(body)})
	} else {
		fn.body = append(fn.body, p.block(body)...)
	}
	return fn
}

// parameters are a function's, and for the search for secrets the values that
// they have where none is given.
func (p *python) parameters(n syntax.Node) (out []param, body []stmt) {
	first := true
	for c := range n.NamedChildren() {
		name := c
		switch c.Kind() {
		case "identifier":
		case "default_parameter", "typed_default_parameter":
			name = c.Field("name")
		case "typed_parameter", "list_splat_pattern", "dictionary_splat_pattern":
			if name = only(c); name.Kind() != "identifier" {
				name = only(name)
			}
		default:
			continue
		}
		one := param{name: name.Text(), at: nodeAt(name)}
		p.annotate(&one, c.Field("type"))
		one.harmless = one.harmless || first && (one.name == "self" || one.name == "cls")
		if v := c.Field("value"); v.OK() {
			switch v.Kind() {
			case "true", "false", "integer", "float":
				one.harmless = true
			}
			body = append(body, stmt{kind: doAssign, at: nodeAt(c), targets: []*expr{{kind: aMember, text: one.name, parts: []*expr{{kind: aName, text: "default"}}}}, value: p.expr(v)})
		}
		out = append(out, one)
		first = false
	}
	return out, body
}

func (p *python) annotate(one *param, n syntax.Node) {
	text := n.Text()
	switch text {
	case "":
	case "int", "float", "bool", "UUID", "uuid.UUID", "datetime", "date", "Decimal", "complex", "int | None", "float | None", "Optional[int]", "Optional[float]", "Optional[bool]", "bool | None", "list[int]", "List[int]":
		one.harmless = true
	case "Request", "HttpRequest", "fastapi.Request", "starlette.requests.Request", "django.http.HttpRequest":
		one.typed = "web.Request"
		one.harmless = true
	}
}

func (p *python) imports(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	module := n.Field("module_name")
	bind := func(name, path string) { out = append(out, imported(at, name, path)) }
	for c := range n.NamedChildren() {
		if c == module {
			continue
		}
		name, alias := c, ""
		if c.Kind() == "aliased_import" {
			name, alias = c.Field("name"), c.Field("alias").Text()
		} else if c.Kind() != "dotted_name" {
			continue
		}
		path := name.Text()
		switch {
		case module.OK():
			bind(cmp.Or(alias, path), module.Text()+"."+path)
		case alias != "":
			bind(alias, path)
		default:
			first, _, _ := strings.Cut(path, ".")
			bind(first, first)
		}
	}
	return out
}

func (p *python) exprs(n syntax.Node) (out []*expr) {
	for c := range n.NamedChildren() {
		if c.Kind() != "comment" {
			out = append(out, p.expr(c))
		}
	}
	return out
}

func (p *python) expr(n syntax.Node) *expr {
	if !n.OK() {
		return nil
	}
	x := &expr{at: nodeAt(n)}
	switch n.Kind() {
	case "identifier":
		x.kind, x.text = aName, n.Text()
	case "integer", "float", "true", "false", "none":
		x.kind, x.text = aNumber, n.Text()
	case "string":
		return p.text(n)
	case "concatenated_string":
		x.kind, x.parts = aText, p.exprs(n)
		x.fold()
	case "attribute":
		x.kind, x.text, x.parts = aMember, n.Field("attribute").Text(), []*expr{p.expr(n.Field("object"))}
	case "subscript":
		x.kind, x.parts = anIndex, []*expr{p.expr(n.Field("value")), p.expr(n.Field("subscript"))}
		if x.parts[1].kind == anUnknown { // a slice is a part of the same text
			return x.parts[0]
		}
	case "call":
		p.call(x, n)
	case "binary_operator":
		p.binary(x, n)
	case "boolean_operator":
		x.kind = anOr
		if n.Child("and").OK() {
			x.kind = anAnd
		}
		x.parts = []*expr{p.expr(n.Field("left")), p.expr(n.Field("right"))}
	case "not_operator":
		x.kind, x.parts = aNot, []*expr{p.expr(n.Field("argument"))}
	case "comparison_operator":
		p.comparison(x, n)
	case "unary_operator":
		if x.kind, x.text = aNumber, n.Text(); len(x.text) > 8 {
			x.kind, x.text, x.parts = anUnknown, "", p.exprs(n)
		}
	case "conditional_expression":
		x.kind = aChoice
		if parts := p.exprs(n); len(parts) == 3 {
			x.parts = []*expr{parts[1], parts[0], parts[2]}
		}
	case "lambda":
		x.kind, x.fn = aFunction, p.function(n, false)
	case "list", "tuple", "set", "expression_list", "pattern_list", "tuple_pattern", "list_pattern":
		p.list(x, n)
	case "dictionary":
		p.dictionary(x, n)
	case "list_comprehension", "set_comprehension", "generator_expression", "dictionary_comprehension":
		return p.comprehension(n)
	case "named_expression":
		x.kind, x.parts = anAssignment, []*expr{p.expr(n.Field("name")), p.expr(n.Field("value"))}
	case "parenthesized_expression", "await", "list_splat", "as_pattern_target", "list_splat_pattern", "yield", "interpolation":
		return p.expr(only(n))
	default:
		x.parts = p.exprs(n)
	}
	return x
}

// text is a string, or an f-string.
func (p *python) text(n syntax.Node) *expr {
	x := &expr{kind: aText, at: nodeAt(n)}
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "string_content":
			x.parts = append(x.parts, &expr{kind: aLiteral, text: c.Text(), at: x.at})
		case "interpolation":
			x.parts = append(x.parts, p.expr(c.Field("expression")))
		}
	}
	x.fold()
	return x
}

func (p *python) call(x *expr, n syntax.Node) {
	x.kind, x.parts = aCall, []*expr{p.expr(n.Field("function"))}
	args := n.Field("arguments")
	if args.Kind() == "generator_expression" {
		x.parts = append(x.parts, p.expr(args))
		return
	}
	for c := range args.NamedChildren() {
		name := ""
		switch c.Kind() {
		case "comment":
			continue
		case "keyword_argument":
			name, c = c.Field("name").Text(), c.Field("value")
		case "list_splat", "dictionary_splat":
			name, c = "...", only(c)
		}
		x.add(name, p.expr(c))
	}
}

func (p *python) binary(x *expr, n syntax.Node) {
	left, right := p.expr(n.Field("left")), p.expr(n.Field("right"))
	switch n.Field("operator").Kind() {
	case "+", "%", "*":
		x.kind, x.parts = aText, []*expr{left, right}
		x.fold()
	case "/":
		x.kind = aCall
		x.parts = []*expr{{kind: aMember, text: "__truediv__", parts: []*expr{left}, at: x.at}, right}
	case "|":
		x.kind, x.parts = aChoice, []*expr{left, right}
	default:
		x.parts = []*expr{left, right}
	}
}

func (p *python) comparison(x *expr, n syntax.Node) {
	var parts []*expr
	var ops []string
	for c := range n.Children() {
		switch {
		case c.Kind() == "comment":
		case c.FieldName() == "operators" || !c.Named():
			ops = append(ops, strings.Join(strings.Fields(c.Text()), " "))
		default:
			parts = append(parts, p.expr(c))
		}
	}
	op := strings.Join(ops, " ")
	switch op {
	case "is":
		op = "=="
	case "is not":
		op = "!="
	}
	if len(parts) == 2 {
		x.kind, x.text, x.parts = aComparison, op, parts
		return
	}
	x.parts = parts
}

func (p *python) list(x *expr, n syntax.Node) {
	x.kind = aList
	for c := range n.NamedChildren() {
		name := ""
		switch c.Kind() {
		case "comment":
			continue
		case "list_splat", "list_splat_pattern":
			name = "*"
		}
		x.add(name, p.expr(c))
	}
}

func (p *python) dictionary(x *expr, n syntax.Node) {
	x.kind = aList
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "pair":
			name := "?"
			if key := p.expr(c.Field("key")); key != nil && key.kind == aLiteral && key.text != "" {
				name = key.text
			}
			x.add(name, p.expr(c.Field("value")))
		case "dictionary_splat":
			x.add("*", p.expr(only(c)))
		}
	}
}

// comprehension is one loop within the other, from the last to the first.
func (p *python) comprehension(n syntax.Node) *expr {
	body := n.Field("body")
	var x *expr
	if body.Kind() == "pair" {
		x = &expr{kind: aList, parts: p.exprs(body), names: []string{"?", "?"}, at: nodeAt(body)}
	} else {
		x = p.expr(body)
	}
	var clauses []syntax.Node
	for c := range n.NamedChildren() {
		if c.Kind() == "for_in_clause" || c.Kind() == "if_clause" {
			clauses = append(clauses, c)
		}
	}
	var cond *expr
	for _, c := range slices.Backward(clauses) {
		if c.Kind() == "if_clause" {
			one := p.expr(only(c))
			if cond != nil {
				one = &expr{kind: anAnd, parts: []*expr{one, cond}, at: one.at}
			}
			cond = one
			continue
		}
		x = &expr{kind: anEach, targets: []*expr{p.expr(c.Field("left"))}, parts: []*expr{p.expr(c.Field("right")), cond, x}, at: nodeAt(n)}
		cond = nil
	}
	return x
}
