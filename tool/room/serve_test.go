package room

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/tool"
)

func TestServesWhatABridgeDoes(t *testing.T) {
	s := begin(t, nil)
	leave := s.serve(newServer(t, ""), Options{})
	you := s.join("you")
	for _, c := range []struct{ method, params, want string }{
		{"initialize", ``, `"serverInfo":{"name":"tools","title":"Tools that ask","version":"1.2.3"}`},
		{"initialize", ``, `"instructions":"Ask them."`},
		{"initialize", ``, `"protocolVersion":"2025-11-25"`},
		{"server/discover", ``, `"capabilities":{`},
		{"ping", ``, `{}`},
		{"tools/list", `{}`, `{"tools":[{`},
		{"tools/list", ``, `"name":"elicit"`},
		{"tools/list", `{"cursor":"x"}`, `no cursor leads to another (JSON-RPC error -32602)`},
		{"prompts/list", ``, `method not found: prompts/list (JSON-RPC error -32601)`},
		{"tools/call", `{"name":"nothing"}`, `(JSON-RPC error -32602)`},
		{"tools/call", `{"name":"echo","arguments":{"text":"9007199254740993"}}`, `"structuredContent":{"data":{"text":"9007199254740993"}}`},
		{"tools/call", `{"name":"echo","arguments":{"no":1}}`, `"isError":true`},
	} {
		var params any
		if c.params != "" {
			params = jsontext.Value(c.params)
		}
		r, err := you.Request(t.Context(), "tools", c.method, params)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = string(r.Result)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s %s: %s, want %s", c.method, c.params, got, c.want)
		}
	}
	if err := leave(); err != nil {
		t.Error(err)
	}
	until(t, "the server leaves", func() bool { return s.Connections("tools") == 0 })
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	for _, o := range []Options{
		{Serves: map[string][]string{"tools": {"x"}}},
		{Serves: map[string][]string{"sampling": {"x", ""}}},
	} {
		if err := Serve(t.Context(), newServer(t, ""), "http://127.0.0.1:1", o); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
			t.Errorf("%v: %v", o.Serves, err)
		}
	}
	s := begin(t, nil)
	if err := Serve(t.Context(), newServer(t, ""), s.URL, Options{Token: "no such token", Space: s.Space}); !errors.Is(err, &parley.Error{Code: parley.Unauthorized}) {
		t.Errorf("got %v", err)
	}
}

// TestReplaced sees that a second one of us ends the first: no call is served twice.
func TestReplaced(t *testing.T) {
	s := begin(t, nil)
	ended := make(chan error, 1)
	joined := make(chan string, 1)
	go func() {
		ended <- Serve(t.Context(), newServer(t, ""), s.URL, Options{Token: s.Token("tools"), Space: s.Space, OnJoin: func(who string) { joined <- who }})
	}()
	within(t, joined, "the first joins")
	s.serve(newServer(t, ""), Options{})
	if err := within(t, ended, "the first ends"); !errors.Is(err, client.ErrReplaced) {
		t.Errorf("got %v", err)
	}
}

