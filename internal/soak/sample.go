package soak

import "time"

// figure is one that has to come back to what it was.
type figure int

const (
	goroutines figure = iota
	files
	resident
	heap
	live
	watched // how many there are
)

// about says how each figure is called in the report and at /metrics, and in
// how many of its units it is told.
var about = [watched]struct {
	name, series string
	unit         float64
}{
	goroutines: {"goroutines", "go_goroutines", 1},
	files:      {"open files", "process_open_fds", 1},
	resident:   {"resident memory, MiB", "process_resident_memory_bytes", 1 << 20},
	heap:       {"heap in use, MiB", "go_memstats_heap_inuse_bytes", 1 << 20},
	// The collector aims at twice of what it found alive.
	live: {"next collection at, MiB", "go_memstats_next_gc_bytes", 1 << 20},
}

// sample is what the gateway took at a moment.
type sample struct {
	at      time.Duration
	values  [watched]float64
	figures figures // all of them
}

func newSample(at time.Duration, f figures) sample {
	s := sample{at: at, figures: f}
	for i, a := range about {
		s.values[i] = f.sum(a.series)
	}
	return s
}

// mean is what was taken on average in a part of the time, from and to being
// fractions of the samples.
func mean(samples []sample, from, to float64) (m sample) {
	n := float64(len(samples))
	first := int(from * n)
	part := samples[first:max(first+1, int(to*n))]
	for _, s := range part {
		m.at += s.at / time.Duration(len(part))
		for i, v := range s.values {
			m.values[i] += v / float64(len(part))
		}
	}
	return m
}

// slope fits a line to a figure by least squares, and says how much it grows in
// a second.
func slope(samples []sample, of figure) float64 {
	var sx, sy, sxx, sxy float64
	n := float64(len(samples))
	for _, s := range samples {
		x, y := s.at.Seconds(), s.values[of]
		sx, sy, sxx, sxy = sx+x, sy+y, sxx+x*x, sxy+x*y
	}
	if d := n*sxx - sx*sx; d > 0 {
		return (n*sxy - sx*sy) / d
	}
	return 0
}
