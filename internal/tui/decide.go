package tui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/lookalike"
	"github.com/parleyhq/parley/internal/tui/command"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// decision is a proposal on its way to one: what would run, byte for byte, who wants
// it and why, and what one can do about it.
type decision struct {
	id       string
	sendID   string // the same for each try: it is sent once
	envelope *parley.Envelope
	call     parley.Call
	standing Standing
	failure  error // why it cannot be shown, or what refused the decision

	to     string // whom to ask
	tool   *store.Tool
	listed *Listed
	beside []*parley.Envelope // what was said in its context before
	loads  int                // how often it was read, or is being read
	loaded bool

	outdated bool      // its tool had another definition when it was proposed
	gone     bool      // nobody can tell any more what it asks for
	shown    time.Time // since when it can be read

	step     step
	sending  bool
	reject   rejecting
	amend    *amending
	wanted   *command.Command // changes that were typed before it was read
	showAll  bool
	pager    pager
	end      int       // of what would be sent, as a line of the pager
	read     bool      // the end was in sight
	turned   time.Time // when Enter read on
	drawnFor string
}

// step is what one is about to do.
type step int

const (
	looking step = iota
	approving
	refusing
	editing
	comparing
)

// rejecting is a no that is being written.
type rejecting struct {
	reason int
	line   *editor
}

// reasons are those of the contract, the likely ones first.
var reasons = []string{"disagree", "unsafe", "policy", "invalid", "duplicate", "busy", "incapable", "timeout", "other"}

// What of it is laid out at once, in bytes, and how much of what others say of it.
const (
	mostLaidOut = 200_000
	mostBeside  = 20
	mostWarning = 6 // lines
	mostTitle   = 160
)

func newDecision(id string) *decision { return &decision{id: id, sendID: client.NewID()} }

// unread is how long what has just appeared cannot be approved: the one that was meant
// may have been decided as the key was pressed, and another one come in its place.
const unread = 400 * time.Millisecond

// load takes in what was read of it.
func (d *decision) load(l loaded, now time.Time) {
	if d.shown.IsZero() {
		d.shown = now
	}
	d.loaded, d.failure = true, l.err
	d.envelope, d.standing, d.tool, d.listed, d.beside = l.envelope, l.standing, l.tool, l.listed, l.beside
	d.outdated, d.gone = l.outdated, l.gone
	d.drawnFor = ""
	if l.envelope == nil {
		return
	}
	kind := parley.SplitKind(l.envelope.Kind)
	call, err := parley.ReadCall(kind, l.envelope.Payload)
	switch {
	case d.gone:
		call = parley.Call{Kind: kind}
	case err != nil:
		d.failure = err // who approves what they read must not set off something else
		return
	}
	d.call = call
	if d.to == "" && len(l.envelope.To) == 1 {
		d.to = l.envelope.To[0]
	}
}

// state is the newer of what the stream and the gateway's answer say.
func (d *decision) state(s *store.Store) (state string, row *store.Row) {
	if r := s.Find(d.id); r != nil && r.Type == store.Proposal {
		if r.State != store.Open || d.standing.State == "" {
			return string(r.State), r
		}
		return d.standing.State, r
	}
	return d.standing.State, nil
}

func (d *decision) isOpen(s *store.Store) bool {
	state, _ := d.state(s)
	return d.envelope != nil && d.call.Kind.Method != "" && state == string(store.Open)
}

// onlyNo says why all that can be done is to reject it; "" where there is more.
func (d *decision) onlyNo() string {
	switch {
	case d.gone:
		return "What it asks for is no longer on record"
	case d.outdated:
		return "Its tool has changed since it was proposed"
	}
	return ""
}

func (d *decision) isOwn(s *store.Store) bool { return d.envelope != nil && d.envelope.From == s.Me }

// title is what it asks for.
func (d *decision) title() string {
	if d.call.Kind.Subject != "" {
		return d.call.Kind.Subject
	}
	return d.call.Kind.Method
}

