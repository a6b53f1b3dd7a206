package tool

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Handoff is a tool in three functions: what is done before, and after, models
// and humans are asked, and the asking. An error of one ends the call; what
// follows is skipped.
//
// Before and After are started at most once for a call, also where the server is
// restarted in its course, which [Options.Runs] makes possible. Where it was
// stopped in the middle of one of them, the call ends as outcome_unknown: nobody
// knows what it did.
//
// H and C are what is handed on, as JSON: what they do not write is lost on the
// way, in every run. So are messages that Client has remembered; hints are lost
// where the server was restarted behind the phase that gave them.
type Handoff[P, H, C, R any] struct {
	// Before does what has to be done first. It cannot ask.
	Before func(ctx context.Context, c *Call, params P) (H, error)
	// Client asks. Where a run is gone on with, it runs again from its
	// beginning, and gets the answers that are on record: it must do nothing but
	// ask and compute, and ask the same where it was answered the same.
	Client func(ctx context.Context, c *Call, h H) (C, error)
	// After does what has to be done at the end. It cannot ask.
	After func(ctx context.Context, c *Call, h H, client C, params P) (R, error)
}

// AddHandoff declares a tool, as [Add] does, whose calls run by h.
func AddHandoff[P, H, C, R any](s *Server, t Tool, h Handoff[P, H, C, R]) {
	if h.Before == nil || h.Client == nil || h.After == nil {
		panic(fmt.Sprintf("tool %q: a handoff has three functions", t.Name))
	}
	add(s, t, true, h.run)
}

// run is the handoff from params to result.
func (h Handoff[P, H, C, R]) run(ctx context.Context, c *Call, params P) (result R, err error) {
	before, err := phase(ctx, c, "Before", func(c *Call) (H, error) { return h.Before(ctx, c, params) })
	if err != nil {
		return result, err
	}
	client, err := between(ctx, c, func(c *Call) (C, error) { return h.Client(ctx, c, before) })
	if err != nil {
		return result, err
	}
	return phase(ctx, c, "After", func(c *Call) (R, error) { return h.After(ctx, c, before, client, params) })
}

// outcomeUnknown is the end of a run that was interrupted where it may have acted.
type outcomeUnknown struct{ what string }

func (e *outcomeUnknown) Error() string {
	return e.what + "; whether it acted is not known"
}

// phase runs what may be started once.
func phase[T any](ctx context.Context, c *Call, name string, run func(*Call) (T, error)) (v T, err error) {
	k := c.run.kept
	got := k.got(name)
	switch {
	case got.done || got.failed != nil:
		return recorded[T](got)
	case got.started:
		return v, &outcomeUnknown{fmt.Sprintf("the server of %s was stopped in the middle of %s", c.tool.Name, name)}
	case ctx.Err() != nil:
		return v, context.Cause(ctx)
	}
	if err := k.append(kindStarted, phaseRecord{Phase: name}); err != nil {
		return v, err
	}
	mute := c.muted(name)
	if v, err = caught(func() (T, error) { return run(mute) }); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return v, err // it was interrupted, and what it did is not known
		}
		return v, record(k, name, nil, err)
	}
	return handOn(k, name, v)
}

// between runs what may be run again.
func between[T any](ctx context.Context, c *Call, run func(*Call) (T, error)) (v T, err error) {
	const name = "Client"
	k := c.run.kept
	if got := k.got(name); got.done || got.failed != nil {
		return recorded[T](got)
	}
	if v, err = caught(func() (T, error) { return run(c) }); err != nil {
		if errors.Is(ctx.Err(), context.Canceled) {
			return v, err // it is not its own doing, and the run may be gone on with
		}
		return v, record(k, name, nil, err)
	}
	return handOn(k, name, v)
}

// handOn puts a value on record, and reads it as it will be read from there.
func handOn[T any](k *keeping, name string, v T) (T, error) {
	var read T
	raw, err := caught(func() ([]byte, error) { return json.Marshal(v, json.Deterministic(true)) })
	if err != nil {
		return read, record(k, name, nil, fmt.Errorf("what %s returns is no JSON: %w", name, err))
	}
	if err := record(k, name, raw, nil); err != nil {
		return read, err
	}
	return recorded[T](progress{done: true, value: raw})
}

// recorded is how a phase ended.
func recorded[T any](p progress) (v T, err error) {
	if p.failed != nil {
		return v, p.failed.error()
	}
	if err := json.Unmarshal(p.value, &v); err != nil {
		return v, fmt.Errorf("a value that was handed on is not what it was: %w", err)
	}
	return v, nil
}

// caught makes an error of a panic: it is the end of a phase like another.
func caught[T any](run func() (T, error)) (v T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newPanic(p)
		}
	}()
	return run()
}

// record puts a phase's end on record, and returns its error.
func record(k *keeping, name string, value jsontext.Value, err error) error {
	if err == nil {
		return k.append(kindDone, phaseRecord{Phase: name, Value: value})
	}
	if k == nil {
		return err
	}
	if kept := k.append(kindFailed, phaseRecord{Phase: name, Failure: failureOf(typed(k.called.Tool, err))}); kept != nil {
		return fmt.Errorf("%w; %w", err, kept)
	}
	return err
}

// muted is the call as it is seen in a phase that cannot ask.
func (c *Call) muted(phase string) *Call {
	mute := c.child()
	mute.silent = phase
	return mute
}
