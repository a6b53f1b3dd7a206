package markdown

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// extent is a part of a text, in bytes.
type extent struct{ from, to int }

// fold breaks safe text into lines of at most width columns: at blanks where there are
// some, and else where the width ends. The blanks at which it breaks are in no line.
func fold(text string, width int) []extent {
	var lines []extent
	from, column := 0, 0
	blank, atBlank := -1, 0 // behind the last blank of the line, and its column
	put := func(to int) {
		lines = append(lines, extent{from, from + len(strings.TrimRight(text[from:to], " "))})
	}
	for g := graphemes.FromString(text); g.Next(); {
		at, cluster := g.Start(), g.Value()
		if cluster == "\n" {
			put(at)
			from, column, blank = at+1, 0, -1
			continue
		}
		w := 1
		if len(cluster) > 1 {
			w = safe.Width(cluster)
		}
		if column+w > width && at > from {
			switch {
			case cluster == " ":
				blank, atBlank = at+1, column+1
			case blank < 0:
				blank, atBlank = at, column
			}
			put(blank)
			from, column, blank = blank, column-atBlank, -1
			if cluster == " " {
				column = 0
				continue
			}
		}
		column += w
		if cluster == " " {
			blank, atBlank = at+1, column
		}
	}
	put(len(text))
	return lines
}
