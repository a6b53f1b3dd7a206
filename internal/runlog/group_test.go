package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
)

// gate is a disk whose syncs wait until they are let through.
type gate struct {
	syncs int
	let   chan error
}

func (g *gate) sync(*os.File) error {
	g.syncs++
	return <-g.let
}

// behind makes a run whose syncs wait at a gate.
func behind(t *testing.T) (*Dir, *Log, *gate) {
	t.Helper()
	d, err := Open(t.TempDir())
	must(t, err)
	l, err := d.Create("run")
	must(t, err)
	g := &gate{let: make(chan error)}
	d.sync = g.sync
	return d, l, g
}

// Those who append at the same time share a sync, and nobody hears of success before it.
func TestShared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d, l, g := behind(t)
		var all sync.WaitGroup
		var mu sync.Mutex
		done := 0
		appendOne := func(i int) {
			all.Go(func() {
				err := l.Append(Record{"k", jsontext.Value(fmt.Sprint(i))})
				mu.Lock()
				defer mu.Unlock()
				done++
				if err != nil {
					t.Error(err)
				}
			})
		}
		finished := func(want int) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if done != want {
				t.Errorf("%d have finished, not %d", done, want)
			}
		}
		appendOne(0)
		synctest.Wait()
		for i := range 20 {
			appendOne(i + 1)
		}
		finished(0)
		g.let <- nil
		finished(1)
		g.let <- nil
		all.Wait()
		finished(21)
		if g.syncs != 2 {
			t.Errorf("%d syncs", g.syncs)
		}
		must(t, l.Close())
		seen := map[string]bool{}
		for _, r := range load(t, d, "run") {
			seen[string(r.Data)] = true
		}
		if len(seen) != 21 {
			t.Errorf("%d records", len(seen))
		}
		must(t, d.Close())
	})
}

// Closing waits for those who wait for the disk.
func TestCloseWaits(t *testing.T) {
	for name, end := range map[string]func(*Dir, *Log) error{
		"log":    func(_ *Dir, l *Log) error { return l.Close() },
		"remove": func(d *Dir, _ *Log) error { return d.Remove("run") },
		"folder": func(d *Dir, _ *Log) error { return d.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, l, g := behind(t)
				var all sync.WaitGroup
				for range 3 {
					all.Go(func() { must(t, l.Append(story[1])) })
					synctest.Wait()
				}
				ended := make(chan error, 1)
				all.Go(func() { ended <- end(d, l) })
				synctest.Wait()
				is(t, l.Append(story[1]), fs.ErrClosed)
				for range 2 {
					select {
					case <-ended:
						t.Error("closed in the middle of an append")
					default:
					}
					g.let <- nil
				}
				all.Wait()
				must(t, <-ended)
				must(t, d.Close())
			})
		})
	}
}

// After a sync that failed it is not known what is on disk, and it gets no
// better by trying again: the run has to be loaded anew.
func TestFailedSync(t *testing.T) {
	d := folder(t, t.TempDir())
	l, err := d.Create("run")
	must(t, err)
	must(t, l.Append(story[0]))
	gone := errors.New("the disk is gone")
	d.sync = func(*os.File) error { return gone }
	is(t, l.Append(story[1]), gone)
	_, err = d.Create("other")
	is(t, err, gone)
	d.sync = (*os.File).Sync
	is(t, l.Append(story[1]), gone)
	must(t, l.Close())
	_, err = d.Create("other")
	must(t, err)

	l, records, err := d.Load("run")
	must(t, err)
	if len(records) < 1 || len(records) > 2 {
		t.Errorf("%d records", len(records))
	}
	must(t, l.Append(story[2]))
}

// Nothing that is made, removed and loaded at the same time gets in the way of another.
func TestAtOnce(t *testing.T) {
	d := folder(t, t.TempDir())
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for n := range 5 {
				name := fmt.Sprint(i, n)
				write(t, d, name, story...)
				same(t, load(t, d, name), story)
				must(t, d.Remove(name))
				_, _ = d.Create("everybody's")
				_ = d.Remove("everybody's")
			}
		})
	}
	all.Wait()
	for info, err := range d.Names() {
		if err != nil || info.Name != "everybody's" {
			t.Error(info, err)
		}
	}
}
