package sqlite

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Open opens the journal at opts.Path, or makes it. Errors are *parley.Error
// with unavailable, or not_found for a journal that is to be read and is not
// there, and say what to do.
func Open(ctx context.Context, opts Options) (*Journal, error) {
	opts = opts.withDefaults()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := checkPath(opts); err != nil {
		return nil, err
	}
	j := &Journal{
		opts:   opts,
		path:   opts.Path,
		spaces: map[string]*space{},
		open:   map[string]*log{},
	}
	// One file has one lock and one index, whatever it is called.
	path, err := filepath.EvalSymlinks(opts.Path)
	if err == nil {
		j.path = path
	}
	if opts.ReadOnly {
		err = j.openForReading()
	} else {
		err = j.openForWriting()
	}
	if err != nil {
		j.closeAll()
		return nil, openError(opts.Path, err)
	}
	return j, nil
}

// checkPath finds what is wrong with the path before SQLite does, which would
// say less.
func checkPath(opts Options) error {
	if opts.Path == "" {
		return parley.Errorf(parley.InvalidArgument, "the journal has no path")
	}
	info, err := os.Stat(opts.Path)
	switch {
	case err == nil && info.IsDir():
		return parley.Errorf(parley.Unavailable, "the journal %s is a folder", opts.Path).
			WithHint("name a file in it, such as %s", filepath.Join(opts.Path, "parley.db"))
	case err == nil && !info.Mode().IsRegular():
		return parley.Errorf(parley.Unavailable, "the journal %s is not a file", opts.Path)
	case errors.Is(err, fs.ErrNotExist) && opts.ReadOnly:
		return parley.Errorf(parley.NotFound, "there is no journal %s", opts.Path).
			WithHint("name the file that journal.path names in the gateway's configuration")
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Stat(filepath.Dir(opts.Path)); errors.Is(err, fs.ErrNotExist) {
			return parley.Errorf(parley.Unavailable, "the folder of the journal %s does not exist", opts.Path).
				WithHint("make it, or correct journal.path")
		}
	case err != nil:
		return openError(opts.Path, err)
	}
	return nil
}

// create makes a file that only its owner reads, where there is none. SQLite
// itself would ask the umask.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// uri names a database file to SQLite.
func (o Options) uri(path string, params ...string) string {
	// A path of SQLite's begins with a slash on every system.
	abs, err := filepath.Abs(path)
	if err != nil {
		abs = path
	}
	abs = filepath.ToSlash(abs)
	if !strings.HasPrefix(abs, "/") {
		abs = "/" + abs
	}
	if o.vfs != "" {
		params = append(params, "vfs="+o.vfs)
	}
	// Files that SQLite makes beside it are as private as it is.
	params = append(params, "modeof="+escape(abs))
	u := url.URL{Scheme: "file", Path: abs, RawQuery: strings.Join(params, "&")}
	return u.String()
}

// escape writes a parameter of a URI as SQLite reads it, to which a plus is
// itself and no blank.
func escape(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func (j *Journal) openForWriting() error {
	if err := j.lock(); err != nil {
		return err
	}
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := create(j.path + suffix); err != nil {
			return err
		}
	}
	if err := j.openWriter(); err != nil {
		return err
	}
	if err := j.start(); err != nil {
		return err
	}
	j.readers = newPool(j.opts.Readers, j.openReader)
	j.queue = newQueue(j.opts.QueueRecords, j.opts.QueueBytes)
	var err error
	if j.index, err = j.openIndex(); err != nil {
		return err
	}
	j.scrub() // whoever wrote before may have been killed after a redaction
	j.running.Go(j.write)
	j.running.Go(j.index.run)
	return nil
}

