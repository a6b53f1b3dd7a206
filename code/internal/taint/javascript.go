package taint

import (
	"cmp"
	"strconv"
	"strings"
	"unicode"

	"github.com/parleyhq/parley/code/internal/syntax"
)

// javascript brings the tree of JavaScript or TypeScript into a program.
type javascript struct{}

func lowerJavaScript(f *syntax.File) *program {
	var j javascript
	return &program{body: j.block(f.Tree.Root())}
}

func (j *javascript) block(n syntax.Node) (out []stmt) {
	for c := range n.NamedChildren() {
		out = j.stmt(out, c)
	}
	return out
}

// body is a statement that may be a block.
func (j *javascript) body(n syntax.Node) []stmt {
	if !n.OK() {
		return nil
	}
	return j.stmt(nil, n)
}

func (j *javascript) stmt(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	switch n.Kind() {
	case "expression_statement":
		for c := range n.NamedChildren() {
			out = j.expressionStmt(out, c)
		}
	case "lexical_declaration", "variable_declaration":
		for c := range n.NamedChildren() {
			if v := c.Field("value"); c.Kind() == "variable_declarator" && v.OK() {
				out = append(out, stmt{kind: doAssign, at: nodeAt(c), declare: n.Kind() == "lexical_declaration",
					targets: []*expr{j.expr(c.Field("name"))}, value: called(j.expr(v), c.Field("name").Text())})
			}
		}
	case "function_declaration", "generator_function_declaration", "method_definition":
		out = append(out, stmt{kind: doFunction, at: at, fn: j.function(n)})
	case "class_declaration", "abstract_class_declaration", "internal_module", "module":
		out = append(out, stmt{kind: doBlock, at: at, body: j.block(n.Field("body"))})
	case "field_definition", "public_field_definition":
		if v := n.Field("value"); v.OK() {
			name := cmp.Or(n.Field("property").Text(), n.Field("name").Text())
			out = append(out, stmt{kind: doAssign, at: at, targets: []*expr{{kind: aName, text: name, at: at}}, value: j.expr(v), declare: true})
		}
	case "if_statement":
		out = append(out, stmt{kind: doIf, at: at, value: j.expr(n.Field("condition")), body: j.body(n.Field("consequence")),
			other: j.body(only(n.Field("alternative")))})
	case "for_statement":
		init := j.body(n.Field("initializer"))
		loop := stmt{kind: doLoop, at: at, value: j.expr(n.Field("condition")), body: j.body(n.Field("body"))}
		if loop.value == nil {
			loop.value = &expr{kind: aNumber, text: "true", at: at}
		}
		if step := n.Field("increment"); step.OK() {
			loop.body = append(loop.body, stmt{kind: doExpr, at: nodeAt(step), value: j.expr(step)})
		}
		out = append(out, stmt{kind: doBlock, at: at, body: append(init, loop)})
	case "for_in_statement":
		out = append(out, stmt{kind: doLoop, at: at, targets: []*expr{j.expr(n.Field("left"))}, from: j.expr(n.Field("right")), body: j.body(n.Field("body"))})
	case "while_statement", "do_statement":
		out = append(out, stmt{kind: doLoop, at: at, after: n.Kind() == "do_statement", value: j.expr(n.Field("condition")), body: j.body(n.Field("body"))})
	case "switch_statement":
		out = append(out, j.cases(n))
	case "try_statement":
		out = append(out, j.try(n))
	case "return_statement":
		out = append(out, stmt{kind: doReturn, at: at, value: j.expr(only(n))})
	case "throw_statement":
		out = append(out, stmt{kind: doLeave, at: at, value: j.expr(only(n))})
	case "break_statement":
		out = append(out, stmt{kind: doBreak, at: at})
	case "continue_statement":
		out = append(out, stmt{kind: doContinue, at: at})
	case "statement_block":
		out = append(out, stmt{kind: doBlock, at: at, body: j.block(n)})
	case "labeled_statement":
		out = j.stmt(out, n.Field("body"))
	case "export_statement":
		out = j.export(out, n)
	case "import_statement":
		out = j.imports(out, n)
	case "ERROR":
		out = append(out, j.block(n)...)
	}
	return out
}

