package room

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/tool"
)

const (
	// maxCalls bounds the calls that are under way; most of them will wait for
	// somebody's answer.
	maxCalls = 16_384
	// maxOwnCalls bounds those of one caller: nobody should keep others out.
	maxOwnCalls = 2_048
	// maxRefusing bounds the refusals that are being sent.
	maxRefusing = 256
)

// call is a request to us that is not answered yet.
type call struct {
	envelope *parley.Envelope
	kind     parley.Kind
	params   jsontext.Value
	again    bool // it came before we did

	ctx  context.Context // ends when nobody waits for the answer, or we leave
	stop context.CancelCauseFunc

	asking int // how many questions wait; guarded by the attendance's mu
}

// errCancelled is why a call ends whose caller no longer waits.
var errCancelled = errors.New("the caller cancelled")

// accept begins to answer a request, once.
func (a *attendance) accept(e *parley.Envelope, again bool) {
	read, err := parley.ReadCall(parley.SplitKind(e.Kind), e.Payload)
	if err != nil {
		return // of what arrives, the room has refused it
	}
	c := &call{envelope: e, kind: read.Kind, params: read.Params, again: again}
	refusal := a.admit(c)
	switch {
	case refusal == nil:
	case again:
		a.log.Warn("a call that came before is not gone on with", "id", e.ID, "reason", refusal)
	default:
		a.refuse(c, refusal)
	}
}

// admit begins a call, or says why not.
func (a *attendance) admit(c *call) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	id, from := c.envelope.ID, c.envelope.From
	switch {
	case a.over:
		return &client.RPCError{Code: client.CodeBusy, Message: errLeaving.Error()}
	case a.calls[id] != nil:
		return nil
	case len(a.calls) == maxCalls:
		return &client.RPCError{Code: client.CodeBusy, Message: fmt.Sprintf("%d calls are being made, the limit", maxCalls)}
	case a.callers[from] == maxOwnCalls:
		return &client.RPCError{Code: client.CodeBusy, Message: fmt.Sprintf("%d calls of %s are being made, the limit", maxOwnCalls, from)}
	}
	c.ctx, c.stop = context.WithCancelCause(a.ctx)
	a.calls[id] = c
	a.callers[from]++
	a.wg.Go(func() {
		defer a.ended(c)
		a.serve(c)
	})
	return nil
}

func (a *attendance) ended(c *call) {
	c.stop(nil)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.calls, c.envelope.ID)
	if a.callers[c.envelope.From]--; a.callers[c.envelope.From] == 0 {
		delete(a.callers, c.envelope.From)
	}
}

// refuse answers a call that is not begun. Of a flood, what cannot be refused in
// time is left without an answer. Only follow calls it, which late waits for.
func (a *attendance) refuse(c *call, refusal error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refusing == maxRefusing {
		a.log.Warn("a call was left without an answer", "id", c.envelope.ID, "from", c.envelope.From, "reason", refusal)
		return
	}
	a.refusing++
	a.late.Go(func() {
		a.answer(c, nil, nil, refusal)
		a.mu.Lock()
		defer a.mu.Unlock()
		a.refusing--
	})
}

// cancel ends a call whose caller asks for that.
func (a *attendance) cancel(e *parley.Envelope) {
	ids := e.Correlation.IDs
	if id, ok := parley.MemberString(parley.Member(e.Payload, "params"), "requestId"); ok {
		ids = append(slices.Clip(ids), id)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, id := range ids {
		if c := a.calls[id]; c != nil && c.envelope.From == e.From {
			c.stop(errCancelled)
		}
	}
}

// errPutAway says that a run was put away, and its call is not to be answered.
var errPutAway = errors.New("the run is put away")

// serve answers one request.
func (a *attendance) serve(c *call) {
	whose, err := a.whose(c)
	var result jsontext.Value
	if err == nil {
		result, err = a.result(c, whose)
	}
	if errors.Is(err, errPutAway) {
		return
	}
	a.answer(c, whose, result, err)
	if c.kind.Method != methodCall {
		return
	}
	if err := a.server.Forget(c.envelope.ID); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Warn("a run that has ended is still kept", "run", c.envelope.ID, "error", err)
	}
	if c.again {
		a.withdrawRecorded(c)
	}
}

const methodCall = "tools/call"

func (a *attendance) result(c *call, whose []string) (jsontext.Value, error) {
	switch c.kind.Method {
	case "initialize", "server/discover":
		return a.about, nil
	case "ping":
		return jsontext.Value(`{}`), nil
	case "tools/list":
		if parley.Member(c.params, "cursor") != nil {
			return nil, &client.RPCError{Code: client.CodeInvalidParams, Message: "the list has one page, and no cursor leads to another"}
		}
		return slices.Concat(jsontext.Value(`{"tools":`), a.server.Tools(), jsontext.Value(`}`)), nil
	case methodCall:
		return a.run(c, whose)
	}
	return nil, client.MethodNotFound(c.kind.Method)
}

