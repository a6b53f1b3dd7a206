package soak

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

// quietly is a query that keeps away what concerns others.
const quietly = "&kinds=acme/nothing&presence=off"

// refusable are envelopes that are refused, while the connection stays open.
var refusable = []string{
	`{`, `[]`, `"chat"`, `{}`, `{"kind":""}`, `{"kind":7}`,
	`{"kind":"chat","KIND":"chat"}`, `{"kind":"chat","kind":"chat"}`, `{"kind":"chat"} {}`,
	`{"kind":"chat","payload":"\ud800"}`, `{"kind":"chat","protocol":"mcpx/v9"}`,
	`{"kind":"chat","from":"boss"}`, `{"kind":"system/welcome"}`, `{"kind":"mcp/teapot:a"}`,
	`{"kind":"mcp/request:tools/call:read_file","payload":{"method":"tools/call","params":{"name":"write_file"}}}`,
	`{"kind":"space/kick","payload":{"participant":"boss"}}`, `{"kind":"mcp/response:tools/call","payload":{"result":{}}}`,
	`{"kind":"chat","to":["` + strings.Repeat(`x","`, 300) + `x"]}`,
	`{"kind":"chat","payload":` + strings.Repeat("[", 2000) + strings.Repeat("]", 2000) + `}`,
	`{"kind":"chat","payload":"` + strings.Repeat("x", largeMessage) + `"}`,
	`{"kind":"chat","context":{"id":"c","parent":"c"}}`, `{"kind":"` + strings.Repeat("k", 4000) + `"}`,
}

// mutter sends what is refused, and hears so each time.
func mutter(ctx context.Context, c *crew, rnd *rand.Rand) {
	next := 0
	for rest(ctx, rnd, 20*c.pace) {
		w, hangUp := c.plug(ctx, "rude", quietly)
		if w == nil {
			continue
		}
		for range 1 + rnd.IntN(20) {
			sent := refusable[next%len(refusable)]
			next++
			_, err := w.Write(frame(textFrame, sent))
			if err != nil || !c.refused(ctx, w, sent) || !rest(ctx, rnd, c.pace) {
				break
			}
		}
		hangUp()
	}
}

// refused waits for a system/error.
func (c *crew) refused(ctx context.Context, w *wire, sent string) bool {
	for {
		first, payload, err := w.next()
		switch {
		case ctx.Err() != nil:
			return false
		case err != nil:
			c.tally.fault("%s: no refusal of %.60s…: %v", c.space, sent, err)
			return false
		case first == closeFrame:
			c.tally.did("closed instead of refused")
			return false
		}
		if kind, _ := parley.MemberString(payload, "kind"); kind == parley.KindError {
			c.tally.did("heard a refusal")
			return true
		}
	}
}

// misspell breaks the protocol below the envelopes, and is closed.
func misspell(ctx context.Context, c *crew, rnd *rand.Rand) {
	wrongs := []struct {
		bytes []byte
		code  int
	}{
		{frame(binaryFrame, "{}"), 1003},
		{frame(textFrame, "{\"kind\":\"\xff\"}"), 1007},
		{[]byte{textFrame, 2, '{', '}'}, 1002},                                 // not masked
		{frame(textFrame|0x40, "{}"), 1002},                                    // an extension
		{frame(0x8B, ""), 1002},                                                // no such opcode
		{frame(0x80, "goes on with nothing"), 1002},                            // a fragment
		{frame(pingFrame&^0x80, ""), 1002},                                     // a ping in fragments
		{frame(closeFrame, "\x00\x00"), 1002},                                  // a close code that may not be sent
		{[]byte{textFrame, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4}, 1002}, // 2^63 bytes and more
		{frame(textFrame, strings.Repeat("x", 9*largeMessage)), 4029},
	}
	for next := 0; rest(ctx, rnd, 20*c.pace); next++ {
		w, hangUp := c.plug(ctx, "rude", quietly)
		if w == nil {
			continue
		}
		wrong := wrongs[next%len(wrongs)]
		_, _ = w.Write(wrong.bytes) // what is too much may be cut off
		switch code := w.closed(); {
		case code == wrong.code:
			c.tally.did("closed for breaking the protocol")
		case ctx.Err() == nil && code != 0:
			c.tally.fault("%s: %.20q was closed with %d, not %d", c.space, wrong.bytes, code, wrong.code)
		}
		hangUp()
	}
}

