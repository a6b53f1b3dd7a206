package sqlite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
	"github.com/parleyhq/parley/internal/unprivileged"
)

func open(t *testing.T, opts Options) *Journal {
	t.Helper()
	j, err := Open(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

func openLog(t *testing.T, j *Journal) (journal.Log, *journaltest.Sink) {
	t.Helper()
	sink := journaltest.NewSink()
	l, err := j.Open(t.Context(), "demo", sink)
	if err != nil {
		t.Fatal(err)
	}
	return l, sink
}

func bounds(t *testing.T, r journal.Reader) journal.Bounds {
	t.Helper()
	b, err := r.Bounds(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ids(t *testing.T, r journal.Reader, q journal.Query) []string {
	t.Helper()
	var all []string
	for rec, err := range r.Read(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rec.ID)
	}
	return all
}

func message(n int, text string) *journal.Record {
	r := envelope(n)
	e, err := r.Decode()
	if err != nil {
		panic(err)
	}
	e.Kind, e.Payload = parley.KindChat, []byte(`{"text":"`+text+`"}`)
	return journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{2})
}

// What cannot be opened is told in one line, with what to do.
func TestOpenRefuses(t *testing.T) {
	newJournal := func(t *testing.T, path string) {
		j, err := Open(t.Context(), Options{Path: path})
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	sql := func(t *testing.T, path, sql string) {
		c, err := sqlite3.Open(Options{}.uri(path))
		if err == nil {
			err = errors.Join(c.Exec(sql), c.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		opts    Options
		code    parley.Code
		message string
		noHint  bool
		root    bool // cannot be seen by root, whom nothing is forbidden
	}{
		{name: "a folder", code: parley.Unavailable, message: "is a folder",
			prepare: func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o755)) }},
		{name: "no such folder", code: parley.Unavailable, message: "folder of the journal",
			prepare: func(t *testing.T, path string) { must(t, os.Remove(filepath.Dir(path))) }},
		{name: "not a database", code: parley.Unavailable, message: "is not a journal",
			prepare: func(t *testing.T, path string) {
				must(t, os.WriteFile(path, []byte(strings.Repeat("plain text, not a database\n", 100)), 0o600))
			}},
		{name: "another program's database", code: parley.Unavailable, message: "another program's",
			prepare: func(t *testing.T, path string) { sql(t, path, `CREATE TABLE notes (x)`) }},
		{name: "a newer version", code: parley.Unavailable, message: "newer version",
			prepare: func(t *testing.T, path string) {
				newJournal(t, path)
				sql(t, path, `PRAGMA user_version = 99`)
			}},
		{name: "a newer version, to read", code: parley.Unavailable, message: "newer version", opts: Options{ReadOnly: true},
			prepare: func(t *testing.T, path string) {
				newJournal(t, path)
				sql(t, path, `PRAGMA user_version = 99`)
			}},
		{name: "nothing to read", code: parley.NotFound, message: "there is no journal", opts: Options{ReadOnly: true},
			prepare: func(*testing.T, string) {}},
		{name: "an empty file to read", code: parley.Unavailable, message: "is empty", opts: Options{ReadOnly: true}, noHint: true,
			prepare: func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) }},
		{name: "not a database to read", code: parley.Unavailable, message: "is not a journal", opts: Options{ReadOnly: true},
			prepare: func(t *testing.T, path string) {
				must(t, os.WriteFile(path, []byte(strings.Repeat("plain text, not a database\n", 100)), 0o600))
			}},
		{name: "another gateway", code: parley.Unavailable, message: "another gateway",
			prepare: func(t *testing.T, path string) { open(t, Options{Path: path}) }},
		{name: "another gateway, by a link", code: parley.Unavailable, message: "another gateway",
			prepare: func(t *testing.T, path string) {
				real := filepath.Join(filepath.Dir(path), "real.db")
				open(t, Options{Path: real})
				must(t, os.Symlink(real, path))
			}},
		{name: "no permission", code: parley.Unavailable, message: "no permission", root: true,
			prepare: func(t *testing.T, path string) {
				newJournal(t, path)
				must(t, os.Chmod(path, 0))
			}},
		{name: "a folder without permission", code: parley.Unavailable, message: "no permission", root: true,
			prepare: func(t *testing.T, path string) { must(t, os.Chmod(filepath.Dir(path), 0o500)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.root && unprivileged.Run(t) {
				return
			}
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o755))
			c.opts.Path = filepath.Join(dir, "parley.db")
			c.prepare(t, c.opts.Path)
			before, _ := os.ReadFile(c.opts.Path)
			_, err := Open(t.Context(), c.opts)
			e, ok := errors.AsType[*parley.Error](err)
			if !ok || e.Code != c.code || !strings.Contains(e.Message, c.message) {
				t.Fatalf("the error is %v", err)
			}
			if !c.noHint && e.Hint == "" {
				t.Errorf("%v comes without a hint", e)
			}
			if strings.Contains(e.Message, "\n") {
				t.Errorf("%q has several lines", e.Message)
			}
			if after, _ := os.ReadFile(c.opts.Path); string(before) != string(after) {
				t.Error("the file was changed")
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// strike redacts whatever has an id.
func strike(t *testing.T, l journal.Log, id string) {
	t.Helper()
	_, err := l.Redact(t.Context(), id, 0)
	must(t, err)
}

func redactable(t *testing.T, l journal.Log, id string) *journal.Redaction {
	t.Helper()
	todo, err := journal.NewRedaction(t.Context(), l, id, 0)
	must(t, err)
	return todo
}

// Errors of the system that root never sees are told as well.
func TestOpenErrors(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{fs.ErrPermission, "no permission"},
		{sqlite3.READONLY, "no permission"},
		{sqlite3.CORRUPT, "damaged"},
		{sqlite3.BUSY, "locked"},
		{io.ErrUnexpectedEOF, "cannot be opened"},
	} {
		if got := openError("x.db", c.err); !strings.Contains(got.Error(), c.want) {
			t.Errorf("%v is told as %v", c.err, got)
		}
	}
	for _, c := range []struct {
		err  error
		want string
	}{{sqlite3.FULL, "disk is full"}, {sqlite3.READONLY, "read-only"}, {sqlite3.IOERR, "cannot be written"}} {
		if got := writeError(c.err); !strings.Contains(got.Error(), c.want) {
			t.Errorf("%v is told as %v", c.err, got)
		}
	}
}

func TestFilesAreTheOwnersOnly(t *testing.T) {
	dir := t.TempDir()
	j := open(t, Options{Path: filepath.Join(dir, "parley.db")})
	l, sink := openLog(t, j)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	must(t, j.WaitIndexed(t.Context(), "demo", 1))
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", e.Name(), info.Mode())
		}
		names = append(names, e.Name())
	}
	want := []string{"parley.db", "parley.db-lock", "parley.db-search", "parley.db-search-shm", "parley.db-search-wal", "parley.db-shm", "parley.db-wal"}
	if !slices.Equal(names, want) {
		t.Errorf("files %q, want %q", names, want)
	}
}

// A journal may lie in a folder of any name, and is as private there.
func TestAnyFolder(t *testing.T) {
	for _, name := range []string{"My Documents", "a+b", "50% & more=?#", "Größe 東京"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			must(t, os.Mkdir(dir, 0o700))
			path := filepath.Join(dir, name+".db")
			j := open(t, Options{Path: path})
			l, sink := openLog(t, j)
			l.Append(envelope(1))
			sink.WaitDurable(1)
			must(t, j.WaitIndexed(t.Context(), "demo", 1))
			r, err := open(t, Options{Path: path, ReadOnly: true}).Reader(t.Context(), "demo")
			must(t, err)
			if b := bounds(t, r); b.Last != 1 || b.Indexed != 1 {
				t.Errorf("a reader sees %d records, %d in the index", b.Last, b.Indexed)
			}
			entries, err := os.ReadDir(dir)
			must(t, err)
			for _, e := range entries {
				if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
					t.Errorf("%s has mode %v (%v)", e.Name(), info.Mode(), err)
				}
			}
		})
	}
}

