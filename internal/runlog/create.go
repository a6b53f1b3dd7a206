package runlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Create makes a run that begins with these records. The name is any text of 1
// to [MaxName] bytes. The run is on disk, with its records, when Create returns;
// no crash leaves it there without them.
//
// Errors are an [*ExistsError] where there is one of that name, damaged or not,
// [ErrSize] and JSON that is none as those of [Log.Append], [fs.ErrClosed] after
// Close, and what the disk says.
func (d *Dir) Create(name string, records ...Record) (*Log, error) {
	text, err := beginning(name, records)
	if err != nil {
		return nil, fmt.Errorf("making a run: %w", err)
	}
	file := fileOf(name)
	err = d.claim(file)
	if errors.Is(err, ErrInUse) {
		return nil, &ExistsError{Name: name, File: d.path(file)}
	}
	var l *Log
	if err == nil {
		if l, err = d.create(name, file, text); err != nil {
			d.release(file, nil)
		}
	}
	if exists, ok := errors.AsType[*ExistsError](err); ok {
		return nil, exists
	}
	if err != nil {
		return nil, fmt.Errorf("making a run in %s: %w", d.path(file), err)
	}
	return l, nil
}

// beginning is what a run's file begins with.
func beginning(name string, records []Record) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	text, err := seal(header{version, name})
	if err != nil {
		return nil, err
	}
	for _, r := range records {
		line, err := r.line()
		if err != nil {
			return nil, err
		}
		if text = append(text, line...); len(text) > MaxRun {
			return nil, fmt.Errorf("%d records: %w", len(records), ErrSize)
		}
	}
	return text, nil
}

// create is Create for whoever has claimed the file.
func (d *Dir) create(name, file string, text []byte) (*Log, error) {
	if _, err := d.root.Lstat(file); err == nil {
		return nil, &ExistsError{Name: name, File: d.path(file)}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := d.writeDraft(file+draft, text); err != nil {
		return nil, errors.Join(err, d.drop(file+draft))
	}
	if err := d.root.Rename(file+draft, file); err != nil {
		return nil, errors.Join(err, d.drop(file+draft))
	}
	if err := d.names.join(nil, nil); err != nil {
		return nil, errors.Join(err, d.drop(file))
	}
	return d.opened(file, int64(len(text)))
}

// writeDraft brings a file to the disk that has not got its name yet.
func (d *Dir) writeDraft(file string, text []byte) (err error) {
	f, err := d.root.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return d.sync(f)
}

// drop removes a file that may not be there.
func (d *Dir) drop(file string) error {
	if err := d.root.Remove(file); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
