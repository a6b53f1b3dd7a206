//go:build unix

package codetools

import (
	"io/fs"
	"os"
	"syscall"
)

// giveTo gives a file the owner and group of another, where this process may. A
// file that cannot be given away is whole all the same.
func giveTo(file *os.File, like fs.FileInfo) {
	if s, ok := like.Sys().(*syscall.Stat_t); ok {
		_ = file.Chown(int(s.Uid), int(s.Gid))
	}
}
