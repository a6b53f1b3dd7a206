package fill

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/parleyhq/parley/internal/form"
	"github.com/parleyhq/parley/internal/tui/safe"
)

const (
	bar      = "│ "
	barWidth = 2
	mostRows = 10 // of choices, at a time
)

// View is the form, as many lines as it may have, none of them too wide.
func (m Model) View() string {
	lines := make([]string, 0, m.height)
	if m.height > 2 {
		lines = append(lines, m.styles.Title.Render(m.title()))
	}
	body := m.body(m.offset, m.bodyHeight())
	for len(body) < m.bodyHeight() {
		body = append(body, "")
	}
	lines = append(lines, body...)
	if m.height > 1 {
		lines = append(lines, m.foot())
	}
	for i, line := range lines {
		lines[i] = ansi.Truncate(line, m.width, "")
	}
	return strings.Join(lines, "\n")
}

// bodyHeight is what is left between the title and the keys.
func (m Model) bodyHeight() int { return max(m.height-2, 1) }

func (m Model) title() string {
	who := safe.OneLine(m.asker)
	switch {
	case m.focus == onReview && who == "":
		return safe.Line(m.fitting("This is sent, and everybody in the room can read it:", "This is sent, for all to read:"), m.width)
	case m.focus == onReview && len(m.entries) > 0:
		return safe.Line(m.fitting("This goes to "+who+", and everybody in the room can read it:", "For all to read, and for "+who+":"), m.width)
	case who == "":
		return safe.Line(m.place()+"somebody asks you", m.width)
	}
	s := m.place() + who + " asks you"
	if m.cause != "" {
		s += ", " + m.cause
	}
	return safe.Line(s, m.width)
}

// place is which of the fields has the focus.
func (m Model) place() string {
	if m.focus < 0 {
		return ""
	}
	return fmt.Sprintf("%d/%d · ", m.focus+1, len(m.entries))
}

// foot is what has to be confirmed, or what there is to know, or the keys.
func (m Model) foot() string {
	switch {
	case m.pending == Decline:
		return m.styles.Question.Render(safe.Line("Say no to all of it? ^D again does", m.width))
	case m.pending == Cancel:
		return m.styles.Question.Render(safe.Line("Put it away, unsent? Esc again does", m.width))
	case m.note != "":
		return m.styles.Problem.Render(safe.Line(m.note, m.width))
	}
	return m.styles.Hint.Render(safe.Line(m.keys(), m.width))
}

// keys are those that do something here, as many as there is room for.
func (m Model) keys() string {
	switch {
	case m.focus == onReview && len(m.entries) == 0:
		return m.fitting("Enter agrees · ^D says no · Esc puts it away", "Enter agrees · ^D no · Esc away")
	case m.focus == onReview && m.offset+m.bodyHeight() < len(m.review):
		return "Enter reads on · Esc edits · ^D says no"
	case m.focus == onReview:
		return "Enter sends · Esc edits · ^D says no"
	case m.focus == onMessage:
		return m.fitting("Tab to the fields · PgDn reads on · ^D no · Esc away", "Tab fields · PgDn · ^D no · Esc away")
	case m.entries[m.focus].isTyped():
		return m.fitting("Tab next · ^S send · ^D no · Esc away · PgUp PgDn scroll", "Tab next · ^S send · ^D no · Esc away")
	case m.entries[m.focus].field.Kind == form.Many:
		return m.fitting("Space picks · Tab next · ^S send · ^D no · Esc away", "Space picks · ^S send · ^D no · Esc away")
	}
	return m.fitting("Enter picks · Tab next · ^S send · ^D no · Esc away", "Enter picks · ^S send · ^D no · Esc away")
}

func (m Model) fitting(long, short string) string {
	if safe.Width(long) <= m.width {
		return long
	}
	return short
}

// body draws some lines of what is between title and foot, and nothing else.
func (m Model) body(from, count int) []string {
	if m.focus == onReview {
		return m.review[min(from, len(m.review)):min(from+count, len(m.review))]
	}
	var lines []string
	add := func(top, height int, draw func() []string) {
		if top+height <= from || top >= from+count {
			return
		}
		for i, line := range draw() {
			if at := top + i; at >= from && at < from+count {
				lines = append(lines, line)
			}
		}
	}
	add(0, len(m.message), func() []string { return m.quoted(m.message) })
	top := len(m.message)
	for i := range m.entries {
		height := m.entryHeight(i)
		add(top, height, func() []string { return m.entry(i) })
		if top += height; top >= from+count {
			break
		}
	}
	return lines
}

func (m Model) entryHeight(i int) int {
	if i == m.focus {
		return len(m.entry(i))
	}
	if m.entries[i].problem != "" {
		return 2
	}
	return 1
}

func (m Model) entry(i int) []string {
	if i == m.focus {
		return m.open(&m.entries[i])
	}
	return m.closed(&m.entries[i])
}

// closed is an entry without the focus: its answer, and what is wrong with it.
func (m Model) closed(e *entry) []string {
	name := label(e.field, max(m.width/2, m.width-30))
	mark := m.mark(e)
	line := "  " + name + mark + ": "
	left := m.width - safe.Width(name) - len("  : ")
	if mark != "" {
		left -= 2
	}
	switch answer := e.shown(left); {
	case answer != "":
		line += answer
	default:
		line += m.styles.Hint.Render(safe.Line("–", left))
	}
	return append([]string{ansi.Truncate(line, m.width, "…")}, m.problem(e)...)
}

