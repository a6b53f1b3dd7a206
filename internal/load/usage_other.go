//go:build !linux

package load

// Elsewhere there is no /proc: what a server uses is not known.

func cpuSeconds(int) (float64, bool) { return 0, false }

func memory(int) (rss, peak uint64, ok bool) { return 0, 0, false }
