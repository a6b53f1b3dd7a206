package openai

import (
	"context"

	"github.com/openai/openai-go/v3/responses"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// responsesAPI is POST /responses.
type responsesAPI struct {
	c       provider.Config
	service responses.ResponseService
}

func (a *responsesAPI) ask(ctx context.Context, q *sampling.Request, d dialect, m *provider.Meter) (*sampling.Result, error) {
	asked, err := responsesRequest(a.c, q, d)
	if err != nil {
		return nil, err
	}
	r := &responsesReply{replying: newReplying(a.c, q, d), meter: m, stops: newStops(q.StopSequences), outputs: map[int64]*output{}}
	if err := listen(ctx, a.c, a.service.NewStreaming(ctx, asked), r.hear); err != nil {
		return nil, err
	}
	return r.ended()
}
