package mcpbridge

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// maxGiven bounds how many answers on record are looked through for a
// requestState that is not remembered: the newest that the caller was given.
const maxGiven = 1024

// gift is a requestState of the server's own, and whom it was given.
type gift struct {
	peer  string
	state [sha256.Size]byte
}

// given refuses a server's own requestState that its caller was not given. It
// stands in an answer on record, which others in the room read as well, and to
// the server they are all one client: whoever has it could go on with somebody
// else's call. What is not remembered is looked for on record, so that it counts
// after a restart too.
func (a *attendance) given(ctx context.Context, f *flight) error {
	if parley.Member(f.req.Params, "requestState") == nil {
		return nil
	}
	state, ok := parley.MemberString(f.req.Params, "requestState")
	if !ok {
		return errState
	}
	if state == "" || strings.HasPrefix(state, sealMark) {
		return nil // none, or its seal says whose it is
	}
	if a.b.gave.get(gift{f.peer, sha256.Sum256([]byte(state))}) {
		return nil
	}
	room := a.room.Load()
	answers := &client.Query{From: room.ID(), To: f.peer, Kind: parley.TypeResponse, Limit: maxGiven, Descending: true}
	for e, err := range room.API().Envelopes(ctx, answers) {
		if err != nil {
			return fmt.Errorf("whose requestState this is could not be read: %w", err)
		}
		if told, ok := parley.MemberString(parley.Member(e.Payload, "result"), "requestState"); ok && told == state {
			return nil
		}
	}
	return errState
}
