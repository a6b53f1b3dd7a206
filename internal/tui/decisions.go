package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/command"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// loaded is what was read of a proposal.
type loaded struct {
	envelope *parley.Envelope
	standing Standing
	tool     *store.Tool
	listed   *Listed
	outdated bool
	gone     bool
	beside   []*parley.Envelope
	err      error
}

// decideNext goes to the proposal that waits for longest, or, from one, to the next.
func (m *Model) decideNext(s step) tea.Cmd {
	w, _, _ := m.waiting()
	if w == nil {
		m.say("Nothing waits for a decision.")
		return nil
	}
	return m.decide(w.ID, s)
}

// mostJudged is how many proposals are looked at for one that we may decide on.
const mostJudged = 100

// waiting is the proposal that waits for us for longest, and what we may do about it;
// where none does, the one that waits for others for longest, or nil.
func (m *Model) waiting() (w *store.Waiting, call, reject bool) {
	queue := m.store.Queue()
	for _, w := range queue[:min(len(queue), mostJudged)] {
		if call, reject := m.may(parley.SplitKind(w.Kind), w.From, targets(m.store, w.From, w.To)); call || reject {
			return w, call, reject
		}
	}
	if len(queue) == 0 {
		return nil, false, false
	}
	return queue[0], false, false
}

// decide goes to a proposal.
func (m *Model) decide(id string, s step) tea.Cmd {
	m.decision = newDecision(id)
	m.focus = onDecision
	d := m.decision
	d.step = s
	if s == refusing {
		d.beginReject()
	}
	return m.load(d)
}

// load reads what there is to know of a proposal.
func (m *Model) load(d *decision) tea.Cmd {
	to := d.to
	d.loads++
	load := d.loads
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		l := m.read(ctx, d.id, to)
		return func(m *Model) tea.Cmd {
			if load < d.loads || d != m.decision {
				return nil // what is read later says more, or nobody looks any more
			}
			d.load(l, m.now())
			m.reconsider(d)
			return nil
		}
	})
}

// reconsider goes on to what one is about to do, as far as that is possible.
func (m *Model) reconsider(d *decision) {
	unread := d.step == editing && d.amend == nil
	switch {
	case d.onlyNo() != "" && (d.step == approving || unread), d.step == approving && (!d.isOpen(m.store) || !m.mayRun(d)):
		d.step = looking
	case d.onlyNo() != "" && d.step == comparing: // who still types in the editor goes on to
		m.stepBack()
	case unread:
		m.beginAmend(d)
	}
}

func (m *Model) read(ctx context.Context, id, to string) (l loaded) {
	if l.envelope, l.err = m.room.Envelope(ctx, id); l.err != nil {
		return m.readDropped(ctx, id, l.err)
	}
	if l.standing, l.err = m.room.Proposal(ctx, id); l.err != nil {
		return l
	}
	e := l.envelope
	if e.Context != nil {
		l.beside, _ = m.room.Search(ctx, &client.Query{Context: e.Context.ID, Before: e.Seq, Limit: mostBeside, Descending: true})
		slices.Reverse(l.beside)
	}
	k := parley.SplitKind(e.Kind)
	if len(e.To) == 1 {
		to = e.To[0]
	}
	if k.Method == "tools/call" && to != "" {
		l.listed, l.tool = m.readTool(ctx, to, toolOf(e))
		l.outdated = l.listed != nil && m.isOutdated(ctx, e, l.listed)
	}
	return l
}

// readDropped reads what is still told of a proposal whose envelope could not be read.
func (m *Model) readDropped(ctx context.Context, id string, err error) loaded {
	if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return loaded{err: err}
	}
	standing, _ := m.room.Proposal(ctx, id)
	if standing.Dropped == nil {
		return loaded{err: err}
	}
	return loaded{envelope: standing.Dropped, standing: standing, gone: true}
}

// toolOf is the tool that a proposal names, also where its kind leaves that to the
// payload.
func toolOf(e *parley.Envelope) string {
	name, _ := parley.MemberString(parley.Member(e.Payload, "params"), "name")
	return name
}

// readTool looks up what a tool says of itself, and whether it changed since somebody
// accepted that.
func (m *Model) readTool(ctx context.Context, participant, name string) (*Listed, *store.Tool) {
	list, err := m.room.Tools(ctx, participant)
	if err != nil {
		return nil, nil
	}
	i := slices.IndexFunc(list, func(t Listed) bool { return t.Name == name })
	if i < 0 {
		return nil, nil
	}
	if list[i].Notice == 0 {
		return &list[i], nil
	}
	notice, err := m.room.Notice(ctx, list[i].Notice)
	if err != nil {
		return &list[i], nil
	}
	s := store.New(1)
	s.Learn(notice)
	for _, t := range s.Tools() {
		if t.Name == name && t.Participant == participant {
			return &list[i], t
		}
	}
	return &list[i], nil
}

