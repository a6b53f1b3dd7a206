package runlog

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// A Dir is a folder of runs. It is made by [Open].
type Dir struct {
	root  *os.Root
	held  io.Closer            // keeps other processes out
	names *group               // those who wait for a name to be on disk
	sync  func(*os.File) error // brings a file to the disk
	shut  func() error         // closes the folder once

	mu     sync.Mutex
	open   map[string]*Log // by file; nil for one that is being made, loaded or removed; guarded by mu
	closed bool            // guarded by mu
}

// Open opens a folder of runs, and makes it, readable by its owner only, where
// there is none. What a crash left of a run that was never made is removed.
//
// Errors are [ErrInUse] where another process has it, and what the disk says.
func Open(dir string) (*Dir, error) {
	d, err := openDir(dir)
	if err != nil {
		return nil, fmt.Errorf("opening the folder of runs %s: %w", dir, err)
	}
	return d, nil
}

func openDir(dir string) (*Dir, error) {
	if err := makeFolder(filepath.Clean(dir)); err != nil {
		return nil, err
	}
	held, err := hold(filepath.Join(dir, "lock"))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	d := &Dir{root: root, held: held, sync: (*os.File).Sync, open: make(map[string]*Log)}
	d.shut = sync.OnceValue(d.close)
	d.names = newGroup(func([]byte) error { return syncFolder(root) })
	if err := d.tidy(); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// makeFolder makes a folder and those above it, each of which is on disk before
// there is something in it.
func makeFolder(path string) error {
	err := os.Mkdir(path, 0o700)
	above := filepath.Dir(path)
	if errors.Is(err, fs.ErrNotExist) && above != path {
		if err := makeFolder(above); err != nil {
			return err
		}
		err = os.Mkdir(path, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(above)
	if err != nil {
		return err
	}
	return errors.Join(syncFolder(root), root.Close())
}

// tidy removes drafts.
func (d *Dir) tidy() error {
	for entry, err := range d.entries() {
		if err != nil {
			return err
		}
		if strings.HasSuffix(entry.Name(), draft) {
			if err := d.root.Remove(entry.Name()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Close closes the folder and all runs that are open. It waits for appends that
// are under way, and for another Close.
func (d *Dir) Close() error { return d.shut() }

// close is Close for whoever is the first.
func (d *Dir) close() error {
	d.mu.Lock()
	d.closed = true
	logs := slices.Collect(maps.Values(d.open))
	d.mu.Unlock()
	for _, l := range logs {
		if l != nil {
			l.Close()
		}
	}
	d.names.close()
	return errors.Join(d.root.Close(), d.held.Close())
}

const (
	suffix = ".run"
	draft  = ".new" // of a file that has not got its name yet
)

// fileOf is where a run is kept. Names are the callers', and may be anything.
func fileOf(name string) string {
	sum := sha256.Sum256([]byte(name))
	return hex.EncodeToString(sum[:]) + suffix
}

func checkName(name string) error {
	if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
		return fmt.Errorf("a run's name is UTF-8 text of 1 to %d bytes, this one has %d", MaxName, len(name))
	}
	return nil
}

func (d *Dir) path(file string) string { return filepath.Join(d.root.Name(), file) }

// claim takes a run for whoever makes, loads or removes it.
func (d *Dir) claim(file string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return fs.ErrClosed
	}
	if _, ok := d.open[file]; ok {
		return ErrInUse
	}
	d.open[file] = nil
	return nil
}

// seize takes a run as claim does, and takes it away from the log that has it.
func (d *Dir) seize(file string) (*Log, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	l, ok := d.open[file]
	switch {
	case d.closed:
		return nil, fs.ErrClosed
	case ok && l == nil:
		return nil, ErrInUse
	}
	d.open[file] = nil
	return l, nil
}

// opened puts a log in place of a claim.
func (d *Dir) opened(file string, size int64) (*Log, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fs.ErrClosed
	}
	l := newLog(d, file, size)
	d.open[file] = l
	return l, nil
}

// release ends a claim, or a log that is open; l is nil for a claim.
func (d *Dir) release(file string, l *Log) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open[file] == l {
		delete(d.open, file)
	}
}
