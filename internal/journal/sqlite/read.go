package sqlite

import (
	"context"
	"errors"
	"iter"
	"math"
	"sort"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

// spaceReader reads one space. It implements [journal.Reader].
type spaceReader struct {
	j     *Journal
	space *space
}

// Bounds implements [journal.Reader].
func (s *spaceReader) Bounds(ctx context.Context) (journal.Bounds, error) {
	r, err := s.j.readers.get(ctx)
	if err != nil {
		return journal.Bounds{}, err
	}
	defer s.j.readers.put(r)
	var b journal.Bounds
	err = r.snapshot(func() (err error) {
		b, err = r.bounds(s.space)
		return err
	})
	if err != nil {
		return journal.Bounds{}, readError(ctx, err)
	}
	if s.j.index != nil {
		b.Indexed = s.space.indexed.Load()
	} else {
		b.Indexed = r.indexed(s.space.id)
	}
	return b, nil
}

// bounds needs a transaction around it where somebody may be writing.
func (r *reader) bounds(s *space) (b journal.Bounds, err error) {
	floor, err := r.floor(s)
	if err != nil {
		return b, err
	}
	if b.Head = floor; floor.Index == 0 {
		b.Head = journal.Origin(s.name)
	}
	end := func(query string, after uint64) {
		stmt, queryErr := r.query(query, key(s.id, after), key(s.id, maxSeq))
		if queryErr != nil {
			err = errors.Join(err, queryErr)
			return
		}
		defer stmt.Reset()
		if !stmt.Step() {
			err = errors.Join(err, stmt.Err())
			return
		}
		index, seq := uint64(stmt.ColumnInt64(0))&maxSeq, uint64(stmt.ColumnInt64(1))&maxSeq
		b.Last = max(b.Last, seq)
		if index > b.Head.Index {
			b.Head.Index = index
			copy(b.Head.Hash[:], stmt.ColumnRawBlob(2))
		}
	}
	b.Last = floor.Seq
	end(`SELECT place, key, hash FROM envelopes WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1`, floor.Seq)
	end(`SELECT key, place, hash FROM notes WHERE key > ? AND key <= ? ORDER BY key DESC LIMIT 1`, floor.Index)
	b.Head.Seq = b.Last
	if b.Last > floor.Seq {
		b.First = floor.Seq + 1
	}
	epochs, epochErr := r.epochs(s)
	if len(epochs) > 0 {
		b.Epoch = epochs[len(epochs)-1].name
	}
	return b, errors.Join(err, epochErr)
}

// snapshot runs f so that all that it reads is of one moment.
func (r *reader) snapshot(f func() error) error {
	if err := r.run(`BEGIN`); err != nil {
		return err
	}
	err := f()
	// Nothing was written; a transaction that was interrupted ends as well.
	old := r.conn.SetInterrupt(context.Background())
	defer r.conn.SetInterrupt(old)
	return errors.Join(err, r.run(`ROLLBACK`))
}

// run runs a kept statement without parameters.
func (r *reader) run(query string) error {
	stmt, err := r.prepare(query)
	if err != nil {
		return err
	}
	return stmt.Exec()
}

// readError says why a read ended.
func readError(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// Read implements [journal.Reader]. It reads a page at a time and holds
// nothing between pages.
func (s *spaceReader) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	return func(yield func(*journal.Record, error) bool) {
		sc, err := s.newScan(ctx, q)
		if err != nil {
			yield(nil, err)
			return
		}
		for len(sc.parts) > 0 && sc.left != 0 {
			page, err := sc.page(ctx)
			for _, r := range page {
				if !yield(r, nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// scan is a read that is under way.
type scan struct {
	*spaceReader
	matcher *journal.Matcher
	chain   bool
	newest  bool
	left    int    // records that are still wanted; below 0 is no bound
	rows    int    // of the next page, at most
	terms   string // what the index is asked for
	indexed uint64 // how far the index had got
	parts   []part // that are still to be read
	begun   bool   // a page has been read
	began   uint64 // the floor at that time
}

// part is a run of places, bounds excluded, that is read through the index or
// row by row.
type part struct {
	after, before uint64
	indexed       bool
}

const (
	firstPage = 64      // records
	largePage = 1024    // records
	pageBytes = 1 << 20 // of bodies, about
	pageScan  = 16_384  // rows that are looked at
)

func (s *spaceReader) newScan(ctx context.Context, q journal.Query) (*scan, error) {
	m, err := journal.NewMatcher(q)
	if err != nil {
		return nil, err
	}
	sc := &scan{spaceReader: s, matcher: m, chain: q.Chain, newest: q.Newest, left: q.Limit, rows: firstPage}
	if sc.left <= 0 {
		sc.left = -1
	}
	all := part{after: q.After, before: q.Before}
	if all.before == 0 {
		all.before = math.MaxUint64
	}
	if !q.Chain {
		sc.terms = terms(q)
	}
	if sc.terms != "" {
		if sc.indexed, err = s.indexed(ctx); err != nil {
			return nil, err
		}
	}
	known, rest := all, all
	known.before, known.indexed = min(all.before, sc.indexed+1), true
	rest.after = max(all.after, sc.indexed)
	if sc.terms != "" && s.j.index != nil && sc.indexed >= s.space.durable.Load() {
		rest.before = rest.after + 1 // there is none
	}
	sc.parts = []part{known, rest}
	if sc.newest {
		sc.parts = []part{rest, known}
	}
	sc.skipEmpty()
	return sc, nil
}

// indexed says how far the search index has read. Whoever feeds it knows; in
// another process it says so itself.
func (s *spaceReader) indexed(ctx context.Context) (uint64, error) {
	if s.j.index != nil {
		return s.space.indexed.Load(), nil
	}
	r, err := s.j.readers.get(ctx)
	if err != nil {
		return 0, err
	}
	defer s.j.readers.put(r)
	return r.indexed(s.space.id), nil
}

func (sc *scan) skipEmpty() {
	for len(sc.parts) > 0 && sc.parts[0].after >= sc.parts[0].before-1 {
		sc.parts = sc.parts[1:]
	}
}

// page reads on.
func (sc *scan) page(ctx context.Context) ([]*journal.Record, error) {
	r, err := sc.j.readers.get(ctx)
	if err != nil {
		return nil, err
	}
	defer sc.j.readers.put(r)
	p := &page{scan: sc, reader: r, part: &sc.parts[0], want: sc.rows}
	if sc.left > 0 {
		p.want = min(p.want, sc.left)
	}
	if err := r.snapshot(p.read); err != nil {
		return p.records, readError(ctx, err)
	}
	if !sc.begun {
		sc.begun, sc.began = true, p.lowest()
	}
	if p.end {
		sc.parts = sc.parts[1:]
	}
	sc.skipEmpty()
	if sc.left > 0 {
		sc.left -= len(p.records)
	}
	sc.rows = min(sc.rows*4, largePage)
	return p.records, nil
}

// page is one page of a scan, while it is read.
type page struct {
	*scan
	reader  *reader
	part    *part
	floor   journal.Head
	epochs  epochs
	want    int
	seen    int
	bytes   int
	records []*journal.Record
	end     bool // of the part
}

func (p *page) read() (err error) {
	if p.epochs, err = p.reader.epochs(p.space); err != nil {
		return err
	}
	if p.floor, err = p.reader.floor(p.space); err != nil {
		return err
	}
	if err := p.rise(); err != nil || p.end {
		return err
	}
	switch {
	case p.part.indexed:
		return p.readIndexed()
	case p.chain:
		return p.readChain()
	default:
		return p.readEnvelopes()
	}
}

// rise moves the part above the floor.
func (p *page) rise() error {
	floor := p.lowest()
	if p.part.after >= floor {
		return nil
	}
	if p.begun && !p.newest && floor > p.began {
		return journal.Overtaken()
	}
	p.part.after = floor
	p.end = p.part.after >= p.part.before-1
	return nil
}

// lowest is the place that the floor has in the order of the scan.
func (p *page) lowest() uint64 {
	if p.chain {
		return p.floor.Index
	}
	return p.floor.Seq
}

func (p *page) full() bool {
	return len(p.records) >= p.want || p.bytes >= pageBytes || p.seen >= pageScan
}

// row takes the row that a statement stands on, if it is one that is asked for.
func (p *page) row(stmt *sqlite3.Stmt) {
	p.seen++
	r := new(journal.Record)
	scanHeader(stmt, r)
	if p.chain {
		p.pass(r.Index)
	} else {
		p.pass(r.Seq)
	}
	if !p.matcher.Header(r) {
		return
	}
	scanBody(stmt, r)
	if !p.matcher.Body(r) {
		return
	}
	r.Epoch = p.epochs.at(r.Index)
	p.bytes += len(r.Body)
	p.records = append(p.records, r)
}

// pass notes how far the part has been read.
func (p *page) pass(place uint64) {
	if p.newest {
		p.part.before = place
	} else {
		p.part.after = place
	}
}

func (p *page) order() string {
	if p.newest {
		return ` DESC`
	}
	return ``
}

func (p *page) span(table string, after, before uint64) (*sqlite3.Stmt, error) {
	return p.reader.query(`SELECT `+columns+` FROM `+table+` WHERE key > ? AND key < ? ORDER BY key`+p.order(),
		key(p.space.id, after), key(p.space.id, before))
}

func (p *page) readEnvelopes() error {
	stmt, err := p.span(`envelopes`, p.part.after, p.part.before)
	if err != nil {
		return err
	}
	defer stmt.Reset()
	for !p.full() {
		if !stmt.Step() {
			p.end = true
			return stmt.Err()
		}
		p.row(stmt)
	}
	return nil
}

// readChain merges envelopes and notes by their index.
func (p *page) readChain() error {
	after, err := p.reader.seqAt(p.space, p.floor, p.part.after)
	if err != nil {
		return err
	}
	last, err := p.reader.seqAt(p.space, p.floor, p.part.before-1)
	if err != nil {
		return err
	}
	envelopes, err := p.span(`envelopes`, after, min(last, maxSeq-1)+1)
	if err != nil {
		return err
	}
	defer envelopes.Reset()
	notes, err := p.span(`notes`, p.part.after, p.part.before)
	if err != nil {
		return err
	}
	defer notes.Reset()
	moreEnvelopes, moreNotes := envelopes.Step(), notes.Step()
	for !p.full() {
		if !moreEnvelopes && !moreNotes {
			p.end = true
			return errors.Join(envelopes.Err(), notes.Err())
		}
		if moreEnvelopes && (!moreNotes || p.first(envelopes.ColumnInt64(1), notes.ColumnInt64(0)&maxSeq)) {
			p.row(envelopes)
			moreEnvelopes = envelopes.Step()
		} else {
			p.row(notes)
			moreNotes = notes.Step()
		}
	}
	return nil
}

// first reports whether index a comes before b.
func (p *page) first(a, b int64) bool { return a < b != p.newest }

// epochs are those of a space, in their order.
type epochs []epoch

type epoch struct {
	first uint64
	name  string
}

func (r *reader) epochs(s *space) (all epochs, err error) {
	stmt, err := r.query(`SELECT first, epoch FROM epochs WHERE space = ? ORDER BY first`, s.id)
	if err != nil {
		return nil, err
	}
	defer stmt.Reset()
	for stmt.Step() {
		all = append(all, epoch{uint64(stmt.ColumnInt64(0)), stmt.ColumnText(1)})
	}
	return all, stmt.Err()
}

// at is the epoch in which the record at index was appended.
func (e epochs) at(index uint64) string {
	i := sort.Search(len(e), func(i int) bool { return e[i].first > index })
	if i == 0 {
		return ""
	}
	return e[i-1].name
}