// lock makes sure that nobody else writes. SQLite's own locks are held only
// for a transaction; here one transaction is held on a file beside it.
func (j *Journal) lock() error {
	path := j.path + "-lock"
	if err := create(path); err != nil {
		return err
	}
	c, err := sqlite3.OpenFlags(Options{}.uri(path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	j.locked = c
	// In memory, since there is nothing to roll back.
	if err := c.Exec(`PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE`); errors.Is(err, sqlite3.BUSY) {
		return parley.Errorf(parley.Unavailable, "another gateway is writing the journal %s", j.opts.Path).
			WithHint("stop it, or give this one a journal.path of its own")
	} else if err != nil {
		return err
	}
	return nil
}

func (j *Journal) openWriter() error {
	c, err := sqlite3.OpenFlags(j.opts.uri(j.path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	j.writer.conn = c
	j.writer.look = newReader(j, c)
	j.writer.retry = time.AfterFunc(time.Hour, func() {})
	j.writer.retry.Stop()
	// Whoever reads a journal that was left behind holds a lock for a moment.
	if err := c.Exec(`PRAGMA busy_timeout = 5000`); err != nil {
		return err
	}
	// What is no journal is found before anything is written to it.
	if _, err := checkVersion(c, j.opts.Path); err != nil {
		return err
	}
	for _, pragma := range []string{
		`PRAGMA journal_mode = WAL`,
		`PRAGMA synchronous = FULL`, // until it has started
		`PRAGMA temp_store = MEMORY`,
		`PRAGMA cache_size = -8192`,
		// What is rewritten or moved within a page leaves nothing behind.
		`PRAGMA secure_delete = FAST`,
	} {
		if err := c.Exec(pragma); err != nil {
			return err
		}
	}
	if err := migrate(c, j.opts.Path); err != nil {
		return err
	}
	j.writer.followLog()
	return j.writer.prepare()
}

// start reads what is there and marks the journal as being written. Where the
// end of an order may have been lost, it begins new epochs.
func (j *Journal) start() error {
	c := j.writer.conn
	err := transact(c, func() error {
		lost, err := j.mark(c)
		if err != nil {
			return err
		}
		if err := j.loadSpaces(c); err != nil {
			return err
		}
		for _, s := range j.spaces {
			if !lost {
				break
			}
			if err := beginEpoch(c, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.Exec(j.opts.Sync.pragma())
}

// mark notes that a gateway writes, and reports whether the one before may
// have lost the end of what it wrote.
func (j *Journal) mark(c *sqlite3.Conn) (lost bool, err error) {
	stmt, _, err := c.Prepare(`SELECT uuid, open, sync, boot FROM journal`)
	if err != nil {
		return false, err
	}
	defer stmt.Close()
	if !stmt.Step() {
		if err := stmt.Err(); err != nil {
			return false, err
		}
		j.uuid = uuid.NewString()
		return false, exec(c, `INSERT INTO journal VALUES (1, ?, 1, ?, ?, 0)`, j.uuid, j.opts.Sync.String(), j.opts.boot)
	}
	j.uuid = stmt.ColumnText(0)
	unclean, sync, boot := stmt.ColumnBool(1), stmt.ColumnText(2), stmt.ColumnText(3)
	if err := stmt.Reset(); err != nil {
		return false, err
	}
	restarted := boot == "" || boot != j.opts.boot
	lost = unclean && (sync == Off.String() || sync == Normal.String() && restarted)
	return lost, exec(c, `UPDATE journal SET open = 1, sync = ?, boot = ?`, j.opts.Sync.String(), j.opts.boot)
}

func (j *Journal) loadSpaces(c *sqlite3.Conn) error {
	stmt, _, err := c.Prepare(`SELECT id, name FROM spaces`)
	if err != nil {
		return err
	}
	defer stmt.Close()
	for stmt.Step() {
		s := &space{id: stmt.ColumnInt64(0), name: stmt.ColumnText(1)}
		if s.tail, s.epoch, err = j.writer.look.loadTail(s); err != nil {
			return err
		}
		s.durable.Store(s.tail.head.Seq)
		s.dropped.Store(s.tail.floor.Seq)
		if s.tail.floor.Index > 0 {
			j.writer.sweepSoon(s)
		}
		j.spaces[s.name] = s
	}
	return stmt.Err()
}

func beginEpoch(c *sqlite3.Conn, s *space) error {
	s.epoch = journal.NewEpoch()
	return exec(c, `INSERT OR REPLACE INTO epochs VALUES (?, ?, ?)`, s.id, int64(s.tail.head.Index+1), s.epoch)
}

func (j *Journal) openForReading() error {
	c, err := j.openReader()
	if err != nil {
		return err
	}
	j.readers = newPool(j.opts.Readers, j.openReader)
	j.readers.idle = append(j.readers.idle, c)
	version, err := checkVersion(c.conn, j.opts.Path)
	if err == nil && version == 0 {
		err = parley.Errorf(parley.Unavailable, "the journal %s is empty", j.opts.Path)
	}
	if err == nil {
		j.uuid, err = text(c.conn, `SELECT uuid FROM journal`)
	}
	return err
}

// openReader opens a connection that cannot write. A journal in a folder that
// cannot be written has no shared memory to read by; if nobody can have it
// open, it is read as it lies there.
func (j *Journal) openReader() (*reader, error) {
	const flags = sqlite3.OPEN_READONLY | sqlite3.OPEN_URI
	c, err := sqlite3.OpenFlags(j.opts.uri(j.path, "mode=ro"), flags)
	if err != nil {
		return nil, openError(j.opts.Path, err)
	}
	err = c.Exec(`PRAGMA busy_timeout = 5000`)
	if err == nil {
		_, err = number(c, `SELECT count(*) FROM sqlite_schema`)
	}
	if err == nil {
		return newReader(j, c), nil
	}
	_ = c.Close() // the first error says more
	if j.locked != nil || !settled(j.path) || !errors.Is(err, sqlite3.CANTOPEN) && !errors.Is(err, sqlite3.READONLY) {
		return nil, openError(j.opts.Path, err)
	}
	c, retryErr := sqlite3.OpenFlags(j.opts.uri(j.path, "mode=ro", "immutable=1"), flags)
	if retryErr != nil {
		return nil, openError(j.opts.Path, err)
	}
	return newReader(j, c), nil
}

// settled reports whether everything stands in the file itself.
func settled(path string) bool {
	info, err := os.Stat(path + "-wal")
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0
}

// exec runs one statement with parameters, texts and numbers.
func exec(c *sqlite3.Conn, query string, args ...any) error {
	stmt, _, err := c.Prepare(query)
	if err != nil {
		return err
	}
	defer stmt.Close()
	b := binder{stmt: stmt}
	for _, arg := range args {
		switch arg := arg.(type) {
		case string:
			b.text(arg)
		case int64:
			b.number(arg)
		}
	}
	if b.err != nil {
		return b.err
	}
	return stmt.Exec()
}

// text runs a query for one text.
func text(c *sqlite3.Conn, query string) (string, error) {
	stmt, _, err := c.Prepare(query)
	if err != nil {
		return "", err
	}
	defer stmt.Close()
	var s string
	if stmt.Step() {
		s = stmt.ColumnText(0)
	}
	return s, stmt.Err()
}
