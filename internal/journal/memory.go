package journal

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"iter"
	"maps"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

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
		s = &memorySpace{name: space, epoch: cmp.Or(m.opts.Epoch, NewEpoch()), floor: Origin(space)}
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
func (l *memoryLog) Redact(ctx context.Context, id string, before uint64) ([]uint64, error) {
	todo, err := NewRedaction(ctx, l, id, before)
	if err != nil {
		return nil, err
	}
	if err := l.fault(); err != nil {
		return nil, err
	}
	l.replace(todo.New)
	return todo.Seqs, nil
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
	n, err := l.add(batch)
	if n > 0 {
		l.sink.Durable(batch[:n])
	}
	if err != nil {
		l.failed = err
		l.sink.Failed(batch[n:], err)
	}
}

// memorySpace is what is on record. It outlives the logs that write it.
type memorySpace struct {
	name  string
	epoch string

	mu        sync.Mutex
	floor     Head      // what retention dropped ends here; the origin where it dropped nothing
	chain     []*Record // the record with Index i stands at i-1-floor.Index
	envelopes []*Record // the one with Seq s stands at s-1-floor.Seq
	ledger    []entry   // one for each of the chain
	states    []*Record // the checkpoints that have their body
	bytes     int64     // of all records that there ever were
	tree      *Tree     // of contexts; nil where it is to be made anew
	inTree    int       // envelopes that are in it
}

// entry is what retention asks of a record.
type entry struct {
	before int64     // bytes of all records before it
	newest time.Time // of the records up to this one
}

// add puts records on record up to one that is refused, and returns how many
// those are.
func (s *memorySpace) add(batch []*Record) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, r := range batch {
		if err := r.Fits(); err != nil {
			return i, err
		}
		if r.Type == Marker {
			if err := s.books().MayDrop(r); err != nil {
				return i, err
			}
		}
		s.addOne(r)
	}
	return len(batch), nil
}

func (s *memorySpace) addOne(r *Record) {
	r.Epoch = s.epoch
	r.Place(s.head())
	kept := *r
	kept.Token = nil
	e := entry{before: s.bytes, newest: r.TS}
	if n := len(s.ledger); n > 0 && s.ledger[n-1].newest.After(r.TS) {
		e.newest = s.ledger[n-1].newest
	}
	s.bytes += int64(r.Size())
	s.chain = append(s.chain, &kept)
	s.ledger = append(s.ledger, e)
	switch r.Type {
	case Admitted:
		s.envelopes = append(s.envelopes, &kept)
	case Checkpoint:
		s.keep(&kept)
	case Marker:
		d, _ := kept.DecodeMarker() // MayDrop has read it
		s.drop(d.Through)
	}
}

// keep makes a checkpoint the newest; of older ones only one keeps its body.
func (s *memorySpace) keep(r *Record) {
	s.states = append(s.states, r)
	if len(s.states) > KeptCheckpoints {
		s.chain = slices.Clone(s.chain)
		old := s.states[0].Supersede()
		s.chain[old.Index-1-s.floor.Index] = old
		s.states = slices.Clone(s.states[1:])
	}
}

// drop forgets everything up to through.
func (s *memorySpace) drop(through Head) {
	n := through.Index - s.floor.Index
	s.chain, s.ledger = slices.Clone(s.chain[n:]), slices.Clone(s.ledger[n:])
	s.envelopes = slices.Clone(s.envelopes[through.Seq-s.floor.Seq:])
	s.states = slices.DeleteFunc(s.states, func(r *Record) bool { return r.Index <= through.Index })
	s.floor = through
	s.tree = nil
}

// books are what a marker and retention are judged by.
func (s *memorySpace) books() Ledger {
	l := Ledger{Floor: s.floor, Head: s.head(), At: s.at}
	if n := len(s.states); n > 0 {
		l.Checkpoint = s.states[n-1].Index
	}
	return l
}

// at is where the chain stood at an index that is on record.
func (s *memorySpace) at(index uint64) (Head, error) {
	r := s.chain[index-1-s.floor.Index]
	h := Head{Index: index, Seq: r.Seq, Hash: r.Hash}
	if r.Type != Admitted {
		h.Seq = s.floor.Seq + uint64(sort.Search(len(s.envelopes), func(i int) bool { return s.envelopes[i].Index > index }))
	}
	return h, nil
}

