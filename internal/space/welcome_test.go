package space

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

func TestWelcome(t *testing.T) {
	p := newPlay(t, t.Name())
	p.rules.Limits = Limits{ProposalTTL: 90 * time.Second, Rate: 0.5}
	p.start()
	p.do("disconnect boss")
	const want = `{"you":{"id":"agent","capabilities":["mcp/proposal:*","mcp/request:*/list","mcp/request:tools/call:read_*","chat"]},` +
		`"participants":[{"id":"agent","capabilities":["mcp/proposal:*","mcp/request:*/list","mcp/request:tools/call:read_*","chat"]},` +
		`{"id":"files","capabilities":["mcp/response:*","mcp/request:notifications/*"]},` +
		`{"id":"you","capabilities":["mcp/*","chat","capability/*","space/*"]}],"participants_total":3,` +
		`"space":{"name":"demo","enforcement":"strict","limits":{"envelope_bytes":1048576,"nesting":128,"participants":10000,` +
		`"connections":20000,"history":1000,"lag_envelopes":4096,"lag_bytes":16777216,"rate":0.5,"burst":1000,"context_rate":100,` +
		`"context_depth":8,"open_contexts":256,"context_metadata_bytes":4096,"open_proposals":1000,"proposal_ttl":"1m30s",` +
		`"context_idle":"10m0s","approval_wait":"50s","call_timeout":"5m0s"}},"history":{"epoch":"e","first":1,"last":5,"gap":true}}`
	if got := string(p.state.Welcome("agent", History{Epoch: "e", First: 1, Last: 5, Gap: true}).Payload(nil)); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Of the types of contexts what the configuration says is told, and of their
// limits those that are not the space's anyway.
func TestWelcomeTellsContextTypes(t *testing.T) {
	rules := Rules{Name: "demo", Limits: Limits{ContextDepth: 4}, ContextTypes: map[string]ContextType{
		"workflow":  {Kinds: []string{"chat", "mcp/*"}, Depth: 4, Idle: time.Hour},
		"reasoning": {Description: `"step by step"`, Rate: 0.5, Depth: 2, Open: 3, MetadataBytes: 64},
		"empty":     {Idle: 10 * time.Minute},
	}}
	const want = `{"empty":{},` +
		`"reasoning":{"description":"\"step by step\"","limits":{"context_rate":0.5,"context_depth":2,"open_contexts":3,"context_metadata_bytes":64}},` +
		`"workflow":{"kinds":["chat","mcp/*"],"limits":{"context_idle":"1h0m0s"}}}`
	w := New(rules).Welcome("x", History{}).Payload(nil)
	if got := string(parley.Member(parley.Member(w, "space"), "context_types")); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWelcomeNamesAThousand(t *testing.T) {
	rules := Rules{Participants: map[string]parley.Capabilities{}, NewID: func() string { return "id" }}
	for i := range mostWelcomed + 1 {
		rules.Participants[fmt.Sprint("p", i)] = nil
	}
	s := New(rules)
	for id := range rules.Participants {
		if _, err := s.Connect(id, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	w, named := s.Welcome("p0", History{}).Payload(nil), 0
	for range parley.Elements(parley.Member(w, "participants")) {
		named++
	}
	if total := string(parley.Member(w, "participants_total")); named != mostWelcomed || total != "1001" {
		t.Errorf("%d are named, the total is %s", named, total)
	}
}

// What a welcome says stays as it was when it was made, and the next one says
// what has changed.
func TestWelcomeStaysAsItWas(t *testing.T) {
	p := newPlay(t, t.Name())
	p.start()
	said := func(w *Welcome) string { return string(parley.Member(w.Payload(nil), "participants")) }
	first := p.state.Welcome("agent", History{})
	before := said(first)
	p.do("disconnect boss")
	p.do("disconnect files")
	if after := said(first); after != before {
		t.Errorf("it says %s now, %s before", after, before)
	}
	if now := said(p.state.Welcome("agent", History{})); now == before || strings.Contains(now, `"files"`) {
		t.Errorf("the next one says %s", now)
	}
	p.do(`you> {"kind":"capability/grant","payload":{"recipient":"agent","capabilities":["mcp/withdraw:*"]}}`)
	if now := said(p.state.Welcome("you", History{})); !strings.Contains(now, `"mcp/withdraw:*"`) {
		t.Errorf("after a grant it says %s", now)
	}
}

func BenchmarkWelcome(b *testing.B) {
	rules := Rules{Participants: map[string]parley.Capabilities{}, NewID: func() string { return "id" }}
	caps := parley.Capabilities{parley.MustCapability("mcp/*"), parley.MustCapability("chat")}
	for i := range 1_000 {
		rules.Participants[fmt.Sprint("p", i)] = caps
	}
	s := New(rules)
	for id := range rules.Participants {
		if _, err := s.Connect(id, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() { // somebody leaves and comes between
		s.Disconnect("p500", time.Now())
		if _, err := s.Connect("p500", time.Now()); err != nil {
			b.Fatal(err)
		}
		s.Welcome("p0", History{})
	}
}
