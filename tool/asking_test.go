package tool

//lint:file-ignore SA1019 what MCP retires is what clients of today have

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool/sampling"
)

// actor is a model and a human that answer as a test says. It is a peer by
// itself, and what an MCP client answers with.
type actor struct {
	mu       sync.Mutex
	model    []string // replies, one for each question, in their order
	human    []string // results, likewise
	lacks    []Ability
	asked    []Question
	notified []string
}

func (s *actor) Can(a Ability) bool { return !slices.Contains(s.lacks, a) }

func (s *actor) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, q)
	from := &s.model
	if q.Method == methodElicit {
		from = &s.human
	}
	if len(*from) == 0 {
		return nil, &PeerError{Code: codeInternal, Message: "the actor has ended"}
	}
	next := (*from)[0]
	*from = (*from)[1:]
	if text, failed := strings.CutPrefix(next, "error "); failed {
		var e PeerError
		if _, err := fmt.Sscanf(text, "%d", &e.Code); err != nil {
			return nil, err
		}
		_, e.Message, _ = strings.Cut(text, " ")
		if i := strings.Index(e.Message, "{"); i >= 0 {
			e.Message, e.Data = strings.TrimSpace(e.Message[:i]), jsontext.Value(e.Message[i:])
		}
		return nil, &e
	}
	return jsontext.Value(next), nil
}

func (s *actor) Notify(_ context.Context, method string, params jsontext.Value) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notified = append(s.notified, method+" "+string(params))
	return nil
}

// client is an MCP client of a version that answers by the actor.
func (s *actor) client(t *testing.T, server *Server, version string) *mcp.ClientSession {
	t.Helper()
	caps := &mcp.ClientCapabilities{}
	if s.Can(Sampling) {
		caps.Sampling = &mcp.SamplingCapabilities{}
		if s.Can(SamplingTools) {
			caps.Sampling.Tools = &mcp.SamplingToolsCapabilities{}
		}
	}
	o := &mcp.ClientOptions{Capabilities: caps}
	answer := func(ctx context.Context, method string, params any, result any) error {
		raw, err := json.Marshal(params)
		if err != nil {
			return err
		}
		reply, err := s.Ask(ctx, Question{Method: method, Params: raw})
		if e, ok := errors.AsType[*PeerError](err); ok {
			return e.rpc()
		}
		return errors.Join(err, json.Unmarshal(reply, result))
	}
	if s.Can(Sampling) {
		o.CreateMessageWithToolsHandler = func(ctx context.Context, r *mcp.CreateMessageWithToolsRequest) (*mcp.CreateMessageWithToolsResult, error) {
			result := new(mcp.CreateMessageWithToolsResult)
			return result, answer(ctx, methodSample, r.Params, result)
		}
	}
	if s.Can(Elicitation) {
		caps.Elicitation = &mcp.ElicitationCapabilities{Form: &mcp.FormElicitationCapabilities{}}
		o.ElicitationHandler = func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			result := new(mcp.ElicitResult)
			return result, answer(ctx, methodElicit, r.Params, result)
		}
	}
	o.LoggingMessageHandler = func(ctx context.Context, r *mcp.LoggingMessageRequest) {
		raw, _ := json.Marshal(r.Params)
		s.Notify(ctx, "notifications/message", raw)
	}
	o.ProgressNotificationHandler = func(ctx context.Context, r *mcp.ProgressNotificationClientRequest) {
		raw, _ := json.Marshal(r.Params)
		s.Notify(ctx, "notifications/progress", raw)
	}
	ctx, stop := context.WithCancel(context.Background())
	here, there := mcp.NewInMemoryTransports()
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, there) }()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, o).Connect(ctx, here, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return session
}

type way struct {
	name string
	call func(t *testing.T, server *Server, s *actor, tool string, arguments string) (string, error)
}

// ways are the ways in which a tool is called and asks back.
var ways = []way{
	{"peer", func(t *testing.T, server *Server, s *actor, tool, arguments string) (string, error) {
		raw, err := server.Do(t.Context(), Request{Tool: tool, Arguments: jsontext.Value(arguments), Peer: s})
		if err != nil {
			return "", err
		}
		var r struct {
			StructuredContent json.RawMessage `json:"structuredContent"`
		}
		return string(r.StructuredContent), json.Unmarshal(raw, &r)
	}},
	{"2025-11-25", throughClient("2025-11-25")},
	{"2026-07-28", throughClient("2026-07-28")},
}

func throughClient(version string) func(*testing.T, *Server, *actor, string, string) (string, error) {
	return func(t *testing.T, server *Server, s *actor, tool, arguments string) (string, error) {
		result, err := s.client(t, server, version).CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)})
		if err != nil {
			return "", err
		}
		raw, err := json.Marshal(result.StructuredContent)
		return string(raw), err
	}
}