// A journal that is read by another name is read with its index.
func TestReadThroughALink(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	must(t, j.WaitIndexed(t.Context(), "demo", 1))
	link := filepath.Join(t.TempDir(), "link.db")
	must(t, os.Symlink(path, link))
	r, err := open(t, Options{Path: link, ReadOnly: true}).Reader(t.Context(), "demo")
	must(t, err)
	if b := bounds(t, r); b.Last != 1 || b.Indexed != 1 {
		t.Errorf("a reader sees %+v", b)
	}
}

// A space that is made while nobody waits for it any more can be opened later.
func TestOpenAfterGivingUp(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	busy := make(chan struct{})
	j.queue.push(item{task: func() { <-busy }})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Open(ctx, "demo", journaltest.NewSink()); !errors.Is(err, context.Canceled) {
		t.Errorf("given up, it says %v", err)
	}
	close(busy)
	l, sink := openLog(t, j)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	must(t, j.WaitIndexed(t.Context(), "demo", 1))
	if b := bounds(t, l); b.Last != 1 || b.Indexed != 1 || b.Epoch == "" {
		t.Errorf("the log holds %+v", b)
	}
}

// killed copies an open journal's files as a killed gateway leaves them.
func killed(t *testing.T, path string) string {
	t.Helper()
	copied := filepath.Join(t.TempDir(), "parley.db")
	for _, suffix := range []string{"", "-wal", "-search", "-search-wal"} {
		b, err := os.ReadFile(path + suffix)
		must(t, err)
		must(t, os.WriteFile(copied+suffix, b, 0o600))
	}
	return copied
}

