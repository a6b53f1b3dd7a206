package main

import (
	"fmt"
	"runtime"
	"strings"

	"github.com/parleyhq/parley/internal/load"
)

// benchReport is what a bench found. Every figure has its unit in its name.
type benchReport struct {
	Bench    string       `json:"bench"`
	Against  string       `json:"against,omitempty"`
	Machine  benchMachine `json:"machine"`
	Settings any          `json:"settings"`
	Figures  any          `json:"figures"`
}

// benchMachine is where the load was made.
type benchMachine struct {
	Cores   int    `json:"cores"`
	OS      string `json:"os"`
	Go      string `json:"go"`
	Version string `json:"parley"`
	Commit  string `json:"commit,omitempty"`
}

func readMachine() benchMachine {
	v := readVersion()
	return benchMachine{runtime.NumCPU(), v.Platform, v.Go, v.Version, v.Commit}
}

// report prints what a bench found: as JSON, or as a table with a title.
func (s *benchSite) report(name string, settings, figures any, title string, rows benchRows) error {
	s.progress.end()
	if s.t.asJSON() {
		return s.t.writeValue(benchReport{name, s.flags.url, readMachine(), settings, figures})
	}
	p := s.t.palette()
	m := readMachine()
	where := "a gateway of its own, sync " + s.flags.sync
	if s.flags.url != "" {
		where = s.flags.url
	}
	fmt.Fprintln(s.t.out, p.name(title))
	fmt.Fprintln(s.t.out, p.dim(fmt.Sprintf("%s; %s, %s, %s", where, plural(m.Cores, "core", "cores"), m.OS, m.Go)))
	return writeRows(s.t, rows)
}

// benchRow is a figure for people.
type benchRow struct{ name, figure, unit string }

type benchRows []benchRow

func (r *benchRows) add(name, figure, unit string) { *r = append(*r, benchRow{name, figure, unit}) }

// latency adds the figures of a latency.
func (r *benchRows) latency(name string, l load.Latency) {
	if l.Samples == 0 {
		r.add(name, "n/a", "")
		return
	}
	r.add(name+" p50", micros(l.P50), "")
	r.add(name+" p99", micros(l.P99), "")
	r.add(name+" p99.9", micros(l.P999), "")
}

// server adds what the gateway used.
func (r *benchRows) server(u load.Usage, perMillion *float64, of string) {
	if perMillion != nil {
		r.add("gateway's CPU", fmt.Sprintf("%.2f", *perMillion), "s per million "+of)
	} else {
		r.add("gateway's CPU", "n/a", "")
	}
	if u.PeakRSS != nil {
		r.add("gateway's peak memory", fmt.Sprintf("%.1f", float64(*u.PeakRSS)/(1<<20)), "MiB")
	} else {
		r.add("gateway's peak memory", "n/a", "")
	}
}

// refused adds what the gateway did not take, if there was anything.
func (r *benchRows) refused(n uint64, first string) {
	if n > 0 {
		r.add("refused", thousands(float64(n)), clean(first))
	}
}

func writeRows(t *terminal, rows benchRows) error {
	names, figures := 0, 0
	for _, row := range rows {
		names, figures = max(names, len(row.name)), max(figures, len([]rune(row.figure)))
	}
	for _, row := range rows {
		line := fmt.Sprintf("  %-*s  %*s %s", names, row.name, figures, row.figure, row.unit)
		if _, err := fmt.Fprintln(t.out, strings.TrimRight(line, " ")); err != nil {
			return err
		}
	}
	return nil
}

// thousands is a whole number with commas.
func thousands(f float64) string {
	s := fmt.Sprintf("%.0f", f)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// micros is a time for people.
func micros(us float64) string {
	switch {
	case us < 1_000:
		return fmt.Sprintf("%.0f µs", us)
	case us < 1_000_000:
		return fmt.Sprintf("%.2f ms", us/1e3)
	}
	return fmt.Sprintf("%.2f s", us/1e6)
}
