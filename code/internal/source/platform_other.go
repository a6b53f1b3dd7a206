//go:build !unix

package source

import "io/fs"

// Inode is the file's number on its disk; 0 where that cannot be told.
func Inode(fs.FileInfo) uint64 { return 0 }

// Changed is when the file was last changed in any way, in nanoseconds; 0 where
// that cannot be told.
func Changed(fs.FileInfo) int64 { return 0 }
