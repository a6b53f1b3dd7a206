package mcpfront

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// An approved call whose server asked for input is told by the answer to its
// fulfilment, until a client has gone on with that. From then on it is told by
// the last round, which a client may have left before it was answered. Where the
// first answer is no longer on record, nobody can tell whether it asked: then it
// is told by a round too, if there was one.

var errRoundRuns = errors.New("the last round is not answered")

// roundEvery is how often the record is asked for the answer to a round that
// some other call of the client's began.
const roundEvery = 200 * time.Millisecond

// lastRound is the outcome of an approved call with what its last round was
// answered, which it waits for until ctx ends: the error is errRoundRuns then. Of
// a call without rounds it is the outcome as it was, with what was wrong with it.
func (x *exchange) lastRound(ctx context.Context, fl *flight, o client.Outcome, wrong error) (client.Outcome, error) {
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	for {
		answered, err := x.readLastRound(ctx, fl, o, wrong)
		switch {
		case ctx.Err() != nil:
			return o, errRoundRuns
		case !errors.Is(err, errRoundRuns):
			return answered, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

func (x *exchange) readLastRound(ctx context.Context, fl *flight, o client.Outcome, wrong error) (client.Outcome, error) {
	if o.Reply != nil {
		open, err := x.isOpen(ctx, fl, o)
		if open || err != nil {
			return o, err
		}
	}
	round, err := x.newest(ctx, &client.Query{Correlation: o.ID, From: x.place.Participant, Kind: parley.TypeRequest + ":" + fl.method + ":*"})
	if round == nil || err != nil {
		return o, cmp.Or(err, wrong)
	}
	if mcp.GivesUp(member(round.Payload, "params")) {
		return o, errLeftBehind
	}
	answer, err := x.newest(ctx, &client.Query{Correlation: round.ID, From: fl.server, Kind: parley.TypeResponse})
	switch {
	case err != nil:
		return o, err
	case answer == nil:
		return o, x.leftBehind(ctx, round)
	}
	if e := member(answer.Payload, "error"); e != nil {
		rpc := jsonrpc.ReadError(e)
		return o, &client.RPCError{Code: rpc.Code, Message: rpc.Message, Data: rpc.Data, Raw: rpc.Raw}
	}
	if parley.IsRedacted(answer.Payload) {
		return o, parley.Errorf(parley.NotFound, "%s answered the last round, and what it said was redacted", answer.From)
	}
	o.Reply = &client.Reply{Envelope: answer, Result: member(answer.Payload, "result")}
	return o, nil
}

// isOpen reports whether an answer that asks for input still waits for a round.
// Where the call is no longer on record nobody can tell, and it counts as not.
func (x *exchange) isOpen(ctx context.Context, fl *flight, o client.Outcome) (bool, error) {
	call, err := x.seat.room.API().Envelope(ctx, o.ID)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	result := o.Reply.Result
	params := mcp.SetMember(member(call.Payload, "params"), "inputResponses", jsontext.Value(`{}`))
	if state := member(result, "requestState"); state != nil {
		params = mcp.SetMember(params, "requestState", state)
	}
	_, _, found, err := x.front.house.Round(ctx, x.place, parley.SplitKind(call.Kind), fl.server, params)
	return found, err
}

// leftBehind is the error of a round without an answer that its client has
// cancelled; errRoundRuns where it did not.
func (x *exchange) leftBehind(ctx context.Context, round *parley.Envelope) error {
	cancelled, err := x.newest(ctx, &client.Query{Correlation: round.ID, From: x.place.Participant, Kind: "mcp/request:notifications/cancelled"})
	switch {
	case err != nil:
		return err
	case cancelled == nil:
		return errRoundRuns
	}
	return errLeftBehind
}

// errLeftBehind is about an approved call that its client has cancelled in mid-way.
var errLeftBehind = &client.RPCError{Code: codeRefused, Data: jsontext.Value(`{"code":"outcome_unknown"}`),
	Message: "this call was approved, and cancelled when its server had asked for something; whether the server acted on it is not known"}

// newest is the newest envelope that matches, or nil.
func (x *exchange) newest(ctx context.Context, q *client.Query) (*parley.Envelope, error) {
	q.Descending, q.Limit = true, 1
	for e, err := range x.seat.room.API().Envelopes(ctx, q) {
		return e, err
	}
	return nil, nil
}
