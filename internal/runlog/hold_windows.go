package runlog

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// hold keeps other processes from opening the same file, until it is closed or
// the process ends, however it ends.
func hold(path string) (io.Closer, error) {
	name, err := syscall.UTF16PtrFromString(path)
	if err != nil {
		return nil, err
	}
	h, err := syscall.CreateFile(name, syscall.GENERIC_READ|syscall.GENERIC_WRITE, 0, nil, syscall.OPEN_ALWAYS, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if errors.Is(err, sharingViolation) {
		return nil, fmt.Errorf("%w by another process; end that, or name another folder", ErrInUse)
	}
	if err != nil {
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	return os.NewFile(uintptr(h), path), nil
}

// sharingViolation is a file that somebody has open who shares it with nobody.
const sharingViolation = syscall.Errno(32)

// syncFolder does nothing: the names in a folder come to the disk by themselves.
func syncFolder(*os.Root) error { return nil }
