//go:build unix

package wholefile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder brings the names in a folder to the disk.
func syncFolder(root *os.Root, name string) error {
	folder, err := root.Open(name)
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // a file system that has no such thing
	}
	return errors.Join(err, folder.Close())
}
