package main

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/digest"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// line says what an envelope is about, by its kind.
func (r *renderer) line(e *parley.Envelope) line {
	l := line{who: r.who(e)}
	switch k := parley.SplitKind(e.Kind); k.Type {
	case parley.KindChat:
		r.chat(&l, e)
	case parley.TypeProposal:
		r.proposal(&l, e)
	case parley.TypeRequest:
		r.request(&l, e)
	case parley.TypeResponse:
		r.response(&l, e)
	case parley.TypeReject:
		l.text = r.paint.bad("rejects ") + r.refs(e.Correlation.IDs) + r.reasons(e.Payload, "reason", "message")
	case parley.TypeWithdraw:
		l.text = r.paint.bad("withdraws ") + r.refs(e.Correlation.IDs) + r.reasons(e.Payload, "reason", "message")
	case parley.KindPresence:
		r.presence(&l, e)
	case parley.KindNotice:
		r.notice(&l, e)
	case parley.KindGrant, parley.KindRevoke:
		r.grant(&l, e, k.Type)
	case parley.KindKick:
		l.text = "removes " + r.paint.name(member(e.Payload, "participant")) + r.reasons(e.Payload, "reason")
	case parley.KindRedact:
		l.text = r.paint.bad("redacts ") + r.ref(member(e.Payload, "id")) + r.reasons(e.Payload, "reason")
	case parley.KindAcceptTool:
		l.text = r.paint.good("accepts ") + member(e.Payload, "tool") + " of " + r.paint.name(member(e.Payload, "participant")) + " as it is now" + r.reasons(e.Payload, "reason")
	default:
		r.other(&l, e)
	}
	if e.Context != nil {
		l.text += r.context(e.Context)
	}
	return l
}

func (r *renderer) chat(l *line, e *parley.Envelope) {
	text, ok := parley.MemberString(e.Payload, "text")
	if !ok {
		text = compact(e.Payload)
	}
	lines := cleanLines(text)
	l.text, l.more = lines[0], lines[1:]
	if parley.IsRedacted(e.Payload) {
		l.text = r.paint.dim("[redacted]")
	}
	if len(e.Correlation.IDs) > 0 {
		l.text = r.paint.dim("(on "+r.refs(e.Correlation.IDs)+") ") + l.text
	}
	l.who += ":"
	l.speaks = true
}

func (r *renderer) proposal(l *line, e *parley.Envelope) {
	l.text = r.paint.ask("proposes ") + r.call(e)
	if about := e.Correlation.IDs; len(about) > 0 {
		l.text += r.paint.dim(" (on " + r.refs(about) + ")")
	}
	l.text += r.paint.dim("  · id " + clean(safe.ShortID(e.ID)))
	if reason, ok := parley.MemberString(e.Payload, "reason"); ok {
		l.more = append(l.more, "because "+r.cut(clean(reason), wide))
	}
	if expires, ok := parley.MemberString(e.Payload, "expires"); ok {
		l.more = append(l.more, "expires "+r.moment(expires))
	}
}

func (r *renderer) request(l *line, e *parley.Envelope) {
	verb := "calls "
	switch ids := e.Correlation.IDs; {
	case len(ids) == 0:
	case e.Amends:
		verb = r.paint.good("amends ") + r.refs(ids) + ": "
	case r.answersProposal(ids, parley.SplitKind(e.Kind).Method):
		verb = r.paint.good("fulfils ") + r.refs(ids) + ": "
	default:
		verb = "calls " + r.paint.dim("(on "+r.refs(ids)+") ")
	}
	l.text = verb + r.call(e)
}

// answersProposal reports whether one of ids is a proposal, or may be one that
// was not seen.
func (r *renderer) answersProposal(ids []string, method string) bool {
	for _, id := range ids {
		s, seen := r.seen.get(id)
		if seen && s.kind.Type == parley.TypeProposal || !seen && !askedByServers(method) {
			return true
		}
	}
	return false
}

// askedByServers reports whether a method is one that MCP servers call: what it is
// correlated with is the call that caused it.
func askedByServers(method string) bool {
	switch method {
	case "sampling/createMessage", "elicitation/create", "roots/list":
		return true
	}
	return strings.HasPrefix(method, "notifications/")
}

