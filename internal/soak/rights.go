package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// boss posts an order of section 3's, and says whether it was taken.
func (c *crew) boss(ctx context.Context, deed, kind, payload string) (client.Receipt, bool) {
	at, err := c.api("boss").Post(ctx, &parley.Envelope{ID: client.NewID(), Kind: kind, Payload: jsontext.Value(payload)})
	return at, c.judge(ctx, deed, err)
}

// lend gives somebody a right, has it used, and takes it back: from then on it
// is not there. Who lent before may have left in the middle of it.
func lend(ctx context.Context, c *crew, rnd *rand.Rand) {
	room, err := c.enter(ctx, "novice", client.Options{Kinds: []string{"acme/*"}})
	if err != nil {
		return
	}
	defer room.Close()
	for clean := false; rest(ctx, rnd, 20*c.pace); {
		if !clean {
			_, clean = c.boss(ctx, "revoked all", parley.KindRevoke, `{"recipient":"novice","capabilities":["acme/*"]}`)
			continue
		}
		grant, ok := c.boss(ctx, "granted", parley.KindGrant, `{"recipient":"novice","capabilities":["acme/*"]`+expiry(rnd)+`}`)
		if clean = ok; !ok {
			continue
		}
		_, err := room.Send(ctx, &parley.Envelope{Kind: "acme/loan"})
		c.judge(ctx, "used a grant", err)
		if _, clean = c.boss(ctx, "revoked", parley.KindRevoke, fmt.Sprintf(`{"recipient":"novice","grant_id":%q}`, grant.ID)); !clean {
			continue
		}
		if at, err := c.api("novice").Post(ctx, &parley.Envelope{ID: client.NewID(), Kind: "acme/theft"}); err == nil {
			c.tally.fault("%s: at %d somebody used a right that had been taken back", c.space, at.Seq)
		}
	}
}

// expiry lets some grants end by themselves, perhaps before they begin.
func expiry(rnd *rand.Rand) string {
	if rnd.IntN(3) > 0 {
		return ""
	}
	at := time.Now().Add(time.Duration(rnd.IntN(4)) * time.Second)
	return fmt.Sprintf(`,"expires":%q`, at.UTC().Format(time.RFC3339))
}

// erase has things said taken off the record, and looks whether they are.
func erase(ctx context.Context, c *crew, rnd *rand.Rand) {
	api := c.api("poster")
	for rest(ctx, rnd, 20*c.pace) {
		said, err := api.Post(ctx, client.NewChat("a secret "+say(rnd, 200)))
		if !c.judge(ctx, "posted", err) {
			continue
		}
		if _, ok := c.boss(ctx, "redaction ordered", parley.KindRedact, fmt.Sprintf(`{"id":%q,"reason":"a secret"}`, said.ID)); ok {
			c.erased(ctx, api, said.ID)
		}
	}
}

// eraseTime is how long a redaction may take on a busy machine.
const eraseTime = 30 * time.Second

func (c *crew) erased(ctx context.Context, api *client.API, id string) {
	late := time.Now().Add(eraseTime)
	for time.Now().Before(late) && sleep(ctx, 20*time.Millisecond) {
		e, err := api.Envelope(ctx, id)
		switch {
		case errors.Is(err, &parley.Error{Code: parley.NotFound}):
			c.tally.did("redacted, and dropped since")
			return
		case err != nil:
			c.judge(ctx, "read", err)
		case string(parley.Member(e.Payload, "redacted")) == "true":
			c.tally.did("redacted")
			return
		}
	}
	if ctx.Err() == nil {
		c.tally.fault("%s: %s was not redacted in %v", c.space, id, eraseTime)
	}
}

// remove throws the guests out, and has the bridged server started again.
func remove(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 60*c.pace) {
		c.boss(ctx, "kicked", parley.KindKick, `{"participant":"guest","reason":"it is late"}`)
		if rnd.IntN(20) == 0 {
			c.boss(ctx, "bridge restart asked for", parley.KindRestartBridge, fmt.Sprintf(`{"participant":%q}`, fileServer))
		}
	}
}
