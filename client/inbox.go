package client

import (
	"context"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

// inbox is what waits for one loop over Envelopes. It is bounded: who puts
// something in waits for space.
type inbox struct {
	most int // items

	ready chan struct{} // something came in, or the end
	space chan struct{} // something was taken out, or nobody takes any more

	mu    sync.Mutex // guards what follows
	items []item
	bytes int
	left  bool  // nobody takes any more
	end   error // nothing comes any more, because of it
}

// item is an envelope, or what is to be told in its place.
type item struct {
	env *parley.Envelope
	err error
}

func (i item) size() int {
	if i.env == nil {
		return 0
	}
	return len(i.env.Payload) + len(i.env.Kind) + len(i.env.Extra) + 256
}

func newInbox(most int) *inbox {
	return &inbox{most: most, ready: make(chan struct{}, 1), space: make(chan struct{}, 1)}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// offer puts an item in, unless there is no space.
func (b *inbox) offer(it item) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left {
		return true
	}
	if len(b.items) >= b.most || len(b.items) > 0 && b.bytes+it.size() > bufferBytes {
		return false
	}
	b.items = append(b.items, it)
	b.bytes += it.size()
	signal(b.ready)
	return true
}

// put waits for space, however long, and reports how long.
func (b *inbox) put(ctx context.Context, it item) (waited time.Duration) {
	if b.offer(it) {
		return 0
	}
	start := time.Now()
	for {
		select {
		case <-b.space:
		case <-ctx.Done():
			return time.Since(start)
		}
		if b.offer(it) {
			return time.Since(start)
		}
	}
}

// take waits for the next item, and after the last one returns why there are
// no more.
func (b *inbox) take(ctx context.Context) (item, error) {
	for {
		it, ok, end := b.tryTake()
		if ok || end != nil {
			return it, end
		}
		select {
		case <-b.ready:
		case <-ctx.Done():
			return item{}, context.Cause(ctx)
		}
	}
}

func (b *inbox) tryTake() (it item, ok bool, end error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 {
		return item{}, false, b.end
	}
	it = b.items[0]
	b.items[0] = item{}
	b.items = b.items[1:]
	b.bytes -= it.size()
	signal(b.space)
	return it, true, nil
}

// leave says that nobody takes any more.
func (b *inbox) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left, b.items, b.bytes = true, nil, 0
	signal(b.space)
}

// finish says that nothing comes any more. What is there can still be taken.
func (b *inbox) finish(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end = err
	signal(b.ready)
}

// replace drops what is there for one item.
func (b *inbox) replace(it item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items, b.bytes = []item{it}, 0
}
