package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"sync/atomic"
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
const indexVersion = 4

const indexSchema = `
CREATE TABLE about (
	one        INTEGER PRIMARY KEY CHECK (one = 1),
	uuid       TEXT    NOT NULL, -- the journal that it is of
	version    INTEGER NOT NULL,
	redactions INTEGER NOT NULL  -- the last that it has followed
) STRICT;

CREATE TABLE places ( -- how far each space has been read, and forgotten
	space     INTEGER PRIMARY KEY,
	seq       INTEGER NOT NULL,
	forgotten INTEGER NOT NULL -- of what came up to here nothing is in it
) STRICT;

-- Only asked for rows, so it keeps neither texts nor positions. The tokenizer
-- splits at blanks, which is all that is left to do. To take a row out one must
-- know what was put in; then it costs half of what it does with
-- contentless_delete, and nothing needs to stay of it in the file.
CREATE VIRTUAL TABLE words USING fts5 (
	terms, content = '', columnsize = 0, detail = none, tokenize = 'ascii'
);
` + contextSchema

// index feeds the search index, a little behind the writer.
type index struct {
	j        *Journal
	reader   *reader
	signal   chan struct{}
	quit     chan struct{} // closed when the journal closes
	stopOnce sync.Once

	// Owned by run, once it runs.
	conn    *sqlite3.Conn
	insert  *sqlite3.Stmt
	remove  *sqlite3.Stmt
	lookup  contextLookup
	writer  contextWriter
	terms   []byte              // of the record that is put
	seen    map[string]struct{} // words of it
	unclean bool                // the -wal file may hold what was redacted

	followed atomic.Int64 // the last redaction

	mu        sync.Mutex
	spaces    []*space
	omissions []*omission   // to be followed, in their order
	stopped   bool          // nobody follows them any more
	hurry     bool          // somebody waits
	settled   chan struct{} // closed when the index has moved on
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

func (x *index) stop() { x.stopOnce.Do(func() { close(x.quit) }) }

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
	err = c.Exec(`
		PRAGMA busy_timeout = 5000;
		PRAGMA journal_mode = WAL;
		PRAGMA synchronous = NORMAL;
		PRAGMA temp_store = MEMORY;
		PRAGMA cache_size = -8192;
		PRAGMA secure_delete = ON`) // what it forgets, it moved around before
	if err != nil {
		return err
	}
	x.scrub() // whoever wrote before may have been killed after a redaction
	return nil
}

// scrub empties the -wal file. While somebody searches an older state, that
// cannot be; it is tried again when the index is fed.
func (x *index) scrub() {
	_ = x.conn.BusyTimeout(scrubWait)
	_, _, err := x.conn.WALCheckpoint("main", sqlite3.CHECKPOINT_TRUNCATE)
	_ = x.conn.BusyTimeout(busyWait)
	x.unclean = err != nil
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
	followed, err := number(x.conn, `SELECT redactions FROM about`)
	if err != nil {
		return err
	}
	if last, err := x.lastRedaction(); err != nil || last != followed {
		// What it would have to forget is not known any more.
		return errors.Join(errNoIndex, err)
	}
	x.followed.Store(followed)
	return errors.Join(x.prepare(), x.loadPlaces())
}

// lastRedaction is the number of the journal's last.
func (x *index) lastRedaction() (n int64, err error) {
	stmt, err := x.reader.query(`SELECT seq FROM sqlite_sequence WHERE name = 'redactions'`)
	if err != nil {
		return 0, err
	}
	defer stmt.Reset()
	if stmt.Step() {
		n = stmt.ColumnInt64(0)
	}
	return n, stmt.Err()
}

