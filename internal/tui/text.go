package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// fold breaks text of a participant into safe lines of at most width columns, and
// keeps the first most of them; 0 is all.
func fold(text string, width, most int) (lines []string, more bool) {
	for line := range strings.SplitSeq(strings.TrimRight(safe.Text(text), "\n"), "\n") {
		for part := range strings.SplitSeq(ansi.Wrap(line, max(width, 1), ""), "\n") {
			if most > 0 && len(lines) == most {
				return lines, true
			}
			lines = append(lines, part)
		}
	}
	return lines, false
}

// pad makes a styled line exactly so wide.
func pad(line string, width int) string {
	if n := width - ansi.StringWidth(line); n > 0 {
		return line + strings.Repeat(" ", n)
	}
	return ansi.Truncate(line, width, "…")
}

// ends puts one text at the left end of a line and the other at its right end. Where
// there is no room for both, the left one is cut.
func ends(left, right string, width int) string {
	room := width - ansi.StringWidth(right)
	if right == "" || room < 1 {
		return ansi.Truncate(left, width, "…")
	}
	return pad(left, room-1) + " " + right
}

// rect makes lines fill a height exactly.
func rect(lines []string, height int) []string {
	if len(lines) > height {
		return lines[:max(height, 0)]
	}
	for len(lines) < height {
		lines = append(lines, "")
	}
	return lines
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return grouped(n) + " " + many
}

// grouped is a number with commas.
func grouped(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(n int) string {
	switch {
	case n < 1000:
		return plural(n, "byte", "bytes")
	case n < 1_000_000:
		return fmt.Sprintf("%.1f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

func span(d time.Duration) string {
	switch s := int(d.Round(time.Second).Seconds()); {
	case s < 90:
		return fmt.Sprintf("%d s", s)
	case s < 90*60:
		return fmt.Sprintf("%d min", (s+30)/60)
	case s < 36*3600:
		return fmt.Sprintf("%d h", (s+1800)/3600)
	default:
		return fmt.Sprintf("%d days", (s+43200)/86400)
	}
}

func ago(at, now time.Time) string {
	if d := now.Sub(at); d >= 5*time.Second {
		return span(d) + " ago"
	}
	return "just now"
}

// took is how long a call took, as short as it can be said.
func took(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}
