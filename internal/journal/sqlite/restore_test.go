package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// A restored journal is what the backup was, in new epochs; and what was there
// is kept, the end of it included that a killed gateway left in its -wal file.
func TestRestore(t *testing.T) {
	path := filled(t, 100)
	backup := filepath.Join(t.TempDir(), "backup.db")
	copied, err := Backup(t.Context(), path, backup, true, CopyOptions{})
	must(t, err)

	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	before := bounds(t, l)
	l.Append(message(100, "came after the backup"))
	sink.WaitDurable(1)
	must(t, j.WaitIndexed(t.Context(), "demo", 101))
	path = killed(t, path)
	dir := filepath.Dir(path)

	kept := map[string][]journal.Head{}
	for _, a := range copied.Spaces {
		kept[a.Space] = append(kept[a.Space], a.Head)
	}
	restored, err := Restore(t.Context(), backup, path, RestoreOptions{Kept: kept, Force: true})
	must(t, err)
	alone(t, dir, "parley.db", "parley.db-lock", "parley.db.old-1")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the journal has mode %v (%v)", info.Mode(), err)
	}
	if restored.Moved != path+".old-1" {
		t.Errorf("the old one was moved to %q", restored.Moved)
	}
	if head := headsOf(t, restored.Moved)["demo"]; head.Seq != 101 {
		t.Errorf("the old one ends at %s", head)
	}

	j = open(t, Options{Path: path})
	l, sink = openLog(t, j)
	b := bounds(t, l)
	if b.Head != before.Head || b.Epoch == before.Epoch {
		t.Errorf("restored is %+v; at the backup it was %+v", b, before)
	}
	for _, want := range []int{100, 101} {
		must(t, j.WaitIndexed(t.Context(), "demo", uint64(want)))
		if got := ids(t, l, journal.Query{Text: "demo"}); len(got) != want {
			t.Errorf("the search finds %d of %d", len(got), want)
		}
		l.Append(message(want, "in demo"))
		sink.WaitDurable(want - 99)
	}
	if got := ids(t, l, journal.Query{Text: "came after"}); len(got) > 0 {
		t.Errorf("the search finds %q, which is not on record", got)
	}
	if r := sink.WaitDurable(1)[0]; r.Seq != 101 || r.Epoch != b.Epoch {
		t.Errorf("what follows is %d of %s, not of %s", r.Seq, r.Epoch, b.Epoch)
	}
	_, err = journal.Verify(t.Context(), "demo", l, kept["demo"]...)
	must(t, err)
}

// A journal of the first schema comes back as one of today's.
func TestRestoreFixture(t *testing.T) {
	dir := t.TempDir()
	from, path := filepath.Join(dir, "v1.db"), filepath.Join(dir, "parley.db")
	copyFile(t, "testdata/v1.db", from)
	restored, err := Restore(t.Context(), from, path, RestoreOptions{})
	must(t, err)
	heads := keptHeads(t, "testdata/v1.head")
	for _, a := range restored.Spaces {
		if a.Head != heads[a.Space] {
			t.Errorf("%s ends at %s, kept was %s", a.Space, a.Head, heads[a.Space])
		}
	}
	j := open(t, Options{Path: path, ReadOnly: true})
	r, err := j.readers.get(t.Context())
	must(t, err)
	defer j.readers.put(r)
	if version, err := number(r.conn, `PRAGMA user_version`); err != nil || version != int64(len(migrations)) {
		t.Errorf("it has schema %d (%v)", version, err)
	}
}

