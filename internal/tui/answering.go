package tui

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parleyhq/parley/internal/tui/asked"
	"github.com/parleyhq/parley/internal/tui/fill"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// answering is a question that is no form: a link that somebody wants opened, or what
// cannot be shown but as it came. Nothing here opens anything.
type answering struct {
	*asked.Ask
	pager
	end     int  // of the link and of what there is to doubt about it, as a line of the pager
	read    bool // the end was in sight
	pending fill.Action
	agreed  time.Time // when Enter was pressed last
	width   int       // that it is laid out for
}

// answerKey takes a key, and returns what was decided, if that is so.
func (m *Model) answerKey(p *answering, name string) fill.Action {
	pending := p.pending
	p.pending = ""
	switch name {
	case "ctrl+d":
		return p.sure(fill.Decline, pending)
	case "esc":
		return p.sure(fill.Cancel, pending)
	case "enter":
		return m.agree(p, pending)
	}
	p.key(name, m.answeringRoom())
	return ""
}

// sure is the action once its key comes again.
func (p *answering) sure(a, pending fill.Action) fill.Action {
	if a == pending {
		return a
	}
	p.pending = a
	return ""
}

// agree agrees to open a link that was seen whole, when Enter comes again.
func (m *Model) agree(p *answering, pending fill.Action) fill.Action {
	early := m.now().Sub(p.agreed) < unread
	p.agreed = m.now() // one that is held down agrees to nothing
	switch {
	case !p.Agreeable():
		m.say("There is nothing to agree to: Ctrl-D says no, Esc puts it away.")
	case !p.read:
		p.at = min(p.at+max(m.answeringRoom()-1, 1), p.end-m.answeringRoom())
	case early:
		p.pending = pending
	default:
		return p.sure(fill.Accept, pending)
	}
	return ""
}

// answeringRoom is how many lines of a question are seen between its head and its keys.
func (m *Model) answeringRoom() int { return max(m.body()-2, 1) }

func (m *Model) drawAnswering(p *answering, height int) []string {
	head := m.stream.name(p.Request.From) + heading.Render(" asks you")
	if p.Cause != "" {
		head += ", " + safe.OneLine(p.Cause)
	}
	m.layoutAnswering(p)
	room := max(height-2, 1)
	drawn := p.draw(room)
	p.read = p.read || !m.isTooSmall() && p.shows(p.end-1, room)
	return append(append([]string{cut(head, m.width)}, drawn...), m.answeringFoot(p))
}

func (m *Model) answeringFoot(p *answering) string {
	switch p.pending {
	case fill.Accept:
		return alert.Render(cut("Agree to open it? Enter again does", m.width))
	case fill.Decline:
		return alert.Render(cut("Say no to it? ^D again does", m.width))
	case fill.Cancel:
		return alert.Render(cut("Put it away, unsent? Esc again does", m.width))
	}
	enter, rest := "", "^D says no · Esc puts it away"
	switch {
	case p.Agreeable() && !p.read:
		enter = "Enter reads on · "
	case p.Agreeable():
		enter = "Enter agrees · "
	}
	if m.width < 60 {
		rest = "^D no · Esc away"
	}
	if n := p.below(m.answeringRoom()); n > 0 {
		rest += fmt.Sprintf(" · ↓%d", n)
	}
	return dim.Render(cut(enter+rest, m.width))
}

func (m *Model) layoutAnswering(p *answering) {
	if p.width == m.width {
		return
	}
	p.width = m.width
	lines := m.behindBar(beginning(p.Message, mostLaidOut))
	if p.Link != nil {
		p.lines = append(lines, m.linkLines(p.Link)...)
		p.end = len(p.lines)
		p.lines = append(p.lines, m.linkAdvice(p)...)
		return
	}
	lines = append(lines, m.folded("This cannot be shown as a form here: "+p.Unfit.Error(), bad)...)
	lines = append(lines, m.folded("The console in a browser may show it, and takes an answer. Ctrl-R leaves it waiting.", plain)...)
	lines = append(lines, "", heading.Render("What was asked, as it came")+dim.Render(" ("+size(len(p.Params))+")"))
	p.lines = append(lines, m.folded(beginning(layout(p.Params), mostLaidOut), plain)...)
}

// linkLines are where a link leads, and all of it.
func (m *Model) linkLines(l *asked.Link) []string {
	var lines []string
	if l.Host != "" {
		lines = append(lines, "It asks you to open a page of")
		lines = append(lines, m.broken(l.Host, bold)...)
	}
	lines = append(lines, "The whole link:")
	lines = append(lines, m.broken(beginning(l.URL, mostLaidOut), plain)...)
	if l.Problem != "" {
		lines = append(lines, m.folded("! This is not to be opened: "+l.Problem+oddLetters(l.URL)+".", bad)...)
	}
	for _, doubt := range l.Doubts {
		lines = append(lines, m.folded("! "+doubt, bad)...)
	}
	return append(lines, "")
}

func (m *Model) linkAdvice(p *answering) []string {
	if !p.Agreeable() {
		return nil
	}
	return m.folded("Nobody here has checked it, and nothing here opens it. If you trust it, open it yourself in a browser, and agree: everybody in the room can read that, and no more.", dim)
}

func (m *Model) behindBar(text string) []string {
	if text == "" {
		return nil
	}
	lines, _ := fold(text, m.width-2, 0)
	for i, line := range lines {
		lines[i] = "│ " + line
	}
	return append(lines, "")
}

// broken is a link or a part of it, set in, without regard to words: nothing is to look
// as if it ended where a line does.
func (m *Model) broken(link string, style lipgloss.Style) []string {
	lines := strings.Split(ansi.Hardwrap(safe.OneLine(link), max(m.width-4, 1), true), "\n")
	for i, line := range lines {
		lines[i] = "  " + style.Render(line)
	}
	return lines
}

// folded is a text in lines that leave room for being set in.
func (m *Model) folded(text string, style lipgloss.Style) []string {
	lines, _ := fold(text, m.width-2, 0)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}
