package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/parleyhq/parley/internal/tui/markdown"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// painter draws rows.
type painter struct {
	store *store.Store
	zone  *time.Location
	width int
	most  int // lines of one row
}

// clockWidth is what the time takes on screens that have room for it.
const clockWidth = 6

func (p *painter) inset() int {
	if p.width < 60 {
		return 1
	}
	return 1 + clockWidth
}

// row draws one row: a gutter for the cursor, the time, who, and what.
func (p *painter) row(r *store.Row) []string {
	indent := strings.Repeat(" ", p.inset())
	thread, width := "", p.width-p.inset()
	if r.Context != "" {
		thread, width = dim.Render("│ "), width-2
	}
	body := p.body(r, width)
	if len(body) > p.most {
		body = append(body[:p.most-1:p.most-1], dim.Render("… Enter shows all"))
	}
	for i, line := range body {
		front := indent
		if i == 0 && p.inset() > 1 {
			front = " " + p.clock(r.At)
		}
		body[i] = front + thread + line
	}
	return body
}

func (p *painter) clock(at time.Time) string {
	if at.IsZero() {
		return strings.Repeat(" ", clockWidth)
	}
	return dim.Render(at.In(p.zone).Format("15:04")) + " "
}

func (p *painter) body(r *store.Row, width int) []string {
	switch r.Type {
	case store.Chat, store.Other:
		return p.said(r, width)
	case store.Proposal:
		return p.proposal(r, width)
	case store.Call:
		return p.call(r, width)
	case store.Answer:
		return p.plain(r, width, "answers "+safe.OneLine(safe.ShortID(r.On))+":")
	case store.Told:
		return p.word(r.Text, width, ask)
	case store.Notice:
		style := dim
		if r.State == store.Failed {
			style = bad
		}
		return p.word("· "+r.Text, width, style)
	}
	return p.plain(r, width, "")
}

// word is something that the gateway or the console says.
func (p *painter) word(text string, width int, style lipgloss.Style) []string {
	lines, _ := fold(text, width, p.most+1)
	for i := range lines {
		lines[i] = style.Render(lines[i])
	}
	return lines
}

// said is what somebody says, beginning on the line that names them.
func (p *painter) said(r *store.Row, width int) []string {
	head := p.who(r)
	if r.Type == store.Other {
		head += " " + note.Render(safe.Line(r.Kind, max(width/3, 12)))
	}
	if r.On != "" {
		if about := p.store.Find(r.On); about != nil && about.Seq > 0 {
			head += dim.Render(" on " + place(about))
		}
	}
	head += ": "
	if r.Markdown {
		return append([]string{cut(head, width)}, p.markdown(r, width-2)...)
	}
	return p.flow(head, r.Text, r.Cut, width)
}

// flow lets text begin behind a head, and goes on further in.
func (p *painter) flow(head, text string, left, width int) []string {
	at := lipgloss.Width(head)
	if at > width/2 {
		lines, _ := fold(text, width-2, p.most)
		return p.mark(append([]string{cut(head, width)}, shift(lines)...), left, width)
	}
	// Blanks stand in for the head while lines are broken.
	lines, _ := fold(strings.Repeat("x", at)+text, width, 1)
	first := lines[0][min(at, len(lines[0])):]
	rest := strings.TrimPrefix(strings.TrimPrefix(safe.Text(text), first), "\n")
	out := []string{head + first}
	if rest = strings.TrimPrefix(rest, " "); rest != "" {
		more, _ := fold(rest, width-2, p.most)
		out = append(out, shift(more)...)
	}
	return p.mark(out, left, width)
}

func (p *painter) mark(lines []string, left, width int) []string {
	if left > 0 {
		lines = append(lines, dim.Render(cut("  … and "+size(left)+" more", width)))
	}
	return lines
}

func (p *painter) markdown(r *store.Row, width int) []string {
	lines := markdown.Lines(r.Text, width, markdownStyles)
	return p.mark(shift(lines[:min(len(lines), p.most)]), r.Cut, width)
}

func shift(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

func cut(line string, width int) string { return ends(line, "", width) }

func (p *painter) plain(r *store.Row, width int, verb string) []string {
	head := p.who(r) + " "
	if verb != "" {
		head += verb + " "
	}
	return p.flow(head, r.Text, r.Cut, width)
}

func (p *painter) proposal(r *store.Row, width int) []string {
	head := p.who(r) + "  " + ask.Render("proposes ") + bold.Render(safe.Line(r.Title, max(width/2, 16)))
	lines := []string{ends(head, p.badge(r), width)}
	lines = append(lines, p.given(r, width)...)
	if r.Reason != "" && r.Waits() {
		lines = append(lines, p.under("because "+r.Reason, width, 2, dim)...)
	}
	return append(lines, p.outcome(r, width)...)
}

func (p *painter) call(r *store.Row, width int) []string {
	verb := "calls "
	if r.State == "" {
		verb = "sends "
	}
	head := p.who(r) + "  " + verb + bold.Render(safe.Line(r.Title, max(width/2, 16)))
	lines := []string{ends(head, p.badge(r), width)}
	lines = append(lines, p.given(r, width)...)
	return append(lines, p.outcome(r, width)...)
}

func (p *painter) given(r *store.Row, width int) []string {
	if r.Text == "" {
		return nil
	}
	return p.mark(p.under(r.Text, width, 2, plain), r.Cut, width)
}

// outcome is what came of a call or a proposal.
func (p *painter) outcome(r *store.Row, width int) []string {
	switch {
	case r.Report != "":
		return p.under("… "+r.Report, width, 1, note)
	case r.State == store.Failed:
		return p.under("→ "+r.Answer, width, 3, bad)
	case r.Answer != "":
		return p.under("→ "+r.Answer, width, 3, plain)
	case r.Why != "":
		return p.under("→ "+r.Why, width, 2, dim)
	}
	return nil
}

func (p *painter) under(text string, width, most int, style lipgloss.Style) []string {
	lines, more := fold(text, width-2, most)
	for i := range lines {
		lines[i] = "  " + style.Render(lines[i])
	}
	if more {
		lines[len(lines)-1] = cut(lines[len(lines)-1]+dim.Render(" …"), width)
	}
	return lines
}

// badge is the state of a row, who brought it there, and how long it took.
func (p *painter) badge(r *store.Row) string {
	word, ok := stateWords[r.State]
	if !ok {
		return ""
	}
	text := word.word
	if r.Amended {
		text = "amended, " + text
	}
	if r.By != "" {
		text += " by " + safe.Line(r.By, 20)
	}
	if r.Took > 0 && r.Type == store.Call {
		text += " " + took(r.Took)
	}
	return word.style.Render("[" + text + "]")
}

// who is sender and addressees.
func (p *painter) who(r *store.Row) string {
	s := p.name(r.From)
	if len(r.To) == 0 {
		return s
	}
	var to []string
	for _, id := range r.To[:min(len(r.To), 3)] {
		to = append(to, p.name(id))
	}
	s += " → " + strings.Join(to, ", ")
	if more := len(r.To) - 3 + r.ToMore; more > 0 {
		s += dim.Render(" and " + plural(more, "other", "others"))
	}
	return s
}

// name is an id in its colour, marked where it can be taken for another one.
func (p *painter) name(id string) string {
	s := hue(id).Render(safe.Line(id, 24))
	if other := p.store.LooksLike(id); other != "" {
		s += bad.Render("(≠ " + safe.Line(other, 24) + ")")
	}
	return s
}

func place(r *store.Row) string { return fmt.Sprintf("#%d", r.Seq) }
