package tool

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// pair is a peer that answers the second question before the first, and counts.
type pair struct {
	mu            sync.Mutex
	asked         []string
	stop          func()
	first, second chan struct{} // closed when it is asked
	once          [2]sync.Once
}

func (*pair) Can(Ability) bool                                     { return true }
func (*pair) Notify(context.Context, string, jsontext.Value) error { return nil }
func (p *pair) Ask(ctx context.Context, q Question) (jsontext.Value, error) {
	p.mu.Lock()
	p.asked = append(p.asked, string(q.Params))
	p.mu.Unlock()
	switch {
	case strings.Contains(string(q.Params), "first"):
		p.once[0].Do(func() { close(p.first) })
		<-p.second
	case strings.Contains(string(q.Params), "second"):
		p.once[1].Do(func() { close(p.second) })
	case strings.Contains(string(q.Params), "third"):
		p.stop()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return jsontext.Value(text("short")), nil
}

// What was answered is not asked again, also where a bound of tokens made a
// question's reply shorter because another one was under way.
func TestAnswersWithinABudget(t *testing.T) {
	s, err := NewServer(quiet(Options{Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	p := &pair{first: make(chan struct{}), second: make(chan struct{})}
	ask := func(ctx context.Context, c *Call, s string) error {
		_, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText(s)}, MaxTokens: 2000})
		return err
	}
	AddHandoff(s, Tool{Name: "ask", Needs: []Ability{Sampling}, Tokens: 2500}, Handoff[none, none, none, string]{
		Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
		Client: func(ctx context.Context, c *Call, _ none) (none, error) {
			var wg sync.WaitGroup
			wg.Go(func() { ask(ctx, c, "first") })
			<-p.first // is closed the second time: then either may come first
			ask(ctx, c, "second")
			wg.Wait()
			err := ask(ctx, c, "third")
			return none{}, err
		},
		After: func(context.Context, *Call, none, none, none) (string, error) { return "done", nil },
	})
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		p.stop = cancel
		s.Do(ctx, Request{Tool: "ask", Run: "r", Peer: p})
	}
	if len(p.asked) != 4 { // the third has no answer, and so it is asked again
		t.Errorf("asked:\n%s", strings.Join(p.asked, "\n"))
	}
}
