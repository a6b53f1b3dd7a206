package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// Load opens a run that is there, and returns what was appended to it. What a
// crash left of an append is cut off.
//
// Errors are [fs.ErrNotExist] where there is no such run, a [*DamageError],
// [ErrInUse] where the run is open, [fs.ErrClosed] after Close, and what the
// disk says.
func (d *Dir) Load(name string) (*Log, []Record, error) {
	if err := checkName(name); err != nil {
		return nil, nil, fmt.Errorf("loading a run: %w", err)
	}
	file := fileOf(name)
	err := d.claim(file)
	if err != nil {
		return nil, nil, fmt.Errorf("loading the run in %s: %w", d.path(file), err)
	}
	l, records, err := d.load(name, file)
	if damage, ok := errors.AsType[*DamageError](err); ok {
		damage.File = d.path(file)
	}
	if err != nil {
		d.release(file, nil)
		return nil, nil, fmt.Errorf("loading a run: %w", err)
	}
	return l, records, nil
}

// load is Load for whoever has claimed the file.
func (d *Dir) load(name, file string) (*Log, []Record, error) {
	text, err := d.text(file, MaxRun+1)
	if err != nil {
		return nil, nil, err
	}
	c, err := read(text)
	switch {
	case err != nil:
	case len(text) > MaxRun:
		err = &DamageError{Offset: MaxRun, Reason: "there is more than a run can have"}
	case c.name != name:
		err = &DamageError{Reason: "it is another run's"}
	case c.size < len(text):
		err = d.cut(file, int64(c.size))
	}
	if err != nil {
		return nil, nil, err
	}
	l, err := d.opened(file, int64(c.size))
	return l, c.records, err
}

// text is what a file begins with.
func (d *Dir) text(file string, most int64) (text []byte, err error) {
	// Whatever is no file may not end, or not begin.
	if info, err := d.root.Lstat(file); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &DamageError{Reason: "it is no file"}
	}
	f, err := d.root.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, most))
}

// cut removes what is behind the lines that are whole. That it is gone comes to
// the disk with the next append.
func (d *Dir) cut(file string, size int64) (err error) {
	f, err := d.root.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.Truncate(size)
}
