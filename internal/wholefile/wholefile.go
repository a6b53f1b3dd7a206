// Package wholefile replaces files whole or not at all: who reads one finds what
// was in it before, or all that is in it now, after a crash too.
package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces a file in root, or makes it. Only its owner can read it. On the
// way it is called name with ".new" behind it.
//
// Once Write has returned without an error, a power cut does not bring back what was
// in the file before; on Windows that is the file system's promise, not Write's.
// After an error the file holds the one or the other.
func Write(root *os.Root, name string, data []byte) error {
	return write(root, name, data, syncFolder)
}

func write(root *os.Root, name string, data []byte, sync func(*os.Root, string) error) error {
	next := name + ".new"
	if err := root.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err // what lies there may be somebody else's to read
	}
	f, err := root.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := root.Rename(next, name); err != nil {
		return err
	}
	return sync(root, filepath.Dir(name))
}
