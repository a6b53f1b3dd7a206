package room

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool"
)

// deaf is an attendance that is told nothing of what happens in the room, and a
// peer of a call that you made in it.
func (s *site) deaf(you *person) (*attendance, *peer) {
	s.t.Helper()
	a, err := newAttendance(s.t.Context(), newServer(s.t, ""), Options{Token: s.Token("tools"), Serves: served()})
	if err != nil {
		s.t.Fatal(err)
	}
	a.room = s.dial("tools", nil)
	r, err := client.NewRequest("tools", "tools/call", callParams("echo", `{}`, ""), client.WithID("the-call"))
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := you.Send(s.t.Context(), r); err != nil {
		s.t.Fatal(err)
	}
	c := &call{envelope: r, kind: parley.SplitKind(r.Kind)}
	c.envelope.From = "you"
	c.ctx, c.stop = context.WithCancelCause(a.ctx)
	s.t.Cleanup(func() { a.stop(errLeaving) })
	return a, newPeer(a, c, []string{"you"})
}

var whoIsIt = tool.Question{ID: "1", Method: "elicitation/create", Params: jsontext.Value(`{"message":"who?"}`)}

// asking asks and returns where the answer will be.
func (p *peer) asking(ctx context.Context, q tool.Question) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		v, err := p.Ask(ctx, q)
		done <- outcome{v, err}
	}()
	return done
}

// TestAnswerThatWasMissed sees that it is found on record once it is known that
// something was missed.
func TestAnswerThatWasMissed(t *testing.T) {
	s := begin(t, nil)
	you, ann := s.join("you"), s.join("ann")
	a, p := s.deaf(you)
	done := p.asking(t.Context(), whoIsIt)
	q := ann.next()
	a.recheck() // there is no answer yet
	q.say(form(`{"who":"Ann"}`))
	until(t, "the answer is on record", func() bool {
		answer, err := a.recorded(t.Context(), q.Envelope)
		return answer != nil && err == nil
	})
	a.recheck()
	if o := within(t, done, "the answer"); string(o.result) != form(`{"who":"Ann"}`) {
		t.Errorf("got %s, %v", o.result, o.err)
	}
	if len(a.questions) != 0 {
		t.Errorf("%d questions are left", len(a.questions))
	}
}

// TestAskedBefore sees that a question which was put to somebody else before is
// not put again, and what becomes of one whose id is not ours.
func TestAskedBefore(t *testing.T) {
	s := begin(t, nil)
	you, model := s.join("you"), s.join("model")
	s.join("ann")
	a, p := s.deaf(you)
	before, err := client.NewRequest("model", whoIsIt.Method, jsontext.Value(`{"message":"another"}`), client.WithID(a.questionID(p.call, whoIsIt)), client.Correlate("the-call"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.room.Send(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	done := p.asking(t.Context(), whoIsIt)
	q := model.next()
	q.say(form(`{"who":"model"}`))
	until(t, "the answer is on record", func() bool {
		answer, err := a.recorded(t.Context(), q.Envelope)
		return answer != nil && err == nil
	})
	a.recheck()
	if o := within(t, done, "the answer"); string(o.result) != form(`{"who":"model"}`) {
		t.Errorf("got %s, %v", o.result, o.err)
	}

	other := whoIsIt
	other.ID = "2"
	if _, err := you.Chat(t.Context(), "mine", client.WithID(a.questionID(p.call, other))); err != nil {
		t.Fatal(err)
	}
	o := within(t, p.asking(t.Context(), other), "an error")
	if e, ok := errors.AsType[*tool.PeerError](o.err); !ok || !strings.Contains(string(e.Data), "duplicate_id") {
		t.Errorf("got %s, %v", o.result, o.err)
	}
}

// TestDeadline holds that a question ends with the time that the tool has for it.
func TestDeadline(t *testing.T) {
	s := begin(t, nil)
	you, ann := s.join("you"), s.join("ann")
	_, p := s.deaf(you)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	done := p.asking(ctx, whoIsIt)
	q := ann.next()
	if o := within(t, done, "an error"); !errors.Is(o.err, context.DeadlineExceeded) {
		t.Errorf("got %s, %v", o.result, o.err)
	}
	within(t, q.ctx.Done(), "the question is taken back")
	// And with its call, whatever the tool made of the context that it got.
	other := whoIsIt
	other.ID = "2"
	done = p.asking(context.WithoutCancel(ctx), other)
	q = ann.next()
	p.call.stop(errCancelled)
	p.withdraw()
	if o := within(t, done, "an error"); !errors.Is(o.err, errCancelled) {
		t.Errorf("got %s, %v", o.result, o.err)
	}
	within(t, q.ctx.Done(), "the question is taken back")
}

// TestAnswersThatAreTooLarge sees that the caller learns of it.
func TestAnswersThatAreTooLarge(t *testing.T) {
	s := begin(t, &parleytest.Options{Limits: parleytest.Limits{EnvelopeBytes: 4096}})
	s.serve(newServer(t, ""), Options{})
	you := s.join("you")
	if got := you.call("echo", fmt.Sprintf(`{"text":%q}`, strings.Repeat("x", 3000)), "").text(); !strings.Contains(got, "the answer could not be sent: envelope_too_large") {
		t.Errorf("got %.200s", got)
	}
}

// TestLiesInALazyRoom holds that a request whose kind says something else is not
// acted on.
func TestLiesInALazyRoom(t *testing.T) {
	s := begin(t, &parleytest.Options{Lazy: true})
	s.serve(newServer(t, ""), Options{})
	you := s.join("you")
	r, err := you.Call(t.Context(), &parley.Envelope{
		Kind: "mcp/request:tools/list", To: []string{"tools"},
		Payload: jsontext.Value(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{}}}`),
	})
	if rpc, ok := errors.AsType[*client.RPCError](err); !ok || rpc.Code != client.CodeInvalidRequest {
		t.Errorf("got %v, %v", r, err)
	}
}

// TestRedactedAnswer holds that an answer which was taken off the record is not
// taken for nonsense.
func TestRedactedAnswer(t *testing.T) {
	_, err := read(&parley.Envelope{From: "ann", Payload: jsontext.Value(`{"redacted":true}`)})
	if e, ok := errors.AsType[*tool.PeerError](err); !ok || e.Message != "ann answered, and what it said was redacted" {
		t.Errorf("got %v", err)
	}
}
