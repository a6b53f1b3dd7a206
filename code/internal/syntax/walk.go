package syntax

import (
	"bytes"
	"slices"
	"strings"
)

// A role is what a rule of a grammar means to the walk.
type role uint8

const (
	roleNone     role = iota
	roleFunction      // has a body and a complexity of its own
	roleClass         // or another named type
	roleIf            // a decision that nests its branches
	roleElif          // a further branch, which is flat
	roleElse          // the last branch
	roleLoop
	roleCatch
	roleTernary
	roleSwitch  // nests, and decides by its cases
	roleCase    // one decision
	roleFilter  // a decision that does not nest: of a comprehension, or a guard
	roleLogical // perhaps a short-circuit operator
	roleParens
	roleJump  // perhaps to a label
	roleBlock // of statements
	roleComment
	roleImport    // a statement or call that imports
	roleVariable  // what declares a variable
	roleDocstring // a statement that may be a docstring
	roleDecorator // stands before what it decorates, or in it
)

// A reader knows what is particular to a language.
type reader interface {
	// function fills in f and says at which offset its signature begins.
	function(n Node, f *Function) int
	class(n Node, c *Class)
	// docstring is the statement that documents what the body belongs to.
	docstring(body Node) Node
	imports(n Node)
	variable(n Node)
	// decides says whether a case, logical operator or jump is one that counts.
	decides(n Node) bool
	// chained says whether an if is the continuation of an else.
	chained(n Node) bool
	// flatElse says whether an else belongs to something that does not nest.
	flatElse(n Node) bool
}

// A walk goes once through a tree, in the order of the text and without
// recursion, and fills the File.
type walk struct {
	file     *File
	tree     *Tree
	language reader

	doc     int32    // the statement that is the next docstring; 0 for none
	open    []scope  // functions and classes around, outermost first
	regions []int32  // where the regions of nesting around end, outermost first
	remarks []remark // comments and docstrings

	decorators      int   // where the last row of decorators begins
	decoratorsAfter int32 // the node that follows it
	broken          int32 // where the last piece of text that fits no rule ends
}

// A scope is a function or class that the walk is in.
type scope struct {
	after    int32 // the first node behind it
	function int   // index into File.Functions, or -1
	class    int   // index into File.Classes, or -1
	prefix   string

	base   int // the nesting right inside
	events int // of cognitive complexity that count nesting
}

func (w *walk) run() error {
	w.doc = w.language.docstring(w.tree.Root()).index
	for n := range w.tree.Root().All() {
		w.leave(n.index)
		w.enter(n)
		if err := w.file.tooMany(); err != nil {
			return err
		}
	}
	w.leave(int32(len(w.tree.nodes)))
	return nil
}

// leave closes what ended before the node i.
func (w *walk) leave(i int32) {
	for len(w.regions) > 0 && w.regions[len(w.regions)-1] <= i {
		w.regions = w.regions[:len(w.regions)-1]
	}
	for len(w.open) > 0 && w.open[len(w.open)-1].after <= i {
		done := w.open[len(w.open)-1]
		w.open = w.open[:len(w.open)-1]
		w.handUp(done)
	}
}

// handUp adds the cognitive complexity of a function to the one around it,
// where it lies deeper.
func (w *walk) handUp(s scope) {
	if s.function < 0 {
		return
	}
	outer := w.enclosing()
	if outer == nil {
		return
	}
	inner := &w.file.Functions[s.function]
	w.file.Functions[outer.function].Cognitive += inner.Cognitive + s.events*(s.base-outer.base)
	outer.events += s.events
}

// enclosing is the innermost function.
func (w *walk) enclosing() *scope {
	for i := len(w.open) - 1; i >= 0; i-- {
		if w.open[i].function >= 0 {
			return &w.open[i]
		}
	}
	return nil
}

// flat and nested are events of cognitive complexity.
func (w *walk) flat() {
	if s := w.enclosing(); s != nil {
		w.file.Functions[s.function].Cognitive++
	}
}

func (w *walk) nested() {
	if s := w.enclosing(); s != nil {
		w.file.Functions[s.function].Cognitive += 1 + len(w.regions) - s.base
		s.events++
	}
}

func (w *walk) decision() {
	if s := w.enclosing(); s != nil {
		w.file.Functions[s.function].Cyclomatic++
	}
}

