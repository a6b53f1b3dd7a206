package openai

import (
	"context"

	"github.com/openai/openai-go/v3"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// chatAPI is POST /chat/completions.
type chatAPI struct {
	c       provider.Config
	service openai.ChatCompletionService
}

func (a *chatAPI) ask(ctx context.Context, q *sampling.Request, d dialect, m *provider.Meter) (*sampling.Result, error) {
	asked, err := chatRequest(a.c, q, d)
	if err != nil {
		return nil, err
	}
	r := &chatReply{replying: newReplying(a.c, q, d), meter: m, stops: newStops(q.StopSequences)}
	err = listen(ctx, a.c, a.service.NewStreaming(ctx, asked), r.hear)
	// What comes behind the end of the reply is what it costs: that may be missing.
	if err != nil && r.finish == "" {
		return nil, err
	}
	return r.ended()
}
