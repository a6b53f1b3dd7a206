package source

import (
	"context"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/below"
)

// skipped are folders that hold what others wrote, or what was built. A search
// that begins in one goes through it all the same.
var skipped = []string{"node_modules", "vendor", "testdata", "__pycache__", "venv", "site-packages", "dist", "build", "target", "bower_components"}

// maxDepth is how many folders below its beginning a search goes. The way to
// each folder is gone from the top, so that the time for a chain of them grows
// with the square of its length.
const maxDepth = 100

// Entry is a regular file that was found.
type Entry struct {
	Path string // as Clean makes it
	Info fs.FileInfo
	// LeftOut says that it is no file but a folder that was not looked into,
	// because it lies too deep or the disk does not let it be read. Info is nil.
	LeftOut bool
}

// Skips says whether a search from the top leaves a folder out, by its name or
// by that of one that it lies in.
func Skips(dir string) bool {
	elements := strings.Split(dir, "/")
	return dir != "." && (len(elements) > maxDepth || slices.ContainsFunc(elements, skips))
}

func skips(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(skipped, name)
}

// Files are the regular files below a folder, sorted by path, those of one
// folder before those of the folders in it. Symbolic links, hidden names, and
// folders with other people's code, such as node_modules, are left out.
// Folders that cannot be read, or lie more than 100 levels below dir, are told as
// left out; that of the call itself gives its error, and so does a context that
// ends.
func (r *Root) Files(ctx context.Context, dir string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		start, err := r.Clean(dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for waiting := []string{start}; len(waiting) > 0; {
			at := waiting[len(waiting)-1]
			waiting = waiting[:len(waiting)-1]
			if levels(start, at) > maxDepth {
				if !yield(Entry{Path: at, LeftOut: true}, nil) {
					return
				}
				continue
			}
			entries, err := r.List(ctx, at)
			if err != nil && (at == start || ctx.Err() != nil) {
				yield(Entry{}, err)
				return
			}
			if err != nil && !yield(Entry{Path: at, LeftOut: true}, nil) {
				return
			}
			var folders []string
			for _, e := range entries {
				p := path.Join(at, e.Name())
				switch {
				case strings.HasPrefix(e.Name(), "."):
				case e.IsDir():
					if !skips(e.Name()) {
						folders = append(folders, p)
					}
				case e.Type().IsRegular():
					info, err := e.Info()
					if err == nil && !yield(Entry{Path: p, Info: info}, nil) {
						return
					}
				}
			}
			slices.Reverse(folders)
			waiting = append(waiting, folders...)
		}
	}
}

// levels is how many levels a folder lies below another one.
func levels(start, dir string) int {
	if start != "." {
		dir = strings.TrimPrefix(dir, start)
	} else if dir != "." {
		dir = "/" + dir
	}
	return strings.Count(dir, "/")
}

// List is what a folder holds, sorted by name. Its errors are those of
// [Root.Read], except that it must be a folder.
func (r *Root) List(ctx context.Context, dir string) ([]fs.DirEntry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	dir, err := r.Clean(dir)
	if err != nil {
		return nil, err
	}
	info, err := r.root.Stat(dir)
	if err != nil {
		return nil, r.Explain(dir, err)
	}
	if !info.IsDir() {
		return nil, errNoFolder(dir)
	}
	d, err := r.root.OpenFile(dir, os.O_RDONLY|below.Nonblock, 0)
	if err != nil {
		return nil, r.Explain(dir, err)
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, r.Explain(dir, err)
}
