package gateway

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
)

// trickleReader reads so many bytes a second, says that it lives, and tells how
// long the connection lasts, and what came.
func (h *harness) trickleReader(id string, bytesPerSecond int) (lasted time.Duration, all []byte) {
	nc := h.raw(id)
	for one := []byte{0}; !bytes.HasSuffix(all, []byte("\r\n\r\n")); all = append(all, one...) {
		if _, err := io.ReadFull(nc, one); err != nil {
			h.t.Error(err)
			return 0, nil
		}
	}
	began := time.Now()
	var alive sync.WaitGroup
	alive.Go(func() {
		for {
			time.Sleep(20 * time.Second)
			if _, err := nc.Write(clientFrame(0x8A, "")); err != nil {
				return
			}
		}
	})
	piece := make([]byte, bytesPerSecond)
	for {
		n, err := io.ReadFull(nc, piece)
		if all = append(all, piece[:n]...); err != nil || bytes.Contains(all, []byte("the-end")) {
			break
		}
		time.Sleep(time.Second)
	}
	lasted = time.Since(began)
	nc.Close()
	alive.Wait()
	return lasted, all
}

// Who reads slowly gets everything; who reads a byte a second, and so holds a
// writer for nothing, is closed. Neither keeps anybody waiting.
func TestTrickle(t *testing.T) {
	for _, tc := range []struct {
		perSecond int
		closed    bool
	}{{1, true}, {100, true}, {1_000, false}, {4_000, false}} {
		t.Run(fmt.Sprint(tc.perSecond), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := memory(t, Options{Logger: textLog(io.Discard)})
				ann := h.join("ann", "presence=off")
				var reader sync.WaitGroup
				var lasted time.Duration
				var all []byte
				reader.Go(func() { lasted, all = h.trickleReader("bob", tc.perSecond) })
				synctest.Wait()
				for h.g.connections("demo") < 2 {
					time.Sleep(time.Millisecond) // of the bubble's own time
				}
				sent := time.Now()
				for range 60 {
					ann.send(chat(string(bytes.Repeat([]byte("x"), 2_000))))
					ann.until("chat")
				}
				ann.send(chat("the-end"))
				ann.until("chat")
				if waited := time.Since(sent); waited > time.Second {
					t.Errorf("the sender waited %v", waited)
				}
				ann.ws.CloseNow()
				reader.Wait()
				if tc.closed && lasted > (2*stalledFor+2)*time.Second+closeWithin {
					t.Errorf("closed after %v", lasted)
				}
				if !tc.closed && !bytes.Contains(all, []byte("the-end")) {
					t.Errorf("closed after %v, with %d bytes", lasted, len(all))
				}
			})
		})
	}
}

// A reader that stands still where the system buffers for it is found out too.
func TestUnsentBytes(t *testing.T) {
	h := serve(t, Options{Logger: textLog(io.Discard)})
	nc := h.raw("bob") // reads nothing
	defer nc.Close()
	ann := h.join("ann", "presence=off&echo=off")
	c := h.connOf("bob")
	var sock *socket
	eventually(t, "it has its socket", func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		sock = c.sock
		return sock != nil
	})
	for sock.wrote.Load() < 64<<10 {
		ann.send(chat(string(bytes.Repeat([]byte("x"), 10_000))))
		ann.until(parley.KindAck)
	}
	if sock.raw == nil {
		t.Skip("the system does not tell")
	}
	if wrote, taken := sock.wrote.Load(), sock.taken(); taken > wrote {
		t.Errorf("%d of %d bytes are taken", taken, wrote)
	}
}

// connOf is the one connection of a participant.
func (h *harness) connOf(id string) *conn {
	h.t.Helper()
	for _, c := range h.g.rooms["demo"].everyConn(nil) {
		if c.id == id {
			return c
		}
	}
	h.t.Fatalf("%s is not connected", id)
	return nil
}
