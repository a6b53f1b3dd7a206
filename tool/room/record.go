package room

import (
	"context"
	"errors"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// lookUp looks into the record, a few at a time, and again while the gateway
// cannot be reached.
func (a *attendance) lookUp(ctx context.Context, do func(context.Context, *client.API) error) error {
	return patiently(ctx.Done(), func() error {
		select {
		case a.lookups <- struct{}{}:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		defer func() { <-a.lookups }()
		return do(ctx, a.room.API())
	})
}

// envelope finds one on record; nil where there is none.
func (a *attendance) envelope(ctx context.Context, id string) (e *parley.Envelope, err error) {
	err = a.lookUp(ctx, func(ctx context.Context, api *client.API) (err error) {
		e, err = api.Envelope(ctx, id)
		return err
	})
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return nil, nil
	}
	return e, err
}

// asked finds a question of ours on record; nil where it was not asked.
func (a *attendance) asked(ctx context.Context, id string) (*parley.Envelope, error) {
	e, err := a.envelope(ctx, id)
	if err != nil || e == nil || e.From != a.room.ID() {
		return nil, err
	}
	return e, nil
}

// recorded finds the answer to a question on record; nil where there is none.
func (a *attendance) recorded(ctx context.Context, question *parley.Envelope) (*parley.Envelope, error) {
	return a.first(ctx, &client.Query{Correlation: question.ID, Kind: parley.TypeResponse}, func(e *parley.Envelope) bool {
		return question.Addressed(e.From)
	})
}

// first is the first of those on record that match; nil is none.
func (a *attendance) first(ctx context.Context, q *client.Query, match func(*parley.Envelope) bool) (found *parley.Envelope, err error) {
	err = a.lookUp(ctx, func(ctx context.Context, api *client.API) error {
		for e, err := range api.Envelopes(ctx, q) {
			if err != nil {
				return err
			}
			if match(e) {
				found = e
				return nil
			}
		}
		return nil
	})
	return found, err
}
