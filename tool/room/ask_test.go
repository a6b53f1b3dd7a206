package room

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// TestWhoIsAsked holds the order: the caller that declared it, the first of those
// who serve it, nobody.
func TestWhoIsAsked(t *testing.T) {
	s := begin(t, nil)
	s.serve(newServer(t, ""), Options{Serves: served()})
	you, ann, model := s.join("you"), s.join("ann"), s.join("model")
	for _, c := range []struct {
		tool, declared string
		who            *person
		answer, want   string
	}{
		{"sample", ``, model, reply("by model"), `{"data":{"text":"by model"}}`},
		{"sample", `{"sampling":{}}`, you, reply("by you"), `{"data":{"text":"by you"}}`},
		{"sample", `{"sampling":true}`, model, reply("by model"), `{"data":{"text":"by model"}}`},
		{"typed", `{"sampling":{}}`, model, input(`{"who":"a"}`), `{"data":{"who":"a"}}`},
		{"typed", `{"sampling":{"tools":{}}}`, you, input(`{"who":"b"}`), `{"data":{"who":"b"}}`},
		{"elicit", ``, ann, form(`{"who":"Ann"}`), `{"data":{"who":"Ann"}}`},
		{"elicit", `{"elicitation":{}}`, you, form(`{"who":"me"}`), `{"data":{"who":"me"}}`},
		{"elicit", `{"elicitation":{"form":{},"url":{}}}`, you, form(`{"who":"me"}`), `{"data":{"who":"me"}}`},
		{"elicit", `{"elicitation":{"url":{}}}`, ann, form(`{"who":"Ann"}`), `{"data":{"who":"Ann"}}`},
	} {
		done := you.calling(t.Context(), c.tool, `{"text":"?"}`, c.declared)
		q := c.who.next()
		if len(q.Envelope.Correlation.IDs) != 1 || q.Envelope.From != "tools" || q.Envelope.Context != nil {
			t.Errorf("%s %s: asked with %+v", c.tool, c.declared, q.Envelope)
		}
		q.say(c.answer)
		if got := within(t, done, c.tool).text(); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.tool, c.declared, got, c.want)
		}
	}
}

// TestNobodyIsThere holds that a tool is not begun then.
func TestNobodyIsThere(t *testing.T) {
	began := false
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "ask", Needs: []tool.Ability{tool.SamplingTools}}, func(context.Context, *tool.Call, words) (words, error) {
			began = true
			return words{}, nil
		})
	}
	for _, serves := range []map[string][]string{nil, {"sampling": {"model", "ann"}}, {"elicitation": {"you"}}, {"sampling": {"tools"}}} {
		s := begin(t, nil)
		s.serve(newServer(t, "", add), Options{Serves: serves})
		you := s.join("you")
		for _, declared := range []string{``, `{"sampling":{}}`} {
			got := you.call("ask", `{}`, declared).text()
			if !strings.Contains(got, `"error_code":"dependency_unavailable"`) || !strings.Contains(got, "sampling.tools") {
				t.Errorf("%v %s: %s", serves, declared, got)
			}
		}
	}
	if began {
		t.Error("the function was begun")
	}
}

// TestSomebodyLeaves sees that whoever leaves in mid-call is not waited for without
// end.
func TestSomebodyLeaves(t *testing.T) {
	began, gate := make(chan struct{}), make(chan struct{})
	failed := make(chan error, 1)
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "late", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, in words) (words, error) {
			close(began)
			<-gate
			_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("?")}})
			failed <- err
			return words{}, err
		})
	}
	s := begin(t, nil)
	s.serve(newServer(t, "", add), Options{Serves: served(), arrival: time.Millisecond})
	you, model := s.join("you"), s.join("model")
	done := you.calling(t.Context(), "late", `{}`, "")
	within(t, began, "the function begins")
	model.Close()
	until(t, "the model has left", func() bool { return s.Connections("model") == 0 })
	// What the server hears of the room comes in the room's order.
	if _, err := you.Request(t.Context(), "tools", "ping", nil); err != nil {
		t.Fatal(err)
	}
	close(gate)
	if got := within(t, done, "the answer").text(); !strings.Contains(got, "nobody who serves it is in the room (nobody, model)") {
		t.Errorf("got %s", got)
	}
	if e, ok := within(t, failed, "the error").(*tool.AskError); !ok || e.Reason != tool.Missing {
		t.Errorf("the tool got %v", e)
	}
}

