package mcpbridge

import (
	"context"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
)

// Unanswered is a request to the participant that has no answer.
type Unanswered struct {
	ID  string
	Seq uint64
}

// settle answers what nobody answered before we joined, at this place in the
// order. What came since is served, and not looked at here.
func (b *Bridge) settle(ctx context.Context, room *client.Room, before uint64) {
	if b.join.Unanswered == nil {
		return
	}
	list, err := b.join.Unanswered(ctx)
	if err != nil {
		b.log.Warn("the requests that were left without an answer could not be read", "error", err)
		return
	}
	lost := &client.RPCError{Code: CodeServerGone, Data: jsontext.Value(`{"code":"` + OutcomeUnknown + `"}`),
		Message: "the bridge was started again before it answered; whether the server acted on the call is not known"}
	for _, u := range list {
		if u.Seq > before {
			continue
		}
		e, err := room.API().Envelope(ctx, u.ID)
		if err == nil {
			_, err = room.RespondError(ctx, e, lost)
		}
		if err != nil {
			b.log.Warn("a request was left without an answer", "id", u.ID, "error", err)
		}
	}
}