func (d *decision) beginReject() { d.reject = newRejecting() }

func newRejecting() rejecting {
	r := rejecting{line: newEditor("in words › ", 3)}
	r.line.area.Placeholder = "optional, on record"
	r.line.focus(true)
	return r
}

func (m *Model) beginAmend(d *decision) {
	d.step = looking
	if d.envelope == nil || !d.isOpen(m.store) {
		return
	}
	a, err := newAmending(d.call)
	if err != nil {
		m.fail(err)
		return
	}
	d.amend, d.step = a, editing
	if a.err != nil {
		m.fail(a.err)
	}
	if c := d.wanted; c != nil && (len(c.Args) > 0 || c.Object != nil) {
		d.wanted = nil
		m.amendAs(d, *c)
	}
}

// amendAs makes the changes that a command names, and shows them.
func (m *Model) amendAs(d *decision, c command.Command) {
	var schema jsontext.Value
	if d.tool != nil {
		schema = d.tool.Schema
	}
	text, err := d.change(c, schema)
	if err != nil {
		m.fail(err)
		return
	}
	d.amend.page.area.SetValue(editable(jsontext.Value(text)))
	m.compare(d, text)
}

func (m *Model) decisionKey(k tea.KeyPressMsg) tea.Cmd {
	d, name := m.decision, k.String()
	switch d.step {
	case refusing:
		return m.refuseKey(k)
	case editing:
		return m.editKey(k)
	case approving, comparing:
		if name == "enter" {
			return m.approve()
		}
	}
	if d.pager.key(name, m.decisionRoom()) {
		return nil
	}
	if name == "esc" {
		m.stepBack()
		return nil
	}
	return m.lookKey(name)
}

// stepBack takes back what one was about to do, and leaves from where that is nothing.
func (m *Model) stepBack() {
	switch d := m.decision; d.step {
	case comparing:
		d.step, d.amend.params, d.read = editing, nil, false
	case looking:
		m.focus, m.decision = onStream, nil
		return
	default:
		d.step, d.amend = looking, nil
	}
	m.decision.drawnFor = ""
}

func (m *Model) lookKey(name string) tea.Cmd {
	d := m.decision
	open := d.isOpen(m.store)
	switch name {
	case "n":
		return m.next()
	case "v":
		return m.verify()
	case "+":
		d.showAll, d.drawnFor = true, ""
	case "i", "/":
		m.decision = nil
		return m.write(map[string]string{"/": "/"}[name])
	case "?":
		m.openKeys()
	case "a", "r", "m", "t", "w":
		if !open || d.sending {
			break
		}
		if d.isOwn(m.store) != (name == "w") {
			m.say("This proposal is yours: somebody else decides on it. w takes it back.")
			break
		}
		if d.onlyNo() != "" && (name == "a" || name == "m") {
			m.tellOnlyNo(d)
			break
		}
		return m.actKey(name)
	}
	return nil
}

func (m *Model) actKey(name string) tea.Cmd {
	d := m.decision
	switch name {
	case "a":
		d.step = approving
	case "r":
		d.step = refusing
		d.beginReject()
	case "m":
		m.beginAmend(d)
	case "t":
		d.nextTarget(m.store)
		return m.load(d) // what the tool says of itself differs from one to the other
	case "w":
		kind := parley.SplitKind(d.envelope.Kind).As(parley.TypeWithdraw)
		return m.send(d, &parley.Envelope{ID: d.sendID, Kind: kind.String(), To: d.envelope.To,
			Correlation: parley.CorrelateWith(d.id), Payload: []byte(`{}`)})
	}
	return nil
}

// next goes on to the one that waits for longest, after this one.
func (m *Model) next() tea.Cmd {
	queue := m.store.Queue()
	at := slices.IndexFunc(queue, func(w *store.Waiting) bool { return w.ID == m.decision.id })
	if len(queue) == 0 || len(queue) == 1 && at == 0 {
		if at < 0 {
			m.focus, m.decision = onStream, nil
		}
		m.say("Nothing else waits for a decision.")
		return nil
	}
	return m.decide(queue[(at+1)%len(queue)].ID, looking)
}

