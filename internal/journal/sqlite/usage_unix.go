//go:build linux || darwin

package sqlite

import "syscall"

// diskSpace is the size of the file system below a folder, and what an ordinary
// user may still write, in bytes.
func diskSpace(dir string) (size, free uint64, err error) {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return 0, 0, err
	}
	block := uint64(s.Bsize)
	return s.Blocks * block, s.Bavail * block, nil
}
