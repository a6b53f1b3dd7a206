package command

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// Known is what there is in the room, for completion.
type Known struct {
	People    []string   // participants, by id
	Tools     []Tool     // of participants that serve them
	Contexts  []string   // by id
	Kinds     []string   // of envelopes, for capabilities
	Proposals []Proposal // open ones
	Forms     []Proposal // that wait for this person
}

// A Tool is one that somebody serves.
type Tool struct {
	Participant string
	Name        string
	Description string
	Schema      jsontext.Value // of its arguments, as it came; nil is none
}

// A Proposal, or a form, is something that waits.
type Proposal struct {
	Seq  uint64
	From string
	What string // in words
}

// Schema is what a tool's arguments have to be; nil where that is not known.
func (k Known) Schema(participant, tool string) jsontext.Value {
	for _, t := range k.Tools {
		if t.Participant == participant && t.Name == tool {
			return t.Schema
		}
	}
	return nil
}

// A Completion is how a line can go on: with Text in place of what stands from From
// to To. Text and Label are safe to be shown.
type Completion struct {
	Text, Label string
	From, To    int // bytes
}

const (
	maxCompletions = 50
	maxLabel       = 80   // columns
	maxText        = 4096 // bytes of what is put into the line
)

// Complete says how the word at the cursor, a byte of the line, can go on. What
// begins as it does comes before what holds it.
func Complete(line string, cursor int, k Known) []Completion {
	cursor = max(0, min(cursor, len(line)))
	if len(line) > MaxLine || !utf8.ValidString(line) || cursor < len(line) && !utf8.RuneStart(line[cursor]) {
		return nil
	}
	c := &completer{k: k, line: line, s: &scanner{line: line, end: cursor}, cursor: cursor}
	c.s.skip()
	rest := c.s.rest()
	if !strings.HasPrefix(rest, "/") || strings.HasPrefix(rest, "//") {
		return nil
	}
	c.from = c.s.at
	name := c.s.raw()
	if c.s.at == cursor {
		c.verbs(name, "/")
		return c.ranked()
	}
	if v := verbOf(name); v != nil {
		c.words(v)
	}
	return c.ranked()
}

// completer collects what can follow.
type completer struct {
	k            Known
	line         string
	s            *scanner // of what stands before the cursor
	cursor       int
	have         []string // the words before this one
	from         int      // where this one begins
	first, later []Completion
}

// words finds the word that the cursor is in, and offers what it can be.
func (c *completer) words(v *verb) {
	for i := 0; len(v.slots) > 0; i++ {
		sl := v.slots[min(i, len(v.slots)-1)]
		switch {
		case sl == free:
			return
		case sl == callArgs || sl == proposeArgs || sl == amendArgs:
			c.arguments(sl)
			return
		case i >= len(v.slots) && sl != rights && sl != fewerRights:
			return
		}
		c.from = c.s.skip()
		text, _ := c.s.word()
		if c.s.at == c.cursor {
			c.slot(sl, text)
			return
		}
		c.have = append(c.have, text)
	}
}

func (c *completer) slot(sl slot, text string) {
	switch sl {
	case person:
		c.people(text, c.k.People)
	case people:
		if i := strings.LastIndexByte(c.line[c.from:c.cursor], ','); i >= 0 { // those before it stay
			c.from += i + 1
			text = c.line[c.from:c.cursor]
		}
		c.people(text, c.k.People)
	case server:
		c.servers(text)
	case tool:
		c.tools(text)
	case openProposal:
		c.waiting(text, c.k.Proposals)
	case whichForm:
		c.waiting(text, c.k.Forms)
	case whyNot:
		for _, reason := range Reasons {
			c.offer(text, reason+": ", "")
		}
	case rights, fewerRights:
		c.rights(sl, text)
	case whichContext:
		c.contexts(text)
	case anyVerb:
		c.verbs(strings.TrimPrefix(text, "/"), "")
	}
}

func (c *completer) verbs(text, slash string) {
	for _, v := range verbs {
		end := " "
		if len(v.slots) == 0 || slash == "" {
			end = ""
		}
		c.offer(text, slash+string(v.Verb)+end, v.Does)
	}
}

func (c *completer) people(text string, list []string) {
	for _, id := range list {
		c.add(text, id, spelled(id)+" ", "")
	}
}

// servers are the participants that have tools.
func (c *completer) servers(text string) {
	count := map[string]int{}
	var order []string
	for _, t := range c.k.Tools {
		if count[t.Participant]++; count[t.Participant] == 1 {
			order = append(order, t.Participant)
		}
	}
	for _, id := range order {
		label := fmt.Sprintf("%d tools", count[id])
		if count[id] == 1 {
			label = "1 tool"
		}
		c.add(text, id, spelled(id)+" ", label)
	}
}

