package space

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

// may asks whether a frame may be sent, before it is.
func (p *play) may(from, frame string) answered {
	e, err := parley.Decode([]byte(frame), 0)
	if err != nil {
		p.t.Fatal(err)
	}
	before, ids := p.state.seq, p.ids
	a, err := p.state.May(asker, from, e, p.now)
	delete(p.state.buckets, asker)
	if err != nil || p.state.seq != before || p.ids != ids {
		p.t.Errorf("asking whether %s may send %s: %v, from #%d to #%d, %d ids", from, frame, err, before, p.state.seq, p.ids-ids)
	}
	return answered{a, e.Payload != nil}
}

// asker is nobody's id: its questions take nothing from anybody.
const asker = "?"

type answered struct {
	Answer
	whole bool // the question had a payload
}

// agrees holds an answer against what became of the envelope: they differ in what
// is not asked for, and where the question was not the whole envelope.
func (a answered) agrees(t *testing.T, frame string, err error) {
	t.Helper()
	refused, _ := errors.AsType[*parley.Error](err)
	switch {
	case refused != nil && (refused.Code == parley.RateLimited || refused.Code == parley.DuplicateID):
	case !a.whole && (a.Allowed || a.Depends): // the payload or a correlation may be refused
	case !a.whole && refused != nil:
	case a.Allowed != (err == nil), refused != nil && (a.Refusal == nil || a.Refusal.Error() != refused.Error()):
		t.Errorf("%s: the answer was %+v, then %v", frame, a.Answer, err)
	}
}

func TestMay(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Participants["agent"] = caps("mcp/proposal:*, mcp/request:tools/call:read_*, !mcp/request:tools/call:read_secret, chat")
	p.rules.Participants["agent"] = append(p.rules.Participants["agent"],
		parley.MustCapability(`{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*"}}}`),
		parley.MustCapability(`{"kind":"mcp/request:tools/call:ask","to":["files"]}`),
		parley.MustCapability(`{"kind":"note","context":{"type":"reasoning"}}`))
	p.start()
	p.send("agent", `{"id":"p1","to":["files"],"kind":"mcp/proposal:tools/call:w","payload":{"method":"tools/call","params":{"name":"w"}}}`)
	call := func(name, arguments string) string {
		return fmt.Sprintf(`{"to":["files"],"kind":"mcp/request:tools/call","payload":{"method":"tools/call","params":{"name":%q,"arguments":%s}}}`, name, arguments)
	}
	for _, c := range []struct{ from, frame, want string }{
		{"agent", `{"kind":"chat"}`, "yes by chat: this pattern matches, and no denial does"},
		{"agent", `{"kind":"mcp/request:tools/call:read_file"}`, "yes by mcp/request:tools/call:read_*: this"},
		{"agent", call("read_file", "{}"), "yes by mcp/request:tools/call:read_*: this"},
		{"agent", call("read_secret", "{}"), "no by !mcp/request:tools/call:read_secret: this denial"},
		{"agent", `{"kind":"mcp/request:tools/call:read_secret"}`, "no by !mcp/request:tools/call:read_secret: this denial"},
		{"agent", call("a*b", "{}"), `no needs mcp/request:tools/call:a\*b: no pattern matches; capability_violation: you may not send mcp/request:tools/call:a*b hint`},
		{"agent", `{"kind":"mcp/request:tools/call:write_file"}`, `depends by {"kind":"mcp/request:tools/call:write_file",`},
		{"agent", call("write_file", `{"path":"/w/a"}`), `yes by {"kind":"mcp/request:tools/call:write_file",`},
		{"agent", call("write_file", `{"path":"/x"}`), `no by {"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*"}}} needs mcp/request:tools/call:write_file: no pattern matches; this one asks`},
		{"agent", call("ask", "{}"), `yes by {"kind":"mcp/request:tools/call:ask","to":["files"]}`},
		{"agent", `{"kind":"mcp/request:tools/call:ask"}`, `no needs mcp/request:tools/call:ask`},
		{"agent", `{"kind":"note","context":{"id":"c","type":"reasoning"}}`, `yes by {"kind":"note",`},
		{"agent", `{"kind":"note"}`, `no needs note`},
		{"agent", `{"kind":"mcp/withdraw:tools/call"}`, "yes: no capability is needed"},
		{"agent", `{"kind":"mcp/withdraw:tools/call","correlation_id":"p1","payload":{}}`, "yes: no capability is needed"},
		{"agent", `{"kind":"chat","from":"you"}`, "no: you are"},
		{"agent", `{"kind":"system/notice"}`, "no: "},
		{"agent", `{"kind":"mcp/nonsense"}`, "no: "},
		{"agent", `{"kind":"chat ch"}`, "no: "},
		{"agent", `{"kind":"mcp/request:resources/read:file:///w/../etc"}`, "no: "},
		{"agent", `{"kind":"mcp/request:tools/call:read_file","payload":{"method":"tools/list"}}`, "no: "},
		{"you", `{"kind":"capability/grant","payload":{"recipient":"agent","capabilities":["unheard/of"]}}`,
			"no by capability/*: the capabilities allow it, but it would be refused: what you may send yourself does not cover unheard/of"},
		{"you", `{"kind":"capability/grant","payload":{"recipient":"agent","capabilities":["mcp/request:tools/call:w"]}}`, "yes by capability/*"},
		{"you", `{"to":["files"],"kind":"mcp/request:tools/call","correlation_id":"p1","payload":{"method":"tools/call","params":{"name":"w"}}}`, "yes by mcp/*"},
		{"agent", `{"to":["files"],"kind":"mcp/request:tools/call:read_x","correlation_id":"p1","payload":{"method":"tools/call","params":{"name":"read_x"}}}`, "no by "},
		{"nobody", `{"kind":"chat"}`, "no needs chat"},
	} {
		got := p.may(c.from, c.frame).String()
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.from, c.frame, got, c.want)
		}
	}
	p.finish(t)
}

