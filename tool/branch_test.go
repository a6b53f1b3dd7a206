package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool/sampling"
)

var asks = Tool{Name: "ask", Needs: []Ability{SamplingTools, Elicitation}}

// Questions carry the context of the branch that asks, and metadata once.
func TestBranchesHaveContexts(t *testing.T) {
	a := &actor{model: slices.Repeat([]string{text("ok")}, 6)}
	c := NewAskingCall(asks, Community, "", a)
	ask := func(ctx context.Context, c *Call) error {
		_, err := c.Sample(ctx, prompt("?"))
		return err
	}
	err := errors.Join(ask(t.Context(), c),
		c.Branch(t.Context(), Branch{Type: "reasoning", Metadata: map[string]string{"about": "files"}}, func(ctx context.Context, c *Call) error {
			return errors.Join(ask(ctx, c), ask(ctx, c),
				c.Branch(ctx, Branch{}, ask),
				c.Branch(ctx, Branch{Type: "file"}, ask),
				c.Branch(ctx, Branch{Type: "file"}, ask))
		}),
		c.Branch(t.Context(), Branch{Type: strings.Repeat("x", 1000)}, ask))
	if err == nil || !strings.Contains(err.Error(), string(parley.InvalidContext)) || strings.Contains(err.Error(), "\n") {
		t.Fatal(err)
	}
	if a.asked[0].Context != nil {
		t.Errorf("the call itself has a context: %v", a.asked[0].Context)
	}
	outer := a.asked[1].Context
	var got []string
	for _, q := range a.asked[1:] {
		got = append(got, fmt.Sprint(q.Context.Type, " below outer: ", q.Context.Parent == outer.ID, " ", string(q.Context.Metadata)))
	}
	want := []string{
		`reasoning below outer: false {"about":"files"}`, `reasoning below outer: false `, `reasoning below outer: false `,
		`file below outer: true `, `file below outer: true `,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if a.asked[4].Context.ID == a.asked[5].Context.ID {
		t.Error("two branches have one context")
	}
	marked, err := a.asked[1].marked()
	if err != nil || !strings.Contains(string(marked), `"_meta":{"parley/context":{"id":"`+outer.ID+`","type":"reasoning","metadata":{"about":"files"}}}`) {
		t.Errorf("marked %s, %v", marked, err)
	}
}

// A run that is gone on with has the contexts that it had, in whatever order its
// branches begin.
func TestContextsAreTheSameAgain(t *testing.T) {
	contexts := func(order ...string) map[string]string {
		a := &actor{model: slices.Repeat([]string{text("ok")}, 6)}
		c := NewAskingCall(asks, Community, "", a)
		c.run.id = "the same run"
		found := make(map[string]string)
		for _, file := range order {
			err := c.Branch(t.Context(), Branch{Type: "file", Metadata: map[string]string{"file": file}}, func(ctx context.Context, c *Call) error {
				return c.Branch(ctx, Branch{Type: "line"}, func(ctx context.Context, c *Call) error {
					_, err := c.Sample(ctx, prompt("Go through "+file))
					found[file] = c.place.context.Parent + "/" + c.place.context.ID
					return err
				})
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		return found
	}
	first, again := contexts("a.go", "b.go"), contexts("b.go", "a.go")
	if !maps.Equal(first, again) || first["a.go"] == first["b.go"] {
		t.Errorf("first %v, then %v", first, again)
	}
}

// A branch begins with its parent's messages, or fresh, and keeps its own.
func TestBranchesHaveMessages(t *testing.T) {
	c := NewAskingCall(asks, Community, "", &actor{})
	c.Remember(sampling.UserText("one"))
	for _, fresh := range []bool{false, true} {
		err := c.Branch(t.Context(), Branch{Fresh: fresh}, func(_ context.Context, b *Call) error {
			if got := len(b.Messages()); (got == 0) != fresh {
				t.Errorf("fresh %v: %d messages", fresh, got)
			}
			b.Remember(sampling.UserText("two"), sampling.AssistantText("three"))
			return nil
		})
		if err != nil || len(c.Messages()) != 1 {
			t.Errorf("the parent has %d messages: %v", len(c.Messages()), err)
		}
	}
}

// What a branch spends is its parent's expense, and its limit cannot be above the
// parent's.
func TestBranchesHaveLimits(t *testing.T) {
	tokens := func(n int) string {
		return `{"role":"assistant","content":{"type":"text","text":"ok"},"model":"m","_meta":{"parley/usage":{"input_tokens":` + fmt.Sprint(n) + `,"output_tokens":0}}}`
	}
	tool := asks
	tool.Tokens = 1000
	a := &actor{model: []string{tokens(400), tokens(400), tokens(150), tokens(1)}}
	c := NewAskingCall(tool, Community, "", a)
	ask := func(ctx context.Context, c *Call) error {
		_, err := c.Sample(ctx, prompt("?"))
		return err
	}
	steps := []error{
		c.Branch(t.Context(), Branch{Tokens: 500}, func(ctx context.Context, c *Call) error {
			return errors.Join(ask(ctx, c), ask(ctx, c)) // the second goes over, and there is no third
		}),
		c.Branch(t.Context(), Branch{Tokens: 1_000_000}, ask),
		ask(t.Context(), c),
	}
	if steps[0] != nil || steps[1] != nil || steps[2] != nil {
		t.Fatal(steps)
	}
	if left := c.purse.left(); left != 49 {
		t.Errorf("%d tokens are left", left)
	}
	limited := a.asked[1].Params // the second of the branch: 100 were left of its 500
	if n, _ := jsontextInt(parley.Member(limited, "maxTokens")); n <= 0 || n > 100 {
		t.Errorf("the reply may have %d tokens", n)
	}
}

func jsontextInt(v jsontext.Value) (n int, err error) {
	_, err = fmt.Sscan(string(v), &n)
	return n, err
}

// What a call logs, and how far it is, is told in MCP's words, if anybody is there.
func TestTelling(t *testing.T) {
	c := NewAskingCall(asks, Community, "", nil)
	c.Log(t.Context(), slog.LevelInfo, "nobody hears it") // and nothing happens
	a := &actor{}
	c = NewAskingCall(asks, Community, "", a)
	c.Log(t.Context(), slog.LevelWarn, "slow", "files", 3, slog.Group("g", "a", 1))
	c.Progress(t.Context(), 1, 3, "read a.py")
	c.Progress(t.Context(), 2, 0, "")
	c.Progress(t.Context(), -1, 0, "")
	want := []string{
		`notifications/message {"data":{"files":3,"g":{"a":1},"message":"slow"},"level":"warning","logger":"ask"}`,
		`notifications/progress {"message":"read a.py","progress":1,"total":3}`,
		`notifications/progress {"progress":2}`,
	}
	if !slices.Equal(a.notified, want) {
		t.Errorf("got %q", a.notified)
	}
}

// A question ends with the tool's time, and with its caller's, and says which.
func TestQuestionsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, err := NewServer(quiet(Options{NoUsage: true}))
		if err != nil {
			t.Fatal(err)
		}
		tool := asks
		tool.Timeout = time.Minute
		var reason Reason
		Add(server, tool, func(ctx context.Context, c *Call, _ none) (none, error) {
			_, err := c.Sample(ctx, prompt("?"))
			e, _ := errors.AsType[*AskError](err)
			reason = e.Reason
			return none{}, err
		})
		raw, err := server.Do(t.Context(), Request{Tool: "ask", Peer: silence{}})
		if reason != Deadline || err != nil || !strings.Contains(string(raw), `"error_code":"timeout"`) {
			t.Errorf("%s: %s, %v", reason, raw, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if _, err := server.Do(ctx, Request{Tool: "ask", Peer: silence{}}); reason != Deadline {
			t.Errorf("%s: %v", reason, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		if _, err := server.Do(ctx, Request{Tool: "ask", Peer: silence{}}); reason != Stopped || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", reason, err)
		}
	})
}

// silence is a peer that never answers.
type silence struct{}

func (silence) Can(Ability) bool { return true }
func (silence) Ask(ctx context.Context, _ Question) (jsontext.Value, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (silence) Notify(context.Context, string, jsontext.Value) error { return nil }

// Whatever is asked, and whatever comes of it, the history that a run gathers goes
// to a model again.
func TestHistoriesStayWellFormed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := &actor{}
		c := NewAskingCall(asks, Community, "", a)
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			advance(t, a, c, 0)
		}
	})
}

// advance asks something and remembers what came of it.
func advance(t *rapid.T, a *actor, c *Call, depth int) {
	ctx := context.Background()
	bad := rapid.SampledFrom([]string{text("no"), text(" "), use(schemaCall("a", `{"cell":9}`)), use(`{"type":"tool_use","id":"a","name":"other","input":{}}`),
		`{"role":"assistant","content":[],"model":"m"}`, `{"role":"assistant","content":{"type":"text","text":"no"},"model":"m","stopReason":"refusal"}`,
		`{"role":"assistant","content":{"type":"text","text":"{\"cel"},"model":"m","stopReason":"maxTokens"}`, `garbage`, "error -1 no", "error -32000 later"})
	a.model, a.human = nil, nil
	for range rapid.IntRange(0, 3).Draw(t, "bad replies") {
		a.model = append(a.model, bad.Draw(t, "bad"))
	}
	ask := sampling.Request{Messages: sampling.Append(c.Messages(), sampling.UserText("Go on."))}
	switch rapid.IntRange(0, 4).Draw(t, "what") {
	case 0:
		a.model = append(a.model, text("yes"))
		if x, err := c.Sample(ctx, ask); err == nil {
			c.Remember(x.Messages...)
		}
	case 1:
		a.model = append(a.model, use(schemaCall("a", `{"cell":1}`), schemaCall("a", `{"cell":2}`)))
		if x, err := SampleAs[move](ctx, c, ask); err == nil {
			c.Remember(x.Messages...)
		}
	case 2:
		a.model = append(a.model, use(`{"type":"tool_use","id":"a","name":"look","input":{}}`, `{"type":"tool_use","id":"b","name":"look","input":{}}`))
		ask.Tools = []sampling.Tool{{Name: "look"}}
		if o, err := c.SampleTools(ctx, ask); err == nil {
			var results []sampling.ToolResult
			for _, u := range o.Value {
				results = append(results, sampling.ToolResult{ToolUseID: u.ID, IsError: u.ID == "b"})
			}
			x, err := o.Exchange(ask, results...)
			if err != nil {
				t.Fatal(err)
			}
			c.Remember(x.Messages...)
		}
	case 3:
		a.human = []string{rapid.SampledFrom([]string{`{"action":"accept","content":{"cell":1}}`, `{"action":"decline"}`, `{"action":"cancel"}`, `{}`, `"x"`}).Draw(t, "form")}
		x, err := Elicit[move](ctx, c, sampling.Elicitation[string]{Key: "move", Message: "Where?", Context: "X"})
		if err == nil || errors.Is(err, Declined) || errors.Is(err, Cancelled) {
			if x, err = x.WithArguments(func(board string) any { return map[string]string{"board": board} }); err != nil {
				t.Fatal(err)
			}
			c.Remember(x.Messages...)
		}
	case 4:
		fresh := rapid.Bool().Draw(t, "fresh")
		err := c.Branch(ctx, Branch{Fresh: fresh}, func(_ context.Context, b *Call) error {
			if depth < 3 {
				advance(t, a, b, depth+1)
			}
			c.Remember(b.Messages()[len(c.Messages())*btoi(!fresh):]...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	strict(t, c.Messages())
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// strict is what the strictest of models' endpoints wants of a history.
func strict(t *rapid.T, history []sampling.Message) {
	if err := sampling.Check(history); err != nil {
		t.Fatalf("%v: %+v", err, history)
	}
	if len(history) > 0 && history[0].Role != sampling.User {
		t.Fatalf("it begins with the assistant: %+v", history)
	}
	seen := map[string]bool{}
	for _, m := range history {
		for _, u := range m.ToolUses() {
			if seen[u.ID] {
				t.Fatalf("the id %s comes twice: %+v", u.ID, history)
			}
			seen[u.ID] = true
		}
	}
}

// What cannot be a context's metadata is refused before anybody is asked.
func TestMetadataThatIsRefused(t *testing.T) {
	c := NewAskingCall(asks, Community, "", &actor{})
	for _, metadata := range []any{"a text", []int{1}, make(chan int), map[string]string{"a": "\xff"}} {
		err := c.Branch(t.Context(), Branch{Metadata: metadata}, func(context.Context, *Call) error {
			t.Errorf("%v is taken", metadata)
			return nil
		})
		if err == nil || !strings.HasPrefix(err.Error(), "the metadata of a branch: ") {
			t.Errorf("%v: %v", metadata, err)
		}
	}
}