func (c *completer) tools(text string) {
	for _, t := range c.k.Tools {
		if t.Participant == c.have[0] || c.have[0] == "-" {
			c.add(text, t.Name, spelledTool(t.Name)+" ", firstLine(t.Description))
		}
	}
}

func (c *completer) waiting(text string, list []Proposal) {
	for _, p := range list {
		number := fmt.Sprint(p.Seq)
		if strings.HasPrefix(text, "#") {
			number = "#" + number
		}
		c.offer(text, number+" ", strings.TrimSuffix(p.From+": "+p.What, ": "))
	}
}

func (c *completer) rights(sl slot, text string) {
	patterns := slices.Clone(c.k.Kinds)
	for _, t := range c.k.Tools {
		patterns = append(patterns, "mcp/request:tools/call:"+t.Name)
	}
	slices.Sort(patterns)
	for _, p := range slices.Compact(patterns) {
		c.add(text, p, spelled(p)+" ", "")
	}
	if len(c.have) > 1 {
		c.offer(text, "because ", "why, for the record")
		if sl == rights {
			c.offer(text, "for 1h ", "until it ends by itself")
		}
	} else if sl == fewerRights {
		c.offer(text, "grant ", "by the id of the grant")
	}
}

func (c *completer) contexts(text string) {
	if len(c.have) == 0 {
		c.offer(text, "alone ", "show nothing else")
		c.offer(text, "leave ", "back to the main one")
		c.offer(text, "show ", "where I am, and what there is")
	} else if c.have[0] != string(Alone) && c.have[0] != string(Enter) {
		return
	}
	for _, id := range c.k.Contexts {
		word := spelled(id) + " "
		if len(c.have) == 0 && slices.Contains([]Place{Show, Enter, Alone, Leave}, Place(id)) {
			word = string(Enter) + " " + word
		}
		c.add(text, id, word, "")
	}
}

// arguments goes over those that stand before the cursor, and offers another one, or
// values of the one that is begun.
func (c *completer) arguments(sl slot) {
	shape := readShape(c.schema(sl))
	given := map[string]bool{}
	for {
		c.from = c.s.skip()
		if c.s.at == c.cursor {
			c.names(shape, given, "", sl)
			return
		}
		word := c.s.peek()
		if strings.HasPrefix(word, "{") || sl == proposeArgs && word == "because" && c.s.at+len(word) < c.cursor {
			return
		}
		begun := c.s.at
		a, err := c.s.argument()
		switch {
		case c.s.at < c.cursor:
			if err != nil { // it may go on, as a list does
				return
			}
			given[a.Name] = true
		case !strings.Contains(c.line[begun:c.cursor], "="):
			c.names(shape, given, a.Name, sl)
			return
		default:
			c.values(shape, a)
			return
		}
	}
}

// schema is that of the tool that is called. Where it is left open who is asked, the
// first one of that name says.
func (c *completer) schema(sl slot) jsontext.Value {
	if sl == amendArgs || len(c.have) < 2 {
		return nil
	}
	for _, t := range c.k.Tools {
		if (t.Participant == c.have[0] || c.have[0] == "-") && t.Name == c.have[1] {
			return t.Schema
		}
	}
	return nil
}

func (c *completer) names(s *shape, given map[string]bool, text string, sl slot) {
	for _, p := range s.matching(text, given) {
		t := s.terms(p)
		sign := "="
		if len(t.values) == 0 && !t.is("string") && (t.is("object") || t.is("array")) {
			sign = ":="
		}
		c.add(text, p.name, spelledName(p.name)+sign, t.label(p.required))
	}
	if sl == proposeArgs && len(s.missingFrom(given)) == 0 {
		c.offer(text, "because ", "why, for whoever decides")
		c.offer(text, "for 10m ", "until it ends by itself")
	}
}

// matching are the first properties that can be meant, those that begin so at first.
func (s *shape) matching(text string, given map[string]bool) []*property {
	var first, later []*property
	text = strings.ToLower(text)
	for i := range s.properties {
		name := strings.ToLower(s.properties[i].name)
		switch {
		case given[s.properties[i].name] || name == "" || len(name) > maxText:
		case strings.HasPrefix(name, text):
			first = append(first, &s.properties[i])
		case strings.Contains(name, text):
			later = append(later, &s.properties[i])
		}
	}
	all := append(first, later...)
	return all[:min(len(all), maxCompletions)]
}

