package soak

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"time"
)

// Report is what came of a soak.
type Report struct {
	Seed     uint64
	Duration time.Duration
	Race     bool // the program has the race detector

	Measure Quiet    // what the gateway took after the first tenth, with nobody there
	Samples []sample // during the rest
	End     Quiet    // the same as Measure, at the end

	Deeds    map[string]int // what was done, how often
	Shutdown time.Duration
	Kept     Kept // of the space that keeps everything
	Small    Kept // of the one with retention
	File     int64
	Faults   []string // none, if all is well
}

// Print writes a table of the figures and what was done.
func (r *Report) Print(w io.Writer) {
	r.printFigures(w)
	fmt.Fprintf(w, "quiet after %v and %v\n", r.Measure.Waited.Round(time.Millisecond), r.End.Waited.Round(time.Millisecond))
	r.printDeeds(w)
	f := r.End.figures
	lag := 0.0
	for _, s := range r.Samples {
		lag = max(lag, s.figures.sum("parley_journal_index_lag_envelopes"))
	}
	fmt.Fprintf(w, "the search index was behind by %.0f envelopes at most\n", lag)
	fmt.Fprintf(w, "%.0f envelopes admitted, %.0f refused, %.0f frames delivered, %.0f connections closed (%.0f slow, %.0f flooding)\n",
		f.sum("parley_envelopes_admitted_total"), f.sum("parley_envelopes_refused_total"), f.sum("parley_frames_delivered_total"),
		f.sum("parley_connections_closed_total"), f.sum("parley_connections_closed_total", `reason="slow"`),
		f.sum("parley_connections_closed_total", `reason="flooding"`))
	fmt.Fprintf(w, "on record: %s %.1f MiB, %s %.1f MiB from seq %d on; the file has %.1f MiB; the end took %v\n",
		keeps, mib(r.Kept.Bytes), drops, mib(r.Small.Bytes), r.Small.First, mib(r.File), r.Shutdown.Round(time.Millisecond))
	for _, fault := range r.Faults {
		fmt.Fprintln(w, "FAULT:", fault)
	}
	fmt.Fprintf(w, "%d faults; seed %d\n", len(r.Faults), r.Seed)
}

// printFigures writes what was taken: at the measure, while the crews worked,
// and when they had left.
func (r *Report) printFigures(w io.Writer) {
	start, middle, end := mean(r.Samples, 0, 0.1), mean(r.Samples, 0.45, 0.55), mean(r.Samples, 0.9, 1)
	fmt.Fprintf(w, "%-24s %9s %9s %9s %9s %9s %16s\n", "", "measure", "start", "middle", "end", "left", "last half, trend")
	for i, a := range about {
		fmt.Fprintf(w, "%-24s", a.name)
		for _, s := range []sample{r.Measure.sample, start, middle, end, r.End.sample} {
			fmt.Fprintf(w, " %9.1f", s.values[i]/a.unit)
		}
		fmt.Fprintf(w, " %+16.2f\n", r.rise(figure(i))/a.unit)
	}
}

func (r *Report) printDeeds(w io.Writer) {
	for i, deed := range slices.Sorted(maps.Keys(r.Deeds)) {
		fmt.Fprintf(w, "%8d %-34s", r.Deeds[deed], deed)
		if i%3 == 2 || i == len(r.Deeds)-1 {
			fmt.Fprintln(w)
		}
	}
}

func mib(bytes int64) float64 { return float64(bytes) / (1 << 20) }
