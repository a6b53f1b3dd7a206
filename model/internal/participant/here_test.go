package participant

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

func presence(event, who string) *parley.Envelope {
	return &parley.Envelope{From: parley.GatewayID, Kind: parley.KindPresence, Payload: jsontext.Value(`{"event":"` + event + `","participant":{"id":"` + who + `"}}`)}
}

func TestAskersWhoLeave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHere(logTo(t))
		request := func(who string) (context.Context, func()) {
			ctx, cancel := context.WithCancelCause(t.Context())
			return ctx, h.enter(who, cancel)
		}
		left := func(ctx context.Context) bool { return errors.Is(context.Cause(ctx), errLeft) }
		a, doneA := request("a")
		b, doneB := request("b")
		back, doneBack := request("back")
		h.arrived(presence("leave", "a"))
		h.arrived(presence("leave", "back"))
		h.arrived(presence("leave", "nobody"))
		h.arrived(&parley.Envelope{Kind: "chat", Payload: presence("leave", "b").Payload})
		time.Sleep(grace - time.Nanosecond)
		later, doneLater := request("a") // over HTTP
		h.arrived(presence("join", "back"))
		if a.Err() != nil {
			t.Error("given up too early")
		}
		time.Sleep(2 * time.Nanosecond)
		synctest.Wait()
		if !left(a) || left(b) || left(back) || left(later) {
			t.Error(a.Err(), b.Err(), back.Err(), later.Err())
		}
		h.arrived(presence("leave", "back"))
		h.close()
		time.Sleep(2 * grace)
		if left(back) {
			t.Error("given up after the end")
		}
		for _, done := range []func(){doneA, doneB, doneBack, doneLater} {
			done()
		}
		if len(h.asking) > 0 || len(h.gone) > 0 {
			t.Errorf("%d askers and %d clocks are left", len(h.asking), len(h.gone))
		}
	})
}