// request is what would be sent.
func (d *decision) request() (*parley.Envelope, error) {
	if d.to == "" {
		return nil, parley.Errorf(parley.InvalidArgument, "nobody is named whom to ask").WithHint("press t to choose")
	}
	if d.amend == nil {
		return client.NewFulfilment(d.envelope, client.To(d.to), client.WithID(d.sendID))
	}
	return client.NewRequest("", d.call.Kind.Method, d.amend.params, client.To(d.to),
		client.Correlate(d.id), client.Amends(), client.WithID(d.sendID))
}

// refusal is the no that would be sent.
func (d *decision) refusal() *parley.Envelope {
	return refusal(d.sendID, d.id, d.envelope.Kind, d.envelope.From, d.reject.payload())
}

func refusal(sendID, id, kind, from string, payload jsontext.Value) *parley.Envelope {
	return &parley.Envelope{
		ID: sendID, Kind: parley.SplitKind(kind).As(parley.TypeReject).String(), To: []string{from},
		Correlation: parley.CorrelateWith(id), Payload: payload,
	}
}

// payload is a no with its reason, as it is sent.
func (r *rejecting) payload() jsontext.Value {
	payload := `{"reason":` + quote(reasons[r.reason])
	if words := strings.TrimSpace(r.line.Value()); words != "" {
		payload += `,"message":` + quote(words)
	}
	return jsontext.Value(payload + "}")
}

func quote(s string) string {
	b, _ := jsontext.AppendQuote(nil, strings.ToValidUTF8(s, "\ufffd"))
	return string(b)
}

// params are what would be sent as such.
func (d *decision) params() jsontext.Value {
	if d.amend != nil && d.amend.params != nil {
		return d.amend.params
	}
	return d.call.Params
}

// targets are those who can be asked, where the proposal leaves it open.
func (d *decision) targets(s *store.Store) []string {
	return targets(s, d.envelope.From, d.envelope.To)
}

func targets(s *store.Store, from string, to []string) []string {
	if len(to) > 0 {
		return to
	}
	return slices.DeleteFunc(s.People(), func(id string) bool { return id == from })
}

// nextTarget goes round among them.
func (d *decision) nextTarget(s *store.Store) {
	list := d.targets(s)
	if len(list) == 0 {
		return
	}
	d.to = list[(slices.Index(list, d.to)+1)%len(list)]
	d.drawnFor = ""
}

// sections are what there is to read before one decides, and at which line of main ends
// what would be sent. On a small screen the arguments come first.
func (d *decision) sections(s *store.Store, width int, small bool, now time.Time) (main, side []string, end int) {
	if d.envelope == nil || d.call.Kind.Method == "" {
		return d.unreadable(width), nil, 0
	}
	facts := append(d.facts(s, width, now), "")
	if d.gone {
		return facts, nil, 0
	}
	main = d.warning(s, width)
	if !small {
		main = append(facts, main...)
	}
	main = append(main, d.arguments(width)...)
	end = len(main)
	if small {
		main = append(append(main, ""), facts[:len(facts)-1]...)
	}
	return main, d.around(s, width), end
}

func (d *decision) unreadable(width int) []string {
	if !d.loaded {
		return []string{dim.Render("Loading…")}
	}
	return problem(d.failure, width)
}

func (d *decision) facts(s *store.Store, width int, now time.Time) []string {
	who := hue(d.envelope.From).Render(safe.Line(d.envelope.From, 40))
	if other := s.LooksLike(d.envelope.From); other != "" {
		who += bad.Render(" (not " + safe.Line(other, 40) + ")")
	}
	when := d.standing.Opened
	if when.IsZero() {
		when = d.envelope.TS
	}
	lines := []string{
		field("runs at", d.target(s), width),
		field("proposed", "by "+who+dim.Render(" "+ago(when, now)+d.until(now)), width),
	}
	if d.call.Kind.Method != "tools/call" {
		lines = append(lines, field("asks for", safe.Line(d.call.Kind.Method, mostTitle), width))
	}
	if reason, ok := parley.MemberString(d.envelope.Payload, "reason"); ok && reason != "" {
		said, _ := fold(reason, width-10, 3)
		for i, line := range said {
			lines = append(lines, field(map[bool]string{true: "because"}[i == 0], line, width))
		}
	}
	return lines
}

