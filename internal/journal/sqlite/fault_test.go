package sqlite

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// However many writes a disk takes before it is full: what was called durable
// is on record, in one order, and what failed is not, then and after a restart.
func TestDiskFillsAnywhere(t *testing.T) {
	full := vfs.SystemError(errors.New("no space left on device"), sqlite3.FULL)
	for _, mode := range []Sync{Normal, Full} {
		for writes := range 24 {
			t.Run(fmt.Sprintf("%s/%d", mode, writes), func(t *testing.T) {
				disk := newDisk(t)
				path := filepath.Join(t.TempDir(), "parley.db")
				j := open(t, Options{Path: path, Sync: mode, QueueRecords: 8, vfs: disk.name})
				l, sink := openLog(t, j)
				l.Append(envelope(0))
				sink.WaitDurable(1)
				if writes == 20 && mode == Full {
					disk.failSync(full)
				} else {
					disk.failAfter(full, writes)
				}
				for n := 1; n <= 40; n++ {
					l.Append(envelope(n))
				}
				_, errs := sink.WaitFailed(1)
				if !strings.Contains(errs[0].Error(), "the disk is full") || !errors.Is(errs[0], &parley.Error{Code: parley.Unavailable}) {
					t.Errorf("the failure is told as %v", errs[0])
				}
				if _, err := l.Recover(t.Context()); err == nil {
					t.Error("it recovered on a full disk")
				}
				disk.fail(nil)
				b, err := l.Recover(t.Context())
				must(t, err)
				durable := sink.WaitDurable(0)
				if failed, _ := sink.WaitFailed(0); len(durable)+len(failed) != 41 {
					t.Fatalf("%d durable and %d failed of 41", len(durable), len(failed))
				}
				if b.Last != uint64(len(durable)) || b.Head.Hash != durable[len(durable)-1].Hash {
					t.Errorf("%d are durable, bounds say %+v", len(durable), b)
				}
				l.Append(envelope(99))
				sink.WaitDurable(len(durable) + 1)
				var want []string
				for _, r := range sink.WaitDurable(0) {
					want = append(want, r.ID)
				}
				if got := ids(t, l, journal.Query{}); !slices.Equal(got, want) {
					t.Errorf("on record are %q\n     durable: %q", got, want)
				}
				must(t, j.Close())
				j = open(t, Options{Path: path})
				l, _ = openLog(t, j)
				if got := ids(t, l, journal.Query{}); !slices.Equal(got, want) {
					t.Errorf("after a restart on record are %q, durable were %q", got, want)
				}
			})
		}
	}
}

// One write fails, or one sync, and the disk goes on as if nothing had been. What
// was called durable is on record and what was called failed is not, also where
// the gateway is killed right then: the transaction whose sync failed stands in
// the file as whole as any other.
func TestOneFailure(t *testing.T) {
	const records = 16
	failure := vfs.SystemError(errors.New("input/output error"), sqlite3.IOERR)
	for _, c := range []struct {
		mode Sync
		sync bool
	}{{Normal, false}, {Full, false}, {Full, true}} {
		failures := 0
		for n := 0; n < 24; n = n*2 + 1 {
			name := fmt.Sprintf("%s, sync %v, the one after %d", c.mode, c.sync, n)
			disk := newDisk(t)
			path := filepath.Join(t.TempDir(), "parley.db")
			j := open(t, Options{Path: path, Sync: c.mode, QueueRecords: 4, vfs: disk.name})
			l, sink := openLog(t, j)
			disk.failOnce(failure, c.sync, n)
			for i := range records {
				l.Append(envelope(i))
			}
			must(t, j.onWriter(t.Context(), func() error { return nil })) // all of them have been answered
			disk.fail(nil)                                                // what was to fail may not have come
			var durable []string
			for _, r := range sink.WaitDurable(0) {
				durable = append(durable, r.ID)
			}
			failed, _ := sink.WaitFailed(0)
			if len(durable)+len(failed) != records {
				t.Fatalf("%s: %d are durable and %d failed, of %d", name, len(durable), len(failed), records)
			}
			failures += min(1, len(failed))
			for _, where := range []string{killed(t, path), path} {
				if where == path {
					must(t, j.Close())
				}
				after := open(t, Options{Path: where, Sync: c.mode})
				l, _ := openLog(t, after)
				if got := ids(t, l, journal.Query{}); !slices.Equal(got, durable) {
					t.Errorf("%s: on record are %q, durable were %q", name, got, durable)
				}
				must(t, after.Close())
			}
		}
		if failures < 3 {
			t.Errorf("%s, sync %v: only %d transactions failed", c.mode, c.sync, failures)
		}
	}
}

