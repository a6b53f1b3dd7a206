package tui

import (
	"charm.land/lipgloss/v2"

	"github.com/parleyhq/parley/internal/tui/markdown"
	"github.com/parleyhq/parley/internal/tui/store"
)

// Colours are those of the terminal's own sixteen, so that they fit its background.
// They only repeat what words say.
var (
	plain   = lipgloss.NewStyle()
	dim     = lipgloss.NewStyle().Faint(true)
	bold    = lipgloss.NewStyle().Bold(true)
	good    = lipgloss.NewStyle().Foreground(lipgloss.Green)
	bad     = lipgloss.NewStyle().Foreground(lipgloss.Red)
	ask     = lipgloss.NewStyle().Foreground(lipgloss.Yellow)
	note    = lipgloss.NewStyle().Foreground(lipgloss.Cyan)
	heading = lipgloss.NewStyle().Bold(true).Underline(true)
	bar     = lipgloss.NewStyle().Reverse(true)
	alert   = lipgloss.NewStyle().Bold(true).Reverse(true).Foreground(lipgloss.Yellow)
)

var markdownStyles = markdown.Styles{
	Strong: bold, Emphasis: lipgloss.NewStyle().Italic(true), Struck: lipgloss.NewStyle().Strikethrough(true), Code: note, Heading: heading,
	Quote: dim, Marker: ask, Link: lipgloss.NewStyle().Underline(true), Target: dim, Warning: bad,
}

var hues = []lipgloss.Style{
	bold.Foreground(lipgloss.Cyan), bold.Foreground(lipgloss.Magenta), bold.Foreground(lipgloss.Blue), bold.Foreground(lipgloss.Green),
	bold.Foreground(lipgloss.BrightCyan), bold.Foreground(lipgloss.BrightMagenta), bold.Foreground(lipgloss.BrightBlue), bold.Foreground(lipgloss.BrightGreen),
}

// hue is a participant's colour: the same everywhere, and a help beside the id.
func hue(id string) lipgloss.Style {
	h := uint32(2166136261)
	for i := range len(id) {
		h = (h ^ uint32(id[i])) * 16777619
	}
	return hues[h>>11%uint32(len(hues))]
}

// stateWords are the states as the browser calls them.
var stateWords = map[store.State]struct {
	word  string
	style lipgloss.Style
}{
	store.Open:      {"waiting", ask},
	store.Running:   {"running", note},
	store.Done:      {"done", good},
	store.Failed:    {"failed", bad},
	store.Rejected:  {"rejected", bad},
	store.Withdrawn: {"withdrawn", dim},
	store.Expired:   {"expired", dim},
	store.Cancelled: {"cancelled", dim},
}