func field(name, value string, width int) string {
	return cut(dim.Render(pad(name, 9))+" "+value, width)
}

func (d *decision) until(now time.Time) string {
	if d.standing.Expires.After(now) {
		return ", ends in " + span(d.standing.Expires.Sub(now))
	}
	return ""
}

func (d *decision) target(s *store.Store) string {
	if d.to == "" {
		return ask.Render("whom? t chooses among " + plural(len(d.targets(s)), "participant", "participants"))
	}
	text := hue(d.to).Render(safe.Line(d.to, 40))
	if !s.Here(d.to) {
		text += bad.Render(" (not here)")
	}
	if len(d.envelope.To) != 1 {
		text += dim.Render("  t chooses another")
	}
	return text
}

// warning stands above the arguments: a name may look like another one, and what was
// accepted may not be what would run.
func (d *decision) warning(s *store.Store, width int) []string {
	return append(d.oddName(s, width), d.changed(width)...)
}

// oddName tells of a name that can be taken for that of another tool, or that mixes
// letters of several alphabets.
func (d *decision) oddName(s *store.Store, width int) []string {
	var others []string
	for _, t := range s.Tools() {
		if t.Participant == d.to {
			others = append(others, t.Name)
		}
	}
	other, alike := lookalike.Confusable(d.title(), others)
	text := ""
	switch {
	case alike:
		text = "! Its name looks like " + other + ", which is another tool" + oddLetters(d.title())
	case lookalike.Mixed(d.title()):
		text = "! Its name mixes letters of several alphabets" + oddLetters(d.title())
	default:
		return nil
	}
	lines, _ := fold(text, width, mostWarning)
	for i := range lines {
		lines[i] = bad.Render(lines[i])
	}
	return append(lines, "")
}

func oddLetters(name string) string {
	var odd []string
	for _, r := range name {
		if r > unicode.MaxASCII && len(odd) < 8 {
			odd = append(odd, fmt.Sprintf("%c is U+%04X", r, r))
		}
	}
	if len(odd) == 0 {
		return ""
	}
	return ": " + strings.Join(odd, ", ")
}

func (d *decision) changed(width int) []string {
	if d.listed == nil || d.listed.Changed == "" || d.listed.Accepted {
		return nil
	}
	lines, more := fold("! The tool's definition has changed since it was accepted: "+d.listed.Changed, width, mostWarning)
	for i := range lines {
		lines[i] = bad.Render(lines[i])
	}
	if more {
		lines = append(lines, bad.Render("  …"))
	}
	return append(lines, "")
}

// arguments are what would be sent: laid out to be read, and as it is.
func (d *decision) arguments(width int) []string {
	params := d.params()
	given := parley.Member(params, "arguments")
	if d.call.Kind.Method != "tools/call" || given == nil {
		given = params
	}
	lines := []string{heading.Render("Arguments")}
	if given == nil {
		lines = append(lines, dim.Render("none"))
	} else {
		lines = append(lines, d.block(layout(given), width)...)
	}
	lines = append(lines, "", heading.Render("Exactly as it will be sent")+dim.Render(" (params, "+size(len(params))+")"))
	return append(lines, d.block(string(params), width)...)
}

// isCut reports whether of what would be sent only the beginning is laid out.
func (d *decision) isCut() bool { return !d.showAll && len(d.params()) > mostLaidOut }