// A commit that returns an error and has happened nevertheless is found out.
func TestCommitOfUnknownOutcome(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, sink := openLog(t, j)
	// The commit stands; then its statement reports what was not so.
	must(t, j.onWriter(t.Context(), func() (err error) {
		j.writer.commit, _, err = j.writer.conn.Prepare(`COMMIT`)
		return err
	}))
	j.writer.conn.CommitHook(nil)
	l.Append(envelope(1))
	r := sink.WaitDurable(1)[0]
	seen := make(chan [2]bool, 1)
	must(t, j.onWriter(t.Context(), func() error {
		own := l.(*log)
		own.batch = []*journal.Record{r}
		there := j.committed([]*log{own})
		other := *r
		other.Seq++
		own.batch = []*journal.Record{&other}
		seen <- [2]bool{there, j.committed([]*log{own})}
		own.batch = nil
		return nil
	}))
	if got := <-seen; got != [2]bool{true, false} {
		t.Errorf("committed says %v", got)
	}
}

// What a commit without an answer left behind is gone after Recover.
func TestRecoverRemovesWhatWasCalledFailed(t *testing.T) {
	disk := newDisk(t)
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), vfs: disk.name})
	l, sink := openLog(t, j)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	disk.fail(errors.New("broken"))
	l.Append(envelope(2))
	sink.WaitFailed(1)
	disk.fail(nil)
	must(t, j.onWriter(t.Context(), func() error {
		r := envelope(2)
		r.Place(l.(*log).space.tail.head)
		return errors.Join(insert(j.writer.envelope, l.(*log).space.id, r, 0), j.writer.envelope.Reset())
	}))
	if b := bounds(t, l); b.Last != 2 {
		t.Fatalf("before: %+v", b)
	}
	b, err := l.Recover(t.Context())
	must(t, err)
	if b.Last != 1 {
		t.Errorf("after: %+v", b)
	}
}

// The search index may vanish, be damaged, or be another journal's.
func TestIndexIsMadeAnew(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(t *testing.T, path string)
	}{
		{"gone", func(t *testing.T, path string) { must(t, os.Remove(path)) }},
		{"not a database", func(t *testing.T, path string) {
			must(t, os.WriteFile(path, []byte(strings.Repeat("not a database", 1000)), 0o600))
		}},
		{"damaged inside", func(t *testing.T, path string) {
			b, err := os.ReadFile(path)
			must(t, err)
			for i := 4096; i < len(b); i++ {
				b[i] ^= 0x5a
			}
			must(t, os.WriteFile(path, b, 0o600))
		}},
		{"of another journal", func(t *testing.T, path string) {
			c, err := sqlite3.Open(Options{}.uri(path))
			must(t, err)
			must(t, errors.Join(c.Exec(`UPDATE about SET uuid = 'other'; UPDATE places SET seq = 3`), c.Close()))
		}},
		{"of another version", func(t *testing.T, path string) {
			c, err := sqlite3.Open(Options{}.uri(path))
			must(t, err)
			must(t, errors.Join(c.Exec(`UPDATE about SET version = 99`), c.Close()))
		}},
		{"ahead of the journal", func(t *testing.T, path string) {
			c, err := sqlite3.Open(Options{}.uri(path))
			must(t, err)
			must(t, errors.Join(c.Exec(`UPDATE places SET seq = 99`), c.Close()))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "parley.db")
			j := open(t, Options{Path: path})
			l, sink := openLog(t, j)
			for n := 1; n <= 200; n++ {
				l.Append(message(n, fmt.Sprintf("word%d", n)))
			}
			sink.WaitDurable(200)
			must(t, j.WaitIndexed(t.Context(), "demo", 200))
			must(t, j.Close())
			c.damage(t, path+"-search")

			j = open(t, Options{Path: path})
			l, sink = openLog(t, j)
			find := func() {
				t.Helper()
				if got := ids(t, l, journal.Query{Text: "word7"}); len(got) != 1 || got[0] != envelope(7).ID {
					t.Errorf("the search finds %q", got)
				}
			}
			find()
			l.Append(message(201, "more"))
			sink.WaitDurable(1)
			must(t, j.WaitIndexed(t.Context(), "demo", 201))
			find()
			if b := bounds(t, l); b.Indexed != 201 {
				t.Errorf("bounds %+v", b)
			}
		})
	}
}

