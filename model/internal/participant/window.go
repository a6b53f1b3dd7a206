package participant

import "time"

// slots are into how many parts a window counts. One more than the span has
// keeps what was used at the end of a slot for the whole span.
const slots = 60

// window sums what was used within the last span of time, to a sixtieth of it.
type window struct {
	span time.Duration
	most int64
	sum  int64
	used [slots + 1]int64
	at   int64 // the newest slot, counted from the beginning of time
}

func (w *window) slot(now time.Time) int64 { return now.UnixNano() / int64(w.span/slots) }

// forget drops what is older than the span. A clock that goes back drops
// nothing.
func (w *window) forget(now time.Time) {
	newest := w.slot(now)
	for ; w.at < newest && w.sum > 0; w.at++ {
		next := &w.used[(w.at+1)%int64(len(w.used))]
		w.sum -= *next
		*next = 0
	}
	w.at = max(w.at, newest)
}

func (w *window) add(now time.Time, n int64) {
	w.forget(now)
	w.used[w.at%int64(len(w.used))] += n
	w.sum += n
}

// wait is how long it takes until less than the most is used; 0 is now.
func (w *window) wait(now time.Time) time.Duration {
	w.forget(now)
	left := w.sum
	for i := w.at - slots; left >= w.most && i <= w.at; i++ {
		left -= w.used[i%int64(len(w.used))]
		if left < w.most {
			freed := (i + slots + 1) * int64(w.span/slots)
			return max(time.Unix(0, freed).Sub(now), 0)
		}
	}
	return 0
}