func (a answered) String() string {
	word := "no"
	if a.Allowed {
		word = "yes"
	}
	if a.Depends {
		word = "depends"
	}
	if !a.By.IsZero() {
		word += " by " + a.By.String()
	}
	if !a.Needs.IsZero() {
		word += " needs " + a.Needs.String()
	}
	word += ": " + a.Why
	if a.Refusal != nil {
		word += "; " + a.Refusal.Error() + " hint " + a.Refusal.Hint
	}
	return word
}

// A denial that looks at params leaves a question open that does not have them.
func TestMayDepend(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Participants["agent"] = append(caps("mcp/*"), parley.MustCapability(`{"kind":"!mcp/request:tools/call:write_file","params":{"arguments":{"path":"/etc/*"}}}`))
	p.start()
	if got := p.may("agent", `{"kind":"mcp/request:tools/call:write_file"}`).String(); !strings.HasPrefix(got, `depends by {"kind":"!mcp`) {
		t.Error(got)
	}
	if got := p.may("agent", `{"kind":"mcp/request:tools/call:read"}`).String(); !strings.HasPrefix(got, `yes by mcp/*`) {
		t.Error(got)
	}
}

// Questions count for who asks, and not for whom they are about.
func TestMayIsCharged(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Limits = Limits{Rate: 1, Burst: 2}
	p.start()
	ask := func() error {
		_, err := p.state.May("you", "agent", &parley.Envelope{Kind: "chat"}, p.now)
		return err
	}
	for range 2 {
		if err := ask(); err != nil {
			t.Fatal(err)
		}
	}
	if refused, ok := errors.AsType[*parley.Error](ask()); !ok || refused.Code != parley.RateLimited || refused.RetryAfterMS == 0 {
		t.Errorf("the third question: %v", refused)
	}
	if got := p.send("agent", `{"kind":"chat"}`)[0]; !strings.HasPrefix(got, "#") {
		t.Error("whom they were about:", got)
	}
}

// Who came when, what they were granted, and how many tools they have.
func TestParticipant(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Pins = map[string]bool{"files": true}
	p.start()
	came := p.now
	p.do("after 1m")
	p.do(`lists files a=1 b=1`)
	p.send("you", `{"id":"g1","kind":"capability/grant","payload":{"recipient":"agent","capabilities":["chat","mcp/request:tools/call:w"],"expires":"2026-01-02T10:00:00Z"}}`)
	p.send("you", `{"kind":"capability/revoke","payload":{"recipient":"agent","capabilities":["chat"]}}`)
	agent := p.state.Participant("agent")
	if len(agent.Grants) != 1 || !agent.Since.Equal(came) || agent.Connections != 1 {
		t.Fatalf("%+v", agent)
	}
	if g := agent.Grants[0]; g.ID != "g1" || g.From != "you" || g.Seq == 0 || describe(g.Capabilities) != "mcp/request:tools/call:w" || g.Expires.Hour() != 10 {
		t.Errorf("%+v", g)
	}
	for _, one := range p.state.Participants() {
		if got, want := fmt.Sprintf("%+v", p.state.Participant(one.ID)), fmt.Sprintf("%+v", one); got != want {
			t.Errorf("alone %s\namong all %s", got, want)
		}
	}
	if files := p.state.Participant("files"); files.Tools != 2 || !files.Pinned {
		t.Errorf("%+v", files)
	}
	rebuilt := New(p.rules)
	rebuilt.AdoptConnections(p.state)
	if got := rebuilt.Participant("agent").Since; !got.Equal(came) {
		t.Errorf("a state that takes over has it here since %v", got)
	}
	p.do("disconnect agent")
	if agent := p.state.Participant("agent"); !agent.Since.IsZero() || agent.Connections != 0 {
		t.Errorf("absent: %+v", agent)
	}
	p.finish(t)
}
