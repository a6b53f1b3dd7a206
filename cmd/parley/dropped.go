package main

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// An open proposal outlives its envelope, where retention drops that. The gateway
// lists it still, without what it asks for.

// openAt is the id of the open proposal with this seq, empty where there is none:
// retention may have dropped its envelope.
func openAt(ctx context.Context, a *api, seq uint64) (string, error) {
	list, err := a.get(ctx, "/proposals", url.Values{
		"after": {strconv.FormatUint(seq-1, 10)}, "before": {strconv.FormatUint(seq+1, 10)},
	})
	if err != nil {
		return "", err
	}
	if open := items(list); len(open) > 0 {
		return idOf(open[0]), nil
	}
	return "", nil
}

// readProposal reads what somebody proposed, as it was said.
func readProposal(ctx context.Context, a *api, id string) (*parley.Envelope, error) {
	wire, err := a.get(ctx, pathOf("/envelopes/%s", id), nil)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return nil, cmp.Or(droppedProposal(ctx, a, id), err)
	}
	if err != nil {
		return nil, err
	}
	return decodeAny(wire)
}

// droppedProposal says that retention has dropped a proposal or, where that matters
// more, that it has ended; nil where the gateway knows no such thing.
func droppedProposal(ctx context.Context, a *api, id string) error {
	v, err := a.get(ctx, pathOf("/proposals/%s", id), nil)
	if err != nil || string(parley.Member(v, "dropped")) != "true" {
		return nil
	}
	if state := stringMember(v, "state"); state != "open" {
		return parley.Errorf(parley.ProposalClosed, "the proposal is %s already", clean(state))
	}
	return parley.Errorf(parley.NotFound, "what %s proposes is no longer on record: retention has dropped it", clean(id)).
		WithHint("reject it and have it proposed again")
}

// droppedPayload stands where retention has dropped what a proposal asks for.
var droppedPayload = jsontext.Value(`{"dropped":true}`)

// droppedEnvelope is what the gateway still lists of a proposal that retention has
// dropped.
func droppedEnvelope(item jsontext.Value) *parley.Envelope {
	e := &parley.Envelope{
		ID: idOf(item), Seq: seqOf(item), TS: timeMember(item, "opened"), Kind: stringMember(item, "kind"),
		From: stringMember(item, "from"), Payload: droppedPayload,
	}
	for to := range parley.Elements(parley.Member(item, "to")) {
		if id, err := jsontext.AppendUnquote(nil, to); err == nil {
			e.To = append(e.To, string(id))
		}
	}
	return e
}