func (w *walk) enter(n Node) {
	at := n.at()
	if at.flags&(flagError|flagMissing) != 0 {
		w.syntaxError(n)
	}
	if w.deepens(n) {
		w.regions = append(w.regions, n.after())
	}
	if at.flags&flagNamed == 0 {
		return
	}
	switch w.role(n) {
	case roleFunction:
		w.function(n)
	case roleClass:
		w.class(n)
	case roleComment:
		w.remarks = append(w.remarks, remark{n.Start(), n.End()})
	case roleDecorator:
		if w.decoratorsAfter != n.index {
			w.decorators = n.Start()
		}
		w.decoratorsAfter = n.after()
	case roleImport:
		w.language.imports(n)
	case roleVariable:
		w.language.variable(n)
	case roleDocstring:
		if n.index == w.doc {
			w.remarks = append(w.remarks, remark{n.Start(), n.End()})
		}
		w.language.variable(n)
	default:
		w.complexity(n)
	}
}

func (w *walk) complexity(n Node) {
	switch w.role(n) {
	case roleIf:
		w.decision()
		if !w.language.chained(n) {
			w.nested()
		}
	case roleElif:
		w.decision()
		w.flat()
	case roleElse:
		if !w.language.flatElse(n) {
			w.flat()
		}
	case roleLoop, roleCatch, roleTernary:
		w.decision()
		w.nested()
	case roleSwitch:
		w.nested()
	case roleCase:
		if w.language.decides(n) {
			w.decision()
		}
	case roleFilter:
		w.decision()
	case roleLogical:
		if w.language.decides(n) {
			w.decision()
			if !w.continues(n) {
				w.flat()
			}
		}
	case roleJump:
		if w.language.decides(n) {
			w.flat()
		}
	}
}

// continues says whether a logical operator goes on with a row of the same
// one; brackets do not end a row.
func (w *walk) continues(n Node) bool {
	p := n.Parent()
	for w.role(p) == roleParens {
		p = p.Parent()
	}
	return w.role(p) == roleLogical && operator(p) == operator(n)
}

func operator(n Node) string { return n.Field("operator").Kind() }

// deepens says whether a node is where its parent's nesting begins.
func (w *walk) deepens(n Node) bool {
	p := n.Parent()
	if !p.OK() {
		return false
	}
	g, field := w.tree.grammar, uint8(n.at().field)
	switch w.role(p) {
	case roleIf, roleElif:
		return field == g.then && field != 0
	case roleElse:
		return n.Named() && w.role(n) != roleComment && !w.language.flatElse(p) && !(w.role(n) == roleIf && w.language.chained(n))
	case roleLoop, roleSwitch:
		return field == g.body && field != 0
	case roleCatch:
		return w.role(n) == roleBlock
	case roleTernary:
		return n.Named() && w.role(n) != roleComment
	}
	return false
}

func (w *walk) role(n Node) role {
	if !n.OK() {
		return roleNone
	}
	return w.tree.grammar.role(uint16(n.at().symbol))
}

func (w *walk) span(n Node) Span { return w.file.Span(n.Start(), n.End()) }

// codeSpan is a node's span without the decorators that it begins with, and
// without the comments that it ends with: the grammar of Python takes those
// below a function for a part of it.
func (w *walk) codeSpan(n Node) Span {
	start, decorated := n.Start(), false
	for c := range n.Children() {
		r := w.role(c)
		decorated = decorated || r == roleDecorator
		if !decorated {
			break
		}
		if r != roleDecorator && r != roleComment {
			start = c.Start()
			break
		}
	}
	for last := (Node{n.tree, n.after() - 1}); last.index > n.index; last.index-- {
		if w.role(last) != roleComment && last.at().size == 1 {
			return w.file.Span(start, max(start, last.End()))
		}
	}
	return w.file.Span(start, n.End())
}

func (w *walk) function(n Node) {
	f := Function{Node: n, Kind: PlainFunction, Span: w.codeSpan(n), Cyclomatic: 1, Parent: -1, Class: -1}
	if s := w.enclosing(); s != nil {
		f.Parent = s.function
	}
	prefix := ""
	if len(w.open) > 0 {
		around := w.open[len(w.open)-1]
		prefix = around.prefix
		if f.Class = around.class; f.Class >= 0 {
			f.Owner = w.file.Classes[f.Class].Name
		}
	}
	f.Body = w.file.Span(f.Span.End, f.Span.End)
	if body := n.Field("body"); body.OK() {
		f.Body = w.codeSpan(body)
	}
	start := w.language.function(n, &f)
	if doc := w.language.docstring(n.Field("body")); doc.OK() {
		w.doc, f.Documented = doc.index, true
	}
	if f.Qualified == "" {
		f.Qualified = f.Name
	}
	if f.Name == "" {
		f.Qualified = ""
	} else if prefix != "" {
		f.Qualified = prefix + "." + f.Qualified
	}
	f.Receiver = f.Owner
	f.Signature = shorten(w.file.Source[start:max(start, w.signatureEnd(n, f))], 400)
	f.Documented = f.Documented || w.documented(f.Whole, f.Span)
	w.file.Functions = append(w.file.Functions, f)
	w.regions = append(w.regions, n.after())
	w.open = append(w.open, scope{
		after: n.after(), function: len(w.file.Functions) - 1, class: -1,
		prefix: longPrefix(f.Qualified, prefix), base: len(w.regions),
	})
}

