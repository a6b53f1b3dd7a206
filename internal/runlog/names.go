package runlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"time"
)

// Info is a run as [Dir.Names] finds it.
type Info struct {
	Name     string    // empty beside an error
	Modified time.Time // when something was appended, or the run was made
	Size     int64     // in bytes
}

// Names are the runs of the folder, in no order. Runs may be made, loaded and
// removed meanwhile, also by the loop's body; those that are made may be among them or not.
//
// An error is a file that cannot be read, a [*DamageError] mostly, and its
// modified and size are told if they are known. The others follow. Whoever stops there has not seen them all.
func (d *Dir) Names() iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		for entry, err := range d.entries() {
			if err != nil {
				yield(Info{}, fmt.Errorf("reading the folder of runs %s: %w", d.root.Name(), err))
				return
			}
			if !isRun(entry.Name()) {
				continue
			}
			info, err := d.info(entry)
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile
			}
			if !yield(info, err) {
				return
			}
		}
	}
}

// isRun says whether a file's name is that of a run.
func isRun(file string) bool { return len(file) == len(fileOf("")) && strings.HasSuffix(file, suffix) }

// info is what a file says about its run.
func (d *Dir) info(entry fs.DirEntry) (info Info, err error) {
	stat, err := entry.Info()
	if err != nil {
		return info, err
	}
	info = Info{Modified: stat.ModTime(), Size: stat.Size()}
	text, err := d.text(entry.Name(), maxHeader)
	if err == nil {
		info.Name, _, err = readHeader(text)
	}
	if err == nil && fileOf(info.Name) != entry.Name() {
		info.Name, err = "", &DamageError{Reason: "it is another run's"}
	}
	if damage, ok := errors.AsType[*DamageError](err); ok {
		damage.File = d.path(entry.Name())
	}
	return info, err
}

// entries are the files of the folder, of which there may be many. The last one
// may be an error.
func (d *Dir) entries() iter.Seq2[fs.DirEntry, error] {
	return func(yield func(fs.DirEntry, error) bool) {
		folder, err := d.root.Open(".")
		if err != nil {
			yield(nil, err)
			return
		}
		defer folder.Close()
		for {
			entries, err := folder.ReadDir(256)
			for _, entry := range entries {
				if !yield(entry, nil) {
					return
				}
			}
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
