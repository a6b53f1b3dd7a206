//go:build unix

package response

import "syscall"

// openNonblock keeps a look from waiting for ever, should a named pipe have taken
// the file's place a moment before.
const openNonblock = syscall.O_NONBLOCK
