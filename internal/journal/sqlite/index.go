package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/ext/fts5"

	"github.com/parleyhq/parley/internal/journal"
)

const (
	indexBatch = 512                    // envelopes that are worth a batch at once
	indexDelay = 250 * time.Millisecond // that fewer may wait
	indexMost  = 4096                   // envelopes of one batch
	indexRetry = 5 * time.Second        // after a failure
)

// indexVersion counts up with whatever changes what the index holds; an index
// of another version is made anew.
const indexVersion = 1

const indexSchema = `
CREATE TABLE about (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	uuid       TEXT    NOT NULL, -- the journal that it is of
	version    INTEGER NOT NULL,
	redactions INTEGER NOT NULL  -- how many it has followed
) STRICT;

CREATE TABLE places ( -- how far each space has been read
	space INTEGER PRIMARY KEY,
	seq   INTEGER NOT NULL
) STRICT;

-- Only asked for rows, so it keeps neither texts nor positions. The tokenizer
-- splits at blanks, which is all that is left to do.
CREATE VIRTUAL TABLE words USING fts5 (
	terms, content = '', contentless_delete = 1, detail = none, tokenize = 'ascii'
);
`

// index feeds the search index, a little behind the writer.
type index struct {
	j      *Journal
	reader *reader
	signal chan struct{}
	quit   chan struct{} // closed when the journal closes

	// Owned by run, once it runs.
	conn       *sqlite3.Conn
	insert     *sqlite3.Stmt
	remove     *sqlite3.Stmt
	redactions int64
	terms      []byte              // of the record that is put
	seen       map[string]struct{} // words of it

	mu      sync.Mutex
	spaces  []*space
	hurry   bool          // somebody waits, or something was redacted
	settled chan struct{} // closed when the index has moved on
}

func (j *Journal) openIndex() (*index, error) {
	x := &index{j: j, signal: make(chan struct{}, 1), quit: make(chan struct{}), settled: make(chan struct{}), seen: map[string]struct{}{}}
	for _, s := range j.spaces {
		x.spaces = append(x.spaces, s)
	}
	r, err := j.openReader()
	if err != nil {
		return nil, err
	}
	x.reader = r
	if err := x.load(); err != nil {
		if err := x.rebuild(err); err != nil {
			return x, err
		}
	}
	return x, nil
}

// add makes the index follow another space.
func (x *index) add(s *space) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.spaces = append(x.spaces, s)
}

func (x *index) wake() {
	select {
	case x.signal <- struct{}{}:
	default:
	}
}

func (x *index) stop() { close(x.quit) }

func (x *index) stopping() bool {
	select {
	case <-x.quit:
		return true
	default:
		return false
	}
}

func (x *index) close() error {
	if x.reader != nil {
		x.reader.close()
	}
	return closeConn(x.conn)
}