// missingFrom are the required arguments that are not given yet.
func (s *shape) missingFrom(given map[string]bool) (names []string) {
	for _, p := range s.properties {
		if p.required && !given[p.name] {
			names = append(names, p.name)
		}
	}
	return names
}

// label is the type, whether it has to be there, and what it is.
func (t terms) label(required bool) string {
	s := strings.Join(t.types, " or ")
	if len(t.values) > 0 && !t.open {
		s = "one of " + fmt.Sprint(len(t.values))
	}
	if s == "" {
		s = "any"
	}
	if required {
		s += ", required"
	}
	if t.byDefault != nil {
		s += ", else " + safe.Line(said(t.byDefault), 20)
	}
	if t.description != "" {
		s += " · " + t.description
	}
	return s
}

// values offers those that the schema names, and the default.
func (c *completer) values(s *shape, a Arg) {
	p := s.property(a.Name)
	head := c.line[c.from:c.cursor]
	if p == nil || a.Bare {
		return
	}
	t := s.terms(p)
	sign, text := "=", a.Text
	if strings.HasPrefix(strings.TrimPrefix(head, spelledName(a.Name)), ":=") {
		sign, text = ":=", strings.Trim(a.Text, `"`)
	}
	offered := func(v jsontext.Value, label string) {
		value := spelled(said(v))
		if sign == ":=" {
			value = asciiJSON(v)
		}
		c.add(text, said(v), spelledName(a.Name)+sign+value+" ", label)
	}
	for _, v := range t.values {
		offered(v, "")
	}
	if len(t.values) == 0 && t.is("boolean") {
		offered(jsontext.Value("true"), "")
		offered(jsontext.Value("false"), "")
	}
	if t.byDefault != nil && !slices.ContainsFunc(t.values, func(v jsontext.Value) bool { return string(v) == string(t.byDefault) }) && !t.is("boolean") {
		offered(t.byDefault, "the default")
	}
}

func (c *completer) wants(text, word string) bool {
	return len(c.first) < maxCompletions && strings.Contains(strings.ToLower(word), strings.ToLower(text))
}

// offer is add for words of our own.
func (c *completer) offer(text, whole, label string) {
	c.add(text, strings.TrimSpace(whole), whole, label)
}

// add takes a word that goes on as text begins, or holds it.
func (c *completer) add(text, word, whole, label string) {
	if len(whole) > maxText || !c.wants(text, word) {
		return
	}
	one := Completion{Text: whole, Label: safe.Line(label, maxLabel), From: c.from, To: c.to(text)}
	if one.To < len(c.line) && strings.IndexByte(blanks, c.line[one.To]) >= 0 {
		one.Text = strings.TrimSuffix(whole, " ")
	}
	switch begins := strings.HasPrefix(strings.ToLower(word), strings.ToLower(text)); {
	case begins:
		c.first = append(c.first, one)
	case len(c.later) < maxCompletions:
		c.later = append(c.later, one)
	}
}

// to is where the word ends that the cursor is in.
func (c *completer) to(text string) int {
	if text == "" && c.from == c.cursor {
		return c.cursor
	}
	n := strings.IndexAny(c.line[c.cursor:], blanks)
	if n < 0 {
		return len(c.line)
	}
	return c.cursor + n
}

func (c *completer) ranked() []Completion {
	all := append(c.first, c.later...)
	return all[:min(len(all), maxCompletions)]
}

// spelled is a text as it can be typed: bare where that means the same, and else in
// quotes, with an escape for whatever would not show as itself.
func spelled(s string) string {
	if s == "" || strings.ContainsAny(s[:1], `"'{[@=/`) || strings.ContainsAny(s, blanks) || safe.OneLine(s) != s {
		return asciiJSON(quote(s))
	}
	return s
}

// spelledName is spelled for what stands before an equals sign.
func spelledName(s string) string {
	if strings.ContainsAny(s, "=:") {
		return asciiJSON(quote(s))
	}
	return spelled(s)
}

// spelledTool keeps a tool from being taken for a method.
func spelledTool(s string) string {
	if strings.Contains(s, "/") {
		return asciiJSON(quote(s))
	}
	return spelled(s)
}

// asciiJSON is a value in which nothing stands but ASCII, on one line.
func asciiJSON(v jsontext.Value) string {
	var b strings.Builder
	v = v.Clone()
	_ = v.Compact() // else as it is
	for _, r := range string(v) {
		if r >= ' ' && r <= '~' {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.String()
}
