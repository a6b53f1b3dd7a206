//go:build !linux

package gateway

import "syscall"

// unsent is not known here.
func unsent(syscall.RawConn) uint64 { return 0 }
