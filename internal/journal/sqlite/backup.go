package sqlite

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"
	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// CopyOptions are what [Backup] and [Restore] have in common.
type CopyOptions struct {
	// Progress is called now and then with how many bytes are copied, and of
	// about how many; with the same number twice once all are. nil is nobody.
	Progress func(done, total int64)

	vfs string // a file system for tests, to copy to
}

// Copied is what a copy holds.
type Copied struct {
	Bytes  int64
	Spaces []journal.Audit // sorted; only the heads where no chain was walked
}

// Backup copies the journal at from, which a gateway may be writing, to a new
// file at to, which is whole or not there. The copy is of one moment and holds
// nothing of what was deleted before. With verify every chain in it is walked.
//
// It is one read of the journal (VACUUM INTO), so that writers go on beside it;
// until it ends the -wal file grows with what they write. The copy is a journal
// of its own: whichever way it is put back, a gateway begins new epochs with it.
func Backup(ctx context.Context, from, to string, verify bool, opts CopyOptions) (*Copied, error) {
	if err := checkCopy(to); err != nil {
		return nil, err
	}
	j, err := Open(ctx, Options{Path: from, ReadOnly: true, Readers: 1})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	d, err := newDraft(to, opts)
	if err != nil {
		return nil, err
	}
	defer d.discard()
	if err := d.fill(ctx, j); err != nil {
		return nil, err
	}
	copied, err := d.audit(ctx, verify, nil)
	if err != nil {
		return nil, err
	}
	return copied, d.publish()
}

// besideJournal are the ends of names that a journal gives files beside it, the
// longest first.
var besideJournal = []string{"-search-wal", "-search-shm", "-search", "-journal", "-lock", "-wal", "-shm"}

// checkCopy refuses what cannot be the name of a copy.
func checkCopy(path string) error {
	if path == "" {
		return parley.Errorf(parley.InvalidArgument, "the copy has no path").WithHint("name the file to write")
	}
	if err := cmp.Or(checkName(path), checkAbsent(path)); err != nil {
		return err
	}
	for _, end := range besideJournal {
		if of, ok := strings.CutSuffix(path, end); ok && present(of) {
			return parley.Errorf(parley.InvalidArgument, "%s is a name that belongs to the journal %s", path, of).
				WithHint("name another file")
		}
	}
	for _, end := range []string{"-wal", "-journal"} { // SQLite would read it into the copy
		if present(path + end) {
			return exists(path + end)
		}
	}
	return nil
}

// checkName refuses a name that leaves no room for those of the files beside it.
func checkName(path string) error {
	if _, err := os.Lstat(path + besideJournal[0]); errors.Is(err, syscall.ENAMETOOLONG) {
		return parley.Errorf(parley.InvalidArgument, "the name %.40s… is too long", filepath.Base(path)).
			WithHint("leave %d bytes for what stands at the ends of the names beside it", len(besideJournal[0]))
	}
	return nil
}

// checkAbsent finds early that there is a file already, or no folder.
func checkAbsent(path string) error {
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return parley.Errorf(parley.InvalidArgument, "%s is a folder", path).
			WithHint("name a file in it, such as %s", filepath.Join(path, "parley.backup.db"))
	case err == nil:
		return exists(path)
	}
	return nil
}

func exists(path string) error {
	return parley.Errorf(parley.InvalidArgument, "there is a file %s already", path).
		WithHint("name another one; nothing is overwritten")
}

// draft is a copy that is being made, beside the file that it becomes.
type draft struct {
	opts CopyOptions
	to   string
	path string
	file *os.File // to bring it to the disk

	folder *os.File // held, so that nobody removes the draft; may be nil
}

func newDraft(to string, opts CopyOptions) (*draft, error) {
	folder, err := holdFolder(filepath.Dir(to))
	if err != nil {
		return nil, copyError(to, err)
	}
	f, err := os.CreateTemp(filepath.Dir(to), ".parley-*.partial") // mode 0600
	if err != nil {
		_ = folder.Close()
		return nil, copyError(to, err)
	}
	opts.vfs = cmp.Or(opts.vfs, systemDisk())
	return &draft{opts: opts, to: to, path: f.Name(), file: f, folder: folder}, nil
}

// discard removes what was not published.
func (d *draft) discard() {
	_ = d.file.Close() // what counts was synced before
	for _, suffix := range []string{"", "-journal", "-wal", "-shm"} {
		_ = os.Remove(d.path + suffix)
	}
	_ = d.folder.Close()
}