// maxNamed bounds the ids of a call that are looked up.
const maxNamed = 4

// whose says who hears of a call: its sender and, where that fulfils a proposal,
// the proposer, who is the last and the one to be asked.
func (a *attendance) whose(c *call) ([]string, error) {
	e := c.envelope
	all := []string{e.From}
	if c.kind.Method != methodCall {
		return all, nil
	}
	for _, id := range e.Correlation.IDs[:min(len(e.Correlation.IDs), maxNamed)] {
		var p client.ProposalRecord
		err := a.lookUp(c.ctx, func(ctx context.Context, api *client.API) (err error) {
			p, err = api.Proposal(ctx, id)
			return err
		})
		switch {
		case err == nil && p.Closed.ID == e.ID && p.From != e.From:
			return append(all, p.From), nil
		case err != nil && !errors.Is(err, &parley.Error{Code: parley.ProposalNotFound}) && !errors.Is(err, &parley.Error{Code: parley.NotFound}):
			return all, fmt.Errorf("whose call it is cannot be read: %w", err)
		}
	}
	return all, nil
}

// run runs a tool.
func (a *attendance) run(c *call, whose []string) (jsontext.Value, error) {
	if c.again {
		if err := a.mayGoOn(c); err != nil {
			return nil, err
		}
	}
	p := newPeer(a, c, whose)
	name, _ := parley.MemberString(c.params, "name")
	result, err := a.server.Do(c.ctx, tool.Request{
		Tool: name, Arguments: parley.Member(c.params, "arguments"), Meta: parley.Member(c.params, "_meta"),
		Peer: p, Run: c.envelope.ID,
	})
	if errors.Is(err, context.Canceled) && errors.Is(context.Cause(c.ctx), errLeaving) && a.server.Kept(c.envelope.ID) {
		return nil, errPutAway
	}
	p.withdraw()
	return result, c.told(err)
}

// OutcomeUnknown is the code in the data of an error that answers a call of which
// nobody knows whether it acted.
const OutcomeUnknown = "outcome_unknown"

// codeGone is the JSON-RPC code of that error, as a bridge has it.
const codeGone = -32001

// told is what the caller is told of a call that failed.
func (c *call) told(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*tool.PeerError](err); ok {
		return &client.RPCError{Code: e.Code, Message: e.Message, Data: e.Data}
	}
	if c.ctx.Err() == nil {
		return err
	}
	cause := context.Cause(c.ctx)
	if errors.Is(cause, errCancelled) {
		return &client.RPCError{Code: client.CodeCancelled, Message: "cancelled: " + cause.Error()}
	}
	return unknown(cause.Error())
}

func unknown(why string) *client.RPCError {
	return &client.RPCError{Code: codeGone, Message: why + "; whether it acted on the call is not known", Data: jsontext.Value(`{"code":"` + OutcomeUnknown + `"}`)}
}

// answer sends what a call came to. Where the room does not take that, the caller
// learns so. While the gateway cannot write its journal it is sent again: what was
// asked for is done, and only the answer tells.
func (a *attendance) answer(c *call, whose []string, result jsontext.Value, failure error) {
	if whose == nil {
		whose = []string{c.envelope.From}
	}
	err := a.send(c, client.To(whose...), result, failure)
	if refused, ok := errors.AsType[*parley.Error](err); ok && refused.Code != parley.InvalidCorrelation {
		failure = &client.RPCError{Code: client.CodeInternal, Message: fmt.Sprintf("the answer could not be sent: %v", refused)}
		err = a.send(c, client.To(c.envelope.From), nil, failure)
	}
	if err != nil && !errors.Is(err, client.ErrClosed) {
		a.log.Warn("a call was left without our answer", "id", c.envelope.ID, "from", c.envelope.From, "error", err)
	}
}

func (a *attendance) send(c *call, to client.SendOption, result jsontext.Value, failure error) error {
	ctx := context.WithoutCancel(a.ctx) // who cancels a call is answered too
	return patiently(a.room.Done(), func() error {
		var err error
		if failure != nil {
			_, err = a.room.RespondError(ctx, c.envelope, failure, to)
		} else {
			_, err = a.room.Respond(ctx, c.envelope, result, to)
		}
		return err
	})
}

// patiently does something again, after longer and longer pauses, for as long as
// the gateway cannot do its part, or until over is closed.
func patiently(over <-chan struct{}, do func() error) error {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 5*time.Second) {
		err := do()
		if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			return err
		}
		wait := time.NewTimer(pause)
		select {
		case <-wait.C:
		case <-over:
			wait.Stop()
			return err
		}
	}
}