func (j *javascript) expressionStmt(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	switch n.Kind() {
	case "assignment_expression":
		return append(out, stmt{kind: doAssign, at: at, targets: []*expr{j.expr(n.Field("left"))},
			value: called(j.expr(n.Field("right")), lastWord(n.Field("left").Text()))})
	case "augmented_assignment_expression":
		return append(out, j.augmented(n))
	}
	return append(out, stmt{kind: doExpr, at: at, value: j.expr(n)})
}

// called gives a function without a name the one that it is assigned to.
func called(x *expr, name string) *expr {
	if x != nil && x.kind == aFunction && x.fn.name == "" && isName(name) {
		x.fn.name = name
	}
	return x
}

// isName says whether a text is an identifier, so that it may be told.
func isName(text string) bool {
	return text != "" && len(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool {
		return r != '_' && r != '$' && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

func (j *javascript) augmented(n syntax.Node) stmt {
	s := stmt{kind: doAssign, at: nodeAt(n), targets: []*expr{j.expr(n.Field("left"))}, value: j.expr(n.Field("right"))}
	switch n.Field("operator").Kind() {
	case "||=", "&&=", "??=":
		s.value = &expr{kind: aChoice, parts: []*expr{s.targets[0], s.value}, at: s.at}
	default:
		s.adds = true
	}
	return s
}

func (j *javascript) export(out []stmt, n syntax.Node) []stmt {
	if d := n.Field("declaration"); d.OK() {
		return j.stmt(out, d)
	}
	if v := n.Field("value"); v.OK() {
		return append(out, stmt{kind: doExpr, at: nodeAt(n), value: j.expr(v)})
	}
	return out
}

func (j *javascript) cases(n syntax.Node) stmt {
	s := stmt{kind: doSwitch, at: nodeAt(n), value: j.expr(n.Field("value"))}
	for c := range n.Field("body").NamedChildren() {
		one := clause{falls: true, fallback: c.Kind() == "switch_default"}
		value := c.Field("value")
		if value.OK() {
			one.values = []*expr{j.expr(value)}
		}
		for b := range c.NamedChildren() {
			if b != value {
				one.body = j.stmt(one.body, b)
			}
		}
		s.clauses = append(s.clauses, one)
	}
	return s
}

func (j *javascript) try(n syntax.Node) stmt {
	s := stmt{kind: doTry, at: nodeAt(n), body: j.body(n.Field("body"))}
	if c := n.Field("handler"); c.OK() {
		s.clauses = []clause{{body: j.body(c.Field("body"))}}
	}
	if c := n.Field("finalizer"); c.OK() {
		s.other = j.body(c.Field("body"))
	}
	return s
}

func (j *javascript) imports(out []stmt, n syntax.Node) []stmt {
	at := nodeAt(n)
	module := moduleName(only(n.Field("source")).Text())
	bind := func(name, path string) { out = append(out, imported(at, name, path)) }
	for c := range n.Child("import_clause").NamedChildren() {
		switch c.Kind() {
		case "identifier":
			bind(c.Text(), module)
		case "namespace_import":
			bind(only(c).Text(), module)
		case "named_imports":
			for i := range c.NamedChildren() {
				name := i.Field("name").Text()
				bind(cmp.Or(i.Field("alias").Text(), name), module+"."+name)
			}
		}
	}
	return out
}

func moduleName(text string) string { return strings.TrimPrefix(text, "node:") }

func (j *javascript) function(n syntax.Node) *function {
	fn := &function{name: n.Field("name").Text(), at: nodeAt(n)}
	var first []stmt
	if p := n.Field("parameter"); p.OK() {
		fn.params = []param{{name: p.Text(), at: nodeAt(p)}}
	}
	for p := range n.Field("parameters").NamedChildren() {
		if p.Kind() != "comment" {
			first = j.parameter(fn, first, p)
		}
	}
	if len(fn.params) > 1 && strings.HasPrefix(fn.params[0].name, "parameter ") && isResponse(fn.params[1].name) {
		fn.params[0].typed, fn.params[0].harmless = "http.request", true
	}
	body := n.Field("body")
	if body.Kind() == "statement_block" {
		fn.body = append(first, j.block(body)...)
	} else if body.OK() {
		fn.body = append(first, stmt{kind: doReturn, at: nodeAt(body), value: j.expr(body)})
	}
	return fn
}

// isResponse is for handlers that take their request apart: ({ body }, res).
func isResponse(name string) bool { return name == "res" || name == "response" || name == "reply" }

// parameter adds one parameter. A pattern is taken apart in the body.
func (j *javascript) parameter(fn *function, first []stmt, p syntax.Node) []stmt {
	one := param{at: nodeAt(p)}
	if t := p.Field("type"); t.OK() {
		switch strings.TrimSpace(strings.TrimPrefix(t.Text(), ":")) {
		case "number", "boolean", "bigint", "Date":
			one.harmless = true
		}
	}
	if pattern := p.Field("pattern"); pattern.OK() {
		p = pattern
	}
	switch p.Kind() {
	case "identifier":
		one.name = p.Text()
	case "assignment_pattern", "rest_pattern":
		if name := only(p); name.Kind() == "identifier" {
			one.name = name.Text()
		}
	}
	if one.name == "" {
		one.name = "parameter " + strconv.Itoa(len(fn.params))
		first = append(first, stmt{kind: doAssign, at: one.at, declare: true, targets: []*expr{j.expr(p)},
			value: &expr{kind: aName, text: one.name, at: one.at}})
	}
	fn.params = append(fn.params, one)
	return first
}

func (j *javascript) exprs(n syntax.Node) (out []*expr) {
	for c := range n.NamedChildren() {
		if c.Kind() != "comment" {
			out = append(out, j.expr(c))
		}
	}
	return out
}

func (j *javascript) expr(n syntax.Node) *expr {
	if !n.OK() {
		return nil
	}
	x := &expr{at: nodeAt(n)}
	switch n.Kind() {
	case "identifier", "this", "super", "shorthand_property_identifier", "shorthand_property_identifier_pattern":
		x.kind, x.text = aName, n.Text()
	case "number", "true", "false", "null", "undefined":
		x.kind, x.text = aNumber, n.Text()
	case "string", "template_string":
		return j.text(n)
	case "regex":
		x.kind, x.text = aPattern, n.Field("pattern").Text()
	case "member_expression":
		x.kind, x.text, x.parts = aMember, n.Field("property").Text(), []*expr{j.expr(n.Field("object"))}
	case "subscript_expression":
		x.kind, x.parts = anIndex, []*expr{j.expr(n.Field("object")), j.expr(n.Field("index"))}
	case "call_expression", "new_expression":
		return j.call(x, n)
	case "binary_expression":
		j.binary(x, n)
	case "unary_expression":
		j.unary(x, n)
	case "assignment_expression":
		x.kind, x.parts = anAssignment, []*expr{j.expr(n.Field("left")), j.expr(n.Field("right"))}
	case "augmented_assignment_expression":
		s := j.augmented(n)
		if s.adds {
			s.value = &expr{kind: aText, parts: []*expr{s.targets[0], s.value}, at: x.at}
		}
		x.kind, x.parts = anAssignment, []*expr{s.targets[0], s.value}
	case "ternary_expression":
		x.kind = aChoice
		x.parts = []*expr{j.expr(n.Field("condition")), j.expr(n.Field("consequence")), j.expr(n.Field("alternative"))}
	case "arrow_function", "function_expression", "function", "generator_function":
		x.kind, x.fn = aFunction, j.function(n)
	case "class":
		x.kind, x.fn = aFunction, &function{body: j.block(n.Field("body")), at: x.at}
	case "object", "object_pattern":
		j.object(x, n)
	case "array", "array_pattern":
		j.array(x, n)
	case "assignment_pattern", "object_assignment_pattern":
		x.kind, x.parts = aChoice, []*expr{j.expr(n.Field("left")), j.expr(n.Field("right"))}
	case "sequence_expression":
		parts := j.exprs(n)
		if len(parts) > 0 {
			return &expr{kind: aChoice, parts: parts, at: x.at}
		}
	case "parenthesized_expression", "await_expression", "as_expression", "satisfies_expression", "non_null_expression",
		"yield_expression", "spread_element", "rest_pattern", "template_substitution", "optional_chain":
		return j.expr(only(n))
	case "type_assertion":
		parts := j.exprs(n)
		return parts[len(parts)-1]
	default:
		x.parts = j.exprs(n)
	}
	return x
}

func (j *javascript) text(n syntax.Node) *expr {
	x := &expr{kind: aText, at: nodeAt(n)}
	for c := range n.NamedChildren() {
		switch c.Kind() {
		case "string_fragment", "escape_sequence":
			x.parts = append(x.parts, &expr{kind: aLiteral, text: c.Text(), at: x.at})
		case "template_substitution":
			x.parts = append(x.parts, j.expr(only(c)))
		}
	}
	x.fold()
	return x
}

func (j *javascript) call(x *expr, n syntax.Node) *expr {
	callee := n.Field("function")
	if n.Kind() == "new_expression" {
		callee = n.Field("constructor")
	}
	args := n.Field("arguments")
	if callee.Kind() == "identifier" && callee.Text() == "require" {
		if module := only(args); module.Kind() == "string" {
			return &expr{kind: aPath, text: moduleName(only(module).Text()), at: x.at}
		}
	}
	x.kind, x.parts = aCall, []*expr{j.expr(callee)}
	if args.Kind() == "template_string" {
		// A tag sees the texts and the values apart: sql`… ${name}`.
		for c := range args.NamedChildren() {
			if c.Kind() == "template_substitution" {
				x.add("tagged", j.expr(only(c)))
			}
		}
		return x
	}
	for c := range args.NamedChildren() {
		name := ""
		switch c.Kind() {
		case "comment":
			continue
		case "spread_element":
			name = "..."
		}
		x.add(name, j.expr(c))
	}
	return x
}

func (j *javascript) binary(x *expr, n syntax.Node) {
	x.parts = []*expr{j.expr(n.Field("left")), j.expr(n.Field("right"))}
	switch op := n.Field("operator").Kind(); op {
	case "+":
		x.kind = aText
		x.fold()
	case "&&":
		x.kind = anAnd
	case "||":
		x.kind = anOr
	case "??":
		x.kind = aChoice
	case "==", "===":
		x.kind, x.text = aComparison, "=="
	case "!=", "!==":
		x.kind, x.text = aComparison, "!="
	case "in", "<", ">", "<=", ">=":
		x.kind, x.text = aComparison, op
	}
}

func (j *javascript) unary(x *expr, n syntax.Node) {
	operand := j.expr(n.Field("argument"))
	switch op := n.Field("operator").Kind(); {
	case op == "!":
		x.kind, x.parts = aNot, []*expr{operand}
	case op == "-" && operand != nil && operand.kind == aNumber:
		x.kind, x.text = aNumber, "-"+operand.text
	default: // what is left are numbers and names of types
		x.parts = []*expr{operand}
	}
}

func (j *javascript) object(x *expr, n syntax.Node) {
	x.kind = aList
	for c := range n.NamedChildren() {
		name, v := "", (*expr)(nil)
		switch c.Kind() {
		case "pair", "pair_pattern":
			name, v = j.key(c.Field("key")), called(j.expr(c.Field("value")), c.Field("key").Text())
		case "shorthand_property_identifier", "shorthand_property_identifier_pattern":
			name, v = c.Text(), j.expr(c)
		case "object_assignment_pattern":
			name, v = c.Field("left").Text(), j.expr(c)
		case "spread_element", "rest_pattern":
			name, v = "*", j.expr(c)
		case "method_definition":
			name, v = "?", &expr{kind: aFunction, fn: j.function(c), at: nodeAt(c)}
		default:
			continue
		}
		x.add(name, v)
	}
}

func (j *javascript) key(n syntax.Node) string {
	switch n.Kind() {
	case "property_identifier", "number":
		return n.Text()
	case "string":
		return cmp.Or(only(n).Text(), "?")
	}
	return "?"
}

// array counts the holes, too: [, , third].
func (j *javascript) array(x *expr, n syntax.Node) {
	x.kind = aList
	i := 0
	for c := range n.Children() {
		switch {
		case c.Kind() == ",":
			i++
		case c.Kind() == "spread_element", c.Kind() == "rest_pattern":
			x.add("*", j.expr(c))
		case c.Named() && c.Kind() != "comment":
			x.add(element(i), j.expr(c))
		}
	}
}
