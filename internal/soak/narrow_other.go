//go:build !linux

package soak

import "syscall"

// narrowSocket leaves a socket as it is.
func narrowSocket(string, string, syscall.RawConn) error { return nil }
