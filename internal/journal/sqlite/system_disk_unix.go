//go:build unix

package sqlite

import (
	"errors"
	"syscall"
)

// noRoom reports whether a write failed since the disk, a quota or a limit on
// the size of files lets no more in.
func noRoom(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
