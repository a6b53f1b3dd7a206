package mcpfront

import (
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
// the last round, which a client may have left before it was answered.

var errRoundRuns = errors.New("the last round is not answered")

// roundEvery is how often the record is asked for the answer to a round that
// some other call of the client's began.
const roundEvery = 200 * time.Millisecond

// lastRound is the outcome of an approved call with what its last round was
// answered, which it waits for until ctx ends: the error is errRoundRuns then.
func (x *exchange) lastRound(ctx context.Context, fl *flight, o client.Outcome) (client.Outcome, error) {
	tick := time.NewTicker(roundEvery)
	defer tick.Stop()
	for {
		answered, err := x.readLastRound(ctx, fl, o)
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

func (x *exchange) readLastRound(ctx context.Context, fl *flight, o client.Outcome) (client.Outcome, error) {
	call, err := x.seat.room.API().Envelope(ctx, o.ID)
	if err != nil {
		return o, err
	}
	open, err := x.isOpen(ctx, fl, call, o.Reply.Result)
	if open || err != nil {
		return o, err
	}
	round, err := x.newest(ctx, &client.Query{Correlation: o.ID, From: x.place.Participant})
	if round == nil || err != nil {
		return o, err
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
	o.Reply = &client.Reply{Envelope: answer, Result: member(answer.Payload, "result")}
	return o, nil
}

// isOpen reports whether an answer that asks for input still waits for a round.
func (x *exchange) isOpen(ctx context.Context, fl *flight, call *parley.Envelope, result jsontext.Value) (bool, error) {
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
	return &client.RPCError{Code: codeRefused, Data: jsontext.Value(`{"code":"outcome_unknown"}`),
		Message: "this call was approved, and cancelled when its server had been told what it asked for; whether the server acted on it is not known"}
}

// newest is the newest envelope that matches, or nil.
func (x *exchange) newest(ctx context.Context, q *client.Query) (*parley.Envelope, error) {
	q.Descending, q.Limit = true, 1
	for e, err := range x.seat.room.API().Envelopes(ctx, q) {
		return e, err
	}
	return nil, nil
}
