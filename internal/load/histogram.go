package load

import (
	"fmt"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// histogram counts latencies, in nanoseconds, exact to three digits. What is
// longer than the longest counts as that.
type histogram struct{ h *hdrhistogram.Histogram }

const longest = int64(10 * time.Minute)

func newHistogram() histogram { return histogram{hdrhistogram.New(1, longest, 3)} }

func (h histogram) record(ns int64) {
	_ = h.h.RecordValue(min(max(ns, 0), longest)) // fails only beyond its bounds
}

func (h histogram) merge(other histogram) { h.h.Merge(other.h) }

func (h histogram) latency() Latency {
	us := func(ns int64) float64 { return float64(ns) / 1e3 }
	return Latency{
		Samples: uint64(h.h.TotalCount()),
		P50:     us(h.h.ValueAtPercentile(50)),
		P99:     us(h.h.ValueAtPercentile(99)),
		P999:    us(h.h.ValueAtPercentile(99.9)),
		Max:     us(h.h.Max()),
	}
}

// MarshalText is the histogram as other processes can merge it.
func (h histogram) MarshalText() ([]byte, error) {
	return h.h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
}

// UnmarshalText reads what MarshalText wrote.
func (h *histogram) UnmarshalText(text []byte) (err error) {
	if h.h, err = hdrhistogram.Decode(text); err != nil {
		return fmt.Errorf("a histogram of a worker: %w", err)
	}
	return nil
}
