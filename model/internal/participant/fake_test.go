package participant

import (
	"context"
	"log/slog"
	"sync"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// fake is a model that does as the test says.
type fake struct {
	ask func(ctx context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error)

	mu    sync.Mutex
	asked int
}

func (f *fake) Ask(ctx context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
	f.mu.Lock()
	f.asked++
	f.mu.Unlock()
	return f.ask(ctx, q, progress)
}

func (f *fake) times() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.asked
}

// reply is what a model says, with a usage of 10 and 5 tokens.
func reply(text string) *sampling.Result {
	return &sampling.Result{Role: sampling.Assistant, Model: "fake-1", StopReason: sampling.EndTurn, Meta: provider.Usage(10, 5),
		Content: []sampling.Block{sampling.Text{Text: text}}}
}

// says is a model that replies at once.
func says(text string) *fake {
	return &fake{ask: func(context.Context, *sampling.Request, func(provider.Progress)) (*sampling.Result, error) {
		return reply(text), nil
	}}
}

// fails is a model that fails some times, and then replies. Where times is
// negative it goes on failing.
func fails(err error, times int) *fake {
	f := new(fake)
	f.ask = func(context.Context, *sampling.Request, func(provider.Progress)) (*sampling.Result, error) {
		if times < 0 || f.times() <= times {
			return nil, err
		}
		return reply("at last"), nil
	}
	return f
}

// waits is a model whose reply does not come.
func waits(begun chan<- struct{}, ended chan<- error) *fake {
	return &fake{ask: func(ctx context.Context, _ *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
		progress(provider.Progress{Pieces: 3, Bytes: 40})
		begun <- struct{}{}
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return nil, context.Cause(ctx)
	}}
}

func logTo(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelDebug}))
}