// signatureEnd is the end of what a function takes and returns.
func (w *walk) signatureEnd(n Node, f Function) int {
	end := 0
	for _, part := range []string{"name", "parameters", "parameter", "return_type"} {
		end = max(end, n.Field(part).End())
	}
	if end == 0 {
		return f.Body.Start
	}
	return end
}

// maxPrefix bounds the names of what lies deep within others.
const maxPrefix = 200

// longPrefix is what the names of what lies within begin with.
func longPrefix(qualified, around string) string {
	if qualified == "" || len(qualified) > maxPrefix {
		return around
	}
	return qualified
}

func (w *walk) class(n Node) {
	c := Class{Node: n, Kind: PlainClass, Span: w.codeSpan(n)}
	prefix := ""
	if len(w.open) > 0 {
		prefix = w.open[len(w.open)-1].prefix
	}
	w.language.class(n, &c)
	if doc := w.language.docstring(n.Field("body")); doc.OK() {
		w.doc, c.Documented = doc.index, true
	}
	c.Qualified = c.Name
	if c.Name != "" && prefix != "" {
		c.Qualified = prefix + "." + c.Name
	}
	c.Documented = c.Documented || w.documented(c.Whole, c.Span)
	w.file.Classes = append(w.file.Classes, c)
	w.open = append(w.open, scope{
		after: n.after(), function: -1, class: len(w.file.Classes) - 1, prefix: longPrefix(c.Qualified, prefix),
	})
}

// whole is the span of a declaration with the comment right above it. The
// comment has lines of its own and no blank line below it.
func (w *walk) whole(n Node) Span {
	start := n.Start()
	if w.decoratorsAfter == n.index && n.index > 0 {
		start = w.decorators
	}
	for _, r := range slices.Backward(w.remarks) {
		if r.end > start {
			continue // lies within
		}
		if breaks := w.file.breaksBetween(r.end, start); breaks < 0 || breaks > 1 || !w.file.beginsLine(r.start) {
			break
		}
		start = r.start
	}
	return w.file.Span(start, n.End())
}

// documented says whether a declaration begins with a comment for
// documentation, as JSDoc writes it.
func (w *walk) documented(whole, span Span) bool {
	return whole.Start < span.Start && bytes.HasPrefix(w.file.Source[whole.Start:], []byte("/**"))
}

func (w *walk) syntaxError(n Node) {
	if len(w.file.Errors) >= MaxErrors {
		return
	}
	if n.IsMissing() {
		w.file.Errors = append(w.file.Errors, Error{w.span(n), "missing " + describe(n)})
		return
	}
	if n.index < w.broken {
		return // within what was told already
	}
	w.broken = n.after()
	begin := n
	for c := range n.Children() {
		if !c.Named() { // what stands before it fits
			begin = c
			break
		}
	}
	w.file.Errors = append(w.file.Errors, Error{w.file.Span(begin.Start(), n.End()), "this does not fit the grammar of the language"})
}

// describe is a token that is missing, in the grammar's words.
func describe(n Node) string {
	if n.Named() {
		return strings.ReplaceAll(n.Kind(), "_", " ")
	}
	return `"` + n.Kind() + `"`
}

// shorten puts a text on one line of at most so many bytes.
func shorten(text []byte, most int) string {
	if len(text) > 4*most {
		text = text[:4*most]
	}
	s := strings.Join(strings.Fields(string(text)), " ")
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most-len("…")], "") + "…"
	}
	return strings.ToValidUTF8(s, "")
}

// short is a node's text on one line.
func short(n Node) string { return shorten(n.Bytes(), 100) }

// topLevel says whether nothing is around.
func (w *walk) topLevel() bool { return len(w.open) == 0 }
