package sqlite

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
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

// withoutIndex is an error for whoever must not wait.
func (s *spaceReader) withoutIndex(ctx context.Context, q journal.ContextQuery) iter.Seq2[*journal.Context, error] {
	if q.Settled {
		return func(yield func(*journal.Context, error) bool) {
			yield(nil, parley.Errorf(parley.Unavailable, "the index of contexts is being made anew"))
		}
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
	gone               []string     // those of the table that retention left nothing of
	inTree             map[string]bool
	found              []*journal.Context
}

func (p *contextPage) read() (err error) {
	search := p.reader.search
	if p.indexed, p.forgotten, err = search.place(p.space.id); err != nil {
		return err
	}
	p.book = newContextBook(&search.contextLookup, p.reader, p.space.id, p.q.Kinds)
	if !p.q.Settled {
		if err := p.followDropped(); err != nil {
			return err
		}
		if err := p.followTail(); err != nil {
			return err
		}
	}
	if err := p.choose(); err != nil {
		return err
	}
	p.merge()
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

// choose finds what the table knows and is as the query asks.
func (p *contextPage) choose() error {
	if p.q.Tree == "" {
		return p.run(``, p.size, p.take)
	}
	p.inTree = map[string]bool{p.q.Tree: true}
	p.roots = []string{p.q.Tree}
	for id := range p.book.changed {
		in, err := p.climb(id)
		if err != nil {
			return err
		}
		if in && id != p.q.Tree {
			p.roots = append(p.roots, id) // which the table may not know yet
		}
		if p.book.tree.Get(id) == nil {
			p.gone = append(p.gone, id)
		}
	}
	if p.size <= fewContexts {
		if done, err := p.chooseDense(); done || err != nil {
			return err
		}
	}
	return p.run(`(`+p.walk()+walkAll+`) CROSS JOIN `, p.size, p.take)
}

const (
	fewContexts  = 256   // of a page for which no large tree need be walked
	largeTree    = 500   // contexts of one
	denseContext = 1_024 // contexts that are looked at instead
)

// chooseDense spares the walk through a tree that is large: if it is a good part
// of all, a page of it is found among the next of all.
func (p *contextPage) chooseDense() (done bool, err error) {
	if large, err := p.isLarge(); !large {
		return false, err
	}
	seen := 0
	err = p.run(``, denseContext, func(c *journal.Context) (more bool, err error) {
		seen++
		in, err := p.climb(c.ID)
		if in {
			p.found = append(p.found, c)
		}
		return len(p.found) < p.size, err
	})
	if done = seen < denseContext || len(p.found) == p.size; !done {
		p.found = nil
	}
	return done, err
}

// climb reports whether a context is in the tree that is asked for. Parents may
// form a circle.
func (p *contextPage) climb(id string) (in bool, err error) {
	var path []string
	for seen := map[string]bool{}; id != "" && !seen[id]; {
		var known bool
		if in, known = p.inTree[id]; known {
			break
		}
		seen[id] = true
		path = append(path, id)
		c, err := p.book.get(id)
		if err != nil {
			return false, err
		}
		if c == nil {
			break
		}
		id = c.Parent
	}
	for _, id := range path {
		p.inTree[id] = in
	}
	return in, nil
}

// walk is a tree's part of a query: ids below some roots, without what is gone.
const walk = `WITH RECURSIVE under (node) AS (
	SELECT value FROM json_each(?)
	UNION
	SELECT c.id FROM under CROSS JOIN contexts AS c ON c.space = ? AND c.parent = under.node`

const (
	walkAll = `) SELECT node FROM under`
	walkFar = ` LIMIT ?) SELECT count(*) FROM under` // no farther than so many
)

// walk begins a walk, and bindWalk binds what it needs.
func (p *contextPage) walk() string {
	if len(p.gone) == 0 {
		return walk
	}
	return walk + ` AND c.id NOT IN (SELECT value FROM json_each(?))`
}

func (p *contextPage) bindWalk(b *binder) {
	b.json(p.roots)
	b.number(p.space.id)
	if len(p.gone) > 0 {
		b.json(p.gone)
	}
}

// isLarge reports whether a walk through the tree would be long.
func (p *contextPage) isLarge() (bool, error) {
	n, err := p.count(p.walk()+walkFar, func(b *binder) {
		p.bindWalk(b)
		b.number(largeTree)
	})
	return n >= largeTree, err
}

// isRecent reports whether few have been touched since a moment.
func (p *contextPage) isRecent() (bool, error) {
	n, err := p.count(`SELECT count(*) FROM (SELECT 1 FROM contexts INDEXED BY contexts_touched WHERE space = ? AND touched >= ? LIMIT ?)`, func(b *binder) {
		b.number(p.space.id)
		b.number(milli(p.q.Since))
		b.number(largeTree)
	})
	return n < largeTree, err
}

func (p *contextPage) count(query string, bind func(*binder)) (n int64, err error) {
	stmt, err := p.statement(query)
	if err != nil {
		return 0, err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	if bind(&b); b.err == nil && stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	return n, errors.Join(b.err, stmt.Err())
}

func (p *contextPage) statement(query string) (*sqlite3.Stmt, error) {
	stmt, _, err := p.reader.search.conn.Prepare(query)
	return stmt, err
}

func (p *contextPage) take(c *journal.Context) (more bool, err error) {
	p.found = append(p.found, c)
	return true, nil
}

// run finds those that the table knows, the first of them, all or of a tree that
// is walked.
func (p *contextPage) run(tree string, limit int, take func(*journal.Context) (more bool, err error)) error {
	var c conditions
	if tree != "" {
		c.add(`id = node`, p.bindWalk)
	}
	p.conditions(&c)
	from := ` FROM ` + tree + `contexts`
	if p.q.Tree == "" && p.q.ID == "" && len(p.q.IDs) == 0 && p.q.Parent == "" && !p.q.Since.IsZero() {
		recent, err := p.isRecent()
		if err != nil {
			return err
		}
		if recent {
			from += ` INDEXED BY contexts_touched`
		}
	}
	order := ` ORDER BY ` + p.first()
	if p.q.Newest {
		order += ` DESC`
	}
	stmt, err := p.statement(`SELECT ` + contextColumns + from + ` WHERE ` + strings.Join(c.where, ` AND `) + order + ` LIMIT ?`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	for _, bind := range c.bind {
		bind(&b)
	}
	b.number(int64(limit))
	if b.err != nil {
		return b.err
	}
	for stmt.Step() {
		if more, err := take(scanContext(stmt)); err != nil || !more {
			return err
		}
	}
	return stmt.Err()
}

// conditions are those of a query, with what they bind.
type conditions struct {
	where []string
	bind  []func(*binder)
}

func (c *conditions) add(cond string, bind func(*binder)) {
	c.where, c.bind = append(c.where, cond), append(c.bind, bind)
}

func (c *conditions) number(cond string, n int64) { c.add(cond, func(b *binder) { b.number(n) }) }

func (c *conditions) name(cond, s string) {
	if s != "" {
		c.add(cond, func(b *binder) { b.text(s) })
	}
}

func (c *conditions) moment(cond string, t time.Time) {
	if !t.IsZero() {
		c.number(cond, milli(t))
	}
}

// first is the column by which contexts are put in order. Where they are named
// it must not tempt SQLite to walk all of them in that order.
func (p *contextPage) first() string {
	if len(p.q.IDs) > 0 {
		return `+first`
	}
	return `first`
}

// conditions are all but that of a tree.
func (p *contextPage) conditions(c *conditions) {
	q := p.q
	c.number(`space = ?`, p.space.id)
	c.number(p.first()+` > ?`, int64(min(q.After, maxSeq)))
	if q.Before > 0 {
		c.number(p.first()+` < ?`, int64(min(q.Before, maxSeq)))
	}
	c.name(`id = ?`, q.ID)
	if len(q.IDs) > 0 {
		c.add(`id IN (SELECT value FROM json_each(?))`, func(b *binder) { b.json(q.IDs) })
	}
	c.name(`parent = ?`, q.Parent)
	c.name(`type = ?`, q.Type)
	c.name(`opener = ?`, q.Opener)
	c.moment(`touched >= ?`, q.Since)
	c.moment(`touched < ?`, q.Until)
	if p.floor.Seq > p.forgotten {
		c.number(`last > ?`, int64(p.floor.Seq))
	}
	if len(p.book.changed) > 0 {
		c.add(`id NOT IN (SELECT value FROM json_each(?))`, func(b *binder) { b.json(slices.Sorted(maps.Keys(p.book.changed))) })
	}
}

// merge adds what the table does not know yet, or not as it is.
func (p *contextPage) merge() {
	for id := range p.book.changed {
		if c := p.book.tree.Get(id); c != nil && p.q.Match(c) && (p.q.Tree == "" || p.inTree[id]) {
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

// json binds texts for json_each.
func (b *binder) json(texts []string) {
	list, err := json.Marshal(texts, jsontext.AllowInvalidUTF8(true))
	b.keep(err)
	b.n++
	b.keep(b.stmt.BindRawText(b.n, list))
}
