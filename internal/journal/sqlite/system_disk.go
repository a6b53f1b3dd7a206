package sqlite

import (
	"sync"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// systemDisk names the system's file system, but for one thing: SQLite is told
// of a disk that is full, where it would hear of some I/O error otherwise.
var systemDisk = sync.OnceValue(func() string {
	const name = "parley"
	vfs.Register(name, tellingVFS{vfs.Find("")})
	return name
})

type tellingVFS struct{ vfs.VFS }

func (v tellingVFS) Open(_ string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	return v.OpenFilename(nil, flags)
}

// OpenFilename implements [vfs.VFSFilename].
func (v tellingVFS) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := v.VFS.(vfs.VFSFilename).OpenFilename(name, flags)
	if err != nil {
		return nil, flags, told(err)
	}
	if whole, ok := f.(systemFile); ok {
		f = tellingFile{whole}
	}
	return f, flags, nil
}

// systemFile is all that the system's files can do.
type systemFile interface {
	vfs.File
	vfs.FileLockState
	vfs.FilePersistWAL
	vfs.FilePowersafeOverwrite
	vfs.FileSizeHint
	vfs.FileHasMoved
	vfs.FileSharedMemory
}

type tellingFile struct{ systemFile }

func (f tellingFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.systemFile.WriteAt(p, off)
	return n, told(err)
}

func (f tellingFile) Truncate(size int64) error     { return told(f.systemFile.Truncate(size)) }
func (f tellingFile) Sync(flags vfs.SyncFlag) error { return told(f.systemFile.Sync(flags)) }
func (f tellingFile) SizeHint(size int64) error     { return told(f.systemFile.SizeHint(size)) }

// told is what SQLite is told of an error.
func told(err error) error {
	if err != nil && noRoom(err) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}