// approve sends what is shown.
func (m *Model) approve() tea.Cmd {
	d := m.decision
	if !d.isOpen(m.store) || d.sending || d.isOwn(m.store) || d.onlyNo() != "" || m.isTooSmall() {
		return nil
	}
	if !d.read {
		d.readOn(m.decisionRoom())
		d.turned = m.now()
		return nil
	}
	if m.isTooSoon(d) {
		m.say("This has only just appeared: Enter once more runs it.")
		return nil
	}
	e, err := d.request()
	if err != nil {
		m.fail(err)
		return nil
	}
	return m.send(d, e)
}

// isTooSoon reports whether Enter may have been meant for what stood there before.
func (m *Model) isTooSoon(d *decision) bool {
	if m.now().Sub(d.turned) < unread {
		d.turned = m.now() // one that is held down runs nothing
		return true
	}
	return d.step == approving && m.now().Sub(d.shown) < unread
}

// see notes that the end of what would be sent is in sight: before, Enter reads on.
func (m *Model) see() {
	d := m.decision
	if m.focus != onDecision || d.step == editing || m.isTooSmall() {
		return
	}
	room := m.decisionRoom() // lays it out
	d.read = d.read || !d.isCut() && d.pager.shows(d.end-1, room)
}

// decisionRoom is how many lines of a decision are seen.
func (m *Model) decisionRoom() int { return m.body() - len(m.decisionTop()) }

// readOn goes on towards the end of what would be sent, and back to it from beyond.
func (d *decision) readOn(room int) {
	switch p := &d.pager; {
	case d.isCut() && p.shows(d.end-1, room):
		d.showAll, d.drawnFor = true, ""
	case p.at >= d.end:
		p.at = d.end - room
	default:
		p.at = min(p.at+max(room-1, 1), d.end-room)
	}
}

// The least screen on which what would run can be read.
const (
	leastWidth, leastHeight = 40, 12
	tooSmall                = "too small to decide: 40×12 at least"
)

func (m *Model) isTooSmall() bool { return m.width < leastWidth || m.height < leastHeight }

// send sends a decision. Its end comes as everything does.
func (m *Model) send(d *decision, e *parley.Envelope) tea.Cmd {
	d.sending, d.failure = true, nil
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		_, err := m.room.Send(ctx, e)
		return func(m *Model) tea.Cmd { return m.sent(d, err) }
	})
}

func (m *Model) sent(d *decision, err error) tea.Cmd {
	d.sending, d.drawnFor = false, ""
	if err == nil {
		d.step = looking
		return nil
	}
	if !errors.Is(err, client.ErrUnacknowledged) {
		d.sendID = client.NewID() // what was refused is on record under its id
	}
	m.fail(err)
	d.failure = err
	if errors.Is(err, &parley.Error{Code: parley.ProposalClosed}) {
		m.store.Decided(d.id)
		d.step, d.amend = looking, nil
		return m.load(d)
	}
	if errors.Is(err, &parley.Error{Code: parley.ProposalMismatch}) {
		return m.load(d)
	}
	return nil
}

// refuseKey takes the reason of a no.
func (m *Model) refuseKey(k tea.KeyPressMsg) tea.Cmd {
	d := m.decision
	switch k.String() {
	case "esc":
		m.stepBack()
	case "enter":
		if d.isOpen(m.store) && !d.sending && !d.isOwn(m.store) {
			return m.send(d, d.refusal())
		}
	default:
		return d.reject.key(k)
	}
	return nil
}

// key chooses a reason, or says something to it.
func (r *rejecting) key(k tea.KeyPressMsg) tea.Cmd {
	switch k.String() {
	case "tab", "down":
		r.reason = (r.reason + 1) % len(reasons)
	case "shift+tab", "up":
		r.reason = (r.reason + len(reasons) - 1) % len(reasons)
	default:
		return r.line.update(k)
	}
	return nil
}

// editKey takes what is changed.
func (m *Model) editKey(k tea.KeyPressMsg) tea.Cmd {
	d := m.decision
	if d.amend == nil { // not read yet
		if k.String() == "esc" {
			m.stepBack()
		}
		return nil
	}
	switch k.String() {
	case "esc":
		m.stepBack()
	case "ctrl+s":
		m.compare(d, d.amend.page.Value())
	case "ctrl+o":
		return d.outside()
	default:
		return d.amend.page.update(k)
	}
	return nil
}

func (m *Model) edited(msg editedMsg) tea.Cmd {
	d := msg.decision
	if d != m.decision || d.amend == nil {
		return nil
	}
	if msg.err != nil {
		m.fail(msg.err)
		return nil
	}
	if len(msg.text) <= mostEdited {
		d.amend.page = newPage(strings.TrimSpace(msg.text))
	}
	m.compare(d, msg.text)
	return nil
}

