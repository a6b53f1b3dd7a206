package sqlite

import (
	"context"
	"sync"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// pool lends readers, which it opens when they are needed.
type pool struct {
	open func() (*reader, error)
	lent chan struct{} // as many as may be lent

	mu     sync.Mutex
	idle   []*reader
	closed bool
}

func newPool(size int, open func() (*reader, error)) *pool {
	return &pool{open: open, lent: make(chan struct{}, size)}
}

// get waits for a reader. Until put it works for ctx and stops when that ends.
func (p *pool) get(ctx context.Context) (*reader, error) {
	select {
	case p.lent <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	r, err := p.take()
	if err != nil {
		<-p.lent
		return nil, err
	}
	r.conn.SetInterrupt(ctx)
	return r, nil
}

func (p *pool) take() (*reader, error) {
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, journal.Closed()
	}
	if n := len(p.idle); n > 0 {
		r := p.idle[n-1]
		p.idle = p.idle[:n-1]
		p.mu.Unlock()
		return r, nil
	}
	p.mu.Unlock()
	r, err := p.open()
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (p *pool) put(r *reader) {
	r.conn.SetInterrupt(context.Background())
	p.mu.Lock()
	p.idle = append(p.idle, r)
	p.mu.Unlock()
	<-p.lent
}

// close waits for the readers that are lent and closes all.
func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	for range cap(p.lent) {
		p.lent <- struct{}{}
	}
	for _, r := range p.idle {
		r.close()
	}
	p.idle = nil
	for range cap(p.lent) {
		<-p.lent // who comes now is told that it is closed
	}
}

// reader is a connection that cannot write, with its statements. It is used by
// one goroutine at a time.
type reader struct {
	j      *Journal
	conn   *sqlite3.Conn
	stmts  map[string]*sqlite3.Stmt
	search *searcher // nil until it is needed, and after it failed

	upToDate bool // the journal is known to have the newest schema
}

func newReader(j *Journal, c *sqlite3.Conn) *reader {
	return &reader{j: j, conn: c, stmts: map[string]*sqlite3.Stmt{}}
}

// prepare returns the statement of a query, which it keeps.
func (r *reader) prepare(query string) (*sqlite3.Stmt, error) {
	if stmt := r.stmts[query]; stmt != nil {
		return stmt, nil
	}
	stmt, _, err := r.conn.PrepareFlags(query, sqlite3.PREPARE_PERSISTENT)
	if err != nil {
		return nil, err
	}
	r.stmts[query] = stmt
	return stmt, nil
}

// query runs a kept statement with numbers for parameters. Its caller resets it.
func (r *reader) query(query string, args ...int64) (*sqlite3.Stmt, error) {
	stmt, err := r.prepare(query)
	if err != nil {
		return nil, err
	}
	b := binder{stmt: stmt}
	for _, arg := range args {
		b.number(arg)
	}
	return stmt, b.err
}

// close closes the connection. It only read, so there is nothing to lose.
func (r *reader) close() {
	r.dropSearch()
	_ = closeConn(r.conn)
}
