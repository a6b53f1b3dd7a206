//go:build unix

package source

import (
	"io/fs"
	"syscall"
)

// Inode is the file's number on its disk; 0 where that cannot be told.
func Inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

// Changed is when the file was last changed in any way, in nanoseconds; 0 where
// that cannot be told. Unlike the time of modification, nobody can set it.
func Changed(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return changed(s)
	}
	return 0
}
