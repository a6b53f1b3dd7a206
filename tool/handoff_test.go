package tool

//lint:file-ignore SA1019 what MCP retires is what clients of today have

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool/sampling"
)

type order struct {
	Item string `json:"item"`
}

type reserved struct {
	Number int    `json:"number"`
	lost   string // is no JSON, and so is not handed on
}

type approval struct {
	By    string `json:"by"`
	Count int    `json:"count"`
}

// shop is a handoff that counts how often its parts begin.
type shop struct {
	before, client, after atomic.Int32
	failAt                string
}

func (s *shop) fails(at string) error {
	if s.failAt == at {
		return Errorf(NotFound, "nothing in %s", at).WithDetails(map[string]int{"shelf": 3})
	}
	return nil
}

func (s *shop) handoff() Handoff[order, reserved, approval, string] {
	return Handoff[order, reserved, approval, string]{
		Before: func(_ context.Context, c *Call, o order) (reserved, error) {
			s.before.Add(1)
			return reserved{Number: 7, lost: o.Item}, s.fails("Before")
		},
		Client: func(ctx context.Context, c *Call, h reserved) (approval, error) {
			s.client.Add(1)
			x, err := Elicit[approval](ctx, c, sampling.Elicitation[none]{Key: "approve", Message: fmt.Sprint("Buy ", h.Number, h.lost, "?")})
			if err != nil {
				return approval{}, err
			}
			if _, err := c.Sample(ctx, prompt("Write a note to "+x.Parsed.By)); err != nil {
				return approval{}, err
			}
			return x.Parsed, s.fails("Client")
		},
		After: func(_ context.Context, c *Call, h reserved, a approval, o order) (string, error) {
			s.after.Add(1)
			return fmt.Sprintf("%d %s by %s", a.Count, o.Item, a.By), s.fails("After")
		},
	}
}

func (s *shop) counts() string {
	return fmt.Sprint(s.before.Load(), s.client.Load(), s.after.Load())
}

var buy = Tool{Name: "ask", Needs: []Ability{Sampling, Elicitation}}

func TestHandoff(t *testing.T) {
	for _, c := range []struct{ failAt, want, counts string }{
		{"", `{"data":"2 tea by Ann"}`, "1 1 1"},
		{"Before", `{"error":{"error":"nothing in Before","error_code":"not_found","error_details":{"shelf":3}}}`, "1 0 0"},
		{"Client", `{"error":{"error":"nothing in Client","error_code":"not_found","error_details":{"shelf":3}}}`, "1 1 0"},
		{"After", `{"error":{"error":"nothing in After","error_code":"not_found","error_details":{"shelf":3}}}`, "1 1 1"},
	} {
		t.Run(c.failAt, func(t *testing.T) {
			var s *shop
			everyWay(t, func(server *Server) {
				s = &shop{failAt: c.failAt}
				AddHandoff(server, buy, s.handoff())
			}, func() *actor {
				return &actor{human: []string{`{"action":"accept","content":{"by":"Ann","count":2}}`}, model: []string{text("Dear Ann")}}
			}, func(t *testing.T, answer string, err error, a *actor) {
				if answer != c.want || err != nil || s.counts() != c.counts {
					t.Errorf("%s: %s, %v", s.counts(), answer, err)
				}
				if c.failAt != "Before" && !strings.Contains(string(a.asked[0].Params), "Buy 7?") {
					t.Errorf("asked %s", a.asked[0].Params)
				}
			}, `{"item":"tea"}`)
		})
	}
}

// roundClient is a modern client that makes each round by itself.
func roundClient(t *testing.T, server *Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	ctx, stop := context.WithCancel(context.Background())
	go func() { done <- server.Serve(ctx, there) }()
	o := &mcp.ClientOptions{MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, Capabilities: &mcp.ClientCapabilities{
		Sampling: &mcp.SamplingCapabilities{Tools: &mcp.SamplingToolsCapabilities{}}, Elicitation: &mcp.ElicitationCapabilities{},
	}}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		client.Close()
		stop()
		<-done
	})
	return client
}

