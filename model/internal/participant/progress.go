package participant

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/model/internal/provider"
)

// pace is how often an asker hears how far its reply is.
const pace = 500 * time.Millisecond

// progress adds up what comes of a reply, over all attempts, since reports must
// grow.
type progress struct {
	mu      sync.Mutex
	model   string
	earlier provider.Progress // of attempts before this one
	now     provider.Progress
}

// begin is told of each attempt, and returns how many bytes came before it.
func (p *progress) begin(model string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model = model
	p.earlier.Pieces += p.now.Pieces
	p.earlier.Bytes += p.now.Bytes
	p.now = provider.Progress{}
	return p.earlier.Bytes
}

func (p *progress) tell(now provider.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = now
}

func (p *progress) bytes() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.earlier.Bytes + p.now.Bytes
}

func (p *progress) report() client.Progress {
	p.mu.Lock()
	defer p.mu.Unlock()
	return client.Progress{
		Progress: float64(p.earlier.Pieces + p.now.Pieces),
		Message:  fmt.Sprintf("%d bytes of %s's reply", p.now.Bytes, p.model),
	}
}

// wanted reports whether the asker wants to hear of progress.
func wanted(q *client.Request) bool {
	return parley.Member(parley.Member(q.Params, "_meta"), "progressToken") != nil
}

// send reports to the asker until ctx ends. A report that does not get through
// is left out: the next one says more.
func (p *progress) send(ctx context.Context, to func(context.Context, client.Progress) error) {
	tick := time.NewTicker(pace)
	defer tick.Stop()
	for told := 0.0; ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		if r := p.report(); r.Progress > told && to(ctx, r) == nil {
			told = r.Progress
		}
	}
}
