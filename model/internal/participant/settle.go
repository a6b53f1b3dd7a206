package participant

import (
	"context"

	"github.com/parleyhq/parley/client"
)

// settle answers requests that nobody serves any more: those that are older
// than our place in the room.
func (p *participant) settle(ctx context.Context, room *client.Room, ids <-chan string) {
	before := room.Welcome().History.Last
	lost := refuse(client.CodeInternal, unknown, 0, "the model participant was started again before it answered: ask again")
	for ids != nil {
		select {
		case id, ok := <-ids:
			if !ok {
				return
			}
			e, err := room.API().Envelope(ctx, id)
			if err == nil && e.Seq <= before {
				_, err = room.RespondError(ctx, e, lost)
			}
			if err != nil {
				p.log.Warn("a request was left without an answer", "id", id, "error", err)
			}
		case <-ctx.Done():
			return
		}
	}
}
