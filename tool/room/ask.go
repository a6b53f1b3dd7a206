package room

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/tool"
)

// question is one of ours that has no answer yet.
type question struct {
	call     *call
	envelope *parley.Envelope
	answer   chan *parley.Envelope // holds one: the first
	look     chan struct{}         // holds one: the answer may be on record
}

// Ask asks the caller, or somebody else who is here, and waits.
func (p *peer) Ask(ctx context.Context, q tool.Question) (jsontext.Value, error) {
	defer p.a.waiting(p.call)()
	id := p.a.questionID(p.call, q)
	var asked *parley.Envelope
	if p.call.again {
		var err error
		if asked, err = p.a.asked(ctx, id); err != nil {
			return nil, p.failed(ctx, err)
		}
	}
	answer, err := p.ask(ctx, id, q, asked)
	if err != nil {
		return nil, p.failed(ctx, err)
	}
	return read(answer)
}

// waiting notes that a call waits for an answer, until the function is called. Once
// we are leaving, that is where it ends.
func (a *attendance) waiting(c *call) (done func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c.asking++; a.over {
		c.stop(errLeaving)
	}
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		c.asking--
	}
}

// questionID is the id of a question's envelope. Nobody who does not have the
// token knows it in advance: who did could take it, and the question would not be
// asked.
func (a *attendance) questionID(c *call, q tool.Question) string {
	h := hmac.New(sha256.New, a.key)
	h.Write([]byte(c.envelope.ID + "\n" + q.ID))
	return "q-" + hex.EncodeToString(h.Sum(nil)[:16])
}

// ask puts a question, unless it was asked before.
func (p *peer) ask(ctx context.Context, id string, q tool.Question, asked *parley.Envelope) (*parley.Envelope, error) {
	if asked == nil {
		e, err := p.compose(ctx, id, q)
		if err != nil {
			return nil, err
		}
		w := p.a.expect(p.call, e)
		_, err = p.a.room.Send(ctx, e)
		switch {
		case errors.Is(err, &parley.Error{Code: parley.DuplicateID}):
			// It was asked in a life of ours of which nothing else is known.
			p.a.forget(w)
			if asked, err = p.a.asked(ctx, id); err != nil || asked == nil {
				return nil, parley.Errorf(parley.DuplicateID, "somebody else has used the id of the question")
			}
		case errors.Is(err, client.ErrUnacknowledged) && ctx.Err() == nil:
			p.a.withdraw(w)
			return nil, err
		case err != nil && ctx.Err() == nil:
			p.a.forget(w)
			return nil, err
		default:
			return p.a.await(ctx, w)
		}
	}
	w := p.a.expect(p.call, asked)
	w.look <- struct{}{}
	return p.a.await(ctx, w)
}

// compose makes the envelope of a question.
func (p *peer) compose(ctx context.Context, id string, q tool.Question) (*parley.Envelope, error) {
	who, err := p.whom(ctx, needOf(q))
	if err != nil {
		return nil, err
	}
	return client.NewRequest(who, q.Method, q.Params, client.WithID(id), client.Correlate(p.call.envelope.ID),
		client.InContext(mcp.Within(q.Context, p.call.within())))
}

// needOf is what a question needs whoever answers it to be able to.
func needOf(q tool.Question) tool.Ability {
	switch {
	case strings.HasPrefix(q.Method, "elicitation/"):
		return tool.Elicitation
	case parley.Member(q.Params, "tools") != nil || parley.Member(q.Params, "toolChoice") != nil:
		return tool.SamplingTools
	}
	return tool.Sampling
}

// whom says who is asked: the caller, or the first who is here of those who serve
// what is needed. One of those was here when the call began, and may only have lost
// its connection: it is waited for.
func (p *peer) whom(ctx context.Context, needs tool.Ability) (string, error) {
	if p.declares(needs) {
		return p.caller(), nil
	}
	others := p.a.opts.Serves[service(needs)]
	var late <-chan time.Time
	if len(others) > 0 {
		patience := time.NewTimer(p.a.arrival)
		defer patience.Stop()
		late = patience.C
	}
	for {
		coming := p.a.coming()
		who, err := p.a.present(ctx, others)
		if who != "" || err != nil {
			return who, err
		}
		if late == nil {
			return "", nobody(needs, others)
		}
		select {
		case <-coming:
		case <-late:
			late = nil
		case <-ctx.Done():
			return "", context.Cause(ctx)
		}
	}
}

// nobody is the error of what neither the caller nor anybody else here answers.
func nobody(needs tool.Ability, others []string) *tool.PeerError {
	why := "nobody else was said to serve it"
	if len(others) > 0 {
		why = fmt.Sprintf("nobody who serves it is in the room (%s)", strings.Join(others, ", "))
	}
	return &tool.PeerError{Code: client.CodeMethodNotFound, Message: fmt.Sprintf("the caller did not declare %s, and %s", needs, why)}
}

