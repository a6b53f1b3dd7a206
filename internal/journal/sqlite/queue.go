package sqlite

import (
	"runtime"
	"sync"

	"github.com/parleyhq/parley/internal/journal"
)

// item is what the writer works off: a record for a log, or a task that needs
// its connection.
type item struct {
	log    *log
	record *journal.Record
	task   func()
}

func (it item) size() int {
	if it.record == nil {
		return 0
	}
	if it.record.Type == journal.Checkpoint {
		// There is one at a time. Behind others of its size it might never find
		// the queue empty.
		return recordOverhead
	}
	return len(it.record.Body) + recordOverhead
}

const recordOverhead = 512 // bytes of a record beside its body, about

// queue holds what waits for the writer, bounded in records and bytes.
type queue struct {
	maxRecords, maxBytes int

	mu     sync.Mutex
	some   sync.Cond // there is something, or it is closed
	room   sync.Cond // there is room, or it is closed
	items  []item
	spare  []item // the slice that the writer has worked off
	bytes  int
	closed bool
}

func newQueue(maxRecords, maxBytes int) *queue {
	q := &queue{maxRecords: maxRecords, maxBytes: maxBytes}
	q.some.L, q.room.L = &q.mu, &q.mu
	return q
}

// push adds an item behind the others and waits while there is no room. It
// reports whether the queue took it; a closed one does not.
func (q *queue) push(it item) bool {
	size := it.size()
	q.mu.Lock()
	defer q.mu.Unlock()
	for !q.closed && it.task == nil && !q.fits(size) {
		q.room.Wait()
	}
	if q.closed {
		return false
	}
	q.items = append(q.items, it)
	q.bytes += size
	q.some.Signal()
	return true
}

// fits lets in anything while the queue is empty, so that one record larger
// than the bound passes alone.
func (q *queue) fits(size int) bool {
	return len(q.items) < q.maxRecords && (q.bytes == 0 || q.bytes+size <= q.maxBytes)
}

// take returns all items, which are the caller's until it calls take again. It
// may wait until there are some. open is false once the queue is closed.
func (q *queue) take(wait bool) (_ []item, open bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for wait && len(q.items) == 0 && !q.closed {
		q.some.Wait()
	}
	q.gather()
	taken := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], taken
	q.bytes = 0
	q.room.Broadcast()
	return taken, !q.closed
}

// gather lets senders run that have just heard of their records and are about
// to send the next, while that brings some: one commit then serves all of them.
// It waits for no clock, and a lone sender, who never has company in a batch,
// does not wait at all.
func (q *queue) gather() {
	last := len(q.spare)
	for had := 0; had < len(q.items) && len(q.items) < last; {
		had = len(q.items)
		q.mu.Unlock()
		runtime.Gosched()
		q.mu.Lock()
	}
}

// close lets nothing in any more. What is in it is still handed out.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.some.Broadcast()
	q.room.Broadcast()
}
