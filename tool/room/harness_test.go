package room

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// cast is who is there: you and agent call, tools serves, model and ann answer.
func cast() map[string][]string {
	return map[string][]string{
		"you":   {"mcp/*", "chat"},
		"agent": {"mcp/proposal:*", "mcp/response:*"},
		"tools": {"mcp/response:*", "mcp/request:notifications/*", "mcp/request:sampling/createMessage", "mcp/request:elicitation/create"},
		"model": {"mcp/response:*"},
		"ann":   {"mcp/response:*"},
	}
}

// served are those who answer for callers that cannot.
func served() map[string][]string {
	return map[string][]string{"sampling": {"nobody", "model"}, "elicitation": {"ann"}}
}

// site is a space with a tool server in it.
type site struct {
	*parleytest.Gateway
	t *testing.T
}

func begin(t *testing.T, o *parleytest.Options) *site {
	t.Helper()
	if o == nil {
		o = &parleytest.Options{}
	}
	if o.Participants == nil {
		o.Participants = cast()
	}
	return &site{parleytest.Start(t, o), t}
}

// serve takes a server into the space until the function is called, which returns
// what Serve did.
func (s *site) serve(server *tool.Server, o Options) (leave func() error) {
	s.t.Helper()
	o.Token, o.Space = s.Token("tools"), s.Space
	joined, ended := make(chan string, 1), make(chan error, 1)
	o.OnJoin = func(who string) { joined <- who }
	ctx, stop := context.WithCancel(s.t.Context())
	go func() { ended <- Serve(ctx, server, s.URL, o) }()
	leave = sync.OnceValue(func() error { stop(); return <-ended })
	s.t.Cleanup(func() { _ = leave() })
	select {
	case who := <-joined:
		if who != "tools" {
			s.t.Fatalf("%q joined", who)
		}
	case err := <-ended:
		ended <- err
		s.t.Fatalf("the server did not join: %v", err)
	}
	return leave
}

// person is somebody in the room who answers questions by hand, or by a function.
type person struct {
	*client.Room
	t     *testing.T
	asked chan *asked
}

// asked is a question, and what it is answered with.
type asked struct {
	*client.Request
	ctx    context.Context
	answer chan any // a result as JSON, or an error
}

func (q *asked) say(answer string) { q.answer <- jsontext.Value(answer) }

// join takes somebody into the room whose questions wait in asked.
func (s *site) join(who string) *person {
	s.t.Helper()
	p := &person{t: s.t, asked: make(chan *asked, 1000)}
	p.Room = s.dial(who, func(ctx context.Context, req *client.Request) (any, error) {
		q := &asked{req, ctx, make(chan any, 1)}
		p.asked <- q
		select {
		case a := <-q.answer:
			if err, failed := a.(error); failed {
				return nil, err
			}
			return a, nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
	return p
}

func (s *site) dial(who string, h client.Handler) *client.Room {
	s.t.Helper()
	room, err := client.Dial(s.t.Context(), s.URL, &client.Options{Token: s.Token(who), Space: s.Space, Handler: h, Concurrency: 1000, Exclusive: true})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(room.Close)
	return room
}

// next is the next question that somebody is asked.
func (p *person) next() *asked {
	p.t.Helper()
	return within(p.t, p.asked, "a question to "+p.ID())
}

func within[T any](t *testing.T, from <-chan T, what string) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(patience):
		t.Fatalf("not in time: %s", what)
		panic("unreachable")
	}
}

// outcome is what a call came to.
type outcome struct {
	result jsontext.Value
	err    error
}

// text is the result, or the error, in one line.
func (o outcome) text() string {
	if o.err != nil {
		return o.err.Error()
	}
	s := string(parley.Member(o.result, "structuredContent"))
	if s == "" {
		s = string(o.result)
	}
	return s
}

// call calls a tool and waits for the answer.
func (p *person) call(name, arguments, capabilities string, opts ...client.SendOption) outcome {
	p.t.Helper()
	return within(p.t, p.calling(p.t.Context(), name, arguments, capabilities, opts...), "the answer of "+name)
}

// calling calls a tool.
func (p *person) calling(ctx context.Context, name, arguments, capabilities string, opts ...client.SendOption) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		r, err := p.Request(ctx, "tools", "tools/call", callParams(name, arguments, capabilities), opts...)
		if o.err = err; err == nil {
			o.result = r.Result
		}
		done <- o
	}()
	return done
}