// expect notes that a question waits for an answer.
func (a *attendance) expect(c *call, e *parley.Envelope) *question {
	w := &question{call: c, envelope: e, answer: make(chan *parley.Envelope, 1), look: make(chan struct{}, 1)}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.questions[e.ID] = w
	return w
}

func (a *attendance) forget(w *question) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.questions[w.envelope.ID] == w {
		delete(a.questions, w.envelope.ID)
	}
}

// answered hands an answer to the question that waits for it. It counts only from
// whom was asked, and once.
func (a *attendance) answered(e *parley.Envelope) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range e.Correlation.IDs {
		if w := a.questions[id]; w != nil && w.envelope.Addressed(e.From) {
			delete(a.questions, id)
			w.answer <- e
		}
	}
}

// recheck has every question look into the record: something was missed.
func (a *attendance) recheck() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.questions {
		select {
		case w.look <- struct{}{}:
		default: // it will
		}
	}
}

// await waits for an answer. When ctx ends the question is withdrawn, unless it is
// we who leave: then the call says what becomes of it.
func (a *attendance) await(ctx context.Context, w *question) (*parley.Envelope, error) {
	for {
		select {
		case e := <-w.answer:
			return e, nil
		case <-w.look:
			e, err := a.recorded(ctx, w.envelope)
			if err != nil && ctx.Err() == nil {
				a.forget(w)
				return nil, err
			}
			if e != nil {
				a.forget(w)
				return e, nil
			}
		case <-ctx.Done():
			if !errors.Is(context.Cause(ctx), errLeaving) {
				a.withdraw(w)
			}
			return nil, context.Cause(ctx)
		case <-w.call.ctx.Done(): // whatever the tool made of the context that it got
			return nil, context.Cause(w.call.ctx)
		}
	}
}

// withdraw takes back the questions of a call that nobody waits for any more.
func (p *peer) withdraw() {
	p.a.mu.Lock()
	var open []*question
	for _, w := range p.a.questions {
		if w.call == p.call {
			open = append(open, w)
		}
	}
	p.a.mu.Unlock()
	for _, w := range open {
		p.a.withdraw(w)
	}
}

// withdraw takes a question back.
func (a *attendance) withdraw(w *question) {
	a.forget(w)
	a.takeBack(w.call, w.envelope)
}

// takeBack tells whom was asked that nobody waits for the answer.
func (a *attendance) takeBack(c *call, e *parley.Envelope) {
	params := slices.Concat(jsontext.Value(`{"requestId":`), mcp.Quote(e.ID), jsontext.Value(`,"reason":"the call has ended"}`))
	within := e.Context
	if within != nil {
		within = &parley.Context{ID: within.ID, Type: within.Type, Parent: within.Parent}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.ctx), a.farewell)
	defer cancel()
	if _, err := a.room.Notify(ctx, "", cancelled, params, client.To(e.To...), client.Correlate(e.ID), client.InContext(within)); err != nil {
		a.log.Debug("a question was not taken back", "id", e.ID, "error", err)
	}
}

// failed is why a question has no answer, as the tool is told.
func (p *peer) failed(ctx context.Context, err error) error {
	if errors.Is(err, client.ErrClosed) || p.a.room.Err() != nil {
		// The room has ended. Calls end as well in a moment, with a word on why.
		<-p.call.ctx.Done()
		return context.Cause(p.call.ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	refused, ok := errors.AsType[*parley.Error](err)
	if !ok {
		return err
	}
	e := &tool.PeerError{Code: client.CodeBusy, Message: "the room does not take the question: " + refused.Error()}
	if refused.Code == parley.CapabilityViolation {
		e.Code = client.CodeMethodNotFound // whoever it is, we cannot ask anybody
	}
	e.Data = slices.Concat(jsontext.Value(`{"code":`), mcp.Quote(string(refused.Code)))
	if refused.RetryAfterMS > 0 {
		e.Data = strconv.AppendInt(append(e.Data, `,"retry_after_ms":`...), refused.RetryAfterMS, 10)
	}
	e.Data = append(e.Data, '}')
	return e
}

// read reads an answer strictly, in a lazy space as well.
func read(e *parley.Envelope) (jsontext.Value, error) {
	if parley.IsRedacted(e.Payload) {
		return nil, &tool.PeerError{Code: client.CodeInternal, Message: e.From + " answered, and what it said was redacted"}
	}
	if err := parley.CheckResponse(e.Payload); err != nil {
		return nil, &tool.PeerError{Code: client.CodeInternal, Message: fmt.Sprintf("the answer of %s is none: %v", e.From, err)}
	}
	failure := parley.Member(e.Payload, "error")
	if failure == nil {
		return parley.Member(e.Payload, "result"), nil
	}
	out := &tool.PeerError{Data: parley.Member(failure, "data")}
	var ok bool
	if out.Message, ok = parley.MemberString(failure, "message"); !ok {
		out.Message = string(failure)
	}
	out.Code, _ = strconv.ParseInt(string(parley.Member(failure, "code")), 10, 64)
	return nil, out
}
