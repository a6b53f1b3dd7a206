package sqlite

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

// drop appends a checkpoint and a marker that leaves the newest n envelopes, of
// a log that holds nothing but envelopes behind its floor.
func drop(t *testing.T, l journal.Log, sink *journaltest.Sink, n uint64) journal.Dropped {
	t.Helper()
	own := l.(*log)
	var through journal.Head
	must(t, own.j.onWriter(t.Context(), func() (err error) {
		s := own.space
		through, err = own.j.writer.look.headAt(s, s.tail.floor, s.tail.head.Index-n)
		return err
	}))
	d := journal.Ledger{Floor: own.space.tail.floor}.Drop(through)
	had := len(sink.WaitDurable(0))
	ts := time.UnixMilli(1_700_000_000_000).UTC()
	l.Append(journal.NewCheckpoint(ts, []byte(`{"state":1}`), [16]byte{7}))
	l.Append(journal.NewMarker(ts, d, [16]byte{8}))
	sink.WaitDurable(had + 2)
	return d
}

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("it never came to be that %s", what)
		}
	}
}

// rowsBelow counts the rows that a space still has of what was dropped.
func rowsBelow(t *testing.T, j *Journal, s *space, floor journal.Head) (n int64) {
	t.Helper()
	must(t, j.onWriter(t.Context(), func() error {
		for table, last := range map[string]uint64{"envelopes": floor.Seq, "notes": floor.Index} {
			some, err := number(j.writer.conn, fmt.Sprintf(`SELECT count(*) FROM %s WHERE key > %d AND key <= %d`, table, key(s.id, 0), key(s.id, last)))
			if err != nil {
				return err
			}
			n += some
		}
		return nil
	}))
	return n
}

// indexHolds counts what the index itself finds, of which nothing was dropped.
func indexHolds(t *testing.T, j *Journal, s *space, text string) int {
	t.Helper()
	search, err := j.openSearch()
	must(t, err)
	defer closeConn(search.conn)
	keys, _, err := search.find(t.Context(), s.id, terms(journal.Query{Text: text}), 0, 1<<62, false, 1<<20)
	must(t, err)
	return len(keys)
}

// What was dropped leaves the tables and the index, and its room is used again.
func TestDroppedRowsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	s := l.(*log).space
	n, last := 0, uint64(0)
	fill := func() {
		for range 2000 {
			n++
			l.Append(message(n, fmt.Sprintf("common word%d", n)))
		}
		sink.WaitDurable(n)
		last += 2000
		must(t, j.WaitIndexed(t.Context(), "demo", last))
	}
	gone := func(floor journal.Head) {
		t.Helper()
		until(t, "the rows have gone", func() bool { return rowsBelow(t, j, s, floor) == 0 })
		if got := indexHolds(t, j, s, "common"); got != int(last-floor.Seq) {
			t.Errorf("the index holds %d envelopes of %d", got, last-floor.Seq)
		}
		if got := indexHolds(t, j, s, "word7"); got != 0 {
			t.Error("the index still finds what was dropped")
		}
		audit, err := journal.Verify(t.Context(), "demo", l)
		must(t, err)
		if audit.Dropped != floor.Index {
			t.Errorf("the audit says %+v", audit)
		}
	}
	pages := func() (total int64) {
		must(t, j.onWriter(t.Context(), func() (err error) {
			total, err = number(j.writer.conn, `PRAGMA page_count`)
			return err
		}))
		return total
	}
	fill()
	gone(drop(t, l, sink, 500).Through)
	n += 2
	had := pages()
	for range 3 {
		fill()
		gone(drop(t, l, sink, 500).Through)
		n += 2
	}
	if now := pages(); now > had*3/2 {
		t.Errorf("the file has %d pages, and had %d when a quarter of that had been written", now, had)
	}
}

