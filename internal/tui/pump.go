package tui

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// perSecond is how often what the room brings is handed over, and how often the screen
// is drawn, at most.
const perSecond = 30

// mostAtOnce bounds what is handed over at once. What is behind it waits in the client,
// and then at the gateway.
const mostAtOnce = 1_000

// pump hands over what happens, gathered, until it ends.
func pump(ctx context.Context, envelopes iter.Seq2[*parley.Envelope, error], send func(any)) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	arrivals := make(chan Arrival, mostAtOnce)
	end := make(chan error, 1)
	go func() {
		defer close(arrivals)
		end <- listen(ctx, envelopes, arrivals)
	}()
	for a := range arrivals {
		began := time.Now()
		send(gather(ctx, Arrived{a}, arrivals))
		if !rest(ctx, time.Second/perSecond-time.Since(began)) {
			break
		}
	}
	cancel()
	for range arrivals { // until the listener is gone
	}
	send(Ended{<-end})
}

func listen(ctx context.Context, envelopes iter.Seq2[*parley.Envelope, error], arrivals chan<- Arrival) error {
	for e, err := range envelopes {
		a := Arrival{Envelope: e}
		if err != nil {
			gap, ok := errors.AsType[*client.Gap](err)
			if !ok {
				return err
			}
			a = Arrival{Gap: gap}
		}
		select {
		case arrivals <- a:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return context.Cause(ctx)
}

// gather takes what is there already.
func gather(ctx context.Context, list Arrived, arrivals <-chan Arrival) Arrived {
	for len(list) < mostAtOnce {
		select {
		case a, ok := <-arrivals:
			if !ok {
				return list
			}
			list = append(list, a)
		case <-ctx.Done():
			return list
		default:
			return list
		}
	}
	return list
}

// rest waits, unless ctx ends.
func rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(max(d, 0))
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
