package codetools

import (
	"fmt"
	"strconv"
	"strings"
)

// Bounds of the diff in an answer.
const (
	diffContext = 3        // lines before and after
	maxDiff     = 32 << 10 // bytes
)

// diff is a unified diff of one hunk: all that changed lies in one place.
func (e *edit) diff() (text string, cut bool) {
	if e.unchanged() {
		return "", false
	}
	a, b := linesOf(e.before.Source), linesOf(e.after.Source)
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	tail := 0
	for tail < min(len(a), len(b))-same && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from, after := max(0, same-diffContext), max(0, tail-diffContext)
	var w strings.Builder
	fmt.Fprintf(&w, "--- %s\n+++ %s\n@@ -%s +%s @@\n", inHead("a/"+e.before.Path), inHead("b/"+e.after.Path), extent(from, len(a)-after), extent(from, len(b)-after))
	writeLines(&w, " ", a[from:same])
	writeLines(&w, "-", a[same:len(a)-tail])
	writeLines(&w, "+", b[same:len(b)-tail])
	writeLines(&w, " ", a[len(a)-tail:len(a)-after])
	return bounded(w.String(), maxDiff), w.Len() > maxDiff
}

// inHead is a path as a diff's head has it: quoted, as git does, where it could
// be taken for more than a path.
func inHead(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == 0x7f }) {
		return strconv.Quote(path)
	}
	return path
}

// extent is a range of lines as a hunk's head has it.
func extent(from, to int) string {
	if from == to {
		return fmt.Sprintf("%d,0", from)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func linesOf(src []byte) []string {
	lines := strings.SplitAfter(string(src), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

func writeLines(w *strings.Builder, sign string, lines []string) {
	for _, line := range lines {
		w.WriteString(sign)
		w.WriteString(line)
		if !strings.HasSuffix(line, "\n") {
			w.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
