package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

// report is everything that is told of a run; hop.json is it as a whole.
type report struct {
	Machine string            `json:"machine"`
	Missing map[string]string `json:"missing,omitempty"` // ways that could not be measured, and why
	Cells   []cell            `json:"cells"`
	Memory  []memory          `json:"memory,omitempty"`
}

func machine() string {
	return fmt.Sprintf("%s/%s, %d cores, %s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(), time.Now().UTC().Format(time.DateOnly))
}

func (r *report) write(folder string) error {
	var page bytes.Buffer
	r.markdown(&page)
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"hop.json": raw, "hop.md": page.Bytes()} {
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o644); err != nil {
			return err
		}
	}
	_, err = page.WriteTo(os.Stdout)
	return err
}

func (r *report) markdown(w io.Writer) {
	fmt.Fprintf(w, "# One hop\n\n%s. Calls of a trivial tool; medians over rounds, ratios and differences to the direct way within a round.\n"+
		"CPU time is that of the processes that stand between, and of the server that they started.\n", r.Machine)
	for _, n := range work {
		fmt.Fprintf(w, "\n## %s\n\n| way | p50 | added | ratio | p99 | calls/s | ratio | CPU per call | |\n| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n", title(n))
		for _, way := range ways {
			fmt.Fprintf(w, "| %s | %s |\n", way.name, strings.Join(r.row(way.name, n), " | "))
		}
	}
	for _, m := range r.Memory {
		if m.Error != "" {
			fmt.Fprintf(w, "\n%s, idle sessions: %s\n", m.Way, m.Error)
			continue
		}
		fmt.Fprintf(w, "\n%s: %s resident, %s with %d idle sessions.\n", m.Way, mebibytes(m.Before), mebibytes(m.After), m.Sessions)
	}
}

func title(n int) string {
	if n == 1 {
		return "One call after the other"
	}
	return fmt.Sprint(n, " calls at once")
}

func (r *report) row(way string, n int) []string {
	if reason, missing := r.Missing[way]; missing {
		return []string{"not measured: " + line(reason), "", "", "", "", "", "", ""}
	}
	added := r.beside(way, n, func(mine, direct figures) float64 { return mine.P50 - direct.P50 })
	if len(added) == 0 {
		return []string{"", "", "", "", "", "", "", r.trouble(way, n)}
	}
	return []string{
		micros(median(r.beside(way, n, func(mine, _ figures) float64 { return mine.P50 }))),
		micros(median(added)),
		decimals(median(r.beside(way, n, func(mine, direct figures) float64 { return mine.P50 / direct.P50 }))),
		micros(median(r.beside(way, n, func(mine, _ figures) float64 { return mine.P99 }))),
		whole(median(r.beside(way, n, func(mine, _ figures) float64 { return mine.PerSecond }))),
		decimals(median(r.beside(way, n, func(mine, direct figures) float64 { return mine.PerSecond / direct.PerSecond }))),
		micros(median(r.beside(way, n, func(mine, _ figures) float64 { return mine.CPU }))),
		r.trouble(way, n),
	}
}

// beside is a figure of each round in which both a way and the direct one
// could be measured.
func (r *report) beside(way string, n int, f func(mine, direct figures) float64) (values []float64) {
	for _, direct := range r.Cells {
		if direct.Way != directly || direct.Calls != n || direct.Error != "" {
			continue
		}
		for _, mine := range r.Cells {
			if mine.Way == way && mine.Calls == n && mine.Round == direct.Round && mine.Error == "" {
				values = append(values, f(mine.Found, direct.Found))
			}
		}
	}
	return values
}

// trouble is what went wrong in rounds that failed.
func (r *report) trouble(way string, n int) string {
	var failed int
	var first string
	for _, c := range r.Cells {
		if c.Way == way && c.Calls == n && c.Error != "" {
			if failed++; failed == 1 {
				first = line(c.Error)
			}
		}
	}
	if failed == 0 {
		return ""
	}
	return fmt.Sprintf("failed rounds: %d (%s)", failed, first)
}

// line makes one of a text, for a table.
func line(text string) string {
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", "/")
	return text[:min(len(text), 160)]
}

func median(values []float64) float64 {
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

func micros(v float64) string { return fmt.Sprintf("%.0f µs", v) }

func decimals(v float64) string { return fmt.Sprintf("%.2f", v) }

func whole(v float64) string { return fmt.Sprintf("%.0f", v) }

func mebibytes(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
