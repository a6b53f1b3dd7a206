package soak

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/parleyhq/parley/client"
)

// toolCall is a call of the bridged file tool, which may well fail.
func toolCall(rnd *rand.Rand) map[string]any {
	name := fmt.Sprintf("note-%d.txt", rnd.IntN(8))
	tool, args := "read_file", map[string]any{"path": name}
	switch rnd.IntN(4) {
	case 0:
		tool, args = "write_file", map[string]any{"path": name, "content": say(rnd, 2<<10)}
	case 1:
		tool, args = "no_such_tool", nil
	}
	return map[string]any{"name": tool, "arguments": args}
}

// propose proposes calls, withdraws some, and waits for the others.
func propose(ctx context.Context, c *crew, rnd *rand.Rand) {
	room, err := c.enter(ctx, "proposer", client.Options{})
	if err != nil {
		return
	}
	defer room.Close()
	for rest(ctx, rnd, 10*c.pace) {
		p, err := room.Propose(ctx, fileServer, "tools/call", toolCall(rnd), client.Reason("to see what happens"))
		if !c.judge(ctx, "proposed", err) {
			continue
		}
		switch rnd.IntN(5) {
		case 0:
			c.judge(ctx, "withdrawn", p.Withdraw(ctx))
		case 1:
			p.Forget()
			continue
		}
		c.await(ctx, p)
	}
}

// decideTime is beyond what a proposal may stay open.
const decideTime = 20 * time.Second

func (c *crew) await(ctx context.Context, p *client.Proposal) {
	defer p.Forget()
	wait, cancel := context.WithTimeout(ctx, decideTime)
	defer cancel()
	out, err := p.Decided(wait)
	switch {
	case out.Decision != "": // err is what the tool answered, if anything
		c.tally.did("proposal " + string(out.Decision))
	case ctx.Err() == nil:
		c.tally.fault("%s: the proposal %s came to no end in %v: %v", c.space, p.ID, decideTime, err)
	}
}

// decide looks at what is open, and fulfils, rejects or leaves it.
func decide(ctx context.Context, c *crew, rnd *rand.Rand) {
	room, err := c.enter(ctx, "boss", client.Options{Kinds: []string{"mcp/*"}})
	if err != nil {
		return
	}
	defer room.Close()
	for rest(ctx, rnd, 10*c.pace) {
		open, err := room.API().Proposals(ctx, client.ProposalOpen)
		c.judge(ctx, "proposals listed", err)
		for _, p := range open {
			c.decideOne(ctx, rnd, room, p.ID)
		}
	}
}

func (c *crew) decideOne(ctx context.Context, rnd *rand.Rand, room *client.Room, id string) {
	switch rnd.IntN(6) {
	case 0:
		calling, cancel := context.WithTimeout(ctx, time.Second)
		_, err := room.FulfilID(calling, id)
		c.called(ctx, "fulfilled over the WebSocket", err)
		cancel()
	case 1:
		c.order(ctx, "fulfilled over HTTP", "boss", "/proposals/"+id+"/fulfil", `{}`)
	case 2:
		c.order(ctx, "rejected over HTTP", "boss", "/proposals/"+id+"/reject", `{"reason":"busy"}`)
	}
}

// order posts to the API what the client has no call for.
func (c *crew) order(ctx context.Context, deed, who, path, body string) {
	c.ask(ctx, http.MethodPost, deed, who, path, body)
}

// call calls the bridged tool, and does not wait for every answer.
func call(ctx context.Context, c *crew, rnd *rand.Rand) {
	room, err := c.enter(ctx, "caller", client.Options{Routing: client.RoutingDirected, PresenceOff: true})
	if err != nil {
		return
	}
	defer room.Close()
	for rest(ctx, rnd, 5*c.pace) {
		patience := 10 * time.Second
		if rnd.IntN(5) == 0 {
			patience = time.Duration(rnd.IntN(3)) * time.Millisecond
		}
		calling, cancel := context.WithTimeout(ctx, patience)
		if rnd.IntN(6) == 0 {
			_, err = room.Request(calling, fileServer, "tools/list", nil)
		} else {
			_, err = room.Request(calling, fileServer, "tools/call", toolCall(rnd), client.OnProgress(func(client.Progress) {}))
		}
		c.called(ctx, "called", err)
		cancel()
	}
}

// called judges a call, which may be answered with an error, or given up.
func (c *crew) called(ctx context.Context, deed string, err error) {
	if _, ok := errors.AsType[*client.RPCError](err); ok {
		c.tally.did("answered with an error")
		return
	}
	if errors.Is(err, context.DeadlineExceeded) {
		c.tally.did("call given up")
		return
	}
	c.judge(ctx, deed, err)
}
