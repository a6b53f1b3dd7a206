package tool

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool/sampling"
)

// A call that begins while its server is closed is refused, or put away.
func TestCallsBeginWhileTheServerCloses(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	Add(s, Tool{Name: "ask"}, func(ctx context.Context, _ *Call, _ none) (none, error) {
		<-ctx.Done()
		return none{}, ctx.Err()
	})
	begun := make(chan *conversation, 1000)
	go func() {
		defer close(begun)
		for range cap(begun) {
			if c, err := s.tools["ask"].converse(&mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}); err == nil {
				begun <- c
			}
		}
	}()
	first := <-begun
	for range 100 {
		s.park(func(*conversation) bool { return true })
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	<-first.done
	for c := range begun {
		<-c.done
	}
}

// Requests that are cancelled at the same moment leave nobody who waits.
func TestAllRequestsHangUp(t *testing.T) {
	c := &conversation{server: new(Server), done: make(chan struct{})}
	var why error
	c.stop = func(err error) { why = err }
	here, hangUp := context.WithCancel(t.Context())
	for range 2 {
		c.attach(here, new(mcp.CallToolRequest))
	}
	c.attach(t.Context(), new(mcp.CallToolRequest))
	hangUp()
	if c.hangUp(); why != nil {
		t.Errorf("it ends for %v, and one still waits", why)
	}
	c.present, c.ctxs = c.present[:2], c.ctxs[:2]
	if c.hangUp(); why != errHungUp {
		t.Errorf("it goes on, and nobody waits: %v", why)
	}
}

// What a client has answered before a function that runs again asks is not lost
// where the client repeats its request without answers.
func TestEarlyAnswersStay(t *testing.T) {
	c := &conversation{revived: true, news: make(chan struct{}), during: t.Context()}
	c.deliver(mcp.InputResponseMap{"q": &mcp.ElicitResult{Action: "decline"}})
	c.deliver(nil)
	c.v = new(served)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	raw, err := c.Ask(ctx, Question{ID: "q"})
	if err != nil || jsontext.Value(raw).Kind() != '{' {
		t.Errorf("got %s, %v", raw, err)
	}
}

// Who comes back for a run that is just being put away waits until it is, and
// goes on with it.
func TestComingBackWhileItIsPutAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		release, times := make(chan struct{}), 0
		AddHandoff(s, Tool{Name: "held", Needs: []Ability{Elicitation}}, Handoff[none, none, none, string]{
			Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
			Client: func(ctx context.Context, c *Call, _ none) (none, error) {
				if err := askConsent(ctx, c); err != nil {
					return none{}, err
				}
				if times++; times == 1 {
					<-ctx.Done()
					<-release
				}
				return none{}, ctx.Err()
			},
			After: func(context.Context, *Call, none, none, none) (string, error) { return "done", nil },
		})
		l := connectLines(t, s)
		l.callModern("a", "held", "{}", "")
		state, asked := l.required()
		l.callModern("b", "held", "{}", state, allAnswered(asked, consented)...)
		synctest.Wait()
		s.stop(func(*conversation) bool { return true })
		l.callModern("c", "held", "{}", state)
		synctest.Wait()
		close(release)
		for range 2 {
			if m := l.next(); string(m.ID) == `"c"` && !strings.Contains(string(m.Result), `{"data":"done"}`) {
				t.Errorf("it is told %s %s", m.Result, m.Error)
			}
		}
	})
}

