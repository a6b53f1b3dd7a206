package openai

import (
	"context"
	"errors"

	"github.com/openai/openai-go/v3/packages/ssestream"

	"github.com/parleyhq/parley/model/internal/provider"
)

// listen hands the events of a stream to hear, until that has heard the last one.
// A stream that ends before is an error.
func listen[T any](ctx context.Context, c provider.Config, stream *ssestream.Stream[T], hear func(T) (bool, error)) error {
	defer stream.Close()
	if err := stream.Err(); err != nil {
		return unheard(ctx, c, err)
	}
	for stream.Next() {
		if end, err := hear(stream.Current()); end || err != nil {
			return err
		}
	}
	if told, ok := errors.AsType[*ssestream.StreamError](stream.Err()); ok && ctx.Err() == nil {
		f, _ := readFailure(told.Event.Data)
		return f.inStream(c)
	}
	return c.Broken(ctx, stream.Err())
}

// unheard is the error for a request that got no stream.
func unheard(ctx context.Context, c provider.Config, err error) error {
	if refused, ok := errors.AsType[*refusal](err); ok && ctx.Err() == nil {
		return refused
	}
	return c.Failed(ctx, err)
}
