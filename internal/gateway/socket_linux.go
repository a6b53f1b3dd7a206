package gateway

import (
	"syscall"
	"unsafe"
)

// unsent is how many bytes the system still holds that the other side has not
// acknowledged.
func unsent(raw syscall.RawConn) (n uint64) {
	var held int32
	err := raw.Control(func(fd uintptr) {
		_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&held)))
		if errno != 0 {
			held = 0
		}
	})
	if err != nil || held < 0 {
		return 0
	}
	return uint64(held)
}