func (x *index) makeTables() error {
	return transact(x.conn, func() error {
		if err := x.conn.Exec(indexSchema); err != nil {
			return err
		}
		last, err := x.lastRedaction()
		if err != nil {
			return err
		}
		return exec(x.conn, `INSERT INTO about VALUES (1, ?, ?, ?)`, x.j.uuid, int64(indexVersion), last)
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
	for _, s := range x.allSpaces() {
		seq, forgotten, err := x.loadPlace(s)
		if err != nil {
			return err
		}
		if seq > s.durable.Load() || forgotten > s.dropped.Load() {
			// The journal has lost its end, or is an older copy.
			return errNoIndex
		}
		s.indexed.Store(seq)
		s.forgotten.Store(forgotten)
	}
	return nil
}

// loadPlace reads how far a space has been read and forgotten. Where nothing was
// read, nothing need be forgotten.
func (x *index) loadPlace(s *space) (seq, forgotten uint64, err error) {
	stmt, _, err := x.conn.Prepare(`SELECT seq, forgotten FROM places WHERE space = ?`)
	if err != nil {
		return 0, 0, err
	}
	defer stmt.Close()
	if err := stmt.BindInt64(1, s.id); err != nil {
		return 0, 0, err
	}
	seq, forgotten = s.dropped.Load(), s.dropped.Load()
	if stmt.Step() {
		seq, forgotten = uint64(stmt.ColumnInt64(0)), uint64(stmt.ColumnInt64(1))
	}
	return seq, forgotten, stmt.Err()
}

func (x *index) prepare() error {
	all := map[string]**sqlite3.Stmt{
		`INSERT INTO words (rowid, terms) VALUES (?, ?)`:                  &x.insert,
		`INSERT INTO words (words, rowid, terms) VALUES ('delete', ?, ?)`: &x.remove,
	}
	maps.Copy(all, x.lookup.statements())
	maps.Copy(all, x.writer.statements())
	for query, stmt := range all {
		var err error
		if *stmt, _, err = x.conn.Prepare(query); err != nil {
			return err
		}
	}
	return nil
}

// rebuild makes an index anew that cannot be used.
func (x *index) rebuild(cause error) error {
	x.j.opts.Log.Warn("the search index is made anew", "path", x.j.indexPath(), "cause", cause)
	_ = closeConn(x.conn) // it is thrown away
	x.conn = nil
	spaces := x.allSpaces()
	for _, s := range spaces {
		s.indexed.Store(0)
	}
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(x.j.indexPath() + suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	// Whatever was to be forgotten went with it.
	for _, s := range spaces {
		s.forgotten.Store(s.dropped.Load())
		x.j.sweepFurther(s)
	}
	x.answer(x.takeOmissions(), nil)
	return x.load()
}

func (x *index) allSpaces() []*space {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.Clone(x.spaces)
}

func (x *index) takeOmissions() []*omission {
	x.mu.Lock()
	defer x.mu.Unlock()
	taken := x.omissions
	x.omissions = nil
	return taken
}

// run is the index's goroutine.
func (x *index) run() {
	for x.pause() {
		more := true
		for more && !x.stopping() {
			var err error
			more, err = x.feed()
			if err != nil && !errors.Is(err, errStopping) {
				x.failed(err)
				more = true
			}
		}
	}
	x.mu.Lock()
	x.stopped = true
	x.mu.Unlock()
	x.answer(x.takeOmissions(), journal.Closed())
}

var (
	errStopping = errors.New("the journal is closing")
	errLost     = errors.New("what it should forget is not known any more")
)

// failed makes an index anew that is damaged, or holds what it should not, and
// waits a while where the trouble is another.
func (x *index) failed(err error) {
	anew := errors.Is(err, sqlite3.CORRUPT) || errors.Is(err, sqlite3.NOTADB) || errors.Is(err, errLost)
	if anew || x.conn == nil || x.owing() {
		if err = x.rebuild(err); err == nil {
			return
		}
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

// waiting counts what the index has not read or forgotten yet.
func (x *index) waiting() (n uint64, hurry bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.spaces {
		n += s.durable.Load() - min(s.indexed.Load(), s.durable.Load())
		n += s.dropped.Load() - min(s.forgotten.Load(), s.dropped.Load())
	}
	return n, x.hurry || len(x.omissions) > 0
}

// owing reports whether the index holds what it should have forgotten.
func (x *index) owing() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, s := range x.spaces {
		if s.forgotten.Load() < s.dropped.Load() {
			return true
		}
	}
	return len(x.omissions) > 0
}

// feed brings the index a batch further, and reports whether there may be more
// to do at once.
func (x *index) feed() (more bool, err error) {
	if x.conn == nil {
		return false, errNoIndex
	}
	// What is to be done is decided first, so that what is read knows of it all.
	b := x.begin()
	err = x.reader.snapshot(func() error { return transact(x.conn, b.run) })
	if err != nil {
		return false, err
	}
	x.commit(b)
	return b.n > 0, nil
}

func (x *index) begin() *batch {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.hurry = false
	b := &batch{index: x, omissions: x.omissions, books: map[int64]*contextBook{}}
	for _, s := range x.spaces {
		b.spaces = append(b.spaces, leg{
			space: s, floor: s.dropped.Load(), end: s.durable.Load(),
			indexed: s.indexed.Load(), forgotten: s.forgotten.Load(),
		})
	}
	return b
}

// commit makes known what a batch has done.
func (x *index) commit(b *batch) {
	for _, l := range b.spaces {
		l.space.indexed.Store(l.indexed)
		if l.forgotten > l.space.forgotten.Load() {
			l.space.forgotten.Store(l.forgotten)
			x.j.sweepFurther(l.space)
		}
	}
	x.followed.Store(b.followed)
	if x.unclean = x.unclean || len(b.omissions) > 0; x.unclean {
		x.scrub()
	}
	x.mu.Lock()
	x.omissions = x.omissions[len(b.omissions):]
	close(x.settled)
	x.settled = make(chan struct{})
	x.mu.Unlock()
	x.answer(b.omissions, nil)
}

// omit has the index forget what was redacted.
func (x *index) omit(o *omission) {
	x.mu.Lock()
	stopped := x.stopped
	if !stopped {
		x.omissions = append(x.omissions, o)
	}
	x.mu.Unlock()
	if stopped {
		x.answer([]*omission{o}, journal.Closed())
	}
	x.wake()
}

// answer tells those who wait, and has the journal's own -wal file emptied.
func (x *index) answer(omissions []*omission, err error) {
	for _, o := range omissions {
		x.j.queue.push(item{task: x.j.scrub})
		o.done <- err
	}
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
