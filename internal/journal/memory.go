package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/parleyhq/parley"
)

// MemoryOptions are the options of [NewMemory]. Their zero value works.
type MemoryOptions struct {
	Epoch string // of new spaces; random where empty
	Queue int    // records that may be on their way, per space; 1024 where 0
}

// Memory is a journal without a disk, for tests and for spaces that need not
// outlive their process. It keeps its records over Close, after which it may
// be opened again, as a file may.
type Memory struct {
	opts MemoryOptions

	mu     sync.Mutex
	spaces map[string]*memorySpace
	open   map[string]*memoryLog
	fault  error // what Fail set
}

// NewMemory makes an empty journal.
func NewMemory(opts MemoryOptions) *Memory {
	opts.Queue = cmp.Or(opts.Queue, 1024)
	return &Memory{opts: opts, spaces: map[string]*memorySpace{}, open: map[string]*memoryLog{}}
}

// Fail makes every append fail with err, as a full disk would, until [Memory.Heal].
func (m *Memory) Fail(err error) { m.setFault(err) }

// Heal ends what Fail began. A log that has failed by then still needs
// [Log.Recover].
func (m *Memory) Heal() { m.setFault(nil) }

func (m *Memory) setFault(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fault = err
}

func (m *Memory) currentFault() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.fault
}

// Open implements [Journal].
func (m *Memory) Open(_ context.Context, space string, sink Sink) (Log, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.open[space] != nil {
		return nil, AlreadyOpen(space)
	}
	s := m.spaces[space]
	if s == nil {
		s = &memorySpace{name: space, epoch: cmp.Or(m.opts.Epoch, NewEpoch())}
		m.spaces[space] = s
	}
	l := &memoryLog{
		memorySpace: s,
		fault:       m.currentFault,
		sink:        sink,
		queue:       make(chan memoryItem, m.opts.Queue),
		closing:     make(chan struct{}),
	}
	m.open[space] = l
	l.running.Go(l.run)
	return l, nil
}

// Reader implements [Journal].
func (m *Memory) Reader(_ context.Context, space string) (Reader, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.spaces[space]
	if s == nil {
		return nil, NoSuchSpace(space)
	}
	return s, nil
}

// Spaces implements [Journal].
func (m *Memory) Spaces(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.spaces)), nil
}

// Close implements [Journal].
func (m *Memory) Close() error {
	m.mu.Lock()
	logs := m.open
	m.open = map[string]*memoryLog{}
	m.mu.Unlock()
	for _, l := range logs {
		close(l.closing)
		l.running.Wait()
	}
	return nil
}

// memoryLog is a space that is open for appending.
type memoryLog struct {
	*memorySpace
	fault   func() error
	sink    Sink
	queue   chan memoryItem
	closing chan struct{}
	running sync.WaitGroup
	failed  error // owned by run: why nothing is taken
}

// memoryItem is a record, or somebody who waits for the log to recover.
type memoryItem struct {
	record  *Record
	recover chan error
}

func (l *memoryLog) Append(r *Record) {
	select {
	case l.queue <- memoryItem{record: r}:
	case <-l.closing:
	}
}

func (l *memoryLog) Recover(ctx context.Context) (Bounds, error) {
	done := make(chan error, 1)
	select {
	case l.queue <- memoryItem{recover: done}:
	case <-l.closing:
		return Bounds{}, Closed()
	case <-ctx.Done():
		return Bounds{}, ctx.Err()
	}
	select {
	case err := <-done:
		return l.bounds(), err
	case <-l.closing:
		return Bounds{}, Closed()
	case <-ctx.Done():
		return Bounds{}, ctx.Err()
	}
}

// Redact implements [Log].
func (l *memoryLog) Redact(ctx context.Context, id string) error {
	redacted, err := FindRedactable(ctx, l, id)
	if err != nil {
		return err
	}
	if err := l.fault(); err != nil {
		return err
	}
	l.replace(redacted)
	return nil
}

// run commits what is appended, all that waits at a time.
func (l *memoryLog) run() {
	for {
		select {
		case item := <-l.queue:
			l.handle(item)
		case <-l.closing:
			for len(l.queue) > 0 {
				l.handle(<-l.queue)
			}
			return
		}
	}
}

