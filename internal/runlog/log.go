package runlog

import (
	"errors"
	"fmt"
	"os"
)

// A Log is an open run. It is made by [Dir.Create] and [Dir.Load].
type Log struct {
	dir     *Dir
	file    string // below dir
	appends *group

	planned int64 // size with all that joined; guarded by appends.mu
	size    int64 // of the lines that are on disk; owned by the commit under way
	broken  error // why nothing can be appended any more; owned by the commit under way
}

func newLog(d *Dir, file string, size int64) *Log {
	l := &Log{dir: d, file: file, planned: size, size: size}
	l.appends = newGroup(l.commit)
	return l
}

// Append puts a record at the end. It is on disk when Append returns nil;
// otherwise it may be there after a restart or not.
//
// Errors are [ErrSize] for a record or a run that is too large, [fs.ErrClosed]
// after Close, JSON that is none, and what the disk says. Where the disk is full,
// Append works again as soon as there is room. After a sync that failed
// nobody knows what is on disk: every later Append fails until the run
// is loaded anew.
func (l *Log) Append(r Record) error {
	line, err := r.line()
	if err != nil {
		return fmt.Errorf("keeping a run: %w", err)
	}
	if err := l.appends.join(line, func() error { return l.admit(len(line)) }); err != nil {
		return fmt.Errorf("keeping a run in %s: %w", l.dir.path(l.file), err)
	}
	return nil
}

// admit takes room for a line.
func (l *Log) admit(n int) error {
	if l.planned+int64(n) > MaxRun {
		return fmt.Errorf("%d bytes after %d: %w", n, l.planned, ErrSize)
	}
	l.planned += int64(n)
	return nil
}

// commit brings lines to the disk.
func (l *Log) commit(lines []byte) error {
	err := l.broken
	if err == nil {
		err = l.write(lines)
	}
	if err != nil {
		l.appends.mu.Lock()
		l.planned -= int64(len(lines))
		l.appends.mu.Unlock()
		return err
	}
	l.size += int64(len(lines))
	return nil
}

// write opens the file each time: thousands of runs may wait, and a descriptor
// for each is more than systems give.
func (l *Log) write(lines []byte) (err error) {
	f, err := l.dir.root.OpenFile(l.file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteAt(lines, l.size); err != nil {
		// A part of the lines that stays would be there after a restart, though
		// another one may have been written after it.
		if cut := f.Truncate(l.size); cut != nil {
			l.broken = errors.Join(err, cut)
		}
		return err
	}
	if err := l.dir.sync(f); err != nil {
		l.broken = fmt.Errorf("an earlier sync failed: %w", err)
		return err
	}
	return nil
}

// Close lets the run be loaded again. It waits for appends that are under way;
// later ones fail. There is nothing that it could lose, and its error is nil.
func (l *Log) Close() error {
	l.appends.close()
	l.dir.release(l.file, l)
	return nil
}