// replace puts changed records in their place; whoever is reading the old ones
// keeps them.
func (s *memorySpace) replace(changed []*Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chain, s.envelopes = slices.Clone(s.chain), slices.Clone(s.envelopes)
	s.tree = nil
	for _, r := range changed {
		if r.Seq <= s.floor.Seq {
			continue // dropped meanwhile
		}
		s.chain[r.Index-1-s.floor.Index] = r
		s.envelopes[r.Seq-1-s.floor.Seq] = r
	}
}

func (s *memorySpace) head() Head {
	if len(s.chain) == 0 {
		return s.floor
	}
	last := s.chain[len(s.chain)-1]
	return Head{Index: last.Index, Seq: s.floor.Seq + uint64(len(s.envelopes)), Hash: last.Hash}
}

func (s *memorySpace) bounds() Bounds {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := Bounds{Epoch: s.epoch, Head: s.head()}
	b.Last = b.Head.Seq
	if len(s.envelopes) > 0 {
		b.First = s.floor.Seq + 1
	}
	b.Indexed = b.Last
	return b
}

// Checkpoint implements [Reader].
func (s *memorySpace) Checkpoint(context.Context) (*Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.states); n > 0 {
		return s.states[n-1], nil
	}
	return nil, nil
}

// Cut implements [Log].
func (s *memorySpace) Cut(_ context.Context, keep Retention) (Dropped, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.envelopes) == 0 {
		return Dropped{}, nil
	}
	n := 0 // records that go
	if !keep.Before.IsZero() {
		n = sort.Search(len(s.ledger), func(i int) bool { return !s.ledger[i].newest.Before(keep.Before) })
	}
	if keep.Bytes > 0 {
		n = max(n, sort.Search(len(s.ledger), func(i int) bool { return s.ledger[i].before >= s.bytes-keep.Bytes }))
	}
	newest := s.envelopes[len(s.envelopes)-1].Index - 1 - s.floor.Index
	n = min(n, int(newest))
	if n <= 0 {
		return Dropped{}, nil
	}
	through, err := s.at(s.floor.Index + uint64(n))
	return s.books().Drop(through), err
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

// Contexts implements [Reader].
func (s *memorySpace) Contexts(ctx context.Context, q ContextQuery) iter.Seq2[*Context, error] {
	return func(yield func(*Context, error) bool) {
		for _, c := range s.contexts(q) {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if !yield(c, nil) {
				return
			}
		}
	}
}

// contexts are what the tree knows, which is brought up to date first.
func (s *memorySpace) contexts(q ContextQuery) []*Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tree == nil {
		s.tree, s.inTree = NewTree(), 0
	}
	for _, r := range s.envelopes[s.inTree:] {
		s.tree.Add(r)
	}
	s.inTree = len(s.envelopes)
	return s.tree.Select(q)
}

// span is what lies between a query's After and Before, in its order.
func (s *memorySpace) span(q Query) []*Record {
	s.mu.Lock()
	all, floor := s.envelopes, s.floor.Seq
	if q.Chain {
		all, floor = s.chain, s.floor.Index
	}
	s.mu.Unlock()
	from, to := min(max(q.After, floor)-floor, uint64(len(all))), uint64(len(all))
	if q.Before > 0 {
		to = max(from, min(to, max(q.Before-1, floor)-floor))
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

// overtaken is one value, so that it can be told from other errors.
var overtaken = parley.Errorf(parley.Unavailable, "what was to be read next has been dropped by retention meanwhile").
	WithHint("read again from where the record begins now")

// Overtaken is the error of a read that is under way, where retention drops what
// it would have come to next: it must not look as if nothing had been there.
func Overtaken() error { return overtaken }

// IsOvertaken reports whether a read ended with [Overtaken].
func IsOvertaken(err error) bool {
	e, ok := errors.AsType[*parley.Error](err)
	return ok && e == overtaken
}

// Closed is the error of using a journal after Close.
func Closed() error { return parley.Errorf(parley.Unavailable, "the journal is closed") }
