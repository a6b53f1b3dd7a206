//go:build unix && !aix && !solaris

package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// hold keeps other processes from holding the same file, until it is closed or
// the process ends, however it ends.
func hold(path string) (io.Closer, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	switch {
	case err == nil:
		return f, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = fmt.Errorf("%w by another process; end that, or name another folder", ErrInUse)
	default:
		err = fmt.Errorf("locking %s: %w; name a folder on a disk that has locks", path, err)
	}
	return nil, errors.Join(err, f.Close())
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(root *os.Root) error {
	folder, err := root.Open(".")
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) {
		err = nil // a file system that has no such thing
	}
	return errors.Join(err, folder.Close())
}
