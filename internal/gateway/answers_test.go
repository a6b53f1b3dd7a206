package gateway

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parleyhq/parley/internal/space"
)

// Whoever is granted much while it does not read is told once what came of it.
func TestOneWelcomeWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{Logger: textLog(io.Discard)})
		nc := h.quiet("bob", "presence=off")
		synctest.Wait()
		r, c := h.g.rooms["demo"], h.connOf("bob")
		for _, text := range []string{"first", "second"} {
			if _, err := h.g.Submit(t.Context(), "demo", "ann", []byte(chat(text))); err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // the writer waits for bob to read the first
			_ = r.do(t.Context(), func() {
				for range 1_000 {
					r.perform(effect{space.Effect{Type: space.Rewelcome, Participant: "bob"}, r.state.Seq()})
				}
			})
		}
		synctest.Wait()
		c.mu.Lock()
		waiting, bytesWaiting := len(c.private), c.waiting
		c.mu.Unlock()
		if waiting != 1 || bytesWaiting != welcomeSize {
			t.Errorf("%d answers wait, counted as %d bytes", waiting, bytesWaiting)
		}
		for _, want := range []string{"first", "second", `"last":3`} { // bob's presence is the first
			if _, _, p := rawFrame(t, nc, 1<<20); !bytes.Contains(p, []byte(want)) {
				t.Errorf("%s does not speak of %s", p, want)
			}
		}
	})
}

// What waits is put together piece by piece.
func TestAnswersAreTakenInPieces(t *testing.T) {
	h := start(t, Options{Logger: textLog(io.Discard)})
	c := h.g.rooms["demo"].newConn("bob", join{})
	c.welcomed = true
	frame := []byte(strings.Repeat("x", 1_000))
	for range 100 {
		c.queue(answer{frame: frame})
	}
	c.queue(answer{welcome: new(space.Welcome)})
	c.queue(answer{frame: frame})
	var sizes []int
	for answers := c.due(); answers != nil; answers = c.due() {
		sizes = append(sizes, len(answers))
	}
	if len(sizes) != 5 || sizes[0] != 33 || sizes[4] != 1 || c.waiting != 0 {
		t.Errorf("taken by %d, %d bytes wait", sizes, c.waiting)
	}
}