// TestApprovedCall holds that a fulfilment is its proposer's: who is asked, and
// who gets the answer.
func TestApprovedCall(t *testing.T) {
	s := begin(t, nil)
	s.serve(newServer(t, ""), Options{})
	you, agent := s.join("you"), s.join("agent")
	p, err := agent.Propose(t.Context(), "tools", "tools/call", callParams("sample", `{"text":"hi"}`, `{"sampling":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan outcome, 1)
	go func() {
		r, err := you.Fulfil(t.Context(), p.Envelope)
		o := outcome{err: err}
		if err == nil {
			o.result = r.Result
		}
		done <- o
	}()
	agent.next().say(reply("by agent"))
	if got := within(t, done, "the answer").text(); got != `{"data":{"text":"by agent"}}` {
		t.Errorf("the fulfiller got %s", got)
	}
	out, err := p.Wait(t.Context())
	if err != nil || !strings.Contains(string(out.Reply.Result), "by agent") {
		t.Errorf("the proposer got %+v, %v", out, err)
	}
}

func TestCancellation(t *testing.T) {
	s := begin(t, nil)
	s.serve(newServer(t, ""), Options{Serves: served()})
	you, ann, model := s.join("you"), s.join("ann"), s.join("model")
	ctx, cancel := context.WithCancel(t.Context())
	done := you.calling(ctx, "elicit", `{"text":"who?"}`, "")
	q := ann.next()
	// Who is not the caller cannot end the call, nor a question that is not theirs.
	id := q.Envelope.Correlation.IDs[0]
	if _, err := model.Notify(t.Context(), "tools", "cancelled", jsontext.Value(`{"requestId":"`+id+`"}`), client.Correlate(id)); err == nil {
		t.Error("anybody may cancel")
	}
	cancel()
	if o := within(t, done, "the end"); !errors.Is(o.err, context.Canceled) {
		t.Errorf("got %v", o.err)
	}
	select {
	case <-q.ctx.Done():
	case <-t.Context().Done():
	}
	if cause := context.Cause(q.ctx); !errors.Is(cause, client.ErrCancelled) {
		t.Errorf("who was asked heard %v", cause)
	}
	until(t, "the call is answered", func() bool {
		return slices.ContainsFunc(you.onRecord("mcp/response:tools/call"), func(e *parley.Envelope) bool {
			return strings.Contains(string(e.Payload), "-32800")
		})
	})
}

func TestNotifications(t *testing.T) {
	s := begin(t, nil)
	s.serve(newServer(t, "", addTelling), Options{})
	you := s.join("you")
	var heard []string
	you.Room.Close()
	room, err := client.Dial(t.Context(), s.URL, &client.Options{Token: s.Token("you"), Space: s.Space, OnArrival: func(e *parley.Envelope) {
		if e.Addressed("you") && strings.HasPrefix(e.Kind, "mcp/request:notifications/") {
			heard = append(heard, e.Kind+" "+string(parley.Member(e.Payload, "params")))
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer room.Close()
	for _, c := range []struct {
		meta string
		want []string
	}{
		{`{}`, nil},
		{`{"progressToken":9007199254740993}`, []string{`mcp/request:notifications/progress {"message":"half","progress":1,"total":2,"progressToken":9007199254740993}`}},
		{`{"io.modelcontextprotocol/logLevel":"debug"}`, []string{
			`mcp/request:notifications/message {"data":{"message":"now","n":1},"level":"debug","logger":"tell"}`,
			`mcp/request:notifications/message {"data":{"message":"oh"},"level":"error","logger":"tell"}`}},
		{`{"io.modelcontextprotocol/logLevel":"warning"}`, []string{`mcp/request:notifications/message {"data":{"message":"oh"},"level":"error","logger":"tell"}`}},
		{`{"io.modelcontextprotocol/logLevel":"loud"}`, nil},
	} {
		heard = nil
		if _, err := room.Request(t.Context(), "tools", "tools/call", jsontext.Value(`{"name":"tell","_meta":`+c.meta+`}`)); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(heard, c.want) {
			t.Errorf("%s:\ngot  %q\nwant %q", c.meta, heard, c.want)
		}
	}
}

// TestLeavingLetsFunctionsEnd sees that a function which is at work comes to its end
// when the server leaves, and its caller gets the answer.
func TestLeavingLetsFunctionsEnd(t *testing.T) {
	began, gate := make(chan struct{}), make(chan struct{})
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "work"}, func(ctx context.Context, _ *tool.Call, _ words) (words, error) {
			close(began)
			<-gate
			return words{"done"}, ctx.Err()
		})
	}
	s := begin(t, nil)
	leave := s.serve(newServer(t, "", add), Options{})
	you := s.join("you")
	done := you.calling(t.Context(), "work", `{}`, "")
	within(t, began, "the function begins")
	left := make(chan error, 1)
	go func() { left <- leave() }()
	// Whoever calls now is told that it is too late.
	until(t, "a call is refused", func() bool { return strings.Contains(you.call("echo", `{}`, "").text(), "leaving the room") })
	close(gate)
	if got := within(t, done, "the answer").text(); got != `{"data":{"text":"done"}}` {
		t.Errorf("got %s", got)
	}
	if err := within(t, left, "the end"); err != nil {
		t.Error(err)
	}
}

// TestLeavingDoesNotWaitForEver sees that one which does not heed its context keeps
// nobody else waiting.
func TestLeavingDoesNotWaitForEver(t *testing.T) {
	gate := make(chan struct{})
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "deaf"}, func(context.Context, *tool.Call, words) (words, error) {
			<-gate
			return words{}, nil
		})
	}
	s := begin(t, nil)
	leave := s.serve(newServer(t, "", add), Options{farewell: 10 * time.Millisecond})
	you := s.join("you")
	e, err := client.NewRequest("tools", "tools/call", callParams("deaf", `{}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := you.Send(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	heeds := you.calling(t.Context(), "wait", `{}`, "")
	until(t, "the other is on record", func() bool {
		for _, err := range you.API().Envelopes(t.Context(), &client.Query{From: "you", Kind: "mcp/request:tools/call:wait"}) {
			return err == nil
		}
		return false
	})
	if got := you.call("echo", `{}`, "").text(); got != `{"data":{}}` { // so both are under way
		t.Errorf("got %s", got)
	}
	left := make(chan error, 1)
	go func() { left <- leave() }()
	if got := within(t, heeds, "the end of the other").text(); !strings.Contains(got, "whether it acted on the call is not known") {
		t.Errorf("got %s", got)
	}
	until(t, "the server has left", func() bool { return s.Connections("tools") == 0 })
	close(gate)
	if err := within(t, left, "the end"); err != nil {
		t.Error(err)
	}
}

// TestCrowds holds that nobody can keep others out, and that all together have
// their bound as well.
func TestCrowds(t *testing.T) {
	a, err := newAttendance(t.Context(), newServer(t, ""), Options{})
	if err != nil {
		t.Fatal(err)
	}
	of := func(who string) *call { return &call{envelope: &parley.Envelope{ID: "new", From: who}} }
	a.callers["you"] = maxOwnCalls
	if err := a.admit(of("you")); err == nil || !strings.Contains(err.Error(), "2048 calls of you are being made") {
		t.Errorf("got %v", err)
	}
	for i := range maxCalls {
		a.calls[fmt.Sprint(i)] = nil
	}
	if err := a.admit(of("boss")); err == nil || !strings.Contains(err.Error(), "16384 calls are being made") {
		t.Errorf("got %v", err)
	}
	a.refusing = maxRefusing
	a.refuse(of("boss"), err) // is left without an answer: there is no room to send it to
}