// A gateway that is killed between the marker and the last of its rows goes on
// where it was, wherever that is.
func TestKilledBetweenMarkerAndRows(t *testing.T) {
	for _, writes := range []int{0, 1, 2, 4, 7} {
		t.Run(fmt.Sprint(writes), func(t *testing.T) {
			disk := newDisk(t)
			path := filepath.Join(t.TempDir(), "parley.db")
			j := open(t, Options{Path: path, vfs: disk.name})
			stop := &stopAtMarker{Sink: journaltest.NewSink(), stop: func() {
				disk.failAfter(errors.New("killed"), writes)
			}}
			l, err := j.Open(t.Context(), "demo", stop)
			must(t, err)
			const n = 600
			for i := 1; i <= n; i++ {
				l.Append(message(i, "common"))
			}
			stop.WaitDurable(n)
			must(t, j.WaitIndexed(t.Context(), "demo", n))
			before := bounds(t, l)
			d := drop(t, l, stop.Sink, 100)
			until(t, "the index has forgotten", func() bool { return l.(*log).space.forgotten.Load() == d.Through.Seq })
			path = killed(t, path)
			disk.fail(nil)

			j = open(t, Options{Path: path})
			l, _ = openLog(t, j)
			s := l.(*log).space
			if b := bounds(t, l); b.First != d.Through.Seq+1 || b.Last != n || b.Epoch != before.Epoch {
				t.Errorf("bounds %+v", b)
			}
			if _, err := journal.Verify(t.Context(), "demo", l, before.Head, d.Through); err != nil {
				t.Error(err)
			}
			if got := len(ids(t, l, journal.Query{Text: "common"})); got != 100 {
				t.Errorf("the search finds %d", got)
			}
			until(t, "the rows have gone", func() bool { return rowsBelow(t, j, s, d.Through) == 0 })
			if got := indexHolds(t, j, s, "common"); got != 100 {
				t.Errorf("the index holds %d", got)
			}
		})
	}
}

// stopAtMarker does something when a marker has become durable, before any row
// goes.
type stopAtMarker struct {
	*journaltest.Sink
	stop func()
}

func (s *stopAtMarker) Durable(records []*journal.Record) {
	if records[len(records)-1].Type == journal.Marker {
		s.stop()
	}
	s.Sink.Durable(records)
}

// An index that does not know what it should forget, or forgot what is on
// record, is made anew.
func TestIndexThatForgotTooMuchOrTooLittle(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage string
	}{
		{"behind the rows", `UPDATE places SET forgotten = 3`},
		{"behind everything", `UPDATE places SET forgotten = 0, seq = 1000`},
		{"ahead of the floor", `UPDATE places SET forgotten = 950`},
		{"no place", `DELETE FROM places; INSERT INTO words (words) VALUES ('delete-all')`},
		{"behind a redaction", `UPDATE about SET redactions = redactions - 1`},
		{"ahead of a redaction", `UPDATE about SET redactions = redactions + 1`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "parley.db")
			j := open(t, Options{Path: path})
			l, sink := openLog(t, j)
			for i := 1; i <= 1000; i++ {
				l.Append(message(i, "common"))
			}
			sink.WaitDurable(1000)
			must(t, j.WaitIndexed(t.Context(), "demo", 1000))
			d := drop(t, l, sink, 100)
			until(t, "the rows have gone", func() bool { return rowsBelow(t, j, l.(*log).space, d.Through) == 0 })
			strike(t, l, envelope(1000).ID)
			must(t, j.Close())
			conn, err := j.openSearchFile()
			must(t, err)
			must(t, errors.Join(conn.Exec(c.damage), closeConn(conn)))

			j = open(t, Options{Path: path})
			l, sink = openLog(t, j)
			l.Append(message(1001, "common"))
			sink.WaitDurable(1)
			must(t, j.WaitIndexed(t.Context(), "demo", 1001))
			until(t, "the index is whole", func() bool { return indexHolds(t, j, l.(*log).space, "common") == 100 })
			if got := len(ids(t, l, journal.Query{Text: "common"})); got != 100 {
				t.Errorf("the search finds %d", got)
			}
		})
	}
}

// While the index cannot be written, it does not keep the journal's rows.
func TestIndexThatCannotForget(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	for i := 1; i <= 1000; i++ {
		l.Append(message(i, "common"))
	}
	sink.WaitDurable(1000)
	must(t, j.WaitIndexed(t.Context(), "demo", 1000))
	other, err := j.openSearchFile()
	must(t, err)
	// What it knows is wrong now: forgetting ends in an error.
	must(t, errors.Join(other.Exec(`DROP TABLE words_data`), closeConn(other)))
	d := drop(t, l, sink, 100)
	until(t, "the rows have gone", func() bool { return rowsBelow(t, j, l.(*log).space, d.Through) == 0 })
	must(t, j.WaitIndexed(t.Context(), "demo", 1000))
	if got := len(ids(t, l, journal.Query{Text: "common"})); got != 100 {
		t.Errorf("the search finds %d", got)
	}
}

