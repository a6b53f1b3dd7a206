package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
)

func TestDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	j := open(t, Options{Path: path})
	l, sink := openLog(t, j)
	for n := range 100 {
		l.Append(envelope(n + 1))
	}
	sink.WaitDurable(100)
	d, err := j.Disk()
	must(t, err)
	info, err := os.Stat(path)
	must(t, err)
	if d.Record != info.Size() || d.Record == 0 || d.Ahead == 0 || d.Search == 0 {
		t.Errorf("the file has %d bytes, Disk says %+v", info.Size(), d)
	}
	if d.Free > d.Size {
		t.Errorf("more is free than there is: %+v", d)
	}
}

// A probe fails where an append would, and leaves nothing behind that fails
// the next append.
func TestProbe(t *testing.T) {
	disk := newDisk(t)
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), vfs: disk.name})
	l, sink := openLog(t, j)
	must(t, j.Probe(t.Context()))
	for _, fault := range []error{sqlite3.FULL, sqlite3.READONLY, errors.New("broken")} {
		disk.fail(fault)
		if err := j.Probe(t.Context()); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("on a disk that says %v: %v", fault, err)
		}
	}
	disk.fail(nil)
	l.Append(envelope(1))
	sink.WaitDurable(1)
	must(t, j.Probe(t.Context()))
	ended, end := context.WithCancel(t.Context())
	end()
	release := make(chan struct{})
	stuck := make(chan struct{})
	go func() { _ = j.onWriter(t.Context(), func() error { close(stuck); <-release; return nil }) }()
	<-stuck
	if err := j.Probe(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits for a writer that is stuck, and yet: %v", err)
	}
	close(release)
	must(t, j.Close())
	if err := j.Probe(t.Context()); err == nil {
		t.Error("a closed journal can be written")
	}
}
