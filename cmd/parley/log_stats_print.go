package main

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// printStats writes at most so many lines of each table; 0 is all.
func printStats(t *terminal, s *stats, most int) error {
	if t.asJSON() {
		return printStatsJSON(t, s, most)
	}
	w := bufio.NewWriter(t.out)
	printSpan(w, s.record())
	for _, table := range statsTables(s) {
		table.print(w, t.palette(), most)
	}
	return w.Flush()
}

func printStatsJSON(t *terminal, s *stats, most int) error {
	lines := []any{s.record()}
	lines = appendRows(lines, s.saidRows(), most)
	lines = appendRows(lines, s.callRows(), most)
	lines = appendRows(lines, s.answerRows(), most)
	lines = appendRows(lines, s.refusalRows(), most)
	for _, row := range lines {
		wire, err := json.Marshal(row, inMillis, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			return err
		}
		if err := t.writeJSON(wire); err != nil {
			return err
		}
	}
	return nil
}

func appendRows[R any](lines []any, rows []R, most int) []any {
	for _, row := range firstOf(rows, most) {
		lines = append(lines, row)
	}
	return lines
}

// firstOf are the first so many; 0 is all.
func firstOf[R any](rows []R, most int) []R {
	if most > 0 && len(rows) > most {
		return rows[:most]
	}
	return rows
}

func printSpan(w *bufio.Writer, r recordRow) {
	fmt.Fprintf(w, "%s, %s", plural(r.Envelopes, "envelope", "envelopes"), size(r.Bytes))
	if r.Envelopes > 0 {
		fmt.Fprintf(w, ", from %s to %s", r.First.Local().Format("2006-01-02 15:04:05"), r.Last.Local().Format("2006-01-02 15:04:05"))
	}
	w.WriteByte('\n')
}

// table is rows under a title. Columns from the first number on stand to the
// right.
type table struct {
	title string
	head  []string
	texts int // how many columns are none of numbers
	rows  [][]string
	sum   []string // of all rows; nil for none
}

// statsTables are those that hold something.
func statsTables(s *stats) []table {
	said := table{title: "Envelopes", head: []string{"participant", "kind", "envelopes", "size"}, texts: 2}
	for _, r := range s.saidRows() {
		said.add(r.Participant, r.Kind, strconv.Itoa(r.Envelopes), size(r.Bytes))
	}
	calls := table{title: "Calls of tools", head: []string{"server", "tool", "calls", "failed", "unanswered", "p50", "p95", "longest"}, texts: 2}
	for _, r := range s.callRows() {
		calls.add(r.Server, r.Tool, strconv.Itoa(r.Calls), strconv.Itoa(r.Failed), strconv.Itoa(r.Calls-r.Answered), millis(r.P50), millis(r.P95), millis(r.Max))
	}
	answers := table{title: "Answers in the envelope, in tokens", head: []string{"server", "tool", "participant", "profile", "answers", "tokens", "saved", "saved of each"}, texts: 4}
	all := answerRow{Server: "in all"}
	for _, r := range s.answerRows() {
		answers.rows = append(answers.rows, r.cells())
		all.Answers, all.Tokens, all.Saved = all.Answers+r.Answers, all.Tokens+r.Tokens, all.Saved+r.Saved
	}
	answers.sum = all.cells()
	refusals := table{title: "Refusals", head: []string{"participant", "code", "refusals"}, texts: 2}
	for _, r := range s.refusalRows() {
		refusals.add(r.Participant, r.Code, strconv.Itoa(r.Refusals))
	}
	return []table{said, calls, answers, refusals}
}

func (r answerRow) cells() []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	return append(names(r.Server, r.Tool, r.Participant, r.Profile),
		strconv.Itoa(r.Answers), number(r.Tokens), number(r.Saved), number(r.Saved/int64(max(r.Answers, 1))))
}

// widest is how much of a name a table shows, in characters.
const widest = 40

// names are texts as cells.
func names(texts ...string) []string {
	short := &renderer{}
	for i, text := range texts {
		texts[i] = short.cut(clean(text), widest)
	}
	return texts
}

func (t *table) add(cells ...string) {
	t.rows = append(t.rows, append(names(cells[:t.texts]...), cells[t.texts:]...))
}

func (t *table) print(w *bufio.Writer, paint palette, most int) {
	if len(t.rows) == 0 {
		return
	}
	rows := firstOf(t.rows, most)
	widths := make([]int, len(t.head))
	for _, row := range append([][]string{t.head, t.sum}, rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	fmt.Fprintf(w, "\n%s\n%s\n", paint.name(t.title), paint.dim(t.line(t.head, widths)))
	for _, row := range rows {
		fmt.Fprintln(w, t.line(row, widths))
	}
	if more := len(t.rows) - len(rows); more > 0 {
		fmt.Fprintln(w, paint.dim(fmt.Sprintf("  and %d more; --limit 0 shows all", more)))
	}
	if t.sum != nil && len(t.rows) > 1 {
		fmt.Fprintln(w, paint.name(t.line(t.sum, widths)))
	}
}

func (t *table) line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i < t.texts {
			b.WriteString("  " + cell + blanks)
		} else {
			b.WriteString("  " + blanks + cell)
		}
	}
	return strings.TrimRight(b.String(), " ")
}

// millis is a time for people.
func millis(ms *int64) string {
	switch {
	case ms == nil:
		return "-"
	case *ms < 10_000:
		return fmt.Sprintf("%d ms", *ms)
	}
	return fmt.Sprintf("%.1f s", float64(*ms)/1000)
}

// size is a number of bytes for people.
func size(bytes int64) string {
	const k = 1 << 10
	switch {
	case bytes < k:
		return fmt.Sprintf("%d B", bytes)
	case bytes < k*k:
		return fmt.Sprintf("%.1f KiB", float64(bytes)/k)
	case bytes < k*k*k:
		return fmt.Sprintf("%.1f MiB", float64(bytes)/k/k)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/k/k/k)
}