// What was redacted is in no file any more, however long ago it was written and
// whatever the index did with it since.
func TestRedactedWordsLeaveTheFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	const n = 6_000
	secret := func(i int) string { return fmt.Sprintf("%x-swordfish", sha256.Sum256(fmt.Append(nil, i))) }
	for i := 1; i <= n; i++ {
		l.Append(message(i, secret(i)+" "+secret(i+n)))
		if i%1500 == 0 {
			sink.WaitDurable(i)
			must(t, j.WaitIndexed(t.Context(), "demo", uint64(i)))
		}
	}
	redacted := []int{1, 2, 3, 40, 777, 2500, n / 2, n - 1, n}
	for _, i := range redacted {
		strike(t, l, envelope(i).ID)
	}
	files := func() (all []byte) {
		for _, suffix := range []string{"", "-wal", "-search", "-search-wal"} {
			b, err := os.ReadFile(path + suffix)
			must(t, err)
			all = append(all, b...)
		}
		return all
	}
	until(t, "the -wal files are empty", func() bool {
		for _, suffix := range []string{"-wal", "-search-wal"} {
			if info, err := os.Stat(path + suffix); err != nil || info.Size() > 0 {
				return false
			}
		}
		return true
	})
	all := files()
	for _, i := range redacted {
		for _, text := range []string{secret(i), secret(i + n)} {
			// The index shares the beginning of a word with the one before.
			if word := strings.TrimSuffix(text, "-swordfish"); bytes.Contains(all, []byte(text)) || bytes.Contains(all, []byte(word[4:])) {
				t.Errorf("%s of envelope %d is in a file", text, i)
			}
		}
	}
	if other := secret(n / 3); !bytes.Contains(all, []byte(other)) {
		t.Errorf("%s, which nobody redacted, is in no file", other)
	}
	for _, i := range []int{4, 778, n - 2} {
		if got := ids(t, l, journal.Query{Text: secret(i)}); len(got) != 1 {
			t.Errorf("%s is found %d times", secret(i), len(got))
		}
	}
}

// Where a gateway is killed between a redaction and the index, the index is made
// anew: what it should forget is not known any more. Wherever it is killed, the
// next start leaves nothing of the words in any file.
func TestKilledWhileRedacting(t *testing.T) {
	const word = "xyzzyswordfish"
	for _, c := range []struct {
		name string
		upTo func(t *testing.T, j *Journal, l *log) (path string)
	}{
		{"before the index", func(t *testing.T, j *Journal, l *log) string {
			o := l.omission(redactable(t, l, envelope(101).ID))
			must(t, j.onWriter(t.Context(), func() error { return j.writer.redact(o, 0) }))
			defer j.index.omit(o)
			return killed(t, j.path)
		}},
		{"before the files were emptied", func(t *testing.T, j *Journal, l *log) string {
			defer lookAtOldState(t, j)()
			strike(t, l, envelope(101).ID)
			return killed(t, j.path)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, l := withSecret(t, word)
			path := c.upTo(t, j, l)
			if !wordIn(t, path, word) {
				t.Fatal("no file holds the word when it is killed")
			}
			j = open(t, Options{Path: path, boot: "b"})
			if wordIn(t, path, word) {
				t.Error("a file holds the word after the next start")
			}
			again, sink := openLog(t, j)
			again.Append(message(102, "after"))
			sink.WaitDurable(1)
			must(t, j.WaitIndexed(t.Context(), "demo", 102))
			strike(t, again, envelope(101).ID) // as after any start; there is nothing left to do
			for text, want := range map[string]int{word: 0, "harmless7": 1, "after": 1} {
				if got := indexHolds(t, j, again.(*log).space, text); got != want {
					t.Errorf("the index finds %s %d times", text, got)
				}
			}
			if wordIn(t, path, word) {
				t.Error("a file holds the word later on")
			}
		})
	}
}

// A redaction that was done already empties the files all the same.
func TestRedactingAgainScrubs(t *testing.T) {
	const word = "xyzzyswordfish"
	j, l := withSecret(t, word)
	done := lookAtOldState(t, j)
	strike(t, l, envelope(101).ID)
	if !wordIn(t, j.path, word) {
		t.Error("the files were emptied while an older state was read")
	}
	done()
	strike(t, l, envelope(101).ID)
	if wordIn(t, j.path, word) {
		t.Error("a file holds the word")
	}
}

// withSecret is a journal in which envelope 101 says a word.
func withSecret(t *testing.T, word string) (*Journal, *log) {
	t.Helper()
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), boot: "b"})
	l, sink := openLog(t, j)
	for i := 1; i <= 100; i++ {
		l.Append(message(i, fmt.Sprintf("harmless%d", i)))
	}
	l.Append(message(101, word))
	sink.WaitDurable(101)
	must(t, j.WaitIndexed(t.Context(), "demo", 101))
	return j, l.(*log)
}

// lookAtOldState has somebody read the journal as it is now until done is called.
func lookAtOldState(t *testing.T, j *Journal) (done func()) {
	t.Helper()
	r, err := j.openReader()
	must(t, err)
	must(t, r.conn.Exec(`BEGIN; SELECT count(*) FROM envelopes`))
	return r.close
}