func (d *decision) block(text string, width int) []string {
	left := 0
	if !d.showAll && len(text) > mostLaidOut {
		left = len(text) - mostLaidOut
		text = text[:mostLaidOut]
	}
	lines, _ := fold(text, width, 0)
	if left > 0 {
		lines = append(lines, ask.Render("… "+size(left)+" more: + shows all"))
	}
	return lines
}

// around is what helps to judge it: what the tool says of itself, and what led to it.
func (d *decision) around(s *store.Store, width int) []string {
	var lines []string
	if d.call.Kind.Method == "tools/call" {
		lines = append(lines, heading.Render("What the tool says it does"))
		if d.tool == nil || d.tool.Description == "" {
			lines = append(lines, dim.Render("Its definition is not on record."))
		} else {
			said, _ := fold(d.tool.Description, width, 40)
			lines = append(lines, said...)
		}
		lines = append(lines, "")
	}
	if d.envelope.Context != nil {
		lines = append(lines, heading.Render("What led to it")+note.Render(" "+safe.Line(d.envelope.Context.ID, max(8, width-16))))
		for _, e := range d.beside {
			said, _ := fold(store.Words(e), width-2, 6)
			lines = append(lines, hue(e.From).Render(safe.Line(e.From, 24))+" "+dim.Render(safe.Line(e.Kind, max(8, width-26))))
			lines = append(lines, shift(said)...)
		}
		if len(d.beside) == 0 {
			lines = append(lines, dim.Render("Nothing was said in it before."))
		}
		lines = append(lines, "")
	}
	if earlier := d.earlier(s, width); len(earlier) > 0 {
		lines = append(append(lines, heading.Render("Decided before, on the same")), append(earlier, "")...)
	}
	return append(lines, dim.Render(cut("id "+safe.OneLine(d.id), width)))
}

// mostEarlier is how many decisions on alike calls are listed.
const mostEarlier = 5

// earlier are the newest decisions on proposals of the same to the same, as far as
// they are kept here.
func (d *decision) earlier(s *store.Store, width int) []string {
	var lines []string
	for _, r := range slices.Backward(s.Rows()) {
		if r.Type != store.Proposal || r.Waits() || r.ID == d.id || r.Title != d.title() || !slices.Equal(r.To, d.envelope.To) {
			continue
		}
		word := stateWords[r.State]
		line := word.style.Render(word.word)
		if r.By != "" {
			line += " by " + safe.Line(r.By, 24)
		}
		lines = append(lines, cut(line+dim.Render(" "+safe.OneLine(r.Text)), width))
		if len(lines) == mostEarlier {
			break
		}
	}
	return lines
}

// outcome says what became of it, once it is decided.
func (d *decision) outcome(s *store.Store, width int) []string {
	state, r := d.state(s)
	if d.envelope == nil || state == string(store.Open) || state == "" {
		return nil
	}
	by, why := d.standing.By, d.standing.Reason
	if r != nil && r.State != store.Open {
		by, why = r.By, strings.TrimSpace(r.Why+" "+r.Answer)
	}
	text := state
	if by == s.Me && by != "" {
		text += " by you"
	} else if by != "" {
		text += " by " + safe.Line(by, 24)
	}
	style := note
	if w, ok := stateWords[store.State(state)]; ok {
		style = w.style
	}
	lines := []string{style.Bold(true).Render(text)}
	if why != "" {
		said, _ := fold("→ "+why, width, 3)
		lines = append(lines, said...)
	}
	return lines
}

func beginning(s string, most int) string {
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}

// problem is an error for people.
func problem(err error, width int) []string {
	var lines []string
	for i, part := range problemParts(err) {
		said, _ := fold(part, width, 6)
		for _, line := range said {
			if i == 0 {
				line = bad.Render(line)
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// problemParts are "code: message" and the hint.
func problemParts(err error) []string {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		if e.Hint == "" {
			return []string{e.Error()}
		}
		return []string{e.Error(), "hint: " + e.Hint}
	}
	return []string{err.Error()}
}
