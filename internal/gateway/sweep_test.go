package gateway

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Who says nothing, but reads steadily, lives: our ping waits behind what it
// reads. Who does neither is closed.
func TestReadingIsASignOfLife(t *testing.T) {
	for _, reads := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			h := memory(t, Options{Logger: textLog(io.Discard)})
			nc := h.quiet("bob", "presence=off")
			synctest.Wait()
			c := h.connOf("bob")
			text := "little"
			if reads {
				text = strings.Repeat("x", 900_000)
			}
			if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(chat(text))); err != nil {
				t.Fatal(err)
			}
			rawFrame(t, nc, 1)
			if !reads { // but takes what little comes
				go io.Copy(io.Discard, nc) // ends with the connection
			}
			for range 2 * silentFor {
				time.Sleep(time.Second) // of the bubble's own time
				if reads {
					_, _ = io.CopyN(io.Discard, nc, 2<<10)
				}
			}
			c.mu.Lock()
			closed := c.closing != nil
			c.mu.Unlock()
			if closed == reads {
				t.Errorf("reads: %v, closed: %v", reads, closed)
			}
		})
	}
}

// A ping is answered although one of ours falls due meanwhile.
func TestPingsCross(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{Logger: textLog(io.Discard)})
		nc := h.quiet("bob", "presence=off")
		synctest.Wait()
		if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(chat("hello"))); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // the writer waits for bob to read
		go nc.Write(clientFrame(0x80|opPing, "mine"))
		synctest.Wait()
		h.connOf("bob").ping()
		got := map[byte]string{}
		for range 3 {
			op, _, p := rawFrame(t, nc, 1<<10)
			got[op] = string(p)
		}
		if pong, ok := got[opPong]; !ok || pong != "mine" {
			t.Errorf("the answer is %q, %v", pong, ok)
		}
		if _, ok := got[opPing]; !ok {
			t.Error("ours was not sent")
		}
	})
}
