//go:build unix

package filetool

import "syscall"

// openNonblock keeps an open from waiting, should a named pipe have taken a
// file's place a moment before.
const openNonblock = syscall.O_NONBLOCK
