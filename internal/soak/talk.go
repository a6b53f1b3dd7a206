package soak

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// most says how much somebody writes at once. Now and then it is more than
// the small space takes. There is enough of it for the gateway to have in memory
// what it may have of the newest traffic before half of ten minutes is over.
func most(rnd *rand.Rand) int {
	switch rnd.IntN(40) {
	case 0:
		return 6 << 10
	case 1, 2, 3, 4, 5, 6, 7, 8, 9, 10:
		return 3 << 10
	}
	return 600
}

// compose makes an envelope of any kind, to anybody, some of them forbidden.
func compose(rnd *rand.Rand) *parley.Envelope {
	to := [][]string{nil, nil, nil, {"guest"}, {"dawdler", "novice"}, {"nobody"}}[rnd.IntN(6)]
	e := client.NewChat(say(rnd, most(rnd)), client.To(to...))
	e.Kind = []string{parley.KindChat, parley.KindChat, "acme/status", "acme/note:a/b", "reflection"}[rnd.IntN(5)]
	switch rnd.IntN(12) {
	case 0:
		e.Kind = "forbidden/kind"
	case 1, 2, 3:
		e.Context = client.NewContext("reasoning", nil)
	}
	return e
}

// talkAs talks over a WebSocket, leaves after a while, and resumes.
func talkAs(who string) func(context.Context, *crew, *rand.Rand) {
	return func(ctx context.Context, c *crew, rnd *rand.Rand) {
		var after *parley.Position
		for ctx.Err() == nil {
			room, err := c.enter(ctx, who, client.Options{After: after, EchoOff: rnd.IntN(2) == 0, PresenceOff: rnd.IntN(2) == 0})
			if err != nil {
				sleep(ctx, 10*time.Millisecond)
				continue
			}
			for n := 20 + rnd.IntN(100); n > 0 && rest(ctx, rnd, c.pace); n-- {
				_, err := room.Send(ctx, compose(rnd))
				c.judge(ctx, "sent", err)
			}
			if at := room.Position(); at.Epoch != "" {
				after = &at
			}
			room.Close()
		}
	}
}

// post talks over HTTP. It sends some of it twice, and some under an id that it
// has used.
func post(ctx context.Context, c *crew, rnd *rand.Rand) {
	api := c.api("poster")
	for rest(ctx, rnd, 2*c.pace) {
		e := compose(rnd)
		_, err := api.Post(ctx, e)
		if !c.judge(ctx, "posted", err) {
			continue
		}
		switch rnd.IntN(10) {
		case 0:
			_, err = api.Post(ctx, e)
			c.judge(ctx, "posted twice", err)
		case 1:
			e.Kind = "acme/other"
			_, err = api.Post(ctx, e)
			c.judge(ctx, "posted other things under one id", err)
		}
	}
}

// filters makes any of the ways in which somebody may receive.
func filters(rnd *rand.Rand) client.Options {
	o := client.Options{
		EchoOff: rnd.IntN(2) == 0, PresenceOff: rnd.IntN(2) == 0, Exclusive: rnd.IntN(8) == 0,
		History: rnd.IntN(2) * rnd.IntN(60),
	}
	if rnd.IntN(3) == 0 {
		o.Routing = client.RoutingDirected
	}
	if rnd.IntN(2) == 0 {
		o.Kinds = [][]string{{"chat"}, {"acme/*"}, {"mcp/*", "reflection"}}[rnd.IntN(3)]
	}
	return o
}

// visit comes, receives for a while, and goes, to resume the next time.
func visit(ctx context.Context, c *crew, rnd *rand.Rand) {
	var after *parley.Position
	for rest(ctx, rnd, 5*c.pace) {
		o := filters(rnd)
		if rnd.IntN(4) > 0 {
			o.After = after
		}
		room, err := c.enter(ctx, "guest", o)
		if err != nil {
			continue
		}
		if o.After != nil {
			c.tally.did("resumed")
		}
		if seq := c.receive(ctx, room, time.Duration(rnd.Int64N(int64(40*c.pace))), 0); seq > 0 {
			after = &parley.Position{Epoch: room.Position().Epoch, Seq: seq}
		}
		room.Close()
	}
}

// receive takes what comes for a while, slowly if so, and says how far it came.
func (c *crew) receive(ctx context.Context, room *client.Room, stay, each time.Duration) (seq uint64) {
	staying, over := context.WithTimeout(ctx, stay)
	defer over()
	for e, err := range room.Envelopes(staying) {
		if gap, ok := errors.AsType[*client.Gap](err); ok {
			c.tally.did("told of a gap")
			if seq = gap.After.Seq; gap.Next.Seq < seq {
				c.tally.fault("%s: somebody who had %v was welcomed at %v", c.space, gap.After, gap.Next)
				seq = 0
			}
			continue
		}
		if err != nil {
			c.ended(err)
			return seq
		}
		if e.Seq <= seq {
			c.tally.fault("%s: %d arrived after %d", c.space, e.Seq, seq)
		}
		seq = e.Seq
		c.tally.did("received")
		if each > 0 {
			sleep(staying, each)
		}
	}
	return seq
}

// ended counts why a room came to its end.
func (c *crew) ended(err error) {
	switch {
	case errors.Is(err, client.ErrRemoved):
		c.tally.did("was removed")
	case errors.Is(err, client.ErrReplaced):
		c.tally.did("was replaced")
	}
}

// dawdle reads so slowly that it is closed, and resumes.
func dawdle(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 5*c.pace) {
		room, err := c.enter(ctx, "dawdler", client.Options{HTTPClient: c.narrow, Buffer: 1, History: 20, PresenceOff: rnd.IntN(2) == 0})
		if err != nil {
			continue
		}
		c.receive(ctx, room, time.Duration(3000+rnd.IntN(3000))*time.Millisecond, time.Duration(50+rnd.IntN(300))*time.Millisecond)
		c.receive(ctx, room, time.Second, 0) // to what the gateway said at last
		if room.Stats().Reconnects > 0 {
			c.tally.did("resumed after being too slow")
		}
		room.Close()
	}
}
