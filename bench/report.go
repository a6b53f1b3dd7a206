package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// report is everything that is told of a run; compare.json is it as a whole.
type report struct {
	Machine string            `json:"machine"`
	Seconds float64           `json:"seconds"`
	Skipped map[string]string `json:"skipped,omitempty"` // servers that could not be had, and why
	Cells   cells             `json:"cells"`
	Others  others            `json:"others"`
	Aims    []aim             `json:"aims"`
}

func machine(b *bench) string {
	return fmt.Sprintf("%s/%s, %d cores, %s, %s; %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version(),
		time.Now().UTC().Format(time.DateOnly), b.cores)
}

// write writes the report in its three forms, whole ones always.
func (r *report) write(folder string) error {
	var page, picture bytes.Buffer
	r.markdown(&page)
	if err := chart(&picture, r.panels(), r.Machine); err != nil {
		return err
	}
	raw, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"compare.json": raw, "compare.md": page.Bytes(), "compare.svg": picture.Bytes()} {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path+".new", text, 0o644); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// draw writes table and picture anew from raw figures.
func draw(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("usage: bench draw RESULTS/compare.json")
	}
	raw, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var r report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	r.judge()
	return r.write(filepath.Dir(args[0]))
}

// markdown writes the tables.
func (r *report) markdown(w io.Writer) {
	fmt.Fprintf(w, "# Parley in comparison\n\n%s. Measured in %.0f minutes; messages of %d bytes. Ratios are medians over rounds, the spread behind them.\n\n",
		r.Machine, math.Ceil(r.Seconds/60), size)
	fmt.Fprintln(w, "| aim | wanted | measured | spread | |\n| --- | --- | --- | --- | --- |")
	for _, a := range r.Aims {
		measured, spread := a.figures()
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s |\n", a.Name, a.wanted(), measured, spread, a.Verdict())
	}
	for _, k := range works {
		if rows := r.rows(k); len(rows) > 0 {
			fmt.Fprintf(w, "\n## %s\n\n| %s |\n| --- |%s\n", k.title, strings.Join(columns, " | "), strings.Repeat(" --- |", len(columns)-1))
			for _, row := range rows {
				fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | "))
			}
		}
	}
	r.Others.markdown(w)
}

var columns = []string{"server", "messages/s", "M deliveries per CPU second", "p50", "p99", "peak memory", "lost"}

// seen are the servers that have something to show for some work, be it why
// they were not measured.
func (r *report) seen(k work) (names []string) {
	for _, name := range k.servers {
		mine := func(c cell) bool { return c.Work == k.name && c.Server == name }
		if slices.ContainsFunc(r.Cells, mine) || r.Skipped[name] != "" {
			names = append(names, name)
		}
	}
	return names
}

// rows are what servers did at some work.
func (r *report) rows(k work) (rows [][]string) {
	if !slices.ContainsFunc(r.Cells, func(c cell) bool { return c.Work == k.name }) {
		return nil
	}
	for _, name := range r.seen(k) {
		get := func(f figure) float64 { return r.Cells.of(k.name, name, f).median() }
		if reason := r.reason(k.name, name); reason != "" {
			rows = append(rows, []string{name, "not measured: " + reason, "", "", "", "", ""})
			continue
		}
		rows = append(rows, []string{name, thousands(get(perSecond)), decimals(get(perCoreSecond) / 1e6),
			micros(get(p50)), micros(get(p99)), mebibytes(get(peak)), thousands(get(lost))})
	}
	return rows
}

// reason is why there is no figure of a server at some work, or "".
func (r *report) reason(work, server string) string {
	if why := r.Skipped[server]; why != "" {
		return why
	}
	why := "it was not tried"
	for _, c := range r.Cells {
		if c.Work != work || c.Server != server {
			continue
		}
		if c.Result != nil {
			return ""
		}
		why = strings.NewReplacer("|", "/", "\n", " ").Replace(c.Error)
	}
	return why
}

// print writes the aims for a terminal.
func (r *report) print(w io.Writer) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "\naim\twanted\tmeasured\tspread\t")
	for _, a := range r.Aims {
		measured, spread := a.figures()
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", a.Name, a.wanted(), measured, spread, a.Verdict())
	}
	t.Flush()
	for _, s := range servers {
		if why := r.Skipped[s.name]; why != "" {
			fmt.Fprintf(w, "without %s: %s\n", s.name, why)
		}
	}
}
