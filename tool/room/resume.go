package room

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// What is looked at of the record when we join.
const (
	lookBack  = 7 * 24 * time.Hour
	maxBefore = 10_000 // requests to us
)

// goOn takes up the requests that nobody has answered before we joined, at this
// place in the order.
func (a *attendance) goOn(joined uint64) {
	list, err := a.unanswered(joined)
	if err != nil && a.ctx.Err() == nil {
		a.log.Warn("the calls that were left without an answer could not be read", "error", err)
	}
	taken := make(map[string]bool, len(list))
	for _, e := range list {
		taken[e.ID] = true
		a.accept(e, true)
	}
	for run := range a.server.Runs() {
		if a.ctx.Err() != nil {
			return
		}
		if taken[run] {
			continue
		}
		if err := a.takeUp(run, joined); err != nil && a.ctx.Err() == nil {
			a.log.Warn("a run that is kept could not be gone on with", "run", run, "error", err)
		}
	}
}

// takeUp goes on with a run that has waited for longer than the record was looked
// at, and forgets one whose call was answered.
func (a *attendance) takeUp(run string, joined uint64) error {
	e, err := a.envelope(a.ctx, run)
	if err != nil || e == nil || !e.Addressed(a.room.ID()) || e.Seq > joined {
		return err // of another space, or just begun
	}
	answer, err := a.first(a.ctx, &client.Query{Correlation: run, From: a.room.ID(), Kind: parley.TypeResponse}, whichever)
	if err != nil {
		return err
	}
	if answer != nil {
		return a.server.Forget(run)
	}
	a.accept(e, true)
	return nil
}

// unanswered are those requests, oldest first.
func (a *attendance) unanswered(joined uint64) (list []*parley.Envelope, err error) {
	err = a.lookUp(a.ctx, func(ctx context.Context, api *client.API) error {
		list = nil
		q := &client.Query{To: a.room.ID(), Kind: parley.TypeRequest, Before: joined + 1, Since: time.Now().Add(-lookBack), Limit: maxBefore, Descending: true}
		for e, err := range api.Envelopes(ctx, q) {
			if err != nil {
				return err
			}
			if !strings.HasPrefix(parley.SplitKind(e.Kind).Method, notifications) {
				list = append(list, e)
			}
		}
		if len(list) == 0 {
			return nil
		}
		answered := make(map[string]bool)
		for e, err := range api.Envelopes(ctx, &client.Query{From: a.room.ID(), Kind: parley.TypeResponse, After: list[len(list)-1].Seq}) {
			if err != nil {
				return err
			}
			for _, id := range e.Correlation.IDs {
				answered[id] = true
			}
		}
		list = slices.DeleteFunc(list, func(e *parley.Envelope) bool { return answered[e.ID] })
		return nil
	})
	slices.Reverse(list)
	return list, err
}

// mayGoOn says whether a call that came before us is gone on with: its run was
// kept, and its caller still waits for it.
func (a *attendance) mayGoOn(c *call) error {
	if !a.server.Kept(c.envelope.ID) {
		return unknown("the tool server was started again before it answered")
	}
	gone, err := a.first(c.ctx, &client.Query{Correlation: c.envelope.ID, From: c.envelope.From, Kind: kindCancelled}, whichever)
	if err != nil {
		return c.told(err)
	}
	if gone != nil {
		c.stop(errCancelled)
		return c.told(errCancelled)
	}
	return nil
}

// withdrawRecorded takes back what an earlier life of ours asked in the course of a
// call that has ended, and nobody has answered.
func (a *attendance) withdrawRecorded(c *call) {
	ctx, cancel := context.WithTimeout(a.ctx, time.Minute)
	defer cancel()
	err := a.lookUp(ctx, func(ctx context.Context, api *client.API) error {
		for e, err := range api.Envelopes(ctx, &client.Query{Correlation: c.envelope.ID, From: a.room.ID(), Kind: parley.TypeRequest, Limit: maxBefore}) {
			if err != nil {
				return err
			}
			if strings.HasPrefix(parley.SplitKind(e.Kind).Method, notifications) {
				continue
			}
			over, err := settled(ctx, api, e)
			if err != nil {
				return err
			}
			if !over {
				a.takeBack(c, e)
			}
		}
		return nil
	})
	if err != nil {
		a.log.Warn("what a call had asked could not be taken back", "id", c.envelope.ID, "error", err)
	}
}

// settled says whether a question was answered, or taken back.
func settled(ctx context.Context, api *client.API, question *parley.Envelope) (bool, error) {
	for e, err := range api.Envelopes(ctx, &client.Query{Correlation: question.ID}) {
		if err != nil {
			return false, err
		}
		kind := parley.SplitKind(e.Kind)
		if kind.Type == parley.TypeResponse && question.Addressed(e.From) || kind.Method == cancelled && e.From == question.From {
			return true, nil
		}
	}
	return false, nil
}

func whichever(*parley.Envelope) bool { return true }
