package space

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// TestStamp sends an envelope with a sender's idea of everything that the
// gateway writes.
func TestStamp(t *testing.T) {
	for protocol, want := range map[string]string{"": parley.ProtocolMCPx, parley.ProtocolMCPP: parley.ProtocolMCPP} {
		p := newPlay(t, t.Name())
		p.rules.Protocol = protocol
		p.start()
		e, err := parley.Decode([]byte(`{"protocol":"mcpp/v0.1","ts":"1999-01-01T00:00:00Z","seq":77,"kind":"chat"}`), 0)
		if err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 1, 2, 10, 0, 0, 1_999_999, time.FixedZone("", 3600))
		if _, err := p.state.Judge("you", e, now); err != nil {
			t.Fatal(err)
		}
		got := string(e.AppendBody(nil))
		if want := `{"protocol":"` + want + `","id":"gw5","ts":"2026-01-02T09:00:00.001Z","from":"you","kind":"chat"}`; got != want || e.Seq != 0 {
			t.Errorf("got  %s\nwant %s, seq %d", got, want, e.Seq)
		}
	}
}

func TestKindsHaveABound(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Participants["root"] = caps("*")
	p.start()
	for n, want := range map[int]string{parley.MaxKind: "#", parley.MaxKind + 1: "refused invalid_kind"} {
		if got := p.send("root", `{"kind":"`+strings.Repeat("k", n)+`"}`)[0]; !strings.HasPrefix(got, want) {
			t.Errorf("%d bytes: %.80s", n, got)
		}
	}
}

// TestRequestBookIsBounded asks more than anybody answers, then has all of it
// answered.
func TestRequestBookIsBounded(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Limits = Limits{Rate: 1e9, Burst: 1 << 30}
	p.start()
	ask := func(i int) {
		p.send("you", fmt.Sprintf(`{"id":"q%d","to":["files"],"kind":"mcp/request:tools/list","payload":{"method":"tools/list"}}`, i))
	}
	answer := func(i int) string {
		return p.send("files", fmt.Sprintf(`{"correlation_id":"q%d","kind":"mcp/response:tools/list","payload":{"result":{}}}`, i))[0]
	}
	for i := range openPerSender + 1 {
		ask(i)
	}
	if n := len(p.state.requests.open); n != openPerSender {
		t.Errorf("%d are open, want %d", n, openPerSender)
	}
	if got := answer(0); !strings.HasPrefix(got, "refused invalid_correlation") {
		t.Error("the oldest:", got)
	}
	for i := 1; i <= openPerSender; i++ {
		if got := answer(i); !strings.HasPrefix(got, "#") {
			t.Fatal(i, got)
		}
	}
	for i := range 100 {
		ask(10_000 + i)
		answer(10_000 + i)
	}
	if n := len(p.state.requests.sender["you"].ids); n > 100 || len(p.state.requests.open) != 0 {
		t.Errorf("%d ids are kept, %d are open", n, len(p.state.requests.open))
	}
}

// TestLittleIsKept looks at what a sender can make the state hold: of addressees
// only those who are here, each once.
func TestLittleIsKept(t *testing.T) {
	p := newPlay(t, t.Name())
	p.start()
	const call = `"to":["files","nobody","files"],"payload":{"method":"tools/list"}}`
	p.send("agent", `{"id":"p","kind":"mcp/proposal:tools/list",`+call)
	p.send("you", `{"id":"q","kind":"mcp/request:tools/list",`+call)
	if got := fmt.Sprint(p.state.requests.open["q"].to); got != "[files]" {
		t.Error("of a request:", got)
	}
	if open, _ := p.state.Proposal("p"); len(open.To) != 3 {
		t.Error("of an open proposal:", open.To)
	}
	p.send("agent", `{"correlation_id":"p","kind":"mcp/withdraw:tools/list"}`)
	if ended, _ := p.state.Proposal("p"); fmt.Sprint(ended.To) != "[files]" {
		t.Error("of an ended proposal:", ended.To)
	}
}
