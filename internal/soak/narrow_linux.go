package soak

import (
	"errors"
	"syscall"
)

// narrowSocket makes a socket that takes small segments and few of them, before
// it is connected: the other end makes its buffer by that.
func narrowSocket(_, _ string, raw syscall.RawConn) (err error) {
	const segment, buffer = 536, 4 << 10 // bytes
	failed := raw.Control(func(fd uintptr) {
		err = errors.Join(
			syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, segment),
			syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, buffer))
	})
	return errors.Join(failed, err)
}
