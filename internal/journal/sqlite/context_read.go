package sqlite

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

const (
	firstContexts = 1024   // of a page
	largeContexts = 65_536 // of later ones, since each walks a tree anew
	mostBehind    = 65_536 // envelopes that the index may be behind, or all are read
)

// errBehind is why contexts are found by reading all.
var errBehind = errors.New("the search index is far behind")

// Contexts implements [journal.Reader]. They come from the index, a page at a
// time, and are corrected by the envelopes that it has not read yet, and by those
// that it has not forgotten yet. Where it cannot be used, all is read.
func (s *spaceReader) Contexts(ctx context.Context, q journal.ContextQuery) iter.Seq2[*journal.Context, error] {
	return func(yield func(*journal.Context, error) bool) {
		for size := firstContexts; ; size = min(size*8, largeContexts) {
			if q.Limit > 0 {
				size = min(size, q.Limit)
			}
			page, err := s.contextPage(ctx, q, size)
			if errors.Is(err, errNoIndex) {
				for c, err := range s.withoutIndex(ctx, q) {
					if !yield(c, err) {
						return
					}
				}
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, c := range page {
				if !yield(c, nil) {
					return
				}
			}
			if len(page) < size || q.Limit == len(page) {
				return
			}
			q = behind(q, page)
		}
	}
}

// behind asks for what comes after a page.
func behind(q journal.ContextQuery, page []*journal.Context) journal.ContextQuery {
	last := page[len(page)-1].First
	if q.Newest {
		q.Before = last
	} else {
		q.After = last
	}
	if q.Limit > 0 {
		q.Limit -= len(page)
	}
	return q
}

// withoutIndex is nothing for whoever must not wait.
func (s *spaceReader) withoutIndex(ctx context.Context, q journal.ContextQuery) iter.Seq2[*journal.Context, error] {
	if q.Settled {
		return func(func(*journal.Context, error) bool) {}
	}
	return journal.ScanContexts(ctx, s, q)
}

// contextPage reads a page, or says errNoIndex.
func (s *spaceReader) contextPage(ctx context.Context, q journal.ContextQuery, size int) ([]*journal.Context, error) {
	r, err := s.j.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	defer s.j.readers.put(r)
	for range 2 { // an index that was made anew since needs a second look
		if !r.canSearch() {
			return nil, errNoIndex
		}
		p := contextPage{spaceReader: s, reader: r, q: q, size: size}
		reached := s.space.indexed.Load()
		err = r.snapshot(func() error {
			// The index is looked at second: what it does not know is there then.
			if p.floor, err = r.floor(s.space); err != nil {
				return err
			}
			return r.search.snapshot(ctx, p.read)
		})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err == nil && (s.j.index == nil || p.indexed >= reached) {
			return p.found, nil
		}
		r.dropSearch()
		if errors.Is(err, errBehind) {
			break
		}
	}
	return nil, errNoIndex
}

// contextPage is one page, while it is read.
type contextPage struct {
	*spaceReader
	reader *reader
	q      journal.ContextQuery
	size   int

	floor              journal.Head
	indexed, forgotten uint64       // how far the index has got
	book               *contextBook // what it has not followed yet
	roots              []string     // of the tree that is asked for
	found              []*journal.Context
}

func (p *contextPage) read() (err error) {
	search := p.reader.search
	if p.indexed, p.forgotten, err = search.place(p.space.id); err != nil {
		return err
	}
	p.book = newContextBook(&search.contextLookup, p.reader, p.space.id, p.q.Kinds)
	if !p.q.Settled {
		if err := errors.Join(p.followDropped(), p.followTail()); err != nil {
			return err
		}
	}
	var tree map[string]bool
	if p.q.Tree != "" {
		if tree, err = p.under(); err != nil {
			return err
		}
	}
	if err := p.choose(); err != nil {
		return err
	}
	p.merge(tree)
	return p.loadKinds()
}

// followDropped takes back what the index has not forgotten yet.
func (p *contextPage) followDropped() error {
	last := min(p.floor.Seq, p.indexed)
	if last <= p.forgotten {
		return nil
	}
	if last-p.forgotten > mostBehind {
		return errBehind
	}
	n, err := p.each(`SELECT `+columns+` FROM envelopes WHERE key > ? AND key <= ? ORDER BY key`, p.forgotten, last, p.book.drop)
	if err != nil {
		return err
	}
	if n < last-p.forgotten {
		return errLost
	}
	return p.book.rise(last, p.indexed)
}

// followTail takes in what the index has not read yet.
func (p *contextPage) followTail() error {
	from := max(p.indexed, p.floor.Seq)
	if p.j.index != nil && from >= p.space.durable.Load() {
		return nil
	}
	stmt, err := p.reader.query(`SELECT key FROM envelopes WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1`,
		key(p.space.id, from), key(p.space.id, maxSeq))
	if err != nil {
		return err
	}
	defer stmt.Reset()
	if !stmt.Step() {
		return stmt.Err()
	}
	last := uint64(stmt.ColumnInt64(0)) & maxSeq
	if last-from > mostBehind {
		return errBehind
	}
	_, err = p.each(`SELECT `+columns+` FROM envelopes WHERE key > ? AND key <= ? AND context <> '' ORDER BY key`, from, last, p.book.add)
	return err
}

// each passes the rows of a span on.
func (p *contextPage) each(query string, from, to uint64, f func(*journal.Record) error) (n uint64, err error) {
	stmt, err := p.reader.query(query, key(p.space.id, from), key(p.space.id, to))
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	for ; stmt.Step(); n++ {
		var r journal.Record
		if scanHeader(stmt, &r); r.Context == "" {
			continue
		}
		scanBody(stmt, &r)
		if err := f(&r); err != nil {
			return n, err
		}
	}
	return n, stmt.Err()
}

// walk is a tree's part of a query: ids below some roots, without what is gone.
const walk = `WITH RECURSIVE under (id) AS (
	SELECT value FROM json_each(?)
	UNION
	SELECT c.id FROM under CROSS JOIN contexts AS c ON c.space = ? AND c.parent = under.id AND c.id NOT IN (SELECT value FROM json_each(?))
) SELECT id FROM under`

// under finds the tree that is asked for, and its roots: the one that was named,
// and those of it that the index does not know yet.
func (p *contextPage) under() (map[string]bool, error) {
	p.roots = []string{p.q.Tree}
	if len(p.book.changed) == 0 {
		return nil, nil // the table knows all of it
	}
	tree := map[string]bool{}
	for next := p.roots; len(next) > 0; {
		if err := p.walk(next, tree); err != nil {
			return nil, err
		}
		next = nil
		for id := range p.book.changed {
			if c := p.book.tree.Get(id); c != nil && tree[c.Parent] && !tree[id] {
				next = append(next, id)
			}
		}
		p.roots = append(p.roots, next...)
	}
	return tree, nil
}

// walk adds what is below some roots to a tree.
func (p *contextPage) walk(roots []string, tree map[string]bool) error {
	stmt, err := p.statement(walk)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	p.bindWalk(&b, roots)
	if b.err != nil {
		return b.err
	}
	for stmt.Step() {
		tree[stmt.ColumnText(0)] = true
	}
	return stmt.Err()
}

func (p *contextPage) bindWalk(b *binder, roots []string) {
	b.json(roots)
	b.number(p.space.id)
	b.json(p.gone())
}

// gone are those that the table has and that retention left nothing of.
func (p *contextPage) gone() []string {
	gone := []string{}
	for id := range p.book.changed {
		if p.book.tree.Get(id) == nil {
			gone = append(gone, id)
		}
	}
	return gone
}

func (p *contextPage) statement(query string) (*sqlite3.Stmt, error) {
	stmt, _, err := p.reader.search.conn.Prepare(query)
	return stmt, err
}

// choose finds what the table knows and is as the query asks.
func (p *contextPage) choose() error {
	query, bind := p.query()
	stmt, err := p.statement(query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	for _, f := range bind {
		f(&b)
	}
	if b.err != nil {
		return b.err
	}
	for stmt.Step() {
		p.found = append(p.found, scanContext(stmt))
	}
	return stmt.Err()
}

// query writes what is asked for, and says what to bind.
func (p *contextPage) query() (text string, bind []func(*binder)) {
	q := p.q
	var where []string
	number := func(cond string, n uint64) {
		where = append(where, cond)
		bind = append(bind, func(b *binder) { b.number(int64(min(n, math.MaxInt64))) })
	}
	name := func(cond, s string) {
		if s != "" {
			where = append(where, cond)
			bind = append(bind, func(b *binder) { b.text(s) })
		}
	}
	moment := func(cond string, t time.Time) {
		if !t.IsZero() {
			where = append(where, cond)
			bind = append(bind, func(b *binder) { b.number(milli(t)) })
		}
	}
	number(`space = ?`, uint64(p.space.id))
	number(`first > ?`, q.After)
	if q.Before > 0 {
		number(`first < ?`, q.Before)
	}
	name(`id = ?`, q.ID)
	name(`parent = ?`, q.Parent)
	name(`type = ?`, q.Type)
	name(`opener = ?`, q.Opener)
	moment(`touched >= ?`, q.Since)
	moment(`touched < ?`, q.Until)
	if p.floor.Seq > p.forgotten {
		number(`last > ?`, p.floor.Seq)
	}
	if q.Tree != "" {
		where = append(where, `id IN (`+walk+`)`)
		bind = append(bind, func(b *binder) { p.bindWalk(b, p.roots) })
	}
	if len(p.book.changed) > 0 {
		where = append(where, `id NOT IN (SELECT value FROM json_each(?))`)
		bind = append(bind, func(b *binder) { b.json(keys(p.book.changed)) })
	}
	order := ` ORDER BY first`
	if q.Newest {
		order += ` DESC`
	}
	bind = append(bind, func(b *binder) { b.number(int64(p.size)) })
	return `SELECT ` + contextColumns + ` FROM contexts WHERE ` + strings.Join(where, ` AND `) + order + ` LIMIT ?`, bind
}

// merge adds what the table does not know yet, or not as it is.
func (p *contextPage) merge(tree map[string]bool) {
	for id := range p.book.changed {
		if c := p.book.tree.Get(id); c != nil && p.q.Match(c) && (p.q.Tree == "" || tree[id]) {
			p.found = append(p.found, c)
		}
	}
	for _, c := range p.found {
		// What must not wait reads what has not been corrected.
		c.First = max(c.First, p.floor.Seq+1)
	}
	journal.SortContexts(p.found, p.q.Newest)
	p.found = p.found[:min(len(p.found), p.size)]
}

func (p *contextPage) loadKinds() error {
	for _, c := range p.found {
		if !p.q.Kinds {
			c.Kinds = nil
			continue
		}
		if _, changed := p.book.changed[c.ID]; changed {
			continue // its own are newer
		}
		if err := p.book.loadKinds(p.space.id, c); err != nil {
			return err
		}
	}
	return nil
}

// milli is a moment in milliseconds, as the table has them: what is before that
// is before the moment.
func milli(t time.Time) int64 {
	n := t.UnixMilli()
	if time.UnixMilli(n).Before(t) {
		n++
	}
	return n
}

func keys(set map[string]struct{}) []string {
	all := make([]string, 0, len(set))
	for k := range set {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// json binds texts for json_each.
func (b *binder) json(texts []string) {
	list, err := json.Marshal(texts, jsontext.AllowInvalidUTF8(true))
	b.keep(err)
	b.n++
	b.keep(b.stmt.BindRawText(b.n, list))
}