// Section 9 of the contract: an order that may have lost its end is not
// continued.
func TestEpochs(t *testing.T) {
	for _, c := range []struct {
		name     string
		sync     Sync
		clean    bool
		boot     string // of the next start
		newEpoch bool
	}{
		{"a clean end", Normal, true, "boot-2", false},
		{"a clean end with off", Off, true, "boot-2", false},
		{"killed", Normal, false, "boot-1", false},
		{"killed with off", Off, false, "boot-1", true},
		{"a power loss", Normal, false, "boot-2", true},
		{"a power loss with full", Full, false, "boot-2", false},
		{"a power loss with off", Off, false, "boot-2", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "parley.db")
			j := open(t, Options{Path: path, Sync: c.sync, boot: "boot-1"})
			l, sink := openLog(t, j)
			for n := range 10 {
				l.Append(envelope(n))
			}
			sink.WaitDurable(10)
			before := bounds(t, l)
			if c.clean {
				must(t, j.Close())
			} else {
				path = killed(t, path)
			}

			// The journal's own sync counts, not the next one's.
			j = open(t, Options{Path: path, boot: c.boot})
			l, sink = openLog(t, j)
			b := bounds(t, l)
			if b.Last != 10 || b.Head != before.Head {
				t.Errorf("bounds %+v, before %+v", b, before)
			}
			if got := b.Epoch != before.Epoch; got != c.newEpoch {
				t.Errorf("new epoch: %v, want %v", got, c.newEpoch)
			}
			l.Append(envelope(10))
			if r := sink.WaitDurable(1)[0]; r.Seq != 11 || r.Epoch != b.Epoch {
				t.Errorf("the next is %d of %s", r.Seq, r.Epoch)
			}
			v := journal.NewVerifier(journal.Origin("demo"))
			n := 0
			for r, err := range l.Read(t.Context(), journal.Query{Chain: true}) {
				must(t, err)
				must(t, v.Check(r))
				if n++; n <= 10 && r.Epoch != before.Epoch || n > 10 && r.Epoch != b.Epoch {
					t.Errorf("record %d is of epoch %s", n, r.Epoch)
				}
			}
		})
	}
}

// A journal can be read by others while a gateway writes it, after a gateway
// was killed, and where nothing may be written.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	for n := 1; n <= 5; n++ {
		l.Append(message(n, "hello"))
	}
	sink.WaitDurable(5)
	must(t, j.WaitIndexed(t.Context(), "demo", 3))

	look := func(t *testing.T, path string, want int) {
		t.Helper()
		other := open(t, Options{Path: path, ReadOnly: true})
		r, err := other.Reader(t.Context(), "demo")
		must(t, err)
		for _, q := range []journal.Query{{}, {Text: "hello"}, {From: "agent-1"}, {Chain: true}} {
			if got := ids(t, r, q); len(got) != want {
				t.Errorf("%+v reads %d of %d", q, len(got), want)
			}
		}
		if b := bounds(t, r); b.Last != uint64(want) {
			t.Errorf("bounds %+v", b)
		}
		if names, err := other.Spaces(t.Context()); err != nil || !slices.Equal(names, []string{"demo"}) {
			t.Errorf("spaces %q, %v", names, err)
		}
		if _, err := other.Reader(t.Context(), "absent"); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			t.Errorf("an absent space: %v", err)
		}
		if _, err := other.Open(t.Context(), "demo", journaltest.NewSink()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("opening to append: %v", err)
		}
	}
	look(t, path, 5)
	l.Append(message(6, "hello"))
	sink.WaitDurable(6)
	look(t, path, 6)
	look(t, killed(t, path), 6)

	must(t, j.Close())
	look(t, path, 6)
	must(t, os.Remove(path+"-search"))
	look(t, path, 6)
	dir := filepath.Dir(path)
	must(t, os.Chmod(dir, 0o500))
	defer os.Chmod(dir, 0o700)
	look(t, path, 6)
}

// A gateway that starts after a crash waits for whoever reads what was left
// behind: the first to come locks the file while it puts its log in order.
func TestOpenWaitsForAReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	must(t, open(t, Options{Path: path}).Close())
	reader, err := sqlite3.Open(Options{}.uri(path))
	must(t, err)
	must(t, reader.Exec(`PRAGMA locking_mode = EXCLUSIVE; BEGIN IMMEDIATE`))
	done := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { done <- reader.Close() })
	j, err := Open(t.Context(), Options{Path: path})
	must(t, <-done)
	must(t, err)
	must(t, j.Close())
}

func TestUseAfterClose(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, _ := openLog(t, j)
	must(t, j.Close())
	must(t, j.Close())
	l.Append(envelope(1))
	if _, err := l.Recover(t.Context()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("Recover: %v", err)
	}
	if _, err := l.Bounds(t.Context()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("Bounds: %v", err)
	}
	if _, err := j.Open(t.Context(), "other", journaltest.NewSink()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("Open: %v", err)
	}
}

func TestParseSync(t *testing.T) {
	for _, s := range []Sync{Normal, Full, Off} {
		if got, err := ParseSync(s.String()); err != nil || got != s {
			t.Errorf("%v reads as %v, %v", s, got, err)
		}
	}
	if _, err := ParseSync("always"); err == nil {
		t.Error("always is a sync")
	}
}

func TestCanceledOpen(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := Open(ctx, Options{Path: filepath.Join(t.TempDir(), "parley.db")}); err == nil {
		j.Close()
		t.Error("it opened for nobody")
	}
}