// TestRefusals holds what the tool hears of what others, and the room, refuse.
func TestRefusals(t *testing.T) {
	failed := make(chan error, 10)
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "ask", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, in words) (words, error) {
			_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText(strings.Repeat(in.Text, 1000))}})
			failed <- err
			return words{}, err
		})
	}
	few := cast()
	few["tools"] = []string{"mcp/response:*", "mcp/request:notifications/*"}
	for _, c := range []struct {
		name   string
		cast   map[string][]string
		answer any
		text   string
		want   tool.Reason
	}{
		{"no capability", few, nil, "?", tool.Missing},
		{"too long", cast(), nil, "xxxxx", tool.Failed},
		{"declined", cast(), &client.RPCError{Code: -1, Message: "no"}, "?", tool.Declined},
		{"budget", cast(), &client.RPCError{Code: -32000, Message: "enough", Data: jsontext.Value(`{"code":"resource_exhausted","retry_after_ms":5}`)}, "?", tool.OverBudget},
		{"nobody", cast(), &client.RPCError{Code: -32601, Message: "not me"}, "?", tool.Missing},
		{"fault", cast(), &client.RPCError{Code: -32603, Message: "oops"}, "?", tool.Failed},
		{"garbage", cast(), jsontext.Value(`[]`), "?", tool.Garbled},
		{"garbage of the right kind", cast(), jsontext.Value(`{"role":"assistant","content":7,"model":"m"}`), "?", tool.Garbled},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := begin(t, &parleytest.Options{Participants: c.cast, Limits: parleytest.Limits{EnvelopeBytes: 4096}})
			s.serve(newServer(t, "", add), Options{Serves: served()})
			you, model := s.join("you"), s.join("model")
			done := you.calling(t.Context(), "ask", fmt.Sprintf(`{"text":%q}`, c.text), "")
			if c.answer != nil {
				model.next().answer <- c.answer
			}
			e, ok := within(t, failed, "the error").(*tool.AskError)
			if !ok || e.Reason != c.want {
				t.Errorf("the tool got %#v", e)
			}
			within(t, done, "the answer")
		})
	}
}

// TestOnlyTheAskedAnswer holds that nobody else can answer a question, and that
// the first answer counts.
func TestOnlyTheAskedAnswer(t *testing.T) {
	for _, lazy := range []bool{false, true} {
		s := begin(t, &parleytest.Options{Lazy: lazy})
		s.serve(newServer(t, ""), Options{Serves: served()})
		you, ann, model := s.join("you"), s.join("ann"), s.join("model")
		done := you.calling(t.Context(), "sample", `{"text":"?"}`, "")
		q := model.next()
		for _, who := range []*person{you, ann} {
			// A strict room refuses it.
			_, _ = who.Respond(t.Context(), q.Envelope, jsontext.Value(reply("forged")))
		}
		if _, err := you.Request(t.Context(), "tools", "ping", nil); err != nil {
			t.Fatal(err)
		}
		q.say(reply("true"))
		if got := within(t, done, "the answer").text(); got != `{"data":{"text":"true"}}` {
			t.Errorf("lazy %v: %s", lazy, got)
		}
	}
}

// TestQuestionIDs holds that they differ by call, question and token, and stay the
// same otherwise: nobody can take one before it is used.
func TestQuestionIDs(t *testing.T) {
	id := func(token, of, question string) string {
		a, err := newAttendance(t.Context(), newServer(t, ""), Options{Token: token})
		if err != nil {
			t.Fatal(err)
		}
		return a.questionID(&call{envelope: &parley.Envelope{ID: of}}, tool.Question{ID: question})
	}
	first := id("a", "c", "1")
	if !parley.ValidID(first) || first != id("a", "c", "1") {
		t.Errorf("got %q, then %q", first, id("a", "c", "1"))
	}
	for _, other := range []string{id("b", "c", "1"), id("a", "d", "1"), id("a", "c", "2")} {
		if other == first {
			t.Errorf("two questions are %q", other)
		}
	}
}

