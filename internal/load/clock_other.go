//go:build !linux

package load

import "time"

// monotonic is the wall clock here: processes that start together agree on it
// unless it is set meanwhile.
func monotonic() int64 { return time.Now().UnixNano() }

func pause(d time.Duration) { time.Sleep(d) }

func punctual() {}