func (m *Model) tellOnlyNo(d *decision) {
	m.say(d.onlyNo() + ": it can only be rejected, and proposed again.")
}

// compare goes from what was typed to what would be sent.
func (m *Model) compare(d *decision, text string) {
	if d.onlyNo() != "" {
		m.tellOnlyNo(d)
		return
	}
	if err := d.amend.read(d.call, text); err != nil {
		m.fail(err)
		return
	}
	if !d.amend.isChanged(d.call) {
		d.amend.params = nil
		m.say("Nothing is changed. Esc goes back, where a approves it as it is.")
		return
	}
	d.step, d.drawnFor, d.pager.at, d.read = comparing, "", 0, false
}

// drawDecision is the screen of a decision, above the bar that says what keys do.
func (m *Model) drawDecision(height int) []string {
	d := m.decision
	if d.step == editing && d.amend != nil {
		return m.drawEditing(height)
	}
	top := m.decisionTop()
	room := height - len(top)
	m.layoutDecision()
	return append(top, d.pager.draw(room)...)
}

func (m *Model) decisionTop() []string {
	d := m.decision
	queue := m.store.Queue()
	at := slices.IndexFunc(queue, func(w *store.Waiting) bool { return w.ID == d.id })
	count := plural(len(queue), "waits", "wait")
	switch {
	case at >= 0:
		count = fmt.Sprintf("%d of %s", at+1, grouped(len(queue)))
	case len(queue) == 0:
		count = "nothing else waits"
	}
	title := heading.Render("Proposal")
	if d.envelope != nil {
		title += " " + bold.Render(safe.Line(d.title(), max(10, m.width-30)))
	}
	lines := []string{ends(title, dim.Render(count), m.width)}
	lines = append(lines, d.outcome(m.store, m.width)...)
	if d.isOpen(m.store) && d.isOwn(m.store) {
		lines = append(lines, ask.Render(cut("This proposal is yours: somebody else decides on it.", m.width)))
	}
	if why := d.onlyNo(); why != "" && d.isOpen(m.store) {
		said, _ := fold("! "+why+": it can only be rejected.", m.width, 3)
		for _, line := range said {
			lines = append(lines, bad.Render(line))
		}
	} else if !m.mayRun(d) {
		lines = append(lines, bad.Render(cut("You may not make this call: it takes somebody who may, or a grant.", m.width)))
	}
	return lines
}

// mayRun reports whether our capabilities allow the call, as far as we can tell: the
// gateway decides.
func (m *Model) mayRun(d *decision) bool {
	if !d.isOpen(m.store) || d.isOwn(m.store) || d.to == "" {
		return true
	}
	return m.room.Capabilities().Allow(&parley.Action{Kind: d.call.Kind.As(parley.TypeRequest), To: []string{d.to}, Params: d.params()})
}

// layoutDecision fills the pager, where something changed.
func (m *Model) layoutDecision() {
	d := m.decision
	state, _ := d.state(m.store)
	key := fmt.Sprint(m.width, d.step, d.loaded, state, d.to, d.showAll)
	if d.drawnFor == key {
		return
	}
	d.drawnFor = key
	if d.step == comparing {
		d.pager.lines = m.comparison()
		d.end = len(d.pager.lines)
		return
	}
	if m.width < 110 {
		main, side, end := d.sections(m.store, m.width, m.height < 16, m.now())
		d.pager.lines, d.end = append(append(main, ""), side...), end
		return
	}
	half := m.width * 3 / 5
	main, _, end := d.sections(m.store, half-1, false, m.now())
	_, side, _ := d.sections(m.store, m.width-half-3, false, m.now())
	d.pager.lines, d.end = beside(main, side, half), end
}

// comparison is an amendment before it is sent.
func (m *Model) comparison() []string {
	d := m.decision
	lines := []string{heading.Render("What you change")}
	lines = append(lines, d.amend.compare(m.width)...)
	lines = append(lines, "", heading.Render("Exactly as it will be sent")+dim.Render(" (params, "+size(len(d.amend.params))+")"))
	return append(lines, d.block(string(d.amend.params), m.width)...)
}

// beside puts two columns next to each other.
func beside(left, right []string, width int) []string {
	n := max(len(left), len(right))
	left, right = rect(left, n), rect(right, n)
	lines := make([]string, n)
	for i := range lines {
		lines[i] = pad(left[i], width) + dim.Render("│ ") + right[i]
	}
	return lines
}