// playRound makes one request, with an answer to each question of the round before.
func playRound(t *testing.T, client *mcp.ClientSession, before *mcp.CallToolResult) (*mcp.CallToolResult, error) {
	t.Helper()
	p := &mcp.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{"item":"tea"}`)}
	if before != nil {
		p.RequestState, p.InputResponses = before.RequestState, mcp.InputResponseMap{}
		for id, q := range before.InputRequests {
			switch q.(type) {
			case *mcp.ElicitParams:
				p.InputResponses[id] = &mcp.ElicitResult{Action: "accept", Content: map[string]any{"by": "Ann", "count": 2}}
			default:
				p.InputResponses[id] = &mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m", Content: []mcp.Content{&mcp.TextContent{Text: "Dear Ann"}}}
			}
		}
	}
	return client.CallTool(t.Context(), p)
}

// A run that is kept is gone on with by another server, at each of its rounds, and
// after its end. What was begun is not begun again, and what was answered is not asked again.
func TestRunsSurviveRestarts(t *testing.T) {
	dir, s := t.TempDir(), new(shop)
	start := func() (*Server, *mcp.ClientSession) {
		server, err := NewServer(quiet(Options{NoUsage: true, Runs: dir}))
		if err != nil {
			t.Fatal(err)
		}
		AddHandoff(server, buy, s.handoff())
		return server, roundClient(t, server)
	}
	var last *mcp.CallToolResult
	for i, want := range []string{"1 1 0", "1 2 0", "1 3 1", "1 3 1"} {
		server, client := start()
		if i == 3 {
			last.InputRequests = nil // the answer to it got lost
		}
		result, err := playRound(t, client, last)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.counts(); got != want {
			t.Errorf("round %d: %s, want %s", i, got, want)
		}
		if i < 2 {
			if !result.NeedsInput() || len(result.InputRequests) != 1 {
				t.Fatalf("round %d: %+v", i, result)
			}
			last = result
		} else if got := string(asJSON(t, result.StructuredContent)); got != `{"data":"2 tea by Ann"}` {
			t.Errorf("round %d: %s", i, got)
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if files, _ := os.ReadDir(dir); len(files) == 0 {
		t.Error("nothing was kept")
	}
}

// A run is gone on with by who has its state, as the call that it is.
func TestStatesOfOthers(t *testing.T) {
	s := new(shop)
	server, err := NewServer(quiet(Options{NoUsage: true}))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	AddHandoff(server, buy, s.handoff())
	client := roundClient(t, server)
	first, err := playRound(t, client, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ state, arguments, want string }{
		{"nothing", `{"item":"tea"}`, "there is no run with this requestState"},
		{first.RequestState, `{"item":"coffee"}`, "of another call"},
	} {
		_, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: json.RawMessage(c.arguments), RequestState: c.state})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.state, err)
		}
	}
	again, err := playRound(t, client, &mcp.CallToolResult{RequestState: first.RequestState})
	if err != nil || len(again.InputRequests) != 1 || again.RequestState == first.RequestState {
		t.Errorf("asked again without an answer: %+v, %v", again, err)
	}
	if last, err := playRound(t, client, first); err != nil || !last.NeedsInput() {
		t.Errorf("the first state does not count any more: %+v, %v", last, err)
	}
	if got := s.counts(); got != "1 1 0" {
		t.Errorf("began %s", got)
	}
}

func TestDoGoesOnAfterRestarts(t *testing.T) {
	dir, s := t.TempDir(), new(shop)
	start := func() *Server {
		server, err := NewServer(quiet(Options{NoUsage: true, Runs: dir}))
		if err != nil {
			t.Fatal(err)
		}
		AddHandoff(server, buy, s.handoff())
		return server
	}
	server := start()
	ctx, stop := context.WithCancel(t.Context())
	ask := func(ctx context.Context, p Peer) (jsontext.Value, error) {
		return server.Do(ctx, Request{Tool: "ask", Arguments: jsontext.Value(`{"item":"tea"}`), Peer: p, Run: "envelope-1"})
	}
	// The server stops while the second question waits.
	first := &actor{human: []string{`{"action":"accept","content":{"by":"Ann","count":2}}`}}
	_, err := ask(ctx, &leaving{first, stop})
	if err == nil || !server.Kept("envelope-1") {
		t.Fatalf("got %v", err)
	}
	if err := server.Close(); err != nil {
		t.Fatal(err)
	}
	server = start()
	defer server.Close()
	second := &actor{model: []string{text("Dear Ann")}}
	raw, err := ask(t.Context(), second)
	if err != nil || !strings.Contains(string(raw), `{"data":"2 tea by Ann"}`) || s.counts() != "1 2 1" {
		t.Errorf("%s: %s, %v", s.counts(), raw, err)
	}
	if len(second.asked) != 1 || second.asked[0].ID != first.asked[1].ID {
		t.Errorf("asked %v, then %v", first.asked, second.asked)
	}
	if err := server.Forget("envelope-1"); err != nil || server.Kept("envelope-1") {
		t.Errorf("it is not forgotten: %v", err)
	}
}

// leaving is a peer that is gone when a model is asked.
type leaving struct {
	*actor
	leave func()
}

func (p *leaving) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	result, err := p.actor.Ask(ctx, q)
	if q.Method == methodSample {
		p.leave()
		return nil, ctx.Err()
	}
	return result, err
}

func TestMissingAbilities(t *testing.T) {
	began := false
	for _, c := range []struct {
		needs    []Ability
		lacks    []Ability
		required string
	}{
		{buy.Needs, []Ability{Sampling, SamplingTools}, `{"elicitation":{"form":{}},"sampling":{}}`},
		{buy.Needs, []Ability{Elicitation}, `{"elicitation":{"form":{}},"sampling":{}}`},
		{[]Ability{Sampling, SamplingTools}, []Ability{SamplingTools}, `{"sampling":{"tools":{}}}`},
	} {
		for _, w := range ways {
			inSpace := w.name == "space" || strings.HasPrefix(w.name, "bridge")
			if inSpace && !slices.Contains(c.lacks, Sampling) && !slices.Contains(c.lacks, Elicitation) {
				continue // the models of a space take tools
			}
			server, err := NewServer(quiet(Options{NoUsage: true}))
			if err != nil {
				t.Fatal(err)
			}
			Add(server, Tool{Name: "ask", Needs: c.needs}, func(context.Context, *Call, none) (string, error) { began = true; return "", nil })
			answer, err := w.call(t, server, &actor{lacks: c.lacks}, "ask", `{}`)
			e, _ := errors.AsType[*jsonrpc.Error](err)
			switch {
			case began:
				t.Fatal("the function began")
			case w.name == "2026-07-28" && (e == nil || e.Code != mcp.CodeMissingRequiredClientCapabilities || !strings.Contains(string(e.Data), `{"requiredCapabilities":`+c.required+`}`)):
				t.Errorf("%s: %v %s", w.name, err, e.Data)
			case w.name == "bridge, 2026-07-28":
				if err == nil || !strings.Contains(err.Error(), "(JSON-RPC error "+strconv.Itoa(mcp.CodeMissingRequiredClientCapabilities)+")") {
					t.Errorf("%s: %s, %v", w.name, answer, err)
				}
			case w.name != "2026-07-28" && !strings.Contains(answer, `"error_code":"dependency_unavailable"`):
				t.Errorf("%s: %s, %v", w.name, answer, err)
			}
		}
	}
}

// A run is gone on with by the same arguments, however they are written, in the
// server's memory and from its disk.
func TestArgumentsAreTheSame(t *testing.T) {
	dir, s, state := t.TempDir(), new(shop), ""
	for range 2 {
		server, err := NewServer(quiet(Options{NoUsage: true, Runs: dir}))
		if err != nil {
			t.Fatal(err)
		}
		AddHandoff(server, buy, s.handoff())
		l := connectLines(t, server)
		if state == "" {
			l.callModern("0", "ask", `{ "item": "\u0074ea" }`, "")
			state, _ = l.required()
		}
		for _, same := range []string{`{ "item": "\u0074ea" }`, `{"item":"tea"}`} {
			l.callModern("1", "ask", same, state)
			if m := l.next(); !strings.Contains(string(m.Result), "input_required") {
				t.Errorf("%s: %s %s", same, m.Result, m.Error)
			}
		}
		for _, other := range []string{`{"item":"coffee"}`, `{"item":"tea","item":"tea"}`, `{}`, `{"item":9007199254740993}`} {
			l.callModern("2", "ask", other, state)
			if m := l.next(); !strings.Contains(string(m.Error), "of another call") {
				t.Errorf("%s: %s %s", other, m.Result, m.Error)
			}
		}
		if err := server.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
