package client

import (
	"context"
	"iter"
	"slices"

	"github.com/parleyhq/parley"
)

// inboxes are those of all loops over Envelopes.
type inboxes struct {
	most   int
	list   []*inbox
	first  *inbox // kept from the start for the first loop, until there is one
	missed *Gap   // first ran over: what is missing in it
	end    error
}

func (b *inboxes) init(most int) {
	b.most = most
	b.first = newInbox(most)
}

// Envelopes is everything that happens in the room, in its order: history
// first, where [Options] asked for it, then what comes. What the gateway tells
// us alone (welcome, errors, acknowledgements) is not among it.
//
//	for e, err := range room.Envelopes(ctx) {
//		if err != nil {
//			return err
//		}
//		fmt.Println(e.From, e.Kind)
//	}
//
// The first loop starts where the room did, and so misses nothing if it comes
// in time: up to [Options.Buffer] envelopes are kept for it. Every other loop
// starts with what comes next. The loop may be left at any time.
//
// A [*Gap] as the error stands where envelopes are missing, and the loop may go
// on. Any other error is the last thing that comes: that of [Room.Err], or the
// cause of ctx.
//
// A loop that is slow lets envelopes wait, up to [Options.Buffer]. Beyond that
// the room stops reading, for everybody who uses it, until the loop goes on:
// nothing is lost, but answers are late as well. So do not wait for an answer
// in the body of a loop where the room may be busy; let a goroutine do that.
func (r *Room) Envelopes(ctx context.Context) iter.Seq2[*parley.Envelope, error] {
	return func(yield func(*parley.Envelope, error) bool) {
		in := r.subscribe()
		defer r.unsubscribe(in)
		for {
			it, err := in.take(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(it.env, it.err) {
				return
			}
		}
	}
}

func (r *Room) subscribe() *inbox {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &r.inboxes
	in := b.first
	b.first = nil
	if in == nil {
		in = newInbox(b.most)
		if b.end != nil {
			in.finish(b.end)
		}
	}
	b.list = append(slices.Clip(b.list), in) // the reader may be walking the old one
	return in
}

func (r *Room) unsubscribe(in *inbox) {
	in.leave()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inboxes.list = slices.DeleteFunc(slices.Clone(r.inboxes.list), func(other *inbox) bool { return other == in })
}

// deliver hands an item to every loop, and waits for those that are slow.
func (r *Room) deliver(ctx context.Context, it item) {
	r.mu.Lock()
	r.keepForFirst(it)
	list := r.inboxes.list
	r.mu.Unlock()
	for _, in := range list {
		if in.offer(it) {
			continue
		}
		r.stalled.Store(true)
		waited := in.put(ctx, it)
		r.stalled.Store(false)
		r.mu.Lock()
		r.stats.Stalls++
		r.stats.Stalled += waited
		r.mu.Unlock()
	}
}

// keepForFirst fills the inbox that nobody took yet. Perhaps nobody ever will,
// so nothing waits for it: once it is full, all that it had is a gap.
func (r *Room) keepForFirst(it item) {
	b := &r.inboxes
	if b.first == nil {
		return
	}
	if b.missed == nil && b.first.offer(it) {
		return
	}
	if b.missed == nil {
		b.missed = &Gap{After: r.order.began}
	}
	b.missed.Next = r.order.resume
	b.first.replace(item{err: b.missed})
}

// endInboxes tells every loop that the room has ended.
func (r *Room) endInboxes(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	b := &r.inboxes
	b.end = err
	if b.first != nil {
		b.first.finish(err)
	}
	for _, in := range b.list {
		in.finish(err)
	}
}
