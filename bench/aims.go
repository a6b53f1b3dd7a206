package main

import (
	"fmt"
	"math"
	"slices"
)

// aim is what Parley wants to reach, and whether it does.
type aim struct {
	Name    string  `json:"name"`
	AtLeast float64 `json:"at_least,omitempty"` // the one
	AtMost  float64 `json:"at_most,omitempty"`  // or the other
	Unit    unit    `json:"unit"`
	Median  float64 `json:"median,omitempty"`
	Least   float64 `json:"least,omitempty"`
	Most    float64 `json:"most,omitempty"`
	Rounds  int     `json:"rounds"`
	Why     string  `json:"why,omitempty"` // there is no figure
}

// unit says how a figure is written.
type unit string

const (
	times   unit = "×"
	micro   unit = "µs"
	kib     unit = "KiB"
	seconds unit = "s"
)

func (u unit) text(v float64) string {
	switch u {
	case micro:
		return micros(v)
	case kib:
		return fmt.Sprintf("%.1f KiB", v)
	case seconds:
		return fmt.Sprintf("%.2f s", v)
	}
	return fmt.Sprintf("%.2f×", v)
}

func (a aim) wanted() string {
	if a.AtLeast > 0 {
		return "≥ " + a.Unit.text(a.AtLeast)
	}
	return "≤ " + a.Unit.text(a.AtMost)
}

func (a aim) figures() (measured, spread string) {
	if a.Rounds == 0 {
		return "not measured: " + a.Why, ""
	}
	return a.Unit.text(a.Median), fmt.Sprintf("%s – %s", a.Unit.text(a.Least), a.Unit.text(a.Most))
}

// Verdict is about the median; the spread is there to be doubted by.
func (a aim) Verdict() string {
	switch {
	case a.Rounds == 0:
		return ""
	case a.AtLeast > 0 && a.Median >= a.AtLeast, a.AtMost > 0 && a.Median <= a.AtMost:
		return "holds"
	}
	return "missed"
}

// of fills in what was measured.
func (a aim) of(s samples, why string) aim {
	s = slices.DeleteFunc(s, func(v sample) bool { return math.IsNaN(v.value) || math.IsInf(v.value, 0) })
	if a.Rounds = len(s); a.Rounds == 0 {
		a.Why = why
		return a
	}
	a.Median = s.median()
	a.Least, a.Most = s.spread()
	return a
}

// judge holds what was measured against the aims.
func (r *report) judge() {
	core := func(work, server string) samples { return r.Cells.of(work, server, perCoreSecond) }
	lacking := func(work, other string) string {
		if why := r.reason(work, other); why != "" {
			return why
		}
		return r.reason(work, "parley")
	}
	against := func(work, other string) (samples, string) {
		return ratio(core(work, "parley"), core(work, other)), lacking(work, other)
	}
	late := func(work string) (samples, string) {
		return ratio(r.Cells.of(work, "parley", p99), r.Cells.of(work, rival, p99)), lacking(work, rival)
	}
	alone := func(server string) samples { return r.Cells.of("alone", server, p50) }
	r.Aims = []aim{
		aim{Name: "200 receivers, per CPU second, against the floor of 16 frames per write", AtLeast: 0.7, Unit: times}.of(against("fanout-200", "floor, 16 frames per write")),
		aim{Name: "200 receivers, per CPU second, against nats-server's WebSocket", AtLeast: 2, Unit: times}.of(against("fanout-200", rival)),
		aim{Name: "20 receivers, per CPU second, against nats-server's WebSocket", AtLeast: 1, Unit: times}.of(against("fanout-20", rival)),
		aim{Name: "2 receivers, per CPU second, against nats-server's WebSocket", AtLeast: 1, Unit: times}.of(against("fanout-2", rival)),
		aim{Name: "20 receivers at 1,000 messages a second, per CPU second, against nats-server's WebSocket", AtLeast: 1, Unit: times}.of(against("calm-20", rival)),
		aim{Name: "2 receivers at 1,000 messages a second, per CPU second, against nats-server's WebSocket", AtLeast: 1, Unit: times}.of(against("calm-2", rival)),
		aim{Name: "20 receivers, p99 at half of what saturates nats-server's WebSocket, against its", AtMost: 1.5, Unit: times}.of(late("half-20")),
		aim{Name: "200 receivers, p99 at half of what saturates nats-server's WebSocket, against its", AtMost: 1.5, Unit: times}.of(late("half-200")),
		aim{Name: "one sender alone, p50 from send to receive", AtMost: 300, Unit: micro}.of(alone("parley"), r.reason("alone", "parley")),
		aim{Name: "one sender alone with sync: full, p50, against a bare append and fsync", AtMost: 2, Unit: times}.of(
			ratio(alone("parley, sync: full"), r.Others.of("fsync", "p50_us")), r.reason("alone", "parley, sync: full")),
		aim{Name: "64 senders, durable admission, against bare batched inserts", AtLeast: 0.7, Unit: times}.of(r.Others.figure("append")),
		aim{Name: "memory for one more busy receiver", AtMost: 20, Unit: kib}.of(r.perReceiver(), r.reason("memory-1100", "parley")),
		aim{Name: "memory for an idle connection, of 10,000", AtMost: 12, Unit: kib}.of(r.Others.figure("idle")),
		aim{Name: "10 million envelopes, start to first welcome", AtMost: 1, Unit: seconds}.of(r.Others.figure("start")),
		aim{Name: "live p99 while 1,000 join with a history of 1,000, against quiet", AtMost: 5, Unit: times}.of(r.Others.figure("join")),
	}
}

// perReceiver is what each of the receivers from 100 to 1,100 adds to the
// gateway's largest memory, in KiB.
func (r *report) perReceiver() samples {
	return combine(r.Cells.of("memory-1100", "parley", peak), r.Cells.of("memory-100", "parley", peak),
		func(many, few float64) float64 { return (many - few) / 1000 / 1024 })
}

// lost counts deliveries that never came.
func lost(c cell) (float64, bool) {
	if c.Result == nil {
		return 0, false
	}
	return float64(c.Result.Lost), true
}

func micros(us float64) string {
	switch {
	case math.IsNaN(us):
		return "–"
	case us < 10:
		return fmt.Sprintf("%.1f µs", us)
	case us < 10_000:
		return thousands(us) + " µs"
	}
	return thousands(us/1000) + " ms"
}

func mebibytes(b float64) string {
	if math.IsNaN(b) {
		return "–"
	}
	return fmt.Sprintf("%.0f MiB", b/(1<<20))
}

func decimals(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	return fmt.Sprintf("%.3g", v)
}

// thousands writes a whole number with commas.
func thousands(v float64) string {
	if math.IsNaN(v) {
		return "–"
	}
	s := fmt.Sprintf("%.0f", v)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