// open opens the index's file and makes it where there is none.
func (x *index) open() error {
	path := x.j.indexPath()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := create(path + suffix); err != nil {
			return err
		}
	}
	c, err := sqlite3.OpenFlags(Options{}.uri(path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	x.conn = c
	if err := fts5.Register(c); err != nil {
		return err
	}
	// The index can be made anew: a power loss need not be survived whole.
	return c.Exec(`
		PRAGMA busy_timeout = 5000;
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = NORMAL;
		PRAGMA temp_store = MEMORY;
		PRAGMA cache_size = -8192`)
}

// load opens the index and sees how far it has got.
func (x *index) load() error {
	if err := x.open(); err != nil {
		return err
	}
	tables, err := number(x.conn, `SELECT count(*) FROM sqlite_schema`)
	if err != nil {
		return err
	}
	if tables == 0 {
		if err := x.makeTables(); err != nil {
			return err
		}
	}
	if of, err := indexOf(x.conn); err != nil || of != x.j.uuid {
		return errors.Join(errNoIndex, err)
	}
	if x.redactions, err = number(x.conn, `SELECT redactions FROM about`); err != nil {
		return err
	}
	return errors.Join(x.loadPlaces(), x.prepare())
}

func (x *index) makeTables() error {
	return transact(x.conn, func() error {
		if err := x.conn.Exec(indexSchema); err != nil {
			return err
		}
		return exec(x.conn, `INSERT INTO about VALUES (1, ?, ?, 0)`, x.j.uuid, int64(indexVersion))
	})
}

// indexOf names the journal that an index is of; none for an index of another
// version.
func indexOf(c *sqlite3.Conn) (string, error) {
	version, err := number(c, `SELECT version FROM about`)
	if err != nil || version != indexVersion {
		return "", err
	}
	return text(c, `SELECT uuid FROM about`)
}

func (x *index) loadPlaces() error {
	for _, s := range x.spaces {
		stmt, _, err := x.conn.Prepare(searchPlace)
		if err != nil {
			return err
		}
		var seq int64
		err = stmt.BindInt64(1, s.id)
		if err == nil && stmt.Step() {
			seq = stmt.ColumnInt64(0)
		}
		if err := errors.Join(err, stmt.Close()); err != nil {
			return err
		}
		if uint64(seq) > s.durable.Load() {
			// The journal has lost its end, or is an older copy.
			return errNoIndex
		}
		s.indexed.Store(uint64(seq))
	}
	return nil
}

func (x *index) prepare() (err error) {
	if x.insert, _, err = x.conn.Prepare(`INSERT INTO words (rowid, terms) VALUES (?, ?)`); err != nil {
		return err
	}
	x.remove, _, err = x.conn.Prepare(`DELETE FROM words WHERE rowid = ?`)
	return err
}

// rebuild makes an index anew that cannot be used.
func (x *index) rebuild(cause error) error {
	x.j.opts.Log.Warn("the search index is made anew", "path", x.j.indexPath(), "cause", cause)
	_ = closeConn(x.conn) // it is thrown away
	x.conn = nil
	for _, s := range x.spaces {
		s.indexed.Store(0)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(x.j.indexPath() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return x.load()
}

// run is the index's goroutine.
func (x *index) run() {
	for x.pause() {
		more := true
		for more && !x.stopping() {
			n, err := x.feed()
			more = n > 0
			if err != nil && !errors.Is(err, errStopping) {
				x.failed(err)
				more = true
			}
		}
	}
}

var errStopping = errors.New("the journal is closing")

// failed makes an index anew that is damaged, and waits a while where the
// trouble is another.
func (x *index) failed(err error) {
	if errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) || x.conn == nil {
		x.mu.Lock()
		rebuilt := x.rebuild(err)
		x.mu.Unlock()
		if rebuilt == nil {
			return
		}
		err = rebuilt
	}
	x.j.opts.Log.Warn("the search index cannot be fed", "path", x.j.indexPath(), "error", err)
	retry := time.NewTimer(indexRetry)
	defer retry.Stop()
	select {
	case <-retry.C:
	case <-x.quit:
	}
}

// pause waits until a batch is worth it or has waited long enough, and reports
// whether to go on.
func (x *index) pause() bool {
	var timer *time.Timer
	var late <-chan time.Time
	for {
		waiting, hurry := x.waiting()
		if hurry || waiting >= indexBatch {
			return !x.stopping()
		}
		if waiting > 0 && timer == nil {
			timer = time.NewTimer(indexDelay)
			defer timer.Stop()
			late = timer.C
		}
		select {
		case <-x.signal:
		case <-late:
			return true
		case <-x.quit:
			return false
		}
	}
}

// waiting counts what the index has not read yet.
func (x *index) waiting() (n uint64, hurry bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.spaces {
		n += s.durable.Load() - s.indexed.Load()
	}
	return n, x.hurry
}

// feed indexes a batch and returns how many envelopes it was of.
func (x *index) feed() (n int, err error) {
	if x.conn == nil {
		return 0, errNoIndex
	}
	x.mu.Lock()
	spaces := slices.Clone(x.spaces)
	x.hurry = false
	x.mu.Unlock()
	reached := map[int64]uint64{}
	redactions := x.redactions
	err = transact(x.conn, func() (err error) {
		for _, s := range spaces {
			from := s.indexed.Load()
			to := min(s.durable.Load(), from+uint64(indexMost-n))
			reached[s.id] = max(from, to)
			if from >= to {
				continue
			}
			if err := x.feedSpace(s, from, to); err != nil {
				return err
			}
			n += int(to - from)
		}
		redactions, err = x.followRedactions(reached)
		return err
	})
	if err != nil {
		return 0, err
	}
	x.redactions = redactions
	for _, s := range spaces {
		s.indexed.Store(reached[s.id])
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	close(x.settled)
	x.settled = make(chan struct{})
	return n, nil
}

// feedSpace indexes a space's envelopes after from, up to to.
func (x *index) feedSpace(s *space, from, to uint64) error {
	stmt, err := x.reader.query(`SELECT `+columns+` FROM envelopes WHERE key > ? AND key <= ? ORDER BY key`, key(s.id, from), key(s.id, to))
	if err != nil {
		return unread(err)
	}
	defer stmt.Reset()
	for stmt.Step() {
		if x.stopping() {
			return errStopping
		}
		if err := x.put(stmt); err != nil {
			return err
		}
	}
	if err := stmt.Err(); err != nil {
		return unread(err)
	}
	return exec(x.conn, `INSERT OR REPLACE INTO places VALUES (?, ?)`, s.id, int64(to))
}

// put indexes the row that a statement stands on.
func (x *index) put(stmt *sqlite3.Stmt) error {
	var r journal.Record
	scanHeader(stmt, &r)
	scanBody(stmt, &r)
	b := binder{stmt: x.insert}
	b.number(stmt.ColumnInt64(0))
	x.terms = appendTerms(x.terms[:0], &r, x.seen)
	b.keep(x.insert.BindRawText(2, x.terms))
	return errors.Join(b.err, x.insert.Exec())
}

// followRedactions takes the words of redacted records out of the index, and
// returns how many redactions it has followed then.
func (x *index) followRedactions(reached map[int64]uint64) (int64, error) {
	stmt, err := x.reader.query(`SELECT n, key FROM redactions WHERE n > ? ORDER BY n`, x.redactions)
	if err != nil {
		return 0, unread(err)
	}
	defer stmt.Reset()
	last := x.redactions
	for stmt.Step() {
		last = stmt.ColumnInt64(0)
		k := stmt.ColumnInt64(1)
		if uint64(k)&maxSeq > reached[k>>seqBits] {
			continue // it has not been read yet, and will be as it is now
		}
		if err := x.replace(k); err != nil {
			return 0, err
		}
	}
	if err := stmt.Err(); err != nil || last == x.redactions {
		return last, unread(err)
	}
	return last, exec(x.conn, `UPDATE about SET redactions = ?`, last)
}

func (x *index) replace(k int64) error {
	stmt, err := x.reader.query(`SELECT `+columns+` FROM envelopes WHERE key = ?`, k)
	if err != nil {
		return unread(err)
	}
	defer stmt.Reset()
	if err := errors.Join(x.remove.BindInt64(1, k), x.remove.Exec()); err != nil {
		return err
	}
	if !stmt.Step() {
		return unread(stmt.Err())
	}
	return x.put(stmt)
}

// unread is an error of the journal's own. It is wrapped by its text alone:
// a damaged journal is no reason to make the index anew, again and again.
func unread(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("reading the journal: %v", err)
}

// WaitIndexed waits until the search index has read a space up to seq. Nothing
// needs it but who wants to know how fast a search without the rest is.
func (j *Journal) WaitIndexed(ctx context.Context, name string, seq uint64) error {
	j.mu.Lock()
	s := j.spaces[name]
	j.mu.Unlock()
	if s == nil {
		return journal.NoSuchSpace(name)
	}
	for {
		j.index.mu.Lock()
		settled := j.index.settled
		done := s.indexed.Load() >= seq
		j.index.hurry = j.index.hurry || !done
		j.index.mu.Unlock()
		if done {
			return nil
		}
		j.index.wake()
		select {
		case <-settled:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// redacted makes the index follow a redaction soon.
func (x *index) redacted() {
	x.mu.Lock()
	x.hurry = true
	x.mu.Unlock()
	x.wake()
}