// everyWay runs a test for each way. The actor and server are new each time.
func everyWay(t *testing.T, add func(*Server), s func() *actor, check func(t *testing.T, answer string, err error, s *actor), arguments string, but ...string) {
	for _, w := range ways {
		if slices.Contains(but, w.name) {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			server, err := NewServer(quiet(Options{NoUsage: true}))
			if err != nil {
				t.Fatal(err)
			}
			add(server)
			t.Cleanup(func() { server.Close() })
			played := s()
			answer, err := w.call(t, server, played, "ask", arguments)
			check(t, answer, err, played)
		})
	}
}

type none struct{}

type move struct {
	Cell int `json:"cell" minimum:"0" maximum:"8"`
}

// text is a model's reply of a text, use one that calls tools.
func text(said string) string {
	return `{"role":"assistant","content":{"type":"text","text":` + quote(said) + `},"model":"m","stopReason":"endTurn"}`
}

func use(calls ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(calls, ",") + `],"model":"m","stopReason":"toolUse"}`
}

func schemaCall(id, input string) string {
	return `{"type":"tool_use","id":"` + id + `","name":"__schema__","input":` + input + `}`
}

func quote(s string) string {
	raw, _ := json.Marshal(s)
	return string(raw)
}

func prompt(text string) sampling.Request {
	return sampling.Request{Messages: []sampling.Message{sampling.UserText(text)}}
}

