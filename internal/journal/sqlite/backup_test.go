package sqlite

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/journaltest"
)

// filled makes a journal with two spaces of n envelopes each, and closes it.
func filled(t *testing.T, n int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	for _, space := range []string{"demo", "other"} {
		sink := journaltest.NewSink()
		l, err := j.Open(t.Context(), space, sink)
		must(t, err)
		for i := range n {
			l.Append(message(i, "in "+space))
		}
		sink.WaitDurable(n)
		must(t, j.WaitIndexed(t.Context(), space, uint64(n)))
	}
	must(t, j.Close())
	return path
}

// headsOf are the heads of a journal's spaces.
func headsOf(t *testing.T, path string) map[string]journal.Head {
	t.Helper()
	j := open(t, Options{Path: path, ReadOnly: true})
	names, err := j.Spaces(t.Context())
	must(t, err)
	heads := map[string]journal.Head{}
	for _, name := range names {
		r, err := j.Reader(t.Context(), name)
		must(t, err)
		heads[name] = bounds(t, r).Head
	}
	return heads
}

// alone wants a folder to hold these files and no others.
func alone(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, want) {
		t.Errorf("%s holds %q, want %q", dir, names, want)
	}
}

// wants checks an error's code, and a part of its message.
func wants(t *testing.T, err error, code parley.Code, message string) {
	t.Helper()
	e, ok := errors.AsType[*parley.Error](err)
	if !ok || e.Code != code || !strings.Contains(e.Message, message) {
		t.Errorf("the error is %v, want %s: %s", err, code, message)
	}
}

// A backup that is made while records come holds what was durable when it
// began, and of what came since a beginning.
func TestBackupWhileWriting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	for n := range 2000 {
		l.Append(message(n, "before"))
	}
	before := len(sink.WaitDurable(2000))
	enough, ended := make(chan struct{}), make(chan int)
	go func() {
		n := before
		for ; ; n++ {
			select {
			case <-enough:
				ended <- n
				return
			default:
				l.Append(message(n, "meanwhile"))
			}
		}
	}()
	dir := t.TempDir()
	to := filepath.Join(dir, "backup.db")
	var told atomic.Int64
	copied, err := Backup(t.Context(), path, to, true, CopyOptions{Progress: func(done, total int64) {
		if done > total {
			t.Errorf("%d of %d bytes are copied", done, total)
		}
		told.Store(done)
	}})
	close(enough)
	n := <-ended
	must(t, err)
	sink.WaitDurable(n)
	alone(t, dir, "backup.db")
	info, err := os.Stat(to)
	must(t, err)
	if info.Mode().Perm() != 0o600 || info.Size() != copied.Bytes || told.Load() == 0 {
		t.Errorf("the copy has mode %v and %d bytes; said were %d, and %d", info.Mode(), info.Size(), copied.Bytes, told.Load())
	}
	a := copied.Spaces[0]
	if len(copied.Spaces) != 1 || a.Space != "demo" || a.Records < uint64(before) || a.Records > uint64(n) {
		t.Errorf("copied is %+v of %d to %d records", copied.Spaces, before, n)
	}
	// The head is one that the journal passed.
	_, err = journal.Verify(t.Context(), "demo", l, a.Head)
	must(t, err)
	if got := headsOf(t, to)["demo"]; got != a.Head {
		t.Errorf("the copy's head is %s, said was %s", got, a.Head)
	}
	alone(t, dir, "backup.db")
}

// Without verification the heads are told all the same.
func TestBackupUnverified(t *testing.T) {
	path := filled(t, 10)
	copied, err := Backup(t.Context(), path, filepath.Join(t.TempDir(), "b.db"), false, CopyOptions{})
	must(t, err)
	heads := headsOf(t, path)
	for _, a := range copied.Spaces {
		if a.Records != 0 || a.Head != heads[a.Space] || a.Head.Index != 10 {
			t.Errorf("copied is %+v, the heads are %v", a, heads)
		}
	}
}

// What a journal no longer has, its backup does not have either.
func TestBackupHoldsWhatIsOnRecord(t *testing.T) {
	path := filled(t, 500)
	c, err := sqlite3.Open(Options{}.uri(path))
	must(t, err)
	must(t, errors.Join(c.Exec(`DELETE FROM envelopes WHERE key >> 40 = 2`), c.Close()))
	b, err := os.ReadFile(path)
	must(t, err)
	if !bytes.Contains(b, []byte("in other")) {
		t.Fatal("the journal's file has forgotten it by itself")
	}
	to := filepath.Join(t.TempDir(), "b.db")
	_, err = Backup(t.Context(), path, to, false, CopyOptions{})
	must(t, err)
	if b, err = os.ReadFile(to); err != nil || bytes.Contains(b, []byte("in other")) || !bytes.Contains(b, []byte("in demo")) {
		t.Errorf("the backup's file holds what was dropped, or lacks what was not (%v)", err)
	}
}

