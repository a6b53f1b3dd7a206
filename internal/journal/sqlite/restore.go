package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// RestoreOptions are the options of [Restore].
type RestoreOptions struct {
	CopyOptions

	// Kept are heads that were kept elsewhere, by space; "" is the only space.
	Kept map[string][]journal.Head

	// Force lets another journal be there already. It is moved away.
	Force bool
}

// Restored is what was put in place.
type Restored struct {
	Copied
	Moved string // where the journal is now that was there; "" is none
}

// Restore puts a copy of the journal at from in the place of the journal at to,
// which no gateway may have open. Every chain is walked before anything is
// touched. Each space begins a new epoch, since there may have been more than
// the copy knows, and no position is used twice (section 9 of the contract).
func Restore(ctx context.Context, from, to string, opts RestoreOptions) (*Restored, error) {
	if err := checkPath(Options{Path: to}); err != nil {
		return nil, err
	}
	source, err := Open(ctx, Options{Path: from, ReadOnly: true, Readers: 1})
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target := &Journal{opts: Options{Path: to}, path: to}
	if path, err := filepath.EvalSymlinks(to); err == nil {
		target.path = path
	}
	if err := target.lockToReplace(source); err != nil {
		return nil, err
	}
	defer target.closeAll()
	if !opts.Force {
		if err := target.checkPlace(); err != nil {
			return nil, err
		}
	}
	return target.replaceBy(ctx, source, opts)
}

// lockToReplace keeps gateways out until the journal is closed.
func (j *Journal) lockToReplace(by *Journal) error {
	a, errA := os.Stat(j.path)
	if b, errB := os.Stat(by.path); errA == nil && errB == nil && os.SameFile(a, b) {
		return parley.Errorf(parley.InvalidArgument, "%s is the journal itself", by.opts.Path).WithHint("name a backup of it")
	}
	err := j.lock()
	if errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		return parley.Errorf(parley.Unavailable, "a gateway is writing the journal %s", j.opts.Path).
			WithHint("stop it first")
	}
	if err != nil {
		return openError(j.opts.Path, err)
	}
	return nil
}

// checkPlace refuses a place that is taken. What a -wal file without its journal
// holds would be read into any journal that is put beside it.
func (j *Journal) checkPlace() error {
	for _, suffix := range []string{"", "-wal"} {
		if _, err := os.Lstat(j.path + suffix); !errors.Is(err, fs.ErrNotExist) {
			return parley.Errorf(parley.InvalidArgument, "there is a journal %s already", j.opts.Path).
				WithHint("with --force it is moved away, and kept beside it")
		}
	}
	return nil
}

func (j *Journal) replaceBy(ctx context.Context, source *Journal, opts RestoreOptions) (*Restored, error) {
	kept, err := source.bySpace(ctx, opts.Kept)
	if err != nil {
		return nil, err
	}
	d, err := newDraft(j.path, opts.CopyOptions)
	if err != nil {
		return nil, err
	}
	defer d.discard()
	if err := d.fill(ctx, source); err != nil {
		return nil, err
	}
	copied, err := d.audit(ctx, true, kept)
	if err != nil {
		return nil, err
	}
	if err := d.begin(); err != nil {
		return nil, copyError(j.path, err)
	}
	moved, err := j.moveAway()
	if err != nil {
		return nil, copyError(j.path, err)
	}
	if err := d.publish(); err != nil {
		return nil, stillThere(err, moved)
	}
	return &Restored{Copied: *copied, Moved: moved}, nil
}

// bySpace finds out which space heads without a name are of, and refuses heads
// of spaces that are not there.
func (j *Journal) bySpace(ctx context.Context, heads map[string][]journal.Head) (map[string][]journal.Head, error) {
	spaces, err := j.Spaces(ctx)
	if err != nil {
		return nil, err
	}
	named := map[string][]journal.Head{}
	for space, kept := range heads {
		if space == "" && len(spaces) == 1 {
			space = spaces[0]
		}
		switch {
		case space == "":
			return nil, parley.Errorf(parley.InvalidArgument, "%s has %d spaces, and a head names none", j.opts.Path, len(spaces)).
				WithHint("write SPACE=INDEX:SEQ:HASH; it has: %s", strings.Join(spaces, ", "))
		case !slices.Contains(spaces, space):
			return nil, parley.Errorf(parley.NotFound, "%s has no space %s", j.opts.Path, space).
				WithHint("it has: %s", strings.Join(spaces, ", "))
		}
		named[space] = append(named[space], kept...)
	}
	return named, nil
}

// begin brings the copy to the schema of today, and begins a new epoch in every
// space.
func (d *draft) begin() error {
	j := &Journal{
		opts:   Options{Path: d.path, vfs: d.opts.vfs}.withDefaults(),
		path:   d.path,
		spaces: map[string]*space{},
	}
	err := j.openWriter()
	if err == nil {
		err = j.start() // as separate marked the copy, an order has lost its end
	}
	j.writer.marked = err == nil
	return errors.Join(err, j.closeAll())
}

// moveAway gives the journal's files names that are free, and says which; "" is
// that there was none. The search index is not worth keeping.
func (j *Journal) moveAway() (string, error) {
	j.settle()
	n := 1
	name := func() string { return fmt.Sprintf("%s.old-%d", j.path, n) }
	for present(name()) || present(name()+"-wal") {
		n++
	}
	moved := ""
	// The log goes first: it would be read into whatever has the journal's name.
	for _, suffix := range []string{"-wal", ""} {
		switch err := os.Rename(j.path+suffix, name()+suffix); {
		case err == nil:
			moved = name()
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
	}
	for _, path := range []string{j.path + "-shm", j.indexPath(), j.indexPath() + "-wal", j.indexPath() + "-shm"} {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", stillThere(err, moved)
		}
	}
	return moved, nil
}

// settle has SQLite read the -wal file into the journal, if both are whole.
func (j *Journal) settle() {
	if !isDatabase(j.path) {
		return // SQLite would take the log for a leftover, and remove it
	}
	c, err := sqlite3.OpenFlags(j.opts.uri(j.path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return
	}
	// Where this fails the two are moved as they are.
	_ = c.Exec(`PRAGMA wal_checkpoint(TRUNCATE)`)
	_ = closeConn(c)
}

func isDatabase(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 16)
	_, err = io.ReadFull(f, begin)
	return err == nil && string(begin) == "SQLite format 3\x00"
}

func present(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// stillThere says where the old journal is that is not in its place any more.
func stillThere(err error, moved string) error {
	if moved == "" {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%v", err).WithHint("the journal that was there is now %s", moved)
}