func TestAsking(t *testing.T) {
	needs := []Ability{SamplingTools, Elicitation}
	for _, c := range []struct {
		name  string
		tool  Tool
		run   func(ctx context.Context, c *Call, in none) (string, error)
		actor *actor
		want  string // the answer; a prefix, where it ends in …
	}{
		{"text", Tool{Needs: []Ability{Sampling}}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := c.Sample(ctx, prompt("Who are you?"))
			return x.Parsed, err
		}, &actor{model: []string{text("a model")}, lacks: []Ability{SamplingTools}}, `{"data":"a model"}`},

		{"typed", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := SampleAs[move](ctx, c, prompt("Your move."))
			if err != nil {
				return "", err
			}
			return fmt.Sprint(x.Parsed.Cell, " ", len(x.Messages)), sampling.Check(x.Messages)
		}, &actor{model: []string{use(schemaCall("a", `{"cell":4}`))}}, `{"data":"4 3"}`},

		{"typed, at the third attempt", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := SampleAs[move](ctx, c, prompt("Your move."))
			return fmt.Sprint(x.Parsed.Cell, " ", len(x.Messages), " ", len(x.Input)), err
		}, &actor{model: []string{text("the centre"), use(schemaCall("a", `{"cell":9}`)), use(schemaCall("a", `{"cell":8}`))}}, `{"data":"8 3 1"}`},

		{"never typed", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := SampleAs[move](ctx, c, prompt("Your move."), Retries(1))
			p, ok := errors.AsType[*sampling.ParseError](err)
			if !ok || p.Kind != sampling.TextOnly || p.Reply.Message().Text() != "no, the right one" {
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: []string{text("the left one"), text("no, the right one")}}, `{"error":{"error":"sampling: the model answered with text where a tool was to be called","error_code":"dependency_unavailable","error_details":{"method":"sampling/createMessage","reason":"text_only"}}}`},

		{"a form", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?", Context: "X.."})
			return fmt.Sprint(x.Parsed.Cell, " ", x.Context, " ", len(x.Messages)), errors.Join(err, sampling.Check(sampling.Append(nil, x.Messages...)))
		}, &actor{human: []string{`{"action":"accept","content":{"cell":3}}`}}, `{"data":"3 X.. 2"}`},

		{"a form declined", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?"})
			if !errors.Is(err, Declined) || x.Action != sampling.Decline || len(x.Messages) != 2 {
				t.Errorf("got %v, %v", x, err)
			}
			return "", err
		}, &actor{human: []string{`{"action":"decline"}`}}, `{"error":{"error":"elicitation/create: the human declined to answer","error_code":"forbidden","error_details":{"method":"elicitation/create","reason":"declined"}}}`},

		{"a form cancelled", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			x, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?"})
			if !errors.Is(err, Cancelled) {
				t.Errorf("got %v, %v", x, err)
			}
			return "went on", nil
		}, &actor{human: []string{`{"action":"cancel"}`}}, `{"data":"went on"}`},

		{"a form filled in wrongly", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?"})
			if v, ok := errors.AsType[*sampling.ValidationError](err); !ok || !errors.Is(err, Garbled) {
				t.Errorf("got %v, %v", v, err)
			}
			return "", err
		}, &actor{human: []string{`{"action":"accept","content":{"cell":"three"}}`}}, `{"error":{"error":"elicitation/create: sampling: the answer does not fit its schema: …`},

		{"calls of tools", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			ask := prompt("What is the weather?")
			ask.Tools = []sampling.Tool{{Name: "weather"}}
			o, err := c.SampleTools(ctx, ask)
			if err != nil {
				return "", err
			}
			x, err := o.Exchange(ask, sampling.ToolResult{ToolUseID: o.Value[0].ID, Content: []sampling.Block{sampling.Text{Text: "rain"}}},
				sampling.ToolResult{ToolUseID: o.Value[1].ID, Content: []sampling.Block{sampling.Text{Text: "sun"}}})
			c.Remember(x.Messages...)
			return fmt.Sprint(len(o.Value), " ", len(c.Messages())), errors.Join(err, sampling.Check(c.Messages()))
		}, &actor{model: []string{text("I do not know"), use(`{"type":"tool_use","id":"1","name":"weather","input":{}}`, `{"type":"tool_use","id":"2","name":"weather","input":{"at":9007199254740993}}`)}},
			`{"data":"2 3"}`},

		{"two at once", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			var wg sync.WaitGroup
			said := make([]string, 2)
			for i := range said {
				wg.Go(func() {
					x, err := c.Sample(ctx, prompt("Say something."))
					if err != nil {
						t.Error(err)
					}
					said[i] = x.Parsed
				})
			}
			wg.Wait()
			slices.Sort(said)
			return strings.Join(said, ","), nil
		}, &actor{model: []string{text("one"), text("two")}}, `{"data":"one,two"}`},

		{"the model's owner says no", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := c.Sample(ctx, prompt("?"))
			if !errors.Is(err, Declined) {
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: []string{"error -1 User rejected sampling request"}}, `{"error":{"error":"sampling/createMessage: User rejected sampling request","error_code":"forbidden",…`},

		{"the budget is used up", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := c.Sample(ctx, prompt("?"))
			if !errors.Is(err, OverBudget) {
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: []string{`error -32000 enough for today {"code":"resource_exhausted"}`}}, `{"error":{"error":"sampling/createMessage: enough for today","error_code":"resource_exhausted",…`},

		{"somebody who is asked cancels", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := c.Sample(ctx, prompt("?"))
			if !errors.Is(err, Failed) || ctx.Err() != nil { // which ends nobody else's call
				t.Errorf("got %v, %v", err, ctx.Err())
			}
			return "went on", nil
		}, &actor{model: []string{`error -32800 not now`}}, `{"data":"went on"}`},

		{"tokens", Tool{Needs: needs, Tokens: 300}, func(ctx context.Context, c *Call, _ none) (string, error) {
			if _, err := c.Sample(ctx, prompt("a short one")); err != nil {
				return "", err
			}
			_, err := c.Sample(ctx, prompt(strings.Repeat("a long one ", 200)))
			if !errors.Is(err, OverTokens) {
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: []string{text("short"), text("never said")}}, `{"error":{"error":"sampling/createMessage: the question takes about …`},

		{"depth", Tool{Needs: needs, Depth: 2}, func(ctx context.Context, c *Call, _ none) (string, error) {
			deep := 0
			var down func(ctx context.Context, c *Call) error
			down = func(ctx context.Context, c *Call) error {
				deep++
				return c.Branch(ctx, Branch{Depth: 1000}, down) // cannot raise its parent's
			}
			err := down(ctx, c)
			if !errors.Is(err, OverDepth) || deep != 3 {
				t.Errorf("%d deep: %v", deep, err)
			}
			return "", err
		}, &actor{}, `{"error":{"error":"branches nest deeper than they may","error_code":"resource_exhausted",…`},

		{"a model that calls tools for ever", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := SampleAs[move](ctx, c, prompt("Your move."))
			if p, ok := errors.AsType[*sampling.ParseError](err); !ok || p.Kind != sampling.WrongTool {
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: slices.Repeat([]string{use(`{"type":"tool_use","id":"1","name":"look","input":{}}`)}, 100)}, `{"error":{"error":"sampling: the model called another tool than it was to",…`},

		{"a mode that is none of ours", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Mode: "url"})
			if err == nil || !strings.Contains(err.Error(), "MCP specification 2025-11-25") {
				t.Errorf("got %v", err)
			}
			return "refused", nil
		}, &actor{}, `{"data":"refused"}`},

		{"a form that cannot be in a history", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "my move", Message: "Where?"})
			if err == nil || !strings.Contains(err.Error(), `a key of 1 to 64 letters`) {
				t.Errorf("got %v", err)
			}
			_, err = Elicit[move](ctx, c, sampling.Elicitation[string]{ID: strings.Repeat("x", 1000), Key: "move", Message: "Where?"})
			if err == nil {
				t.Error("an id of any length is taken")
			}
			_, err = Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?"}) // nobody was asked yet
			return "refused", err
		}, &actor{human: []string{`{"action":"accept","content":{"cell":3}}`}}, `{"data":"refused"}`},

		{"a reply that is none", Tool{Needs: needs}, func(ctx context.Context, c *Call, _ none) (string, error) {
			_, err := c.Sample(ctx, prompt("?"))
			if !errors.Is(err, Garbled) && !errors.Is(err, Failed) { // the SDK's client has types
				t.Errorf("got %v", err)
			}
			return "", err
		}, &actor{model: []string{`{"role":"user","content":[],"model":""}`}}, `{"error":{"error":"sampling/createMessage: …`},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.tool.Name = "ask"
			everyWay(t, func(s *Server) { Add(s, c.tool, c.run) }, func() *actor {
				return &actor{model: c.actor.model, human: c.actor.human, lacks: c.actor.lacks}
			}, func(t *testing.T, answer string, err error, s *actor) {
				want, cut := strings.CutSuffix(c.want, "…")
				if err != nil || !(answer == want || cut && strings.HasPrefix(answer, want)) {
					t.Errorf("got %s, %v\nwant %s", answer, err, c.want)
				}
			}, `{}`, sdk[c.name]...)
		})
	}
}

