package mcpbridge

import (
	"bytes"
	"context"
	"slices"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// maxNotes bounds the notifications that wait to be handed on.
const maxNotes = 256

// note is one notification of a server.
type note struct {
	ctx    context.Context
	method string
	params jsontext.Value
}

// notes are the notifications that wait for OnNotification. When it is full
// something has to go: a lost log line harms less than a lost list_changed.
type notes struct {
	wake chan struct{} // holds one

	mu    sync.Mutex
	queue []note
	bytes int
	busy  context.Context // of the one that is being handed on; nil is none
	waits []settling
}

// settling is somebody who waits until nothing is left of a call.
type settling struct {
	of   context.Context
	done chan struct{}
}

// add queues n unless its equal waits already. False means that something was
// dropped for it, or n itself.
func (q *notes) add(n note, maxBytes int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if slices.ContainsFunc(q.queue, n.equal) {
		return true
	}
	whole := true
	for len(q.queue) == maxNotes || q.bytes+len(n.params) > maxBytes {
		whole = false
		i := slices.IndexFunc(q.queue, note.isLog)
		if i < 0 || n.isLog() {
			return false
		}
		q.bytes -= len(q.queue[i].params)
		q.queue = slices.Delete(q.queue, i, i+1)
	}
	q.queue = append(q.queue, n)
	q.bytes += len(n.params)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return whole
}

func (q *notes) next() (note, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.queue) == 0 {
		return note{}, false
	}
	n := q.queue[0]
	q.queue = slices.Delete(q.queue, 0, 1)
	q.bytes -= len(n.params)
	q.busy = n.ctx
	return n, true
}

// handed notes that OnNotification has returned.
func (q *notes) handed() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.busy = nil
	q.waits = slices.DeleteFunc(q.waits, func(w settling) bool {
		if q.holds(w.of) {
			return false
		}
		close(w.done)
		return true
	})
}

// settled is closed when everything is handed on that was said in a call.
func (q *notes) settled(of context.Context) <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	done := make(chan struct{})
	if q.holds(of) {
		q.waits = append(q.waits, settling{of, done})
	} else {
		close(done)
	}
	return done
}

func (q *notes) holds(of context.Context) bool {
	return q.busy == of || slices.ContainsFunc(q.queue, func(n note) bool { return n.ctx == of })
}

func (n note) isLog() bool { return n.method == "notifications/message" }

// equal says that other would say nothing new; two log lines are two.
func (n note) equal(other note) bool {
	return !n.isLog() && n.method == other.method && bytes.Equal(n.params, other.params)
}

// notify hands on what is queued, one at a time, until the server is gone.
func (u *Upstream) notify() {
	for {
		for n, ok := u.notes.next(); ok; n, ok = u.notes.next() {
			u.opts.OnNotification(n.ctx, n.method, n.params)
			u.notes.handed()
		}
		select {
		case <-u.notes.wake:
		case <-u.done:
			return
		}
	}
}
