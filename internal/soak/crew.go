package soak

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// crew is everybody who takes part in one space.
type crew struct {
	url, space string
	pace       time.Duration // the longest pause of whoever makes traffic
	tally      *tally
	http       *http.Client
	narrow     *http.Client
	leave      context.CancelFunc
	at         sync.WaitGroup
}

// role is what one member of a crew does until ctx ends.
type role struct {
	play  func(context.Context, *crew, *rand.Rand)
	count int
}

var roles = []role{
	{talkAs("ann"), 1}, {talkAs("bob"), 1}, {post, 1}, {visit, 4}, {dawdle, 2}, {gape, 1},
	{propose, 2}, {decide, 1}, {call, 2},
	{lend, 1}, {erase, 1}, {remove, 1},
	{look, 2}, {export, 1},
	{mutter, 1}, {misspell, 1}, {flood, 1}, {trickle, 2}, {knock, 1},
	{weave("weaver"), 1}, {weave("twin"), 1}, {misfilter, 1}, {aloof, 1}, {pry, 2}, {breakOff, 1},
}

// join lets a crew come into a space. Its members do the same things in each
// run with the same seed, as far as the gateway lets them.
func join(ctx context.Context, url, space string, pace time.Duration, seed uint64, t *tally) *crew {
	c := &crew{url: url, space: space, pace: pace, tally: t, http: httpClient(false), narrow: httpClient(true)}
	ctx, c.leave = context.WithCancel(ctx)
	n := uint64(0)
	for _, r := range roles {
		for range r.count {
			n++
			rnd := rand.New(rand.NewPCG(seed, n))
			c.at.Go(func() { r.play(ctx, c, rnd) })
		}
	}
	return c
}

// close lets everybody leave, and waits until they have.
func (c *crew) close() {
	c.leave()
	c.at.Wait()
	c.http.CloseIdleConnections()
	c.narrow.CloseIdleConnections()
}

// httpClient makes one with connections of its own. Narrow ones hold next to
// nothing at either end, so that who does not read is soon noticed.
func httpClient(narrow bool) *http.Client {
	dialer := new(net.Dialer)
	if narrow {
		dialer.Control = narrowSocket
	}
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16, DialContext: dialer.DialContext}}
}

// rest pauses for up to so long. It reports false when it is time to leave.
func rest(ctx context.Context, rnd *rand.Rand, most time.Duration) bool {
	return sleep(ctx, time.Duration(rnd.Int64N(int64(most)+1)))
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

// enter joins the space as somebody.
func (c *crew) enter(ctx context.Context, who string, o client.Options) (*client.Room, error) {
	o.Token, o.Space = token(who), c.space
	o.BackoffMin, o.BackoffMax = 5*time.Millisecond, 100*time.Millisecond
	room, err := client.Dial(ctx, c.url, &o)
	if who == "guest" && errors.Is(err, io.EOF) { // removed or replaced before it was in
		c.tally.did("was cut off while joining")
		return nil, err
	}
	c.judge(ctx, who+" joins", err)
	return room, err
}

// api reads and posts as somebody.
func (c *crew) api(who string) *client.API {
	a, err := client.NewAPI(c.url, &client.Options{Token: token(who), Space: c.space, HTTPClient: c.http})
	if err != nil {
		panic(err) // the address is the gateway's own
	}
	return a
}

// judge counts what became of something, and reports whether it was done. A
// refusal is in order, unless it says that the gateway is at fault, and so is
// whatever comes of leaving.
func (c *crew) judge(ctx context.Context, deed string, err error) bool {
	refused, told := errors.AsType[*parley.Error](err)
	switch {
	case err == nil:
		c.tally.did(deed)
		return true
	case ctx.Err() != nil:
	case told && c.overtaken(refused.Message):
	case told && (refused.Code == parley.Internal || refused.Code == parley.Unavailable):
		c.tally.fault("%s: %s: %v", c.space, deed, err)
	case told:
		c.tally.did(fmt.Sprintf("refused: %s", refused.Code))
	}
	return false
}

// overtaken reports whether an answer says that what was to be read was dropped
// meanwhile, which may happen now and then where much is dropped.
func (c *crew) overtaken(answer string) bool {
	if c.space != drops || !strings.Contains(answer, "dropped by retention meanwhile") {
		return false
	}
	c.tally.did(overtakenDeed)
	return true
}

const overtakenDeed = "reading overtaken by retention"

// words are what is said, and searched for.
var words = strings.Fields("a room where people agents and tools work together and every message is an envelope on record")

// say makes a text of up to so many bytes.
func say(rnd *rand.Rand, most int) string {
	var b strings.Builder
	for n := rnd.IntN(most); b.Len() < n; {
		b.WriteString(words[rnd.IntN(len(words))])
		b.WriteByte(' ')
	}
	return b.String()
}