// sdk are the ways in which the SDK's client ends a call by itself.
var sdk = map[string][]string{
	"a form filled in wrongly":      {"2025-11-25", "2026-07-28"},
	"the model's owner says no":     {"2026-07-28"},
	"the budget is used up":         {"2026-07-28"},
	"somebody who is asked cancels": {"2026-07-28"},
	"a reply that is none":          {"2026-07-28"},
}

// Who answers wrongly is asked again with what was said, and what was wrong with it.
func TestRetriesSayWhy(t *testing.T) {
	a := &actor{model: []string{text("the centre"), use(schemaCall("a", `{"cell":9}`)), use(schemaCall("a", `{"cell":8}`))}}
	c := NewAskingCall(Tool{Name: "ask", Needs: []Ability{SamplingTools}}, Community, "", a)
	if _, err := SampleAs[move](t.Context(), c, prompt("Your move.")); err != nil {
		t.Fatal(err)
	}
	for i, words := range [][]string{
		{"Your move."},
		{"Your move.", "the centre", "Call the tool __schema__ with your answer."},
		{"Your move.", "the centre", `"cell":9`, `"isError":true`, "/cell: expected an integer from 0 to 8, got 9"},
	} {
		for _, w := range words {
			if got := string(a.asked[i].Params); !strings.Contains(got, w) {
				t.Errorf("question %d lacks %s: %s", i, w, got)
			}
		}
	}
}

// What is not well-formed is not sent, whoever asks.
func TestWhatIsNotSent(t *testing.T) {
	a := &actor{model: []string{text("yes")}}
	c := NewAskingCall(asks, Community, "", a)
	ask := prompt("?")
	ask.Messages = append(ask.Messages, sampling.Message{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{ID: "1", Name: "look"}}}, sampling.UserText("Well?"))
	_, text := c.Sample(t.Context(), ask)
	_, typed := SampleAs[move](t.Context(), c, ask)
	ask.Tools = []sampling.Tool{{Name: "look"}}
	_, calls := c.SampleTools(t.Context(), ask)
	for _, err := range []error{text, typed, calls} {
		if _, ok := errors.AsType[*sampling.PairingError](err); !ok {
			t.Errorf("got %v", err)
		}
	}
	if len(a.asked) != 0 {
		t.Errorf("sent %s", a.asked[0].Params)
	}
	if _, err := c.Sample(t.Context(), prompt("?")); err != nil || !strings.Contains(string(a.asked[0].Params), `"maxTokens":4096`) {
		t.Errorf("%v, sent %s", err, a.asked[0].Params)
	}
}

// A tool's time is a deadline, however the peer says that it was over.
func TestOverdueIsADeadline(t *testing.T) {
	ctx, stop := context.WithCancelCause(t.Context())
	stop(Errorf(Timeout, "it took too long"))
	if e := askError(ctx, methodSample, context.Cause(ctx)); e.Reason != Deadline {
		t.Errorf("got %s", e.Reason)
	}
	ctx, stop = context.WithCancelCause(t.Context())
	stop(errHungUp)
	if e := askError(ctx, methodSample, context.Cause(ctx)); e.Reason != Stopped {
		t.Errorf("got %s", e.Reason)
	}
}
