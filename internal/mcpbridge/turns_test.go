package mcpbridge

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
)

// asker is a participant that is asked, and answers when the test says so.
type asker struct {
	*client.Room
	asked chan *client.Request
	reply map[string]chan struct{} // by the id of the call
	mu    sync.Mutex
}

func (a *asker) hold(id string) chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reply[id] == nil {
		a.reply[id] = make(chan struct{})
	}
	return a.reply[id]
}

func (b *bridged) asker(who string) *asker {
	b.t.Helper()
	a := &asker{asked: make(chan *client.Request, 16), reply: map[string]chan struct{}{}}
	var err error
	a.Room, err = client.Dial(b.t.Context(), b.URL, &client.Options{Token: b.Token(who), Space: b.Space,
		Handler: func(ctx context.Context, req *client.Request) (any, error) {
			id := req.Envelope.Correlation.IDs[0]
			a.asked <- req
			select {
			case <-a.hold(id):
				return jsontext.Value(`{"action":"accept","content":{"who":"` + id + `"}}`), nil
			case <-ctx.Done():
				return nil, context.Cause(ctx)
			}
		}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(a.Room.Close)
	return a
}

// elicit calls a tool that asks, and returns the call's id and its answer.
func (a *asker) elicit(t *testing.T, ctx context.Context) (id string, said <-chan string) {
	t.Helper()
	e, err := client.NewRequest("files", "tools/call", capable("elicit", "", elicits))
	if err != nil {
		t.Fatal(err)
	}
	e.ID = client.NewID()
	done := make(chan string, 1)
	go func() {
		r, err := a.Call(ctx, e)
		if err != nil {
			done <- err.Error()
			return
		}
		done <- text(t, r, nil)
	}()
	return e.ID, done
}

// A call whose client never answers neither holds up others of the participant,
// nor is taken for them.
func TestQuestionsOfOneSession(t *testing.T) {
	legacySDK(t, func(t *testing.T, s Server) {
		b := bridge(t, s, Join{})
		you := b.asker("you")
		ctx, cancel := context.WithCancel(t.Context())
		left, leftSaid := you.elicit(t, ctx)
		if got := <-you.asked; !slices.Equal(got.Envelope.Correlation.IDs, []string{left}) {
			t.Fatalf("asked of %v, want %s", got.Envelope.Correlation.IDs, left)
		}
		began := time.Now()
		for range 3 {
			id, said := you.elicit(t, t.Context())
			if got := <-you.asked; !slices.Equal(got.Envelope.Correlation.IDs, []string{id}) {
				t.Fatalf("asked of %v, want %s", got.Envelope.Correlation.IDs, id)
			}
			close(you.hold(id))
			if got, want := <-said, "accept "+id; got != want {
				t.Errorf("answered %q, want %q", got, want)
			}
		}
		// At the same time each hears of its own.
		var calls []string
		var answers []<-chan string
		for range 8 {
			id, said := you.elicit(t, t.Context())
			calls, answers = append(calls, id), append(answers, said)
		}
		for range calls {
			got := <-you.asked
			if ids := got.Envelope.Correlation.IDs; len(ids) != 1 || !slices.Contains(calls, ids[0]) {
				t.Fatalf("asked of %v", ids)
			}
		}
		for i, id := range calls {
			close(you.hold(id))
			if got, want := <-answers[i], "accept "+id; got != want {
				t.Errorf("answered %q, want %q", got, want)
			}
		}
		if took := time.Since(began); took > turnPatience {
			t.Errorf("it took %v", took)
		}
		cancel()
		<-leftSaid
	})
}

func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s turns
		var log []string
		ctx := t.Context()
		fly := func(name string) (*flight, func()) {
			f := &flight{peer: name}
			landed, err := s.fly(ctx, f)
			if err != nil {
				t.Fatal(err)
			}
			log = append(log, name)
			return f, landed
		}
		said := func(want string) {
			t.Helper()
			synctest.Wait()
			if got := fmt.Sprint(log); got != want {
				t.Errorf("%s, want %s", got, want)
			}
		}
		first, firstLanded := fly("first")
		_, secondLanded := fly("second") // nothing was asked yet
		if c := s.candidates(); len(c) != 2 || c[1] != first {
			t.Errorf("candidates: %v", c)
		}
		s.takeTurns()
		secondLanded()

		// While the first waits the third has its turn, and the answer waits for it.
		resume := s.pause(first)
		if c := s.candidates(); len(c) != 1 || c[0] != first {
			t.Errorf("candidates: %v", c)
		}
		again := s.pause(first) // another question in the same call
		third, thirdLanded := fly("third")
		if c := s.candidates(); len(c) != 1 || c[0] != third {
			t.Errorf("candidates: %v", c)
		}
		go func() { again(ctx); resume(ctx); log = append(log, "answer") }()
		said("[first second third]")
		thirdLanded()
		said("[first second third answer]")

		// Nobody waits for ever.
		began := time.Now()
		_, fourthLanded := fly("fourth")
		if took := time.Since(began); took != turnPatience { // the first works, and asks nothing
			t.Errorf("the fourth waited %v", took)
		}
		fourthLanded()

		// Who gives up takes no turn.
		gone, cancel := context.WithCancel(ctx)
		go func() {
			if _, err := s.fly(gone, &flight{}); err == nil {
				t.Error("it had its turn")
			}
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		firstLanded()
		// An answer that comes behind its call takes none either.
		fifth, fifthLanded := fly("fifth")
		late := s.pause(fifth)
		fifthLanded()
		late(ctx)
		if s.working != 0 || len(s.queue) != 0 || len(s.flights) != 0 {
			t.Errorf("left: %+v", &s)
		}
	})
}

// A server may go on with a call that was cancelled. What it asks then is not
// taken for a question of the only call that is left.
func TestCancelledCallsAreSuspects(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &session{up: &Upstream{link: &stdio{}}}
		a := &attendance{b: &Bridge{server: Server{Sessions: SessionsShared}}}
		whose := func() string {
			who, err := s.whom(need{service: "sampling"}, a.causes(t.Context(), s))
			if err != nil {
				return "error"
			}
			return who
		}
		fly := func(ctx context.Context, peer string) func() {
			landed, err := s.turns.fly(ctx, &flight{peer: peer, declared: jsontext.Value(samples)})
			if err != nil {
				t.Fatal(err)
			}
			return landed
		}
		for range 2 * maxLeft {
			ctx, cancel := context.WithCancel(t.Context())
			landed := fly(ctx, "you")
			cancel()
			landed()
		}
		landed := fly(t.Context(), "boss")
		if got := whose(); got != "error" || len(s.turns.left) != maxLeft {
			t.Errorf("it is asked: %s; of %d calls", got, len(s.turns.left))
		}
		time.Sleep(leftFor + 1)
		if got := whose(); got != "boss" {
			t.Errorf("asked is %s", got)
		}
		landed()
	})
}