// says hands over what is logged.
type says chan string

func (s says) Enabled(context.Context, slog.Level) bool { return true }
func (s says) WithAttrs([]slog.Attr) slog.Handler       { return s }
func (s says) WithGroup(string) slog.Handler            { return s }
func (s says) Handle(_ context.Context, r slog.Record) error {
	select {
	case s <- r.Message:
	default:
	}
	return nil
}

// Of a damaged journal no index can be made, however often it is tried.
func TestDamagedJournalSparesTheIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	for n := range 500 {
		l.Append(message(n, "text"))
	}
	sink.WaitDurable(500)
	must(t, j.Close())
	must(t, os.Remove(path+"-search"))
	b, err := os.ReadFile(path)
	must(t, err)
	middle := len(b) / 2 / 4096 * 4096
	copy(b[middle:middle+4096], strings.Repeat("?", 4096))
	must(t, os.WriteFile(path, b, 0o600))

	said := make(says, 1)
	open(t, Options{Path: path, Log: slog.New(said)})
	if got := <-said; got != "the search index cannot be fed" {
		t.Errorf("first it says: %s", got)
	}
}

// Words of a redacted record leave the index, not only the answers.
func TestRedactionLeavesTheIndex(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	l.Append(message(1, "harmless"))
	l.Append(message(2, "swordfish"))
	sink.WaitDurable(2)
	must(t, j.WaitIndexed(t.Context(), "demo", 2))
	strike(t, l, envelope(2).ID)
	l.Append(message(3, "after"))
	sink.WaitDurable(3)
	must(t, j.WaitIndexed(t.Context(), "demo", 3))
	s, err := j.openSearch()
	must(t, err)
	defer closeConn(s.conn)
	for text, want := range map[string]int{"swordfish": 0, "harmless": 1, "after": 1} {
		keys, _, err := s.find(t.Context(), l.(*log).space.id, terms(journal.Query{Text: text}), 0, 1<<62, false, 10)
		must(t, err)
		if len(keys) != want {
			t.Errorf("the index finds %q %d times", text, len(keys))
		}
	}
	must(t, j.Close())
	b, err := os.ReadFile(path)
	must(t, err)
	if strings.Contains(string(b), "swordfish") {
		t.Error("what was redacted still stands in the file")
	}
}

// The terms of any query are something that FTS5 can read.
func FuzzTerms(f *testing.F) {
	for _, s := range []string{"plain words", `"`, `a" OR "b`, "NEAR(a b)", "§ab", "\x00", "日本", "x*", "terms:x", "-", "\xff\xfe"} {
		f.Add(s, s)
	}
	path := filepath.Join(f.TempDir(), "parley.db")
	j, err := Open(f.Context(), Options{Path: path})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { j.Close() })
	s, err := j.openSearch()
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { closeConn(s.conn) })
	f.Fuzz(func(t *testing.T, text, name string) {
		q := journal.Query{Text: text, ID: name, From: name, To: name, Correlation: name, Contexts: []string{name, text}}
		if _, _, err := s.find(t.Context(), 1, terms(q), 0, 1<<62, false, 10); err != nil {
			t.Errorf("%q: %v", terms(q), err)
		}
	})
}
