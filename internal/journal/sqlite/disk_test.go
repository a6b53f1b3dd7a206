package sqlite

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ncruces/go-sqlite3/vfs"
)

// disk is the system's file system with faults. It sits right below SQLite,
// where a failing system call would be, and passes everything else through.
type disk struct {
	vfs.VFS
	name string

	mu     sync.Mutex
	err    error // of every write and sync
	passed int   // writes that still succeed; below 0 counts nothing
	syncs  bool  // only syncs fail
	once   bool  // and only one
}

var disks atomic.Int64

func newDisk(t testing.TB) *disk {
	d := &disk{VFS: vfs.Find(""), name: fmt.Sprintf("disk-%d", disks.Add(1))}
	vfs.Register(d.name, d)
	t.Cleanup(func() { vfs.Unregister(d.name) })
	return d
}

// fail makes every write fail with err; nil ends that.
func (d *disk) fail(err error) { d.failAfter(err, 0) }

// failAfter makes every write after the next n fail.
func (d *disk) failAfter(err error, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.passed, d.syncs, d.once = err, n, false, false
}

// failOnce makes one write fail, or one sync, after the next n.
func (d *disk) failOnce(err error, sync bool, n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.passed, d.syncs, d.once = err, n, sync, true
}

// failSync makes every sync fail.
func (d *disk) failSync(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.err, d.passed, d.syncs, d.once = err, 0, true, false
}

func (d *disk) fault(sync bool) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err == nil || d.syncs != sync && d.syncs {
		return nil
	}
	if d.passed > 0 {
		d.passed--
		return nil
	}
	err := d.err
	if d.once {
		d.err = nil
	}
	return err
}

func (d *disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return d.OpenFilename(nil, flags)
}

func (d *disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFS.(vfs.VFSFilename).OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return &diskFile{File: f, disk: d}, flags, nil
}

type diskFile struct {
	vfs.File
	disk *disk
}

func (f *diskFile) WriteAt(p []byte, off int64) (int, error) {
	if err := f.disk.fault(false); err != nil {
		// As a disk does that fills up: a part is written.
		n, _ := f.File.WriteAt(p[:len(p)/2], off)
		return n, err
	}
	return f.File.WriteAt(p, off)
}

func (f *diskFile) Truncate(size int64) error {
	if err := f.disk.fault(false); err != nil {
		return err
	}
	return f.File.Truncate(size)
}

func (f *diskFile) Sync(flags vfs.SyncFlag) error {
	if err := f.disk.fault(true); err != nil {
		return err
	}
	return f.File.Sync(flags)
}

func (f *diskFile) SharedMemory() vfs.SharedMemory {
	return f.File.(vfs.FileSharedMemory).SharedMemory()
}
