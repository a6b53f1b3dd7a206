package load

// MemoryOf is what a process holds of the machine's memory now, in bytes; ok is
// false where nobody can tell.
func MemoryOf(pid int) (rss uint64, ok bool) {
	rss, _, ok = memory(pid)
	return rss, ok
}

// meter measures what a process uses; pid 0 is unknown.
type meter struct {
	pid   int
	start float64
	ok    bool
}

func startMeter(pid int) meter {
	m := meter{pid: pid}
	if pid != 0 {
		m.start, m.ok = cpuSeconds(pid)
	}
	return m
}

func (m meter) usage() (u Usage) {
	if !m.ok {
		return u
	}
	if now, ok := cpuSeconds(m.pid); ok {
		used := now - m.start
		u.CPUSeconds = &used
	}
	if rss, peak, ok := memory(m.pid); ok {
		u.RSS, u.PeakRSS = &rss, &peak
	}
	return u
}

// perMillion is the CPU seconds for a million of n. CPU time is counted in ticks,
// and where there was none, it was less than can be told.
func (u Usage) perMillion(n uint64) *float64 {
	if u.CPUSeconds == nil || *u.CPUSeconds == 0 || n == 0 {
		return nil
	}
	v := *u.CPUSeconds / float64(n) * 1e6
	return &v
}