func TestBackupRefuses(t *testing.T) {
	path := filled(t, 500)
	damaged := filepath.Join(t.TempDir(), "damaged.db")
	copyFile(t, path, damaged)
	b, err := os.ReadFile(damaged)
	must(t, err)
	middle := len(b) / 2 / 4096 * 4096
	copy(b[middle:], strings.Repeat("?", 4096))
	must(t, os.WriteFile(damaged, b, 0o600))
	edited := filepath.Join(t.TempDir(), "edited.db")
	copyFile(t, path, edited)
	c, err := sqlite3.Open(Options{}.uri(edited))
	must(t, err)
	must(t, errors.Join(c.Exec(`UPDATE envelopes SET sender = 'eve' WHERE key = 1<<40 | 7`), c.Close()))

	for _, c := range []struct {
		name, from, to string
		code           parley.Code
		message        string
		left           []string
	}{
		{"a file there", path, "there.db", parley.InvalidArgument, "there.db already", nil},
		{"a folder", path, "", parley.InvalidArgument, "is a folder", nil},
		{"no folder", path, "absent/b.db", parley.Unavailable, "does not exist", nil},
		{"no journal", "absent.db", "b.db", parley.NotFound, "there is no journal", nil},
		{"a damaged journal", damaged, "b.db", parley.Unavailable, "damaged", nil},
		{"the log of a journal", path, "there.db-wal", parley.InvalidArgument, "belongs to the journal", nil},
		{"the log of an index", path, "there.db-search-shm", parley.InvalidArgument, "belongs to the journal", nil},
		{"a long name", path, strings.Repeat("b", 250), parley.InvalidArgument, "too long", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			must(t, os.WriteFile(filepath.Join(dir, "there.db"), []byte("mine"), 0o600))
			_, err := Backup(t.Context(), c.from, filepath.Join(dir, c.to), true, CopyOptions{})
			wants(t, err, c.code, c.message)
			alone(t, dir, "there.db")
			if b, err := os.ReadFile(filepath.Join(dir, "there.db")); string(b) != "mine" {
				t.Errorf("what was there now reads %.20q (%v)", b, err)
			}
		})
	}
	t.Run("an edited journal", func(t *testing.T) {
		dir := t.TempDir()
		_, err := Backup(t.Context(), edited, filepath.Join(dir, "b.db"), true, CopyOptions{})
		if b, ok := errors.AsType[*journal.Break](err); !ok || b.Seq != 7 || !strings.Contains(b.Reason, "in the space demo") {
			t.Errorf("the error is %v", err)
		}
		alone(t, dir)
	})
}

// A backup that is interrupted leaves nothing behind.
func TestBackupInterrupted(t *testing.T) {
	path := filled(t, 5000)
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Backup(ctx, path, filepath.Join(dir, "b.db"), true, CopyOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("before it began: %v", err)
	}
	ctx, cancel = context.WithCancel(t.Context())
	_, err := Backup(ctx, path, filepath.Join(dir, "b.db"), true, CopyOptions{Progress: func(done, total int64) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("on its way: %v", err)
	}
	alone(t, dir)
}

// What a killed backup left is removed by the next one in its folder, and what one
// that runs is making is not.
func TestBackupAfterKill(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("nobody can tell here whether a draft is in use")
	}
	path := filled(t, 5)
	dir := t.TempDir()
	for _, name := range []string{".parley-17.partial", ".parley-17.partial-journal", ".parley-mine.partial", "parley-17.partial"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("left"), 0o600))
	}
	d, err := newDraft(filepath.Join(dir, "b.db"), CopyOptions{})
	must(t, err)
	_, err = Backup(t.Context(), path, filepath.Join(dir, "c.db"), true, CopyOptions{})
	must(t, err)
	if !present(d.path) {
		t.Error("what another backup was making is gone")
	}
	d.discard()
	alone(t, dir, ".parley-mine.partial", "c.db", "parley-17.partial")
}

// However many writes the disk takes before it is full, there is a whole copy or
// none.
func TestBackupOnAFullDisk(t *testing.T) {
	path := filled(t, 200)
	full := vfs.SystemError(errors.New("no space left on device"), sqlite3.FULL)
	whole := false
	for writes := 0; !whole; writes += 1 + writes/2 {
		disk, dir := newDisk(t), t.TempDir()
		disk.failAfter(full, writes)
		_, err := Backup(t.Context(), path, filepath.Join(dir, "b.db"), true, CopyOptions{vfs: disk.name})
		if whole = err == nil; whole {
			alone(t, dir, "b.db")
			continue
		}
		wants(t, err, parley.Unavailable, "the disk is full")
		alone(t, dir)
	}
	disk, dir := newDisk(t), t.TempDir()
	disk.failSync(vfs.SystemError(errors.New("input/output error"), sqlite3.IOERR))
	_, err := Backup(t.Context(), path, filepath.Join(dir, "b.db"), true, CopyOptions{vfs: disk.name})
	wants(t, err, parley.Unavailable, "cannot be written")
	alone(t, dir)
}

// A backup that somebody puts in place with cp is not the journal it is of: what
// came after it was made is lost, so the order begins anew.
func TestBackupIsAnotherJournal(t *testing.T) {
	path := filled(t, 10)
	to := filepath.Join(t.TempDir(), "b.db")
	_, err := Backup(t.Context(), path, to, true, CopyOptions{})
	must(t, err)
	was := open(t, Options{Path: path})
	is := open(t, Options{Path: to})
	a, _ := openLog(t, was)
	b, _ := openLog(t, is)
	if was.uuid == is.uuid || bounds(t, a).Epoch == bounds(t, b).Epoch {
		t.Errorf("journal %s in epoch %s, backup %s in %s", was.uuid, bounds(t, a).Epoch, is.uuid, bounds(t, b).Epoch)
	}
}