// TestBranches holds that the contexts of branches stand in the room's tree, below
// that of the call, with what they carry.
func TestBranches(t *testing.T) {
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "review", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, _ words) (words, error) {
			ask := func(ctx context.Context, c *tool.Call) error {
				_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("?")}})
				return err
			}
			return words{}, c.Branch(ctx, tool.Branch{Type: "reasoning", Metadata: map[string]any{"files": 2}}, func(ctx context.Context, c *tool.Call) error {
				if err := ask(ctx, c); err != nil {
					return err
				}
				return c.Branch(ctx, tool.Branch{Type: "file"}, ask)
			})
		})
	}
	s := begin(t, nil)
	s.serve(newServer(t, "", add), Options{Serves: served()})
	you := s.join("you")
	s.dial("model", func(context.Context, *client.Request) (any, error) { return jsontext.Value(reply("fine")), nil })
	if got := you.call("review", `{}`, "", client.InContext(&parley.Context{ID: "work", Type: "workflow"})).text(); got != `{"data":{}}` {
		t.Fatalf("got %s", got)
	}
	asked := you.onRecord("mcp/request:sampling/createMessage")
	if len(asked) != 2 {
		t.Fatalf("%d questions", len(asked))
	}
	outer, inner := asked[0].Context, asked[1].Context
	tree := map[string]string{"work": "workflow 1 "}
	tree[outer.ID], tree[inner.ID] = "reasoning 2 work", "file 3 "+outer.ID
	contexts := 0
	for c, err := range you.API().Contexts(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		contexts++
		if got := fmt.Sprintf("%s %d %s", c.Type, c.Depth, c.Parent); got != tree[c.ID] {
			t.Errorf("%s is %q, want %q", c.ID, got, tree[c.ID])
		}
	}
	if contexts != 3 || string(outer.Metadata) != `{"files":2}` {
		t.Errorf("%d contexts, metadata %s", contexts, outer.Metadata)
	}
}

// TestContextsThatTheRoomRefuses sees that the tool is told.
func TestContextsThatTheRoomRefuses(t *testing.T) {
	failed := make(chan error, 1)
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "deep", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, _ words) (words, error) {
			err := c.Branch(ctx, tool.Branch{Type: "reasoning"}, func(ctx context.Context, c *tool.Call) error {
				_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("?")}})
				return err
			})
			failed <- err
			return words{}, err
		})
	}
	s := begin(t, &parleytest.Options{Limits: parleytest.Limits{ContextDepth: 1}})
	s.serve(newServer(t, "", add), Options{Serves: served()})
	you := s.join("you")
	s.join("model")
	you.call("deep", `{}`, "", client.InContext(&parley.Context{ID: "work"}))
	e, ok := within(t, failed, "the error").(*tool.AskError)
	if !ok || e.Reason != tool.Failed || !strings.Contains(e.Message, "context_limit") {
		t.Errorf("the tool got %v", e)
	}
}

// TestManyAtOnce asks from several goroutines of one call.
func TestManyAtOnce(t *testing.T) {
	const many = 20
	add := func(s *tool.Server) {
		tool.Add(s, tool.Tool{Name: "many", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, _ words) ([]string, error) {
			said, errs := make([]string, many), make([]error, many)
			var wg sync.WaitGroup
			for i := range many {
				wg.Go(func() {
					x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText(fmt.Sprint(i))}})
					said[i], errs[i] = x.Parsed, err
				})
			}
			wg.Wait()
			return said, errors.Join(errs...)
		})
	}
	s := begin(t, nil)
	s.serve(newServer(t, "", add), Options{Serves: served()})
	you := s.join("you")
	s.dial("model", func(_ context.Context, q *client.Request) (any, error) {
		text, _ := parley.MemberString(parley.Member(firstOf(parley.Member(q.Params, "messages")), "content"), "text")
		return jsontext.Value(reply("re " + text)), nil
	})
	got := you.call("many", `{}`, "").text()
	for i := range many {
		if !strings.Contains(got, fmt.Sprintf(`"re %d"`, i)) {
			t.Errorf("%d is missing in %s", i, got)
		}
	}
}

func firstOf(list jsontext.Value) jsontext.Value {
	for v := range parley.Elements(list) {
		return v
	}
	return nil
}
