package tui

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/command"
	"github.com/parleyhq/parley/internal/tui/store"
)

// obey does what a line asks for. What it sends comes back in the stream, and so does
// what becomes of it; only a refusal is told here, with the line given back.
func (m *Model) obey(c command.Command, line string) tea.Cmd {
	switch c.Verb {
	case command.Nothing:
		return nil
	case command.Say:
		return m.post(client.NewChat(c.Text, m.where()...), line)
	case command.To:
		return m.post(client.NewChat(c.Text, append(m.where(), client.To(c.People...))...), line)
	case command.Call, command.Propose:
		return m.ask(c, line)
	case command.Proposals:
		m.stopWriting()
		m.openMenu(onQueue)
	case command.Approve, command.Amend, command.Reject, command.Withdraw:
		return m.named(c)
	case command.Grant, command.Revoke, command.Kick:
		return m.post(power(c, m.now()), line)
	case command.Context:
		m.enterContext(c)
	case command.Search:
		return m.search(c.Text)
	case command.Verify:
		return m.verify()
	case command.Who:
		m.stopWriting()
		m.openMenu(onPeople)
	case command.Form:
		return m.openFormNamed(c.ID)
	case command.Help:
		m.openHelp(c.Text)
	case command.Quit:
		return m.leave()
	default:
		m.say("No form is open: e, or /form, opens one that waits.")
	}
	return nil
}

// where are the options of what is said here.
func (m *Model) where() []client.SendOption {
	if m.within == nil {
		return nil
	}
	return []client.SendOption{client.InContext(m.within)}
}

// post sends an envelope. Where that is refused the line comes back.
func (m *Model) post(e *parley.Envelope, line string) tea.Cmd {
	if m.link.Phase == client.Waiting {
		m.say("The connection is lost: this is sent as soon as it is back.")
	}
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		_, err := m.room.Send(ctx, e)
		return func(m *Model) tea.Cmd {
			m.fail(err)
			if err != nil && m.composer.Value() == "" && line != "" {
				m.composer.set(line)
			}
			return nil
		}
	})
}

// ask makes a call, or proposes one.
func (m *Model) ask(c command.Command, line string) tea.Cmd {
	e, err := m.compose(c)
	if err != nil {
		m.fail(err)
		m.composer.set(line)
		return nil
	}
	return m.post(e, line)
}

func (m *Model) compose(c command.Command) (*parley.Envelope, error) {
	params, err := c.Arguments(m.known().Schema(c.Target, c.Tool))
	if err != nil {
		return nil, err
	}
	if c.Method == "tools/call" {
		params = jsontext.Value(`{"name":` + quote(c.Tool) + `,"arguments":` + string(params) + `}`)
	}
	opts := m.where()
	if c.Verb == command.Call {
		return client.NewRequest(c.Target, c.Method, params, opts...)
	}
	if c.Why != "" {
		opts = append(opts, client.Reason(c.Why))
	}
	if c.For > 0 {
		opts = append(opts, client.Expires(m.now().Add(c.For)))
	} else if !c.Until.IsZero() {
		opts = append(opts, client.Expires(c.Until))
	}
	return client.NewProposal(c.Target, c.Method, params, opts...)
}

// power composes a grant, a revocation or a kick.
func power(c command.Command, now time.Time) *parley.Envelope {
	kind := map[command.Verb]string{command.Grant: parley.KindGrant, command.Revoke: parley.KindRevoke, command.Kick: parley.KindKick}[c.Verb]
	who := "recipient"
	if c.Verb == command.Kick {
		who = "participant"
	}
	payload := `{` + quote(who) + `:` + quote(c.Who)
	if c.ID != "" {
		payload += `,"grant_id":` + quote(c.ID)
	}
	if len(c.Patterns) > 0 {
		payload += `,"capabilities":[` + strings.Join(patterns(c.Patterns), ",") + `]`
	}
	if c.For > 0 {
		c.Until = now.Add(c.For)
	}
	if !c.Until.IsZero() {
		payload += `,"expires":` + quote(c.Until.UTC().Format(time.RFC3339))
	}
	if c.Why != "" {
		payload += `,"reason":` + quote(c.Why)
	}
	return &parley.Envelope{ID: client.NewID(), Kind: kind, Payload: jsontext.Value(payload + "}")}
}

// patterns are capabilities in JSON: strings, and objects as they were written.
func patterns(list []string) []string {
	var out []string
	for _, p := range list {
		if v := jsontext.Value(p); v.Kind() == '{' && v.IsValid() {
			out = append(out, p)
		} else {
			out = append(out, quote(p))
		}
	}
	return out
}

func (m *Model) enterContext(c command.Command) {
	switch c.Where {
	case command.Enter:
		m.within = c.Context
		m.say("You speak in " + c.Context.ID + " now; /context leave goes back.")
	case command.Leave:
		m.within = nil
		f := m.stream.filter
		f.Context = ""
		m.stream.show(f)
		m.say("You speak to the whole room again.")
	case command.Alone:
		if c.Context == nil {
			c.Context = m.within
		}
		if c.Context == nil {
			m.say("You are in no context: /context alone NAME")
			return
		}
		f := m.stream.filter
		f.Context = c.Context.ID
		m.stream.show(f)
	default:
		m.stopWriting()
		m.openMenu(onThreads)
	}
}

// named goes to the proposal that a command names.
func (m *Model) named(c command.Command) tea.Cmd {
	if id := m.find(c.ID); id != "" {
		return m.goTo(id, c)
	}
	seq, err := strconv.ParseUint(strings.TrimPrefix(c.ID, "#"), 10, 63)
	if err != nil || seq == 0 {
		return m.goTo(c.ID, c)
	}
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		e, err := m.room.Notice(ctx, seq)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			return m.goTo(e.ID, c)
		}
	})
}

// find is the id of the proposal that is meant, "" where it is not known here.
func (m *Model) find(name string) string {
	seq, _ := strconv.ParseUint(strings.TrimPrefix(name, "#"), 10, 63)
	for _, w := range m.store.Queue() {
		if w.Seq == seq && seq > 0 || len(name) >= 8 && strings.HasPrefix(w.ID, name) {
			return w.ID
		}
	}
	for _, r := range slices.Backward(m.store.Rows()) {
		if r.Type == store.Proposal && (r.Seq == seq && seq > 0 || len(name) >= 8 && strings.HasPrefix(r.ID, name)) {
			return r.ID
		}
	}
	return ""
}

// goTo shows a proposal with what the command says about to be done: Enter does it.
func (m *Model) goTo(id string, c command.Command) tea.Cmd {
	m.stopWriting()
	steps := map[command.Verb]step{command.Approve: approving, command.Amend: editing, command.Reject: refusing, command.Withdraw: looking}
	cmd := m.decide(id, steps[c.Verb])
	d := m.decision
	d.to = c.Target
	switch c.Verb {
	case command.Reject:
		d.reject.reason = max(0, slices.Index(reasons, c.Reason))
		d.reject.line.set(c.Why)
	case command.Amend:
		d.wanted = &c
	case command.Withdraw:
		m.say("w takes it back.")
	}
	return cmd
}

// change puts the arguments that a command names into those of a proposal.
func (d *decision) change(c command.Command, schema jsontext.Value) (string, error) {
	given, err := c.Arguments(schema)
	if err != nil {
		return "", err
	}
	if c.Object != nil {
		return string(c.Object), nil
	}
	v, _ := amendable(d.call)
	for name, value := range parley.Members(given) {
		v = withMember(v, name, value)
	}
	return string(v), nil
}