// flood sends so much that is refused, without a pause, that it is closed.
func flood(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 100*c.pace) {
		w, hangUp := c.plug(ctx, "rude", quietly)
		if w == nil {
			continue
		}
		var pouring sync.WaitGroup
		pouring.Go(w.pour)
		if w.closed() == 4029 {
			c.tally.did("closed for flooding")
		}
		hangUp()
		pouring.Wait()
	}
}

// pour writes the same frame for as long as the connection takes it, up to three
// times what the gateway puts up with.
func (w *wire) pour() {
	bad := frame(textFrame, `{"kind":"forbidden/kind"}`)
	for range 3000 {
		if _, err := w.Write(bad); err != nil {
			return
		}
	}
}

// trickle sends bytes one by one, over HTTP and WebSockets, and gives up or
// breaks off in the middle.
func trickle(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 20*c.pace) {
		post := fmt.Sprintf("POST /v1/spaces/%s/envelopes HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n", c.space, token("rude"))
		slow := []string{
			c.upgrade("rude", quietly),
			post + "Content-Length: 100\r\n\r\n" + strings.Repeat(" ", 99),
			post + "Transfer-Encoding: chunked\r\n\r\n" + "1\r\n \r\n1\r\n{\r\n",
			c.upgrade("rude", quietly) + string(frame(textFrame, strings.Repeat(" ", 1000))),
		}[rnd.IntN(4)]
		conn, hangUp, err := c.dial(ctx)
		if err != nil {
			c.answered(ctx, "sent bytes one by one", 0, err)
			continue
		}
		c.drip(ctx, conn, slow, rnd)
		if rnd.IntN(2) == 0 {
			_ = conn.(*net.TCPConn).SetLinger(0) // it may be closed already
		}
		hangUp()
	}
}

// drip writes the first half at once, and some more byte by byte.
func (c *crew) drip(ctx context.Context, conn net.Conn, slow string, rnd *rand.Rand) {
	half := len(slow) / 2
	_, err := io.WriteString(conn, slow[:half])
	for i := half; err == nil && i < len(slow)-1-rnd.IntN(4) && i < half+60 && sleep(ctx, 10*time.Millisecond); i++ {
		_, err = io.WriteString(conn, slow[i:i+1])
	}
	if ctx.Err() == nil {
		c.tally.did("sent bytes one by one")
	}
}

// knock comes to the wrong door, without a token, or with too much.
func knock(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 20*c.pace) {
		switch rnd.IntN(4) {
		case 0:
			c.order(ctx, "knocked", "nobody", "/envelopes", `{"kind":"chat"}`)
		case 1:
			c.order(ctx, "knocked", "rude", "/envelopes", `{"kind":"chat","payload":"`+strings.Repeat("x", 2*largeMessage)+`"}`)
		case 2:
			c.order(ctx, "knocked", "rude", "/participants/novice/capabilities", `{"add":["`+strings.Repeat("x", 300<<10)+`"]}`)
		case 3:
			c.order(ctx, "knocked", "rude", "/envelopes", "{")
		}
	}
}

// gape joins and reads nothing, long enough to be closed for that.
func gape(ctx context.Context, c *crew, rnd *rand.Rand) {
	for rest(ctx, rnd, 20*c.pace) {
		w, hangUp := c.plug(ctx, "dawdler", "")
		if w == nil {
			continue
		}
		if sleep(ctx, time.Duration(3000+rnd.IntN(3000))*time.Millisecond) {
			_ = w.SetReadDeadline(time.Now().Add(time.Second)) // it may be closed already
			if w.closed() == 4008 {
				c.tally.did("closed for being too slow")
			}
		}
		hangUp()
	}
}