func callParams(name, arguments, capabilities string) jsontext.Value {
	params := jsontext.Value(fmt.Sprintf(`{"name":%q,"arguments":%s}`, name, arguments))
	if capabilities != "" {
		params = mcp.SetMeta(params, mcp.MetaClientCapabilities, jsontext.Value(capabilities))
	}
	return params
}

// onRecord are the envelopes of a kind that tools sent, oldest first.
func (p *person) onRecord(kind string) (list []*parley.Envelope) {
	p.t.Helper()
	for e, err := range p.API().Envelopes(p.t.Context(), &client.Query{From: "tools", Kind: kind}) {
		if err != nil {
			p.t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// until polls for what has to become true.
func until(t *testing.T, what string, ready func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(patience); !ready(); <-tick.C {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// reply is what a model says.
func reply(text string) string {
	return fmt.Sprintf(`{"role":"assistant","model":"m","content":{"type":"text","text":%q}}`, text)
}

// input is what a model answers where a typed answer is wanted.
func input(v string) string {
	return `{"role":"assistant","model":"m","stopReason":"toolUse","content":{"type":"tool_use","id":"c1","name":"__schema__","input":` + v + `}}`
}

func form(content string) string { return `{"action":"accept","content":` + content + `}` }

// newServer is a server with tools that ask, whose runs are kept in a folder; ""
// keeps none.
func newServer(t *testing.T, runs string, add ...func(*tool.Server)) *tool.Server {
	t.Helper()
	s, err := tool.NewServer(tool.Options{Name: "tools", Version: "1.2.3", Tier: tool.Enterprise, NoUsage: true, Runs: runs, Getenv: func(string) string { return "" }, Dir: t.TempDir(),
		Title: "Tools that ask", Instructions: "Ask them."})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	for _, one := range slices.Concat([]func(*tool.Server){addTools}, add) {
		one(s)
	}
	return s
}

type words struct {
	Text string `json:"text,omitempty"`
}

type name struct {
	Who string `json:"who"`
}

func addTools(s *tool.Server) {
	tool.Add(s, tool.Tool{Name: "echo"}, func(_ context.Context, _ *tool.Call, in words) (words, error) { return in, nil })
	tool.Add(s, tool.Tool{Name: "sample", Needs: []tool.Ability{tool.Sampling}}, func(ctx context.Context, c *tool.Call, in words) (words, error) {
		x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText(in.Text)}})
		return words{x.Parsed}, err
	})
	tool.Add(s, tool.Tool{Name: "typed", Needs: []tool.Ability{tool.SamplingTools}}, func(ctx context.Context, c *tool.Call, in words) (name, error) {
		x, err := tool.SampleAs[name](ctx, c, sampling.Request{Messages: []sampling.Message{sampling.UserText(in.Text)}})
		return x.Parsed, err
	})
	tool.Add(s, tool.Tool{Name: "elicit", Needs: []tool.Ability{tool.Elicitation}}, func(ctx context.Context, c *tool.Call, in words) (name, error) {
		x, err := tool.Elicit[name](ctx, c, sampling.Elicitation[struct{}]{Key: "who", Message: in.Text})
		return x.Parsed, err
	})
	tool.Add(s, tool.Tool{Name: "wait"}, func(ctx context.Context, _ *tool.Call, _ words) (words, error) {
		<-ctx.Done()
		return words{}, ctx.Err()
	})
}

// addTelling adds a tool that tells what it does.
func addTelling(s *tool.Server) {
	tool.Add(s, tool.Tool{Name: "tell"}, func(ctx context.Context, c *tool.Call, _ words) (words, error) {
		c.Progress(ctx, 1, 2, "half")
		c.Log(ctx, slog.LevelDebug, "now", "n", 1)
		c.Log(ctx, slog.LevelError, "oh")
		return words{}, nil
	})
}
