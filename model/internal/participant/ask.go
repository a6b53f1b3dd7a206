package participant

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// Pauses before a request is sent again.
const (
	firstPause   = 500 * time.Millisecond // doubled each time
	longestPause = 30 * time.Second
	// patience is how long an endpoint may want to be left alone. Whoever asks
	// is told, where it is more.
	patience = time.Minute
)

// asking is one request on its way through the models.
type asking struct {
	models    []Model
	order     []int // of those to ask, the best first
	retries   int
	log       *slog.Logger
	heard     *progress
	spent     int64 // tokens, as far as known
	lastAsked string
}

// ask gets a reply, from the first model that gives one.
func (a *asking) ask(ctx context.Context, q *sampling.Request) (*sampling.Result, error) {
	var err error
	for _, i := range a.order {
		var reply *sampling.Result
		if reply, err = a.insist(ctx, &a.models[i], q); err == nil {
			return reply, nil
		}
		if ctx.Err() != nil || !another(err) {
			break
		}
	}
	return nil, err
}

// another reports whether another model may do better: not with a request that
// is wrong.
func another(err error) bool {
	failed, ok := errors.AsType[*provider.Error](err)
	return ok && failed.Kind != provider.Invalid
}

// insist asks one model, again where that may help.
func (a *asking) insist(ctx context.Context, m *Model, q *sampling.Request) (*sampling.Result, error) {
	a.lastAsked = m.Spec.Name
	for attempt := 1; ; attempt++ {
		reply, err := a.once(ctx, m, q)
		if err == nil {
			return reply, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		pause, again := pauseBefore(ctx, attempt, err)
		again = again && attempt <= a.retries
		a.log.Warn("a model was asked in vain", "model", m.Spec.Name, "error", err, "attempt", attempt, "again", again)
		if !again {
			return nil, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil, err
		}
	}
}

// once asks one model once. What had come of a reply that broke off was paid
// for as well, and so is what was sent where the request is given up before
// anything came: else whoever cancels soon enough has no bound.
func (a *asking) once(ctx context.Context, m *Model, q *sampling.Request) (*sampling.Result, error) {
	before := a.heard.begin(m.Spec.Name)
	reply, err := m.Provider.Ask(ctx, q, a.heard.tell)
	input := weigh(q)
	switch got := a.heard.bytes() - before; {
	case err == nil:
		a.spent += used(input, reply)
	case got > 0, ctx.Err() != nil:
		a.spent += input + tokensOf(got)
	}
	return reply, err
}

// pauseBefore is how long to wait before the next attempt, and false where
// there is none: the error does not pass, or not in the time that there is.
func pauseBefore(ctx context.Context, attempt int, err error) (time.Duration, bool) {
	failed, ok := errors.AsType[*provider.Error](err)
	if !ok || !failed.Temporary() || failed.RetryAfter > patience {
		return 0, false
	}
	pause := min(firstPause<<min(attempt-1, 10), longestPause)
	pause -= rand.N(pause / 2) // so that those who failed together do not come together
	pause = max(pause, failed.RetryAfter)
	deadline, bounded := ctx.Deadline()
	return pause, !bounded || time.Until(deadline) > pause
}