func TestRestoreRefuses(t *testing.T) {
	path := filled(t, 20)
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err := Backup(t.Context(), path, backup, true, CopyOptions{})
	must(t, err)
	edited := filepath.Join(t.TempDir(), "edited.db")
	copyFile(t, backup, edited)
	c, err := sqlite3.Open(Options{}.uri(edited))
	must(t, err)
	must(t, errors.Join(c.Exec(`DELETE FROM envelopes WHERE key = 2<<40 | 20`), c.Close()))
	heads := headsOf(t, path)

	for _, c := range []struct {
		name    string
		from    string // backup by default
		prepare func(t *testing.T, path string)
		opts    RestoreOptions
		code    parley.Code // "" is a broken chain
		message string
	}{
		{name: "a gateway", prepare: func(t *testing.T, path string) { open(t, Options{Path: path}) },
			opts: RestoreOptions{Force: true}, code: parley.Unavailable, message: "a gateway is writing"},
		{name: "a journal there", prepare: func(t *testing.T, path string) { must(t, os.WriteFile(path, nil, 0o600)) },
			code: parley.InvalidArgument, message: "there is a journal"},
		{name: "a log of one that is gone", prepare: func(t *testing.T, path string) { must(t, os.WriteFile(path+"-wal", nil, 0o600)) },
			code: parley.InvalidArgument, message: "there is a journal"},
		{name: "no folder", prepare: func(t *testing.T, path string) { must(t, os.Remove(filepath.Dir(path))) },
			code: parley.Unavailable, message: "folder of the journal"},
		{name: "no backup", from: "absent.db", code: parley.NotFound, message: "there is no backup absent.db"},
		{name: "a backup without a name", from: "-", code: parley.InvalidArgument, message: "the backup has no path"},
		{name: "a backup that is a text", from: "restore.go", code: parley.Unavailable, message: "restore.go is not a backup"},
		{name: "a backup that is a folder", from: ".", code: parley.Unavailable, message: "the backup . is a folder"},
		{name: "a backup that is a device", from: os.DevNull, code: parley.Unavailable, message: "is not a file"},
		{name: "itself", prepare: func(t *testing.T, path string) { must(t, os.Symlink(backup, path)) },
			opts: RestoreOptions{Force: true}, code: parley.InvalidArgument, message: "is the journal itself"},
		{name: "heads of another space", opts: RestoreOptions{Kept: map[string][]journal.Head{"absent": {heads["demo"]}}},
			code: parley.NotFound, message: "no space absent"},
		{name: "a head of no space", opts: RestoreOptions{Kept: map[string][]journal.Head{"": {heads["demo"]}}},
			code: parley.InvalidArgument, message: "names none"},
		{name: "another head", opts: RestoreOptions{Kept: map[string][]journal.Head{"demo": {heads["other"]}}}, message: "in the space demo"},
		{name: "cut off", from: edited, opts: RestoreOptions{Kept: map[string][]journal.Head{"other": {heads["other"]}}}, message: "cut off"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			must(t, os.Mkdir(dir, 0o755))
			path := filepath.Join(dir, "parley.db")
			if c.prepare != nil {
				c.prepare(t, path)
			}
			if c.from == "" {
				c.from = backup
			}
			if c.from == "-" {
				c.from = ""
			}
			before, _ := os.ReadFile(path)
			_, err := Restore(t.Context(), c.from, path, c.opts)
			if c.code != "" {
				wants(t, err, c.code, c.message)
			} else if _, ok := errors.AsType[*journal.Break](err); !ok || !strings.Contains(err.Error(), c.message) {
				t.Errorf("the error is %v, want a break: %s", err, c.message)
			}
			if after, _ := os.ReadFile(path); string(before) != string(after) {
				t.Error("what was there has changed")
			}
			if left, _ := filepath.Glob(filepath.Join(dir, ".parley*")); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
			if c.name != "a gateway" && present(path+"-lock") {
				t.Error("a lock was left behind")
			}
		})
	}
}

// On a disk that fills the journal is the old one or the new one.
func TestRestoreOnAFullDisk(t *testing.T) {
	backup := filled(t, 50)
	path := filled(t, 30)
	before, err := os.ReadFile(path)
	must(t, err)
	full := vfs.SystemError(errors.New("no space left on device"), sqlite3.FULL)
	for writes, whole := 0, false; !whole; writes += 1 + writes/2 {
		disk := newDisk(t)
		disk.failAfter(full, writes)
		_, err := Restore(t.Context(), backup, path, RestoreOptions{Force: true, CopyOptions: CopyOptions{vfs: disk.name}})
		if whole = err == nil; whole {
			continue
		}
		wants(t, err, parley.Unavailable, "the disk is full")
		if after, err := os.ReadFile(path); err != nil || string(before) != string(after) {
			t.Fatalf("after %d writes the journal has changed (%v)", writes, err)
		}
	}
	if head := headsOf(t, path)["demo"]; head.Seq != 50 {
		t.Errorf("restored is %s", head)
	}
}

// What is damaged cannot be settled before it is moved; both files of it are kept.
func TestRestoreOverWreckage(t *testing.T) {
	backup := filled(t, 5)
	path := filepath.Join(t.TempDir(), "parley.db")
	for range 2 {
		must(t, os.WriteFile(path, []byte("no database"), 0o600))
		must(t, os.WriteFile(path+"-wal", []byte("no log"), 0o600))
		_, err := Restore(t.Context(), backup, path, RestoreOptions{Force: true})
		must(t, err)
	}
	alone(t, filepath.Dir(path), "parley.db", "parley.db-lock", "parley.db.old-1", "parley.db.old-1-wal", "parley.db.old-2", "parley.db.old-2-wal")
	if head := headsOf(t, path)["demo"]; head.Seq != 5 {
		t.Errorf("restored is %s", head)
	}
}
