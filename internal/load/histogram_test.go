package load

import (
	"encoding/json"
	"testing"
	"time"
)

// What workers send as text and the coordinator merges is what one histogram
// would have counted.
func TestHistogramsMerge(t *testing.T) {
	one, merged := newHistogram(), newHistogram()
	for part := range 3 {
		h := newHistogram()
		for i := range 10_000 {
			ns := int64(i*i+part) * 37
			h.record(ns)
			one.record(ns)
		}
		text, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		var back histogram
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		merged.merge(back)
	}
	if got, want := merged.latency(), one.latency(); got != want || got.Samples != 30_000 {
		t.Errorf("merged %+v, one %+v", got, want)
	}
}

func TestHistogramIsExactToThreeDigits(t *testing.T) {
	h := newHistogram()
	for ms := int64(1); ms <= 1_000; ms++ {
		h.record(ms * 1e6)
	}
	l := h.latency()
	for _, c := range []struct{ got, want float64 }{{l.P50, 500e3}, {l.P99, 990e3}, {l.P999, 999e3}, {l.Max, 1_000e3}} {
		if c.got < c.want*0.999 || c.got > c.want*1.001 {
			t.Errorf("got %g µs, want %g; all: %+v", c.got, c.want, l)
		}
	}
}

func TestHistogramTakesWhatIsOutOfBounds(t *testing.T) {
	h := newHistogram()
	h.record(-5) // a clock that is not quite the other's
	h.record(int64(3 * time.Hour))
	if l := h.latency(); l.Samples != 2 || l.Max < 599e6 || l.Max > 601e6 {
		t.Errorf("%+v", l)
	}
}

func TestBrokenHistogramIsRefused(t *testing.T) {
	var h histogram
	if err := h.UnmarshalText([]byte("HISTFAAAAA")); err == nil {
		t.Error("half a histogram was taken")
	}
}
