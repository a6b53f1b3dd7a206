package browser

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/parleyhq/parley/client"
)

// answering has files answer the first call once it is told how.
func (p *page) answering() (how chan<- error) {
	p.t.Helper()
	room := p.join("files")
	answer := make(chan error, 1)
	var served sync.WaitGroup
	ctx, cancel := context.WithCancel(p.t.Context())
	p.t.Cleanup(func() { cancel(); served.Wait() })
	served.Go(func() {
		_ = room.Serve(ctx, func(ctx context.Context, _ *client.Request) (any, error) {
			select {
			case err := <-answer:
				return map[string]any{"content": []any{}}, err
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		})
	})
	return answer
}

// The page says what came of the call as soon as that is known, and so does that of a
// link that was used.
func TestLinkTellsTheOutcome(t *testing.T) {
	for badge, answer := range map[string]error{"done": nil, "failed": errors.New("the disk is full")} {
		t.Run(badge, func(t *testing.T) {
			p, _, link := linked(t, "a.txt")
			how := p.answering()
			p.open(link)
			p.until("document.querySelector('#approve')")
			p.do(click("#approve"))
			p.until("document.querySelector('#confirm[aria-disabled=false]')")
			p.do(click("#confirm"))
			p.until("document.querySelector('h1')?.innerText === 'Approved'")
			p.until("document.querySelector('.came .badge')?.innerText === 'running'")
			p.picture("link-running")
			other := newPageAt(t, p.gateway)
			other.open(link)
			other.until("document.querySelector('.came .badge')?.innerText === 'running'")
			how <- answer
			for _, one := range []*page{p, other} {
				one.until("document.querySelector('.came .badge')?.innerText === '" + badge + "'")
				if evaluate[bool](one, "document.body.innerText.includes('disk')") {
					t.Error("it says more than how the call ended")
				}
				one.picture("link-" + badge)
			}
		})
	}
}

// Nothing comes of what was rejected.
func TestUsedLinkOfARejection(t *testing.T) {
	p, proposal, link := linked(t, "a.txt")
	code := link[len(link)-32:]
	p.visit("decide.html")
	p.shows("This is not a whole link")
	if status := evaluate[int](p, `fetch("/v1/approval/reject", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ code: "`+code+`", reason: "busy" }) }).then((r) => r.status)`); status != 202 {
		t.Fatalf("%s was answered %d", proposal.Envelope.ID, status)
	}
	p.open(link)
	p.until("document.querySelector('h1')?.innerText === 'This link was used already'")
	p.shows("The proposal was rejected by you")
	if evaluate[bool](p, "!!document.querySelector('.came')") {
		t.Errorf("something came of it\n%s", p.text())
	}
}
