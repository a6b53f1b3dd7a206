package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

var write = object{"name": "write_file", "arguments": object{"path": "a", "content": "b"}}

const (
	proposalKind = "mcp/proposal:tools/call:write_file"
	requestKind  = "mcp/request:tools/call:write_file"
	callPayload  = `{"method":"tools/call","params":{"arguments":{"content":"b","path":"a"},"name":"write_file"}}`
)

func propose(t *testing.T, g *gateway, opts *client.Options, more ...client.SendOption) *client.Proposal {
	t.Helper()
	room := g.dial(t, "agent", opts)
	p, err := room.Propose(t.Context(), "files", "tools/call", write, append(more, client.WithID("p"))...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestProposeWire(t *testing.T) {
	g := newGateway(t)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := propose(t, g, nil, client.Reason("it is due"), client.Expires(at))
	e := g.record()[0]
	if e.Kind != proposalKind || e.To[0] != "files" || p.Receipt.Seq != 1 ||
		string(e.Payload) != strings.TrimSuffix(callPayload, "}")+`,"reason":"it is due","expires":"2026-01-02T03:04:05Z"}` {
		t.Errorf("sent %s %s", e.Kind, e.Payload)
	}
}

func TestProposalOutcomes(t *testing.T) {
	fulfil := func(g *gateway, more ...func(*parley.Envelope)) {
		g.say("you", requestKind, callPayload, append(more, withID("f"), to("files"), answers("p"))...)
	}
	result := func(g *gateway, payload string) {
		g.say("files", "mcp/response:tools/call", payload, to("you"), answers("f"))
	}
	for name, c := range map[string]struct {
		do   func(g *gateway)
		want client.Outcome
	}{
		"fulfilled": {
			func(g *gateway) { fulfil(g); result(g, `{"result":1}`) },
			client.Outcome{Decision: client.Fulfilled, By: "you", ID: "f"},
		},
		"amended": {
			func(g *gateway) { fulfil(g, func(e *parley.Envelope) { e.Amends = true }); result(g, `{"result":1}`) },
			client.Outcome{Decision: client.Amended, By: "you", ID: "f"},
		},
		"the first end wins": {
			func(g *gateway) {
				fulfil(g)
				g.say("boss", "mcp/reject:tools/call", `{"reason":"unsafe"}`, answers("p"))
				result(g, `{"result":1}`)
			},
			client.Outcome{Decision: client.Fulfilled, By: "you", ID: "f"},
		},
		"answered by somebody else first": {
			func(g *gateway) {
				fulfil(g)
				g.say("mallory", "mcp/response:tools/call", `{"result":2}`, answers("f"))
				result(g, `{"result":1}`)
			},
			client.Outcome{Decision: client.Fulfilled, By: "you", ID: "f"},
		},
		"rejected": {
			func(g *gateway) {
				g.say("boss", "mcp/reject:tools/call", `{"reason":"unsafe","message":"not today"}`, withID("r"), answers("p"))
			},
			client.Outcome{Decision: client.Rejected, By: "boss", ID: "r", Reason: "unsafe", Message: "not today"},
		},
		"withdrawn, by us alone": {
			func(g *gateway) {
				g.say("mallory", "mcp/withdraw:tools/call", `{}`, withID("m"), answers("p"))
				g.say("agent", "mcp/withdraw:tools/call", `{}`, withID("w"), answers("p"))
			},
			client.Outcome{Decision: client.Withdrawn, By: "agent", ID: "w"},
		},
		"expired": {
			func(g *gateway) {
				g.say(parley.GatewayID, "system/notice", `{"event":"grant_expired","grant_id":"p"}`, answers("p"))
				g.say(parley.GatewayID, "system/notice", `{"event":"proposal_expired","proposal":"p"}`, withID("n"), answers("p"))
			},
			client.Outcome{Decision: client.Expired, By: parley.GatewayID, ID: "n"},
		},
		"a fulfilment that lies is none": {
			func(g *gateway) {
				g.say("mallory", "mcp/request:tools/call:other", callPayload, withID("l"), to("files"), answers("p"))
				g.say("boss", "mcp/reject:tools/call", `{"reason":"policy"}`, withID("r"), answers("p"))
			},
			client.Outcome{Decision: client.Rejected, By: "boss", ID: "r", Reason: "policy"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			p := propose(t, g, nil)
			c.do(g)
			got, err := p.Wait(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := p.Decided(t.Context()); again.Decision != got.Decision {
				t.Errorf("then %+v", again)
			}
			executed := c.want.Decision == client.Fulfilled || c.want.Decision == client.Amended
			if executed && (got.Reply == nil || string(got.Reply.Result) != "1") {
				t.Errorf("the reply is %+v", got.Reply)
			}
			got.Reply, got.Envelope = nil, nil
			if got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestProposalOfWhichTheCallFails(t *testing.T) {
	g := newGateway(t)
	p := propose(t, g, nil)
	g.say("you", requestKind, callPayload, withID("f"), to("files"), answers("p"))
	if got, err := p.Decided(t.Context()); err != nil || got.Decision != client.Fulfilled || got.Reply != nil {
		t.Errorf("decided %+v, %v", got, err)
	}
	g.say("files", "mcp/response:tools/call", `{"error":{"code":-32000,"message":"disk full"}}`, to("you"), answers("f"))
	got, err := p.Wait(t.Context())
	failed, ok := errors.AsType[*client.RPCError](err)
	if !ok || failed.Message != "disk full" || got.Decision != client.Fulfilled {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Wait may be given up, and taken up again.
func TestProposalWaitGivenUp(t *testing.T) {
	g := newGateway(t)
	p := propose(t, g, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	g.say("boss", "mcp/reject:tools/call", `{}`, answers("p"))
	if got, err := p.Wait(t.Context()); err != nil || got.Decision != client.Rejected {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestProposalWithdraw(t *testing.T) {
	for name, opts := range map[string]*client.Options{
		"with its echo": nil,
		"without":       {Routing: client.RoutingDirected, EchoOff: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			p := propose(t, g, opts)
			if err := p.Withdraw(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := p.Wait(t.Context()); err != nil || got.Decision != client.Withdrawn || got.By != "agent" {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

func TestProposeRefused(t *testing.T) {
	g := newGateway(t)
	g.judge = func(*parley.Envelope) *parley.Error { return parley.Errorf(parley.LimitReached, "too many") }
	room := g.dial(t, "agent", nil)
	if _, err := room.Propose(t.Context(), "", "tools/call", write); !errors.Is(err, &parley.Error{Code: parley.LimitReached}) {
		t.Errorf("got %v", err)
	}
}

// answerProposal lets the gateway tell over HTTP how a proposal stands.
func answerProposal(g *gateway, body string) {
	g.extra = func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/proposals/p") {
			return false
		}
		w.Write([]byte(body))
		return true
	}
}

const fulfilledRecord = `{"id":"p","kind":"` + proposalKind + `","from":"agent","to":["files"],"state":"fulfilled","closed":{"by":"you","id":"f","at":"2026-01-02T03:04:05.000Z"}}`

// A decision that fell into a gap is read from the record.
func TestProposalDecidedInAGap(t *testing.T) {
	g := newGateway(t)
	answerProposal(g, fulfilledRecord)
	hold, lost := make(chan struct{}), make(chan struct{})
	p := propose(t, g, &client.Options{OnState: func(s client.State) {
		if s.Phase == client.Waiting {
			close(lost)
			<-hold
		}
	}})
	g.dropAll()
	<-lost
	g.say("you", requestKind, callPayload, withID("f"), to("files"), answers("p"))
	g.say("files", "mcp/response:tools/call", `{"result":1}`, to("you"), answers("f"))
	g.mu.Lock()
	g.epoch = "e2"
	g.mu.Unlock()
	close(hold)
	got, err := p.Wait(t.Context())
	if err != nil || got.Decision != client.Fulfilled || got.By != "you" || string(got.Reply.Result) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// Who receives only what concerns them sees the answer to a fulfilment, and not
// the fulfilment.
func TestProposalOfADirectedParticipant(t *testing.T) {
	g := newGateway(t)
	answerProposal(g, fulfilledRecord)
	p := propose(t, g, &client.Options{Routing: client.RoutingDirected})
	g.say("you", requestKind, callPayload, withID("f"), to("files"), answers("p"))
	g.say("files", "mcp/response:tools/call", `{"result":1}`, to("you", "agent"), answers("f"))
	got, err := p.Wait(t.Context())
	if err != nil || got.Decision != client.Fulfilled || string(got.Reply.Result) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// A later run of a program takes up what an earlier one proposed.
func TestProposalTakenUp(t *testing.T) {
	g := newGateway(t)
	g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
	answerProposal(g, `{"id":"p","state":"open"}`)
	room := g.dial(t, "agent", nil)
	p, err := room.Proposal(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := room.Proposal(t.Context(), "p"); again != p || err != nil {
		t.Errorf("got %v, %v", again, err)
	}
	g.say("boss", "mcp/reject:tools/call", `{}`, answers("p"))
	if got, err := p.Wait(t.Context()); err != nil || got.Decision != client.Rejected {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := room.Proposal(t.Context(), "nothing"); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("got %v", err)
	}
}

// What became of a proposal can be read when what it said is off the record.
func TestProposalTakenUpRedacted(t *testing.T) {
	g := newGateway(t)
	g.say("agent", proposalKind, `{"redacted":true}`, withID("p"), to("files"))
	g.say("agent", "chat", `{"redacted":true}`, withID("c"))
	g.say("you", requestKind, `{"redacted":true}`, withID("f"), to("files"), answers("p"))
	g.say("files", "mcp/response:tools/call", `{"result":1}`, to("you", "agent"), answers("f"))
	answerProposal(g, fulfilledRecord)
	room := g.dial(t, "agent", nil)
	p, err := room.Proposal(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Wait(t.Context()); err != nil || got.ID != "f" || string(got.Reply.Result) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
	if _, err := room.Proposal(t.Context(), "c"); !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) {
		t.Errorf("got %v", err)
	}
}

// A call whose answer is off the record was made all the same.
func TestProposalWhoseAnswerIsGone(t *testing.T) {
	for name, left := range map[string]func(*gateway){
		"redacted": func(g *gateway) {
			g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
			g.say("you", requestKind, callPayload, withID("f"), to("files"), answers("p"))
			g.say("files", "mcp/response:tools/call", `{"redacted":true}`, to("you", "agent"), answers("f"))
		},
		"dropped with what asked for it": func(g *gateway) {
			g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
		},
		"dropped with all": func(*gateway) {},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			left(g)
			answerProposal(g, fulfilledRecord)
			room := g.dial(t, "agent", nil)
			p, err := room.Proposal(t.Context(), "p")
			if err != nil {
				t.Fatal(err)
			}
			if p.Envelope.Kind != proposalKind || p.Envelope.From != "agent" || len(p.Envelope.To) != 1 {
				t.Errorf("the proposal is %+v", p.Envelope)
			}
			got, err := p.Wait(t.Context())
			if !errors.Is(err, &parley.Error{Code: parley.NotFound}) || got.Decision != client.Fulfilled || got.By != "you" || got.ID != "f" || got.Reply != nil {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// What was asked for may be dropped, and its answer not.
func TestProposalWhoseFulfilmentIsDropped(t *testing.T) {
	g := newGateway(t)
	g.say("you", "mcp/response:tools/call", `{"result":0}`, to("agent"), answers("f"))
	g.say("files", "mcp/response:tools/call", `{"result":1}`, to("you", "agent"), answers("f"))
	answerProposal(g, fulfilledRecord)
	p, err := g.dial(t, "agent", nil).Proposal(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := p.Wait(t.Context()); err != nil || string(got.Reply.Result) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// The answer that comes while the record is being read for it is not lost.
func TestProposalAnsweredWhileItIsTakenUp(t *testing.T) {
	g := newGateway(t)
	g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
	g.say("you", requestKind, callPayload, withID("f"), to("files"), answers("p"))
	answerProposal(g, fulfilledRecord)
	ofProposals, came, asked := g.extra, make(chan struct{}), false
	room := g.dial(t, "agent", &client.Options{OnArrival: func(e *parley.Envelope) {
		if e.ID == "last" {
			close(came)
		}
	}})
	g.extra = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Query().Get("correlation") != "f" || asked {
			return ofProposals(w, r)
		}
		asked = true
		g.say("you", requestKind, callPayload, withID("x"), to("files")) // so we seem to see everything
		g.say("files", "mcp/response:tools/call", `{"result":1}`, to("you", "agent"), answers("f"))
		g.say("files", "chat", `{"text":"done"}`, withID("last"))
		<-came // and with it what came before
		w.Write([]byte(`{"items":[]}`))
		return true
	}
	p, err := room.Proposal(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if got, err := p.Wait(ctx); err != nil || string(got.Reply.Result) != "1" {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What a rejection said is told as well to whoever only reads of it.
func TestProposalTakenUpRejected(t *testing.T) {
	g := newGateway(t)
	g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
	g.say("boss", "mcp/reject:tools/call", `{"reason":"unsafe","message":"not today"}`, withID("r"), answers("p"))
	answerProposal(g, `{"id":"p","kind":"`+proposalKind+`","from":"agent","to":["files"],"state":"rejected","closed":{"by":"boss","id":"r","reason":"unsafe"}}`)
	p, err := g.dial(t, "agent", nil).Proposal(t.Context(), "p")
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Wait(t.Context())
	got.Envelope = nil
	if want := (client.Outcome{Decision: client.Rejected, By: "boss", ID: "r", Reason: "unsafe", Message: "not today"}); got != want || err != nil {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestFulfil(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":"done"}`)
	proposal := g.say("agent", proposalKind,
		`{"method":"tools/call","params":{"name":"write_file", "arguments":{"n":1.0}},"reason":"why"}`, withID("p"), to("files"))
	room := g.dial(t, "you", nil)
	reply, err := room.Fulfil(t.Context(), proposal, client.WithID("f"))
	if err != nil || string(reply.Result) != `"done"` {
		t.Fatalf("got %v, %v", reply, err)
	}
	e := g.find(t, func(e *parley.Envelope) bool { return e.ID == "f" })
	if e.Kind != requestKind || e.To[0] != "files" || e.Correlation.IDs[0] != "p" || e.Amends ||
		string(parley.Member(e.Payload, "params")) != `{"name":"write_file", "arguments":{"n":1.0}}` {
		t.Errorf("sent %+v %s", e, e.Payload)
	}
}

func TestFulfilID(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":"done"}`)
	g.say("agent", proposalKind, callPayload, withID("p"))
	room := g.dial(t, "you", nil)
	if _, err := room.FulfilID(t.Context(), "p"); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("without a target: %v", err)
	}
	if _, err := room.FulfilID(t.Context(), "p", client.To("files")); err != nil {
		t.Error(err)
	}
	if _, err := room.FulfilID(t.Context(), "x"); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("of nothing: %v", err)
	}
}

func TestAmend(t *testing.T) {
	g := newGateway(t)
	serving(g, `{"result":"done"}`)
	proposal := g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
	room := g.dial(t, "you", nil)
	if _, err := room.Amend(t.Context(), proposal, object{"name": "write_file", "arguments": object{}}, client.WithID("f")); err != nil {
		t.Fatal(err)
	}
	e := g.find(t, func(e *parley.Envelope) bool { return e.ID == "f" })
	if !e.Amends || e.Kind != requestKind || string(parley.Member(e.Payload, "params")) != `{"arguments":{},"name":"write_file"}` {
		t.Errorf("sent %+v %s", e, e.Payload)
	}
}

// Nobody approves what says one thing and means another.
func TestFulfilRefusesLies(t *testing.T) {
	for name, e := range map[string]*parley.Envelope{
		"another tool":   {Kind: "mcp/proposal:tools/call:read_file", Payload: []byte(callPayload), To: []string{"files"}},
		"another method": {Kind: "mcp/proposal:tools/list", Payload: []byte(callPayload), To: []string{"files"}},
		"case":           {Kind: proposalKind, Payload: []byte(`{"method":"tools/call","params":{"name":"write_file","Name":"rm"}}`), To: []string{"files"}},
	} {
		if _, err := client.NewFulfilment(e); !errors.Is(err, &parley.Error{Code: parley.KindMismatch}) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := client.NewFulfilment(&parley.Envelope{Kind: "chat"}); !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) {
		t.Errorf("got %v", err)
	}
}

func TestReject(t *testing.T) {
	g := newGateway(t)
	proposal := g.say("agent", proposalKind, callPayload, withID("p"), to("files"))
	room := g.dial(t, "you", nil)
	if _, err := room.Reject(t.Context(), proposal, "unsafe", "not today"); err != nil {
		t.Fatal(err)
	}
	e := g.findKind(t, "mcp/reject:tools/call:write_file")
	if e.To[0] != "agent" || e.Correlation.IDs[0] != "p" || string(e.Payload) != `{"reason":"unsafe","message":"not today"}` {
		t.Errorf("sent %+v %s", e, e.Payload)
	}
	if _, err := room.Reject(t.Context(), e, "", ""); !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) {
		t.Errorf("got %v", err)
	}
}