func (r *renderer) response(l *line, e *parley.Envelope) {
	on := ""
	if ids := e.Correlation.IDs; len(ids) > 0 {
		on = " " + r.refs(ids)
	}
	o := readOutcome(e.Payload)
	said := cleanLines(o.text)
	if parley.IsRedacted(e.Payload) {
		said = []string{r.paint.dim("[redacted]")}
	}
	if !r.full {
		said = firstLines(said)
	}
	l.text = "answers" + on + ": " + r.cut(said[0], wide)
	if o.failed {
		l.text = r.paint.bad("fails"+on+":") + " " + r.cut(said[0], wide)
	}
	l.more = said[1:]
}

// firstLines keeps the beginning of a long answer, and says how much was cut.
func firstLines(lines []string) []string {
	const most = 6
	if len(lines) <= most {
		return lines
	}
	return append(lines[:most:most], "… "+plural(len(lines)-most, "more line", "more lines"))
}

func (r *renderer) presence(l *line, e *parley.Envelope) {
	id := member(parley.Member(e.Payload, "participant"), "id")
	l.who = ""
	switch event := member(e.Payload, "event"); event {
	case "join":
		l.text = r.paint.dim("+ " + id + " is here")
	case "leave":
		l.text = r.paint.dim("- " + id + " has left")
	default:
		l.text = r.paint.dim("· " + id + ": " + event)
	}
}

func (r *renderer) notice(l *line, e *parley.Envelope) {
	l.who = ""
	on := r.refs(e.Correlation.IDs)
	switch event := member(e.Payload, "event"); event {
	case "proposal_expired":
		l.text = r.paint.note("· the proposal " + on + " has expired")
	case "grant_expired":
		l.text = r.paint.note("· the grant " + on + " has expired")
	case "grant_lapsed":
		l.text = r.paint.note("· the grant " + on + " has ended: its grantor may no longer give it")
	case "result_collected":
		l.text = r.paint.dim("· what became of " + on + " was collected")
	case "tools_seen":
		r.toolsSeen(l, e.Payload)
	case "tools_changed":
		r.toolsChanged(l, e.Payload)
	case "redaction_failed":
		l.text = r.paint.bad("· "+on+" could not be redacted") + r.reasons(e.Payload, "reason")
	default:
		l.text = r.paint.note("· notice: " + r.cut(clean(compact(e.Payload)), wide))
	}
}

func (r *renderer) grant(l *line, e *parley.Envelope, kind string) {
	verb := r.paint.note("grants ")
	if kind == parley.KindRevoke {
		verb = r.paint.note("revokes from ")
	}
	var caps []string
	for c := range parley.Elements(parley.Member(e.Payload, "capabilities")) {
		caps = append(caps, clean(scalar(c)))
	}
	what := strings.Join(caps, ", ")
	if id, ok := parley.MemberString(e.Payload, "grant_id"); ok {
		what = "the grant " + r.ref(id)
	}
	l.text = verb + r.paint.name(member(e.Payload, "recipient")) + ": " + what + r.reasons(e.Payload, "reason")
	if expires, ok := parley.MemberString(e.Payload, "expires"); ok {
		l.text += ", until " + r.moment(expires)
	}
}

func (r *renderer) other(l *line, e *parley.Envelope) {
	l.text = r.paint.note(clean(e.Kind))
	if len(e.Correlation.IDs) > 0 {
		l.text += r.paint.dim(" (on " + r.refs(e.Correlation.IDs) + ")")
	}
	switch text := digest.Words(e.Payload); {
	case text != "":
		lines := cleanLines(text)
		l.text += ": " + lines[0]
		l.more = lines[1:]
	case parley.IsRedacted(e.Payload):
		l.text += ": " + r.paint.dim("[redacted]")
	case len(e.Payload) > 0:
		l.text += ": " + r.cut(clean(compact(e.Payload)), wide)
	}
}

// reasons are the named members, after a dash each.
func (r *renderer) reasons(payload jsontext.Value, names ...string) string {
	var s strings.Builder
	for _, name := range names {
		if text, ok := parley.MemberString(payload, name); ok && text != "" {
			s.WriteString(" — " + r.cut(clean(text), wide))
		}
	}
	return s.String()
}

func (r *renderer) moment(text string) string {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return clean(text)
	}
	return r.local(at).Format(time.DateTime)
}

// member is a string member, cleaned; empty where there is none.
func member(obj jsontext.Value, name string) string {
	s, _ := parley.MemberString(obj, name)
	return clean(s)
}