func (m Model) mark(e *entry) string {
	if !e.field.Required {
		return ""
	}
	return m.styles.Required.Render(" *")
}

func (m Model) problem(e *entry) []string {
	if e.problem == "" {
		return nil
	}
	return []string{m.styles.Problem.Render(safe.Line("    ✗ "+e.problem, m.width))}
}

// open is the entry that has the focus, with all that is to be known of it.
func (m Model) open(e *entry) []string {
	lines := []string{"▸ " + m.styles.Label.Render(label(e.field, m.width-4)) + m.mark(e)}
	if e.field.Description != "" {
		for _, line := range m.quoted(m.folded(e.field.Description, m.width-2-barWidth)) {
			lines = append(lines, "  "+line)
		}
	}
	terms := e.field.Expected()
	if !e.field.Required {
		terms += ", may be left out"
	}
	for _, line := range m.folded(terms, m.width-2) {
		lines = append(lines, "  "+m.styles.Hint.Render(line))
	}
	if e.isTyped() {
		lines = append(lines, m.typing(e))
	} else {
		lines = append(lines, m.choosing(e)...)
	}
	return append(lines, m.problem(e)...)
}

func (m Model) typing(e *entry) string {
	if e.kept {
		return "  > " + safe.Line(said(e.value), max(m.width/2, m.width-31)) + m.styles.Hint.Render(" (kept; Backspace drops it)")
	}
	if typed := m.input.Value(); safe.OneLine(typed) != typed { // pasted, most likely
		return "  > " + m.unsafely(typed)
	}
	return "  > " + m.input.View()
}

// unsafely is typed text that a terminal would not show as itself, with a bar for the
// cursor.
func (m Model) unsafely(typed string) string {
	runes := []rune(typed)
	at := min(m.input.Position(), len(runes))
	before, after := safe.OneLine(string(runes[:at])), safe.OneLine(string(runes[at:]))
	room := max(m.width-5, 1)
	if over := safe.Width(before) - room*2/3; over > 0 {
		before = ansi.TruncateLeft(before, over, "…")
	}
	return ansi.Truncate(before+"▏"+after, room, "…")
}

// choosing are the choices around the cursor.
func (m Model) choosing(e *entry) []string {
	from, to := window(e.at, len(e.choices), min(mostRows, max(m.bodyHeight()-4, 3)))
	var lines []string
	for i := from; i < to; i++ {
		cursor, box := "  ", "( ) "
		if i == e.at {
			cursor = "> "
		}
		if e.field.Kind == form.Many {
			box = "[ ] "
		}
		if e.chosen[i] {
			box = strings.NewReplacer("( )", "(•)", "[ ]", "[x]").Replace(box)
		}
		line := safe.Line("  "+cursor+box+offered(e.choices[i]), m.width)
		if i == e.at {
			line = m.styles.Label.Render(line)
		}
		lines = append(lines, line)
	}
	if to-from < len(e.choices) {
		lines = append(lines, m.styles.Hint.Render(safe.Line(fmt.Sprintf("    %d of %d; a letter jumps", e.at+1, len(e.choices)), m.width)))
	}
	return lines
}

// window are at most so many of all, with one of them in it.
func window(at, all, most int) (from, to int) {
	from = max(0, min(at-most/2, all-most))
	return from, min(from+most, all)
}

// inSight scrolls so that the entry that has the focus is seen, or where it does not
// fit, what is typed into it.
func (m Model) inSight() Model {
	if m.focus < 0 || m.loose {
		m.offset = max(0, min(m.offset, m.bodyLines()-m.bodyHeight()))
		return m
	}
	top := len(m.message)
	for i := range m.focus {
		top += m.entryHeight(i)
	}
	bottom := top + m.entryHeight(m.focus)
	m.offset = min(m.offset, top)
	m.offset = max(m.offset, bottom-m.bodyHeight())
	return m
}

func (m Model) bodyLines() int {
	if m.focus == onReview {
		return len(m.review)
	}
	n := len(m.message)
	for i := range m.entries {
		n += m.entryHeight(i)
	}
	return n
}

func (m Model) scroll(lines int) Model {
	m.loose = true
	m.offset += lines
	return m.inSight()
}

// reviewLines are all that will be sent, each value exactly.
func (m Model) reviewLines() []string {
	if len(m.entries) == 0 {
		return append(m.quoted(m.message), "", safe.Line("There is nothing to fill in.", m.width))
	}
	var lines []string
	for i := range m.entries {
		e := &m.entries[i]
		answer := "left out"
		if e.value != nil {
			answer = string(e.value)
		}
		for j, line := range m.folded(fmt.Sprintf("%d %s: %s", i+1, label(e.field, 4*m.width), safe.OneLine(answer)), m.width-4) {
			if j > 0 {
				line = "    " + line
			}
			lines = append(lines, line)
		}
	}
	return lines
}

func (m Model) quoted(lines []string) []string {
	behind := make([]string, len(lines))
	for i, line := range lines {
		behind[i] = bar + m.styles.Quoted.Render(line)
	}
	return behind
}

// folded is a text in safe lines.
func (m Model) folded(text string, width int) []string {
	text = strings.TrimSpace(safe.Text(text))
	if text == "" {
		return nil
	}
	lines := strings.Split(ansi.Wrap(text, max(width, 1), ""), "\n")
	for i, line := range lines {
		lines[i] = ansi.Truncate(strings.TrimRight(line, " "), max(width, 1), "") // blanks go beyond it
	}
	return lines
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
