package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

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
	if err := cmp.Or(checkName(to), checkPath(Options{Path: to})); err != nil {
		return nil, err
	}
	source, err := openBackup(ctx, from)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	target := &Journal{opts: Options{Path: to}, path: to}
	if path, err := filepath.EvalSymlinks(to); err == nil {
		target.path = path
	}
	defer target.closeAll()
	restored, err := target.replaceBy(ctx, source, opts)
	return restored, asBackup(from, err)
}

// openBackup opens what a journal is to be restored from.
func openBackup(ctx context.Context, path string) (*Journal, error) {
	const hint = "name a file that parley journal backup wrote"
	info, err := os.Stat(path)
	switch {
	case path == "":
		return nil, parley.Errorf(parley.InvalidArgument, "the backup has no path").WithHint(hint)
	case errors.Is(err, fs.ErrNotExist):
		return nil, parley.Errorf(parley.NotFound, "there is no backup %s", path).WithHint(hint)
	case err != nil:
		return nil, asBackup(path, openError(path, err))
	case info.IsDir():
		return nil, parley.Errorf(parley.Unavailable, "the backup %s is a folder", path).WithHint(hint)
	case !info.Mode().IsRegular():
		return nil, parley.Errorf(parley.Unavailable, "the backup %s is not a file", path).WithHint(hint)
	case info.Size() == 0:
		return nil, parley.Errorf(parley.Unavailable, "the backup %s is empty", path).WithHint(hint)
	}
	j, err := Open(ctx, Options{Path: path, ReadOnly: true, Readers: 1})
	return j, asBackup(path, err)
}

// asBackup calls a backup what it is in an error that takes it for the journal in
// use; what is wrong with either is the same.
func asBackup(path string, err error) error {
	e, ok := errors.AsType[*parley.Error](err)
	if !ok {
		return err
	}
	message, of := strings.CutPrefix(e.Message, path+" is not a journal of Parley")
	if !of {
		message = strings.Replace(e.Message, "the journal "+path, "the backup "+path, 1)
	} else {
		message = path + " is not a backup of a journal" + message
	}
	if message == e.Message {
		return err
	}
	return parley.Errorf(e.Code, "%s", message).WithHint("name another backup, or let the user who runs this read it")
}

// lockToReplace keeps gateways out until the journal is closed.
func (j *Journal) lockToReplace() error {
	err := j.lock()
	if errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		return parley.Errorf(parley.Unavailable, "a gateway is writing the journal %s", j.opts.Path).
			WithHint("stop it first")
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return copyError(j.path, err)
	case err != nil:
		return openError(j.opts.Path, err)
	}
	return nil
}

// checkPlace refuses the journal itself, and without force a place that is taken.
// What a -wal file without its journal holds would be read into any journal that
// is put beside it.
func (j *Journal) checkPlace(by *Journal, force bool) error {
	a, errA := os.Stat(j.path)
	if b, errB := os.Stat(by.path); errA == nil && errB == nil && os.SameFile(a, b) {
		return parley.Errorf(parley.InvalidArgument, "%s is the journal itself", by.opts.Path).WithHint("name a backup of it")
	}
	for _, suffix := range []string{"", "-wal"} {
		if !force && present(j.path+suffix) {
			return parley.Errorf(parley.InvalidArgument, "there is a journal %s already", j.opts.Path).
				WithHint("with --force it is moved away, and kept beside it")
		}
	}
	return nil
}

// replaceBy makes the copy, and puts it in place. A lock on what was never a
// journal would leave its file behind where the copy cannot be made, so it is
// taken once there is one; and before, where a gateway may be running.
func (j *Journal) replaceBy(ctx context.Context, source *Journal, opts RestoreOptions) (*Restored, error) {
	kept, err := source.bySpace(ctx, opts.Kept)
	if err != nil {
		return nil, err
	}
	if present(j.path + "-lock") {
		err = j.lockToReplace()
	}
	if err == nil {
		err = j.checkPlace(source, opts.Force)
	}
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
	if j.locked == nil {
		if err = j.lockToReplace(); err == nil {
			err = j.checkPlace(source, opts.Force)
		}
		if err != nil {
			return nil, err
		}
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
