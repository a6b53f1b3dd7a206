//go:build unix

package main

import (
	"syscall"

	"github.com/parleyhq/parley"
)

// spareFiles is more than a process has open beside its connections.
const spareFiles = 200

// allowFiles lets this process, and those that it starts, open so many
// connections.
func allowFiles(connections int) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then the kernel says when it is too much
	}
	most := limit.Max
	limit.Cur = limit.Max
	for int64(limit.Cur) < int64(connections+spareFiles) && limit.Cur < 1<<40 {
		limit.Cur *= 2
		limit.Max = limit.Cur
	}
	if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return parley.Errorf(parley.Unavailable, "a process may open %d files here, which is too few for %d connections", most, connections).
			WithHint("raise the limit, as with ulimit -Hn, or ask for fewer")
	}
	return nil
}