// fill copies a journal and makes the copy one of its own.
func (d *draft) fill(ctx context.Context, j *Journal) error {
	r, err := j.readers.get(ctx)
	if err != nil {
		return err
	}
	defer j.readers.put(r)
	total, err := number(r.conn, `SELECT (page_count - freelist_count) * page_size
		FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
	if err != nil {
		return d.failed(ctx, j, err)
	}
	written := make(chan struct{})
	var flushing sync.WaitGroup
	var flushed error
	flushing.Go(func() { flushed = d.flush(written, total) })
	err = exec(r.conn, `VACUUM INTO ?`, Options{vfs: d.opts.vfs}.uri(d.path))
	close(written)
	flushing.Wait()
	if err == nil {
		err = d.separate()
	}
	if err = errors.Join(err, flushed); err != nil {
		return d.failed(ctx, j, err)
	}
	return nil
}

// flushEvery is how often what was written is brought to the disk. All of it in
// one go would hold up whoever syncs to the same disk meanwhile, a gateway with
// [Full] most of all, for a quarter of a second and more.
const flushEvery = 50 * time.Millisecond

// flush brings what is written to the disk, until all of it is.
func (d *draft) flush(written <-chan struct{}, total int64) error {
	tick := time.NewTicker(flushEvery)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := d.file.Sync(); err != nil {
				return err
			}
			d.tell(total, false)
		case <-written:
			d.tell(total, true)
			return d.file.Sync()
		}
	}
}

func (d *draft) tell(total int64, all bool) {
	info, err := d.file.Stat()
	if d.opts.Progress == nil || err != nil {
		return
	}
	if all {
		total = info.Size()
	}
	d.opts.Progress(min(info.Size(), total), total)
}

// separate makes the copy a journal of its own: with an identity that no search
// index is of, and marked as one whose order may have lost its end, as after a
// crash with [Off]. What comes after the copy was made is lost to it indeed.
func (d *draft) separate() error {
	c, err := sqlite3.OpenFlags(Options{vfs: d.opts.vfs}.uri(d.path), sqlite3.OPEN_READWRITE|sqlite3.OPEN_URI)
	if err != nil {
		return err
	}
	err = c.Exec(`PRAGMA journal_mode = MEMORY`) // it is thrown away where this fails
	if err == nil {
		err = exec(c, `UPDATE journal SET uuid = ?, open = 1, sync = ?, boot = ''`, uuid.NewString(), Off.String())
	}
	return errors.Join(err, closeConn(c))
}

// audit says what the copy holds, and with verify walks every chain in it, held
// against heads that were kept elsewhere.
func (d *draft) audit(ctx context.Context, verify bool, kept map[string][]journal.Head) (*Copied, error) {
	j, err := Open(ctx, Options{Path: d.path, ReadOnly: true, vfs: d.opts.vfs})
	if err != nil {
		return nil, err
	}
	defer j.Close()
	info, err := os.Stat(d.path)
	if err != nil {
		return nil, err
	}
	copied := &Copied{Bytes: info.Size()}
	spaces, err := j.Spaces(ctx)
	if err != nil {
		return nil, err
	}
	for _, space := range spaces {
		r, err := j.Reader(ctx, space)
		if err != nil {
			return nil, err
		}
		a := journal.Audit{Space: space}
		if verify {
			a, err = journal.Verify(ctx, space, r, kept[space]...)
		} else {
			var b journal.Bounds
			b, err = r.Bounds(ctx)
			a.Head = b.Head
		}
		if err != nil {
			return nil, inSpace(space, err)
		}
		copied.Spaces = append(copied.Spaces, a)
	}
	return copied, nil
}

// inSpace says in which space a chain broke.
func inSpace(space string, err error) error {
	if b, ok := errors.AsType[*journal.Break](err); ok {
		in := *b
		in.Reason += ", in the space " + space
		return &in
	}
	return err
}

// publish gives the copy its name, once all of it is on the disk.
func (d *draft) publish() error {
	if err := errors.Join(d.file.Sync(), d.file.Close()); err != nil {
		return copyError(d.to, err)
	}
	err := os.Link(d.path, d.to)
	if err != nil && !errors.Is(err, fs.ErrExist) { // a file system without links
		if err = checkAbsent(d.to); err == nil {
			err = os.Rename(d.path, d.to)
		}
	}
	if err == nil {
		err = syncFolder(filepath.Dir(d.to))
	}
	return copyError(d.to, err)
}

// failed says why a copy could not be made: the reading is to blame, or the
// writing.
func (d *draft) failed(ctx context.Context, j *Journal, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, sqlite3.CORRUPT), errors.Is(err, sqlite3.NOTADB):
		return openError(j.opts.Path, err)
	}
	return copyError(d.to, err)
}

// copyError says why a copy cannot be written; nil is nil.
func copyError(to string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	folder := filepath.Dir(to)
	switch {
	case errors.Is(err, fs.ErrExist):
		return exists(to)
	case errors.Is(err, sqlite3.FULL), errors.Is(err, syscall.ENOSPC):
		return parley.Errorf(parley.Unavailable, "%s cannot be written: the disk is full", to).
			WithHint("make room, or name a file on another disk; nothing was left behind")
	case errors.Is(err, fs.ErrNotExist):
		return parley.Errorf(parley.Unavailable, "the folder %s does not exist", folder).WithHint("make it, or name another one")
	case errors.Is(err, syscall.EROFS):
		return parley.Errorf(parley.Unavailable, "the folder %s is on a file system that cannot be written", folder).
			WithHint("name another folder, or let the file system be written")
	case errors.Is(err, fs.ErrPermission):
		return parley.Errorf(parley.Unavailable, "no permission to write in the folder %s", folder).
			WithHint("let the user who runs this write there, or name another folder")
	}
	return parley.Errorf(parley.Unavailable, "%s cannot be written: %v", to, err)
}
