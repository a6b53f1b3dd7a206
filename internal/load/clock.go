package load

import "time"

// Now is the time in nanoseconds since some moment that is the same for all
// processes of this machine.
func Now() int64 { return clockBase + int64(time.Since(clockStart)) }

var clockStart, clockBase = calibrate()

// calibrate finds what the shared clock showed when this process's own, which is
// cheap to read, began. Of several tries the quickest is the most exact.
func calibrate() (start time.Time, base int64) {
	best := time.Duration(1 << 62)
	for range 8 {
		before := time.Now()
		shared := monotonic()
		if took := time.Since(before); took < best {
			best, start, base = took, before.Add(took/2), shared
		}
	}
	return start, base
}
