package sqlite

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyhq/parley/internal/journal"
)

// Disk says how large the journal's files are, and how much room there is for
// them to grow.
func (j *Journal) Disk() (d journal.Disk, err error) {
	index := j.indexPath()
	for _, file := range []struct {
		path string
		size *int64
	}{
		{j.path, &d.Record},
		{j.path + "-wal", &d.Ahead},
		{index, &d.Search},
		{index + "-wal", &d.Search},
	} {
		info, err := os.Stat(file.path)
		switch {
		case errors.Is(err, fs.ErrNotExist): // a log is only there while it is needed
		case err != nil:
			return journal.Disk{}, err
		default:
			*file.size += info.Size()
		}
	}
	d.Size, d.Free, err = diskSpace(filepath.Dir(j.path))
	return d, err
}