// In a run that is gone on with a question is known by what it asks, and not by
// its form's name: an answer does not get to a form that was not shown.
func TestFormsOfOneName(t *testing.T) {
	dir, state, asked := t.TempDir(), "", []string(nil)
	for life := range 2 {
		s, err := NewServer(quiet(Options{NoUsage: true, Runs: dir}))
		if err != nil {
			t.Fatal(err)
		}
		form := func(ctx context.Context, c *Call, message string) error {
			_, err := Elicit[move](ctx, c, sampling.Elicitation[none]{Key: "move", Message: message})
			return err
		}
		AddHandoff(s, Tool{Name: "held", Needs: []Ability{Elicitation}}, Handoff[none, none, none, none]{
			Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
			Client: func(ctx context.Context, c *Call, _ none) (none, error) {
				if life == 1 { // it does not ask what it asked before, which it should
					if err := form(ctx, c, "Shall we delete everything?"); err != nil {
						return none{}, err
					}
				}
				return none{}, form(ctx, c, "Where?")
			},
			After: func(context.Context, *Call, none, none, none) (none, error) { return none{}, nil },
		})
		l := connectLines(t, s)
		l.callModern("a", "held", "{}", state, allAnswered(asked, `{"action":"accept","content":{"cell":4}}`)...)
		m := l.next()
		if state, asked = requiredBy(t, m.Result); strings.Contains(string(m.Result), "delete") != (life == 1) {
			t.Errorf("it asks for %s", m.Result)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A panic is reported also where nobody waits for the call any more.
func TestPanicsOfCancelledCalls(t *testing.T) {
	var log bytes.Buffer
	o := quiet(Options{})
	o.Log = slog.New(slog.NewTextHandler(&log, nil))
	s, err := NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	Add(s, Tool{Name: "ask"}, func(context.Context, *Call, none) (none, error) {
		stop()
		panic("out of tea")
	})
	if _, err := s.Do(ctx, Request{Tool: "ask"}); !errors.Is(err, context.Canceled) || !strings.Contains(log.String(), "out of tea") {
		t.Errorf("%v, and the log has %q", err, log.String())
	}
}

// A run on disk is gone on with by whom it belongs to alone, and others do not
// learn that it is there.
func TestRunsOnDiskAreTheirCallers(t *testing.T) {
	s, err := NewServer(quiet(Options{Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	newHeld("").add(s, 0)
	k, err := keep(s.kept, runName("h"), called{Tool: "held", Arguments: meaningOf(nil), User: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	k.close()
	for _, c := range []struct{ user, want string }{{"bob", "there is no run"}, {"", "there is no run"}, {"ann", ""}} {
		req := &mcp.CallToolRequest{
			Params: &mcp.CallToolParamsRaw{RequestState: stateOf("h", 1), Meta: mcp.Meta{
				mcp.MetaKeyClientCapabilities: map[string]any{"elicitation": map[string]any{}},
			}},
			Extra: &mcp.RequestExtra{TokenInfo: &auth.TokenInfo{UserID: c.user}},
		}
		got, err := s.tools["held"].conversation(t.Context(), req)
		if e, ok := errors.AsType[*PeerError](err); ok != (c.want != "") || ok && !strings.Contains(e.Message, c.want) || (got == nil) != ok {
			t.Errorf("%q: %v, %v", c.user, got, err)
		}
	}
}

// A run that its client has cancelled is not gone on with, though it was kept.
func TestCancelledRunsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newHeldServer(t, t.TempDir(), "Client", 0)
		defer s.Close()
		l := connectLines(t, s)
		under, state := eras["2026-07-28"](l, h)
		<-h.reached
		l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`, under)
		<-h.left
		s.Wait()
		synctest.Wait()
		l.callModern("d", "held", "{}", state)
		m := l.next()
		if string(m.ID) == `"`+under+`"` { // it may be told that it was cancelled
			m = l.next()
		}
		if !strings.Contains(string(m.Error), "outcome_unknown") {
			t.Errorf("it is told %s %s", m.Result, m.Error)
		}
		for run, err := range s.kept.Names() {
			t.Errorf("kept is %s, %v", run.Name, err)
		}
	})
}

// A question ends with its call, whatever context the function asks with.
func TestQuestionsEndWithTheirCall(t *testing.T) {
	s, err := NewServer(quiet(Options{}))
	if err != nil {
		t.Fatal(err)
	}
	Add(s, Tool{Name: "held", Needs: []Ability{Elicitation}}, func(_ context.Context, c *Call, _ none) (none, error) {
		err := askConsent(context.Background(), c)
		if !errors.Is(err, Stopped) {
			t.Errorf("got %v", err)
		}
		return none{}, err
	})
	l := connectLines(t, s)
	l.callModern("a", "held", "{}", "")
	l.required()
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for ever")
	}
}

// What is asked at once goes out in one round.
func TestRoundsHoldAllQuestions(t *testing.T) {
	c := new(conversation)
	for _, key := range []string{"a", "b"} {
		c.open = append(c.open, &open{key: key, question: Question{Method: methodElicit, Params: jsontext.Value(`{}`)}})
	}
	if in := c.asks().Meta[inputKey].(inputRequired); len(in.Requests) != 2 {
		t.Errorf("it asks for %v", in.Requests)
	}
}
