package load

import (
	"runtime"
	"syscall"
	"time"
	"unsafe"
)

// monotonic reads the clock that all processes of a machine share.
func monotonic() int64 {
	const clockMonotonic = 1
	var ts syscall.Timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return time.Now().UnixNano()
	}
	return ts.Nano()
}

// pause sleeps with the kernel's resolution. The runtime's timers have that of
// epoll where a process is otherwise idle, a millisecond.
func pause(d time.Duration) {
	ts := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&ts, nil) // a signal ends it early, which does not matter
}

// punctual keeps the calling goroutine on a thread of its own, whose sleeps the
// kernel does not stretch.
func punctual() {
	runtime.LockOSThread()
	const setTimerSlack, nanosecond = 29, 1
	syscall.RawSyscall(syscall.SYS_PRCTL, setTimerSlack, nanosecond, 0)
}