func wordIn(t *testing.T, path, word string) bool {
	t.Helper()
	for _, suffix := range []string{"", "-wal", "-search", "-search-wal"} {
		b, err := os.ReadFile(path + suffix)
		must(t, err)
		if bytes.Contains(b, []byte(word)) {
			return true
		}
	}
	return false
}

// A redaction while others append, search and redact the same.
func TestRedactionsAtOnce(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db")})
	l, sink := openLog(t, j)
	const n = 600
	for i := 1; i <= n; i++ {
		l.Append(message(i, fmt.Sprintf("word%d", i)))
	}
	sink.WaitDurable(n)
	done := make(chan error, 30)
	for i := 1; i <= 10; i++ {
		for range 3 {
			go func() {
				_, err := l.Redact(t.Context(), envelope(i*50).ID, 0)
				done <- err
			}()
		}
		for k := range 20 {
			l.Append(message(n+20*i+k, "more"))
		}
	}
	for range 30 {
		must(t, <-done)
	}
	sink.WaitDurable(n + 200)
	must(t, j.WaitIndexed(t.Context(), "demo", n+200))
	for i := 1; i <= 10; i++ {
		if got := indexHolds(t, j, l.(*log).space, fmt.Sprintf("word%d", i*50)); got != 0 {
			t.Errorf("the index finds %d", i*50)
		}
		if got := indexHolds(t, j, l.(*log).space, fmt.Sprintf("word%d", i*50+1)); got != 1 {
			t.Errorf("the index does not find %d", i*50+1)
		}
	}
	if got := indexHolds(t, j, l.(*log).space, "agent"); got != n+200 {
		t.Errorf("the index holds %d", got)
	}
}

// What was called failed because its sync failed does not come back after a
// crash.
func TestFailedSyncDoesNotComeBack(t *testing.T) {
	disk := newDisk(t)
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path, Sync: Full, vfs: disk.name})
	l, sink := openLog(t, j)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	disk.failSync(vfs.SystemError(errors.New("no space left on device"), sqlite3.FULL))
	l.Append(envelope(2))
	if _, errs := sink.WaitFailed(1); !errors.Is(errs[0], &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("it failed with %v", errs[0])
	}
	path = killed(t, path)
	disk.fail(nil)
	j = open(t, Options{Path: path})
	l, _ = openLog(t, j)
	if b := bounds(t, l); b.Last != 1 {
		t.Errorf("after a crash, %d envelopes are on record", b.Last)
	}
}

// The migration leaves what is on record as it is, and takes no longer for more
// of it.
func TestMigrateFromTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	b, err := os.ReadFile("testdata/v1.db")
	must(t, err)
	must(t, os.WriteFile(path, b, 0o600))
	look := func(j *Journal) (heads []journal.Head) {
		names, err := j.Spaces(t.Context())
		must(t, err)
		for _, name := range names {
			r, err := j.Reader(t.Context(), name)
			must(t, err)
			audit, err := journal.Verify(t.Context(), name, r)
			if broken, ok := errors.AsType[*journal.Break](err); ok && strings.HasPrefix(broken.Reason, "redacted without") {
				err = nil // the first version knew no orders
			}
			must(t, err)
			if c, err := r.Checkpoint(t.Context()); c != nil || err != nil {
				t.Errorf("it has the checkpoint %+v, %v", c, err)
			}
			heads = append(heads, audit.Head)
		}
		return heads
	}
	before := look(open(t, Options{Path: path, ReadOnly: true}))
	j := open(t, Options{Path: path})
	after := look(j)
	if fmt.Sprint(before) != fmt.Sprint(after) || len(after) == 0 {
		t.Errorf("the heads are %v, and were %v", after, before)
	}
	l, sink := openLog(t, j)
	d, err := l.Cut(t.Context(), journal.Retention{Bytes: 1})
	must(t, err)
	if d.Records == 0 {
		t.Fatalf("of what is there, %+v can go", d)
	}
	l.Append(journal.NewCheckpoint(time.Now(), []byte(`{}`), [16]byte{1}))
	l.Append(journal.NewMarker(time.Now(), d, [16]byte{2}))
	sink.WaitDurable(2)
	if _, err := journal.Verify(t.Context(), "demo", l, before[0]); err != nil {
		t.Error(err)
	}
}

func (j *Journal) openSearchFile() (*sqlite3.Conn, error) {
	x := &index{j: &Journal{path: j.path}}
	err := x.open()
	return x.conn, err
}
