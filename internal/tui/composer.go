package tui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley/internal/tui/command"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// composer is the line that is written for the room, and how it could go on.
type composer struct {
	*editor
	offered []command.Completion
	chosen  int  // of those, -1 is none
	cycling bool // Tab was the last key
}

// mostOffered is how many ways to go on are listed at once.
const mostOffered = 6

func newComposer() *composer {
	e := newEditor("› ", 5)
	e.area.Placeholder = "i writes to everybody, / begins a command"
	return &composer{editor: e, chosen: -1}
}

// write begins a line, with what stands in it if it is empty.
func (m *Model) write(text string) tea.Cmd {
	m.focus = onComposer
	m.composer.focus(true)
	m.composer.area.Placeholder = "to everybody; /help says what else, Esc goes back to the stream"
	if m.composer.Value() == "" && text != "" {
		m.composer.set(text)
		m.offer()
	}
	return nil
}

func (m *Model) stopWriting() {
	m.focus = onStream
	m.composer.focus(false)
	m.composer.area.Placeholder = "i writes to everybody, / begins a command"
	m.composer.offered = nil
}

func (m *Model) composerKey(k tea.KeyPressMsg) tea.Cmd {
	c := m.composer
	switch k.String() {
	case "esc":
		m.stopWriting()
		return nil
	case "tab":
		m.complete(1)
		return nil
	case "shift+tab":
		m.complete(-1)
		return nil
	case "enter":
		return m.enter()
	case "up":
		if c.area.Line() == 0 && c.recall(-1) {
			return nil
		}
	case "down":
		if c.area.Line() == c.area.LineCount()-1 && c.recall(1) {
			return nil
		}
	case "pgup":
		m.stream.page(-1)
		return nil
	case "pgdown":
		m.stream.page(1)
		return nil
	case "ctrl+d":
		if c.Value() == "" {
			return m.leave()
		}
	}
	cmd := c.update(k)
	m.offer()
	return cmd
}

// offer lists how the line could go on.
func (m *Model) offer() {
	c := m.composer
	c.offered, c.chosen, c.cycling = nil, -1, false
	if line := c.Value(); strings.HasPrefix(line, "/") && !strings.Contains(line, "\n") {
		c.offered = command.Complete(line, c.place(), m.known())
	}
}

// complete puts the next way to go on into the line.
func (m *Model) complete(by int) {
	c := m.composer
	if len(c.offered) == 0 {
		m.offer()
	}
	if len(c.offered) == 0 {
		return
	}
	if !c.cycling {
		c.chosen = -1
		if by < 0 {
			c.chosen = 0
		}
	}
	c.chosen = (c.chosen + by + len(c.offered)) % len(c.offered)
	one := c.offered[c.chosen]
	c.replace(one.From, one.To, one.Text)
	if len(c.offered) == 1 {
		m.offer()
		return
	}
	// What stood there is now as long as what was put in, for the next one.
	for i := range c.offered {
		c.offered[i].To = c.offered[i].From + len(one.Text)
	}
	c.cycling = true
}

// enter says the line, or does what it says.
func (m *Model) enter() tea.Cmd {
	line := m.composer.Value()
	c, err := command.Parse(line)
	if err != nil {
		m.fail(err)
		return nil
	}
	m.composer.sent()
	m.offer()
	return m.obey(c, line)
}

// drawOffered is what can follow, a line each.
func (m *Model) drawOffered() []string {
	c := m.composer
	if m.focus != onComposer || len(c.offered) == 0 {
		return nil
	}
	room := min(mostOffered, max(2, m.height/4))
	first := max(0, min(c.chosen-room/2, len(c.offered)-room))
	var lines []string
	for i, one := range c.offered[first:min(len(c.offered), first+room)] {
		front, text := "  ", safe.Line(strings.TrimSpace(one.Text), max(8, m.width/3))
		if first+i == c.chosen && c.cycling {
			front, text = ask.Render("› "), bold.Render(text)
		}
		lines = append(lines, cut(front+text+dim.Render("  "+one.Label), m.width))
	}
	return lines
}

// known is what there is in the room, for completion.
func (m *Model) known() command.Known {
	k := command.Known{People: m.store.People(), Kinds: m.store.Kinds()}
	for _, t := range m.store.Tools() {
		k.Tools = append(k.Tools, command.Tool{Participant: t.Participant, Name: t.Name, Description: t.Description, Schema: t.Schema})
	}
	for _, c := range m.store.Contexts() {
		k.Contexts = append(k.Contexts, c.ID)
	}
	for _, w := range m.store.Queue() {
		k.Proposals = append(k.Proposals, command.Proposal{Seq: w.Seq, From: w.From, What: w.Title})
	}
	for _, f := range m.forms {
		k.Forms = append(k.Forms, command.Proposal{Seq: f.Request.Seq, From: f.Request.From, What: beginning(f.Message, 80)})
	}
	return k
}
