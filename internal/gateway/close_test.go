package gateway

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// rawFrame reads one frame, of which up to most bytes of payload.
func rawFrame(t testing.TB, nc net.Conn, most int) (op byte, n int, payload []byte) {
	t.Helper()
	header := []byte{}
	for {
		header = append(header, 0)
		if _, err := io.ReadFull(nc, header[len(header)-1:]); err != nil {
			t.Fatal(err)
		}
		head, size, err := readServerHeader(header)
		if err != nil {
			t.Fatal(err)
		}
		if size == 0 {
			continue
		}
		payload = make([]byte, min(head, most))
		if _, err := io.ReadFull(nc, payload); err != nil {
			t.Fatal(err)
		}
		return header[0] & 0x0F, head, payload
	}
}

// readServerHeader is the payload's length in a frame that is not masked, and
// the header's size; 0 where it is not whole yet.
func readServerHeader(b []byte) (payload, size int, err error) {
	if len(b) < 2 {
		return 0, 0, nil
	}
	size = 2
	switch b[1] {
	case 126:
		size = 4
	case 127:
		size = 10
	default:
		return int(b[1]), size, nil
	}
	if len(b) < size {
		return 0, 0, nil
	}
	for _, one := range b[2:size] {
		payload = payload<<8 | int(one)
	}
	return payload, size, nil
}

// quiet joins and reads up to and including the welcome.
func (h *harness) quiet(id, query string) net.Conn {
	h.t.Helper()
	nc := h.raw(id, query)
	for head, one := "", []byte{0}; !strings.HasSuffix(head, "\r\n\r\n"); head += string(one) {
		if _, err := io.ReadFull(nc, one); err != nil {
			h.t.Fatal(err)
		}
	}
	if op, _, p := rawFrame(h.t, nc, 1<<20); op != opText || !bytes.Contains(p, []byte("system/welcome")) {
		h.t.Fatalf("%x %s", op, p)
	}
	return nc
}

// A write that is given up within a frame is followed by nothing: neither by a
// close frame nor by answers, which would be taken for the rest of the frame.
func TestNothingFollowsATornFrame(t *testing.T) {
	for _, tc := range []struct {
		name string
		read int // bytes of the frame
		end  func(h *harness)
	}{
		{"closed in its beginning", 10, func(h *harness) {
			h.connOf("bob").close(closing{code: statusTooSlow, reason: "too far behind: resume"})
		}},
		{"shut down near its end", 100_000, func(h *harness) { _ = h.g.Shutdown(context.Background()) }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := memory(t, Options{Logger: textLog(io.Discard)})
				nc := h.quiet("bob", "presence=off&echo=off")
				if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(chat(strings.Repeat("x", 100_000)))); err != nil {
					t.Fatal(err)
				}
				_, n, got := rawFrame(t, nc, tc.read)
				for range 3 { // answers that wait
					if _, err := nc.Write(clientFrame(0x81, `{"kind":"system/x"}`)); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				over := make(chan struct{})
				go func() { defer close(over); tc.end(h) }()
				time.Sleep(closeWithin + time.Second)
				rest, _ := io.ReadAll(nc)
				<-over
				if all := append(got, rest...); len(all) > n || bytes.Contains(all, []byte("too far behind")) || bytes.Contains(all, []byte("system/error")) {
					t.Errorf("of a frame of %d bytes came %d, the last ones %q", n, len(all), all[max(0, len(all)-100):])
				}
			})
		})
	}
}

// A fault while a connection ends ends that connection alone.
func TestFaultWhileClosing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{Logger: textLog(io.Discard)})
		nc := h.quiet("bob", "presence=off")
		synctest.Wait()
		c := h.connOf("bob")
		c.room.frames.mu.Lock()
		c.cur.group.place = 1 << 20 // the writer fails when it takes the cursor out
		c.room.frames.mu.Unlock()
		c.close(closing{code: statusRemoved, reason: "removed"})
		_, _ = io.ReadAll(nc)
		synctest.Wait()
		if n := h.g.connections("demo"); n != 0 {
			t.Errorf("%d connections are left", n)
		}
	})
}
