package sqlite

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Journal is an open journal file. It implements [journal.Journal].
type Journal struct {
	// Set by Open.
	opts    Options
	path    string // of the file itself, links followed
	uuid    string
	locked  *sqlite3.Conn // holds the lock; nil when reading only
	queue   *queue        // nil when reading only
	index   *index        // nil when reading only
	readers *pool
	running sync.WaitGroup

	writer writer // owned by write, once it runs

	opening sync.Mutex // held by Open, which waits for the writer

	mu     sync.Mutex
	spaces map[string]*space // all that there are; empty when reading only
	open   map[string]*log
	closed bool
}

// space is one space of the file.
type space struct {
	id      int64
	name    string
	epoch   string        // owned by the writer: of what is appended
	tail    tail          // owned by the writer: of what is durable
	durable atomic.Uint64 // its last seq, for others
	dropped atomic.Uint64 // the seq that its floor is at, for others

	// The search index holds what comes after forgotten, up to indexed.
	indexed   atomic.Uint64
	forgotten atomic.Uint64
}

// Open implements [journal.Journal].
func (j *Journal) Open(ctx context.Context, name string, sink journal.Sink) (journal.Log, error) {
	if j.opts.ReadOnly {
		return nil, parley.Errorf(parley.Unavailable, "the journal %s is open for reading only", j.opts.Path)
	}
	j.opening.Lock()
	defer j.opening.Unlock()
	j.mu.Lock()
	s, open, closed := j.spaces[name], j.open[name] != nil, j.closed
	j.mu.Unlock()
	switch {
	case closed:
		return nil, journal.Closed()
	case open:
		return nil, journal.AlreadyOpen(name)
	case s == nil:
		var err error
		if s, err = j.createSpace(ctx, name); err != nil {
			return nil, err
		}
	}
	l := &log{spaceReader: spaceReader{j: j, space: s}, sink: sink}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.open[name] = l
	return l, nil
}

// createSpace makes a space. If whoever asked gives up waiting, it is made all
// the same, and there for the next one.
func (j *Journal) createSpace(ctx context.Context, name string) (*space, error) {
	if err := j.onWriter(ctx, func() error { return j.insertSpace(name) }); err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.spaces[name], nil
}

// insertSpace runs on the writer.
func (j *Journal) insertSpace(name string) error {
	j.mu.Lock()
	known := j.spaces[name] != nil
	j.mu.Unlock()
	if known {
		return nil
	}
	c := j.writer.conn
	s := &space{name: name, tail: tail{head: journal.Origin(name), block: beginBlock(0)}}
	err := transact(c, func() error {
		if err := exec(c, `INSERT INTO spaces (name) VALUES (?)`, name); err != nil {
			return err
		}
		s.id = c.LastInsertRowID()
		return beginEpoch(c, s)
	})
	if err != nil {
		return writeError(err)
	}
	j.index.add(s)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.spaces[name] = s
	return nil
}

// onWriter runs a task on the writer's goroutine, in turn, and returns its
// error. A task that was handed over runs even if ctx ends before.
func (j *Journal) onWriter(ctx context.Context, task func() error) error {
	done := make(chan error, 1)
	if !j.queue.push(item{task: func() { done <- guarded(task) }}) {
		return journal.Closed()
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reader implements [journal.Journal].
func (j *Journal) Reader(ctx context.Context, name string) (journal.Reader, error) {
	s, err := j.findSpace(ctx, name)
	if err != nil {
		return nil, err
	}
	return &spaceReader{j: j, space: s}, nil
}

func (j *Journal) findSpace(ctx context.Context, name string) (*space, error) {
	j.mu.Lock()
	s := j.spaces[name]
	j.mu.Unlock()
	if s != nil {
		return s, nil
	}
	if !j.opts.ReadOnly {
		return nil, journal.NoSuchSpace(name)
	}
	r, err := j.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	defer j.readers.put(r)
	stmt, err := r.prepare(`SELECT id FROM spaces WHERE name = ?`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	if err := stmt.BindText(1, name); err != nil {
		return nil, err
	}
	if !stmt.Step() {
		if err := stmt.Err(); err != nil {
			return nil, err
		}
		return nil, journal.NoSuchSpace(name)
	}
	return &space{id: stmt.ColumnInt64(0), name: name}, nil
}

// Spaces implements [journal.Journal].
func (j *Journal) Spaces(ctx context.Context) ([]string, error) {
	r, err := j.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	defer j.readers.put(r)
	stmt, err := r.prepare(`SELECT name FROM spaces`)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	var names []string
	for stmt.Step() {
		names = append(names, stmt.ColumnText(0))
	}
	slices.Sort(names)
	return names, stmt.Err()
}

// Close implements [journal.Journal]. Reads that are under way end with an
// error.
func (j *Journal) Close() error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return nil
	}
	j.closed = true
	j.mu.Unlock()
	if j.queue != nil {
		j.queue.close()
		j.index.stop()
		j.running.Wait()
	}
	return j.closeAll()
}

// closeAll closes every connection, those of a journal that did not open
// included.
func (j *Journal) closeAll() error {
	var errs []error
	if j.readers != nil {
		j.readers.close()
	}
	if j.index != nil {
		errs = append(errs, j.index.close())
	}
	errs = append(errs, j.writer.close(), closeConn(j.locked))
	return errors.Join(errs...)
}

// closeConn closes a connection with its statements; nil is none.
func closeConn(c *sqlite3.Conn) error {
	if c == nil {
		return nil
	}
	for _, stmt := range slices.Collect(c.Stmts()) {
		_ = stmt.Close() // reports what the statement's last run did
	}
	return c.Close()
}
