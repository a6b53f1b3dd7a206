package tui

import (
	"strings"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// editor is a field for text, of one line that grows or of a whole piece of screen.
type editor struct {
	area textarea.Model
	past []string // what was sent, for the arrows
	at   int
}

// mostTyped bounds what is typed or pasted into a line, in characters.
const mostTyped = 32 << 10

func newEditor(prompt string, most int) *editor {
	a := textarea.New()
	a.Prompt = prompt
	a.ShowLineNumbers = false
	a.CharLimit = mostTyped
	a.DynamicHeight = true
	a.MinHeight, a.MaxHeight, a.MaxContentHeight = 1, most, 10_000
	a.SetVirtualCursor(false)
	styles := a.Styles()
	styles.Focused = textarea.StyleState{Base: plain, Text: plain, CursorLine: plain, EndOfBuffer: plain, Placeholder: dim, Prompt: ask, Selection: bar}
	styles.Blurred = textarea.StyleState{Base: plain, Text: dim, CursorLine: plain, EndOfBuffer: plain, Placeholder: dim, Prompt: dim, Selection: bar}
	a.SetStyles(styles)
	// The clipboard of the machine is the terminal's to paste, not ours to read.
	a.KeyMap.Paste, a.KeyMap.CopySelection = key.NewBinding(), key.NewBinding()
	a.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	return &editor{area: a}
}

// newPage is an editor that fills a piece of the screen, in which Enter begins a line.
func newPage(text string) *editor {
	e := newEditor("", 0)
	e.area.DynamicHeight = false
	e.area.CharLimit = 0
	e.area.MaxHeight, e.area.MaxContentHeight = 0, 0
	e.area.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("enter", "ctrl+j"))
	e.area.SetValue(text)
	e.area.MoveToBegin()
	e.area.Focus()
	return e
}

func (e *editor) Value() string { return e.area.Value() }

func (e *editor) set(text string) {
	e.area.SetValue(text)
	e.area.MoveToEnd()
}

func (e *editor) focus(on bool) {
	if on {
		e.area.Focus()
	} else {
		e.area.Blur()
	}
}

// update takes a key or a paste. What is pasted loses what does not show: nobody
// could see that they send it, and a terminal might obey it.
func (e *editor) update(msg tea.Msg) tea.Cmd {
	if p, ok := msg.(tea.PasteMsg); ok {
		p.Content = visibleOnly(p.Content)
		msg = p
	}
	var cmd tea.Cmd
	e.area, cmd = e.area.Update(msg)
	return cmd
}

func visibleOnly(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if safe.Text(s) == s {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || safe.Text(string(r)) == string(r) {
			return r
		}
		return -1
	}, s)
}

// sent empties the line, and keeps it for the arrows.
func (e *editor) sent() {
	const most = 100
	e.past = append(e.past, e.Value())
	if len(e.past) > most {
		e.past = e.past[1:]
	}
	e.at = len(e.past)
	e.area.Reset()
}

// recall brings back what was sent before, where the line is of one line.
func (e *editor) recall(by int) bool {
	at := e.at + by
	if strings.Contains(e.Value(), "\n") || at < 0 || at > len(e.past) {
		return false
	}
	e.at = at
	if at == len(e.past) {
		e.set("")
	} else {
		e.set(e.past[at])
	}
	return true
}

// place is the byte of the text at which the cursor stands.
func (e *editor) place() int {
	lines := strings.SplitAfter(e.Value(), "\n")
	at := 0
	for _, line := range lines[:min(e.area.Line(), len(lines))] {
		at += len(line)
	}
	if e.area.Line() < len(lines) {
		runes := []rune(strings.TrimSuffix(lines[e.area.Line()], "\n"))
		at += len(string(runes[:min(e.area.Column(), len(runes))]))
	}
	return at
}

// replace puts text in the place of some, of a single line.
func (e *editor) replace(from, to int, text string) {
	s := e.Value()
	e.area.SetValue(s[:from] + text + s[to:])
	e.area.MoveToBegin()
	e.area.SetCursorColumn(len([]rune(s[:from] + text)))
}

func (e *editor) draw(width int) []string {
	e.area.SetWidth(width)
	return strings.Split(e.area.View(), "\n")
}
