package load

// pace spreads messages evenly over time: message i is due at start + i/rate.
type pace struct {
	start int64
	rate  float64 // per second
	sent  uint64
}

// due is how many messages should have been sent by now and have not been.
func (p *pace) due(now int64) int {
	if now < p.start {
		return 0
	}
	n := uint64(float64(now-p.start)*p.rate/1e9) + 1
	if n <= p.sent {
		return 0
	}
	return int(n - p.sent)
}

// next is when the next message is due.
func (p *pace) next() int64 { return p.at(p.sent) }

// take moves on by n messages, and appends when each of them was due.
func (p *pace) take(stamps []int64, n int) []int64 {
	for range n {
		stamps = append(stamps, p.next())
		p.sent++
	}
	return stamps
}

// at is rounded up, so that at that time the message is due.
func (p *pace) at(i uint64) int64 {
	ns := float64(i) * 1e9 / p.rate
	t := p.start + int64(ns)
	for float64(t-p.start)*p.rate/1e9 < float64(i) {
		t++
	}
	return t
}