func (m *Model) drawEditing(height int) []string {
	d := m.decision
	d.amend.page.area.SetHeight(max(1, height-1))
	lines := []string{ends(heading.Render("Amend")+" "+bold.Render(safe.Line(d.title(), max(10, m.width-30)))+dim.Render(": arguments"), "", m.width)}
	return append(lines, d.amend.page.draw(m.width)...)
}

// decisionBar says what is about to happen, and which keys there are.
func (m *Model) decisionBar(room int) []string {
	d := m.decision
	more := ""
	if n := d.pager.below(room); n > 0 && m.width < 64 {
		more = fmt.Sprintf(" · ↓%d", n)
	} else if n > 0 {
		more = " · " + plural(n, "line", "lines") + " more below"
	}
	what, enter := safe.Line(d.title(), 40)+" at "+safe.Line(d.to, 30), "Enter runs it"
	if !d.read {
		enter = "Enter reads on"
	}
	switch {
	case d.sending:
		return []string{note.Render("Sending…")}
	case d.step == approving && !d.loaded:
		return []string{dim.Render("Loading…")}
	case d.step == approving && d.isOpen(m.store) && d.to == "":
		return []string{alert.Render(cut("Whom to ask?", m.width)), "t chooses · Esc back" + more}
	case (d.step == approving || d.step == comparing) && m.isTooSmall():
		return []string{alert.Render(cut(tooSmall, m.width))}
	case d.step == approving && d.isOpen(m.store):
		return []string{alert.Render(cut("Run "+what+", in your name?", m.width)), enter + " · Esc back" + more}
	case d.step == comparing:
		return []string{alert.Render(cut("Run the changed "+what+", as your own?", m.width)), enter + " · Esc edits on" + more}
	case d.step == refusing:
		return m.refuseBar()
	case d.step == editing && m.width < 60:
		return []string{"^S difference · ^O $EDITOR · Esc"}
	case d.step == editing:
		return []string{"Ctrl-S shows the difference · Ctrl-O $EDITOR · Esc back"}
	case d.isOpen(m.store) && d.isOwn(m.store):
		return []string{"w take it back · n next · Esc back" + more}
	case d.isOpen(m.store):
		return []string{m.choices(d) + more}
	case m.width < 60:
		return []string{"v verify · n next · Esc back" + more}
	}
	return []string{"v verify the record · n next · Esc back" + more}
}

// choices are the keys for what we may do about it, as far as there is room.
func (m *Model) choices(d *decision) string {
	call, reject := m.may(d.call.Kind, d.envelope.From, d.targets(m.store))
	call = call && d.onlyNo() == ""
	var keys []string
	if call && m.mayRun(d) {
		keys = append(keys, "a approve")
	}
	if reject {
		keys = append(keys, "r reject")
	}
	if call {
		keys = append(keys, "m amend")
	}
	if m.width >= 60 || len(keys) < 3 {
		keys = append(keys, "n next", "Esc back")
	}
	return strings.Join(keys, " · ")
}

// may reports whether our capabilities let us send some call of a kind to one of those
// it could go to, and reject it.
func (m *Model) may(kind parley.Kind, from string, targets []string) (call, reject bool) {
	all := m.room.Capabilities()
	call = slices.ContainsFunc(targets, func(to string) bool {
		return all.Extent(&parley.Action{Kind: kind.As(parley.TypeRequest), To: []string{to}}) != parley.Never
	})
	return call, all.Extent(&parley.Action{Kind: kind.As(parley.TypeReject), To: []string{from}}) != parley.Never
}

func (m *Model) refuseBar() []string {
	d := m.decision
	lines := d.reject.draw(m.width)
	if d.loaded && !d.isOpen(m.store) {
		return append(lines, "It is no longer open · Esc back")
	}
	if m.width < 60 {
		return append(lines, "Enter rejects it · Tab reason · Esc")
	}
	return append(lines, "Enter rejects it · Tab another reason · Esc back")
}

// draw is the choice of a reason, and what is said to it.
func (r *rejecting) draw(width int) []string {
	var words []string
	for i, word := range reasons {
		if i == r.reason {
			word = bar.Render(word)
		}
		words = append(words, word)
	}
	line := "Reject: " + strings.Join(words, " ")
	if lipgloss.Width(line) > width {
		line = "Reject: ‹ " + bar.Render(reasons[r.reason]) + " ›"
	}
	return append([]string{cut(line, width)}, r.line.draw(width)...)
}