// handle works off an item and what waits behind it.
func (l *memoryLog) handle(item memoryItem) {
	var batch []*Record
	for {
		if item.recover != nil {
			l.commit(batch)
			batch = nil
			l.failed = l.fault()
			item.recover <- l.failed
		} else {
			batch = append(batch, item.record)
		}
		if len(l.queue) == 0 || len(batch) == cap(l.queue) {
			l.commit(batch)
			return
		}
		item = <-l.queue
	}
}

func (l *memoryLog) commit(batch []*Record) {
	if len(batch) == 0 {
		return
	}
	if l.failed == nil {
		l.failed = l.fault()
	}
	if l.failed != nil {
		l.sink.Failed(batch, l.failed)
		return
	}
	l.add(batch)
	l.sink.Durable(batch)
}

// memorySpace is what is on record. It outlives the logs that write it.
type memorySpace struct {
	name  string
	epoch string

	mu        sync.Mutex
	chain     []*Record // the record with Index i stands at i-1
	envelopes []*Record // the one with Seq s stands at s-1
}

func (s *memorySpace) add(batch []*Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range batch {
		r.Epoch = s.epoch
		r.Place(s.head())
		kept := *r
		kept.Token = nil
		s.chain = append(s.chain, &kept)
		if r.Type == Admitted {
			s.envelopes = append(s.envelopes, &kept)
		}
	}
}

// replace puts changed records in their place; whoever is reading the old ones
// keeps them.
func (s *memorySpace) replace(changed []*Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chain, s.envelopes = slices.Clone(s.chain), slices.Clone(s.envelopes)
	for _, r := range changed {
		s.chain[r.Index-1] = r
		s.envelopes[r.Seq-1] = r
	}
}

func (s *memorySpace) head() Head {
	if len(s.chain) == 0 {
		return Origin(s.name)
	}
	last := s.chain[len(s.chain)-1]
	return Head{Index: last.Index, Seq: uint64(len(s.envelopes)), Hash: last.Hash}
}

func (s *memorySpace) bounds() Bounds {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := Bounds{Epoch: s.epoch, Last: uint64(len(s.envelopes)), Head: s.head()}
	b.First = min(b.Last, 1)
	b.Indexed = b.Last
	return b
}

func (s *memorySpace) Bounds(context.Context) (Bounds, error) { return s.bounds(), nil }

func (s *memorySpace) Read(ctx context.Context, q Query) iter.Seq2[*Record, error] {
	return func(yield func(*Record, error) bool) {
		m, err := NewMatcher(q)
		if err != nil {
			yield(nil, err)
			return
		}
		left := cmp.Or(max(q.Limit, 0), -1)
		for _, r := range s.span(q) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !m.Header(r) || !m.Body(r) {
				continue
			}
			if !yield(r, nil) {
				return
			}
			if left--; left == 0 {
				return
			}
		}
	}
}

// span is what lies between a query's After and Before, in its order.
func (s *memorySpace) span(q Query) []*Record {
	s.mu.Lock()
	all := s.envelopes
	if q.Chain {
		all = s.chain
	}
	s.mu.Unlock()
	from, to := min(q.After, uint64(len(all))), uint64(len(all))
	if q.Before > 0 {
		to = max(from, min(to, q.Before-1))
	}
	span := all[from:to]
	if q.Newest {
		span = slices.Clone(span)
		slices.Reverse(span)
	}
	return span
}

// NewEpoch makes an epoch's name: 80 bits at random, so that no two orders
// share one.
func NewEpoch() string { return strings.ToLower(rand.Text()[:16]) }

// AlreadyOpen is the error of opening a log twice.
func AlreadyOpen(space string) error {
	return parley.Errorf(parley.Unavailable, "the log of space %q is open already", space)
}

// NoSuchSpace is the error of reading a log that is not there.
func NoSuchSpace(space string) error {
	return parley.Errorf(parley.NotFound, "the journal has no space %q", space)
}

// Closed is the error of using a journal after Close.
func Closed() error { return parley.Errorf(parley.Unavailable, "the journal is closed") }
