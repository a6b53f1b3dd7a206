//go:build unix

package below

import "syscall"

// Nonblock is a flag for opening what was seen to be a regular file: it keeps
// the open from waiting, should a named pipe have taken the file's place a moment
// before.
const Nonblock = syscall.O_NONBLOCK
