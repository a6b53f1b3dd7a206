package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/command"
	"github.com/parleyhq/parley/internal/tui/markdown"
	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// page is something to read, laid out for the width there is.
type page struct {
	pager
	title  string
	layout func(width int) []string
	width  int // that it was laid out for
}

func (p *page) draw(width, height int) []string {
	if p.width != width {
		p.width = width
		p.lines = p.layout(width)
	}
	return append([]string{heading.Render(p.title)}, p.pager.draw(height-1)...)
}

func (m *Model) openPage(title string, layout func(width int) []string) {
	if m.focus != onPage {
		m.back = m.focus
	}
	m.page = &page{title: title, layout: layout}
	m.focus = onPage
}

func (m *Model) pageKey(name string) tea.Cmd {
	if m.page.key(name, m.body()-1) {
		return nil
	}
	switch name {
	case "esc", "?", "enter", "q":
		m.focus, m.page = m.back, nil
	}
	return nil
}

// readAll shows all of an envelope, and what is connected with it.
func (m *Model) readAll(id string) tea.Cmd {
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		e, err := m.room.Envelope(ctx, id)
		var chain client.Chain
		if err == nil {
			chain, _ = m.room.Chain(ctx, id)
		}
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			m.openPage(fmt.Sprintf("#%d", e.Seq), func(width int) []string { return m.envelopeLines(e, chain, width) })
			return nil
		}
	})
}

func (m *Model) envelopeLines(e *parley.Envelope, chain client.Chain, width int) []string {
	lines := []string{
		field("from", m.stream.name(e.From), width),
		field("to", safe.Line(strings.Join(e.To, ", "), max(8, width-10)), width),
		field("kind", safe.Line(e.Kind, max(8, width-10)), width),
		field("at", e.TS.In(m.stream.zone).Format("2006-01-02 15:04:05"), width),
		field("id", safe.OneLine(e.ID), width),
	}
	if len(e.To) == 0 {
		lines[1] = field("to", "everybody", width)
	}
	if e.Context != nil {
		lines = append(lines, field("context", safe.Line(e.Context.Type+" "+e.Context.ID, max(8, width-10)), width))
	}
	if e.Kind == parley.KindChat {
		lines = append(append(lines, ""), saidWhole(e, width)...)
	} else {
		text := layout(e.Payload)
		if len(text) > mostLaidOut {
			text = text[:mostLaidOut] + "\n… " + size(len(text)-mostLaidOut) + " more: parley log chain --full shows all"
		}
		said, _ := fold(text, width, 0)
		lines = append(append(lines, "", heading.Render("Payload")), said...)
	}
	if len(chain.Envelopes) > 1 {
		lines = append(lines, "", heading.Render("What belongs to it"))
		for _, one := range chain.Envelopes {
			mark := "  "
			if one.ID == e.ID {
				mark = ask.Render("› ")
			}
			lines = append(lines, cut(mark+dim.Render(fmt.Sprintf("#%d ", one.Seq))+m.resultLine(one), width))
		}
	}
	if chain.Truncated {
		said, _ := fold("… There is more: parley log chain says how to see it.", width, 0)
		lines = append(lines, said...)
	}
	return lines
}

func saidWhole(e *parley.Envelope, width int) []string {
	said, ok := parley.MemberString(e.Payload, "text")
	if !ok {
		said = string(e.Payload)
	}
	if format, _ := parley.MemberString(e.Payload, "format"); format == "markdown" {
		return markdown.Lines(said, width, markdownStyles)
	}
	lines, _ := fold(said, width, 0)
	return lines
}

// sheet is what keys do, as `?` shows it.
var sheet = []struct{ keys, does string }{
	{"", "The room"},
	{"↑ ↓ PgUp PgDn", "move; End the newest; above the oldest row, what was before"},
	{"Enter", "all of what stands there"},
	{"i", "write to everybody; Esc comes back"},
	{"/", "a command: /help lists them, Tab completes"},
	{"f", "filter: words, from:ID kind:KIND in:THREAD state:STATE"},
	{"z", "fold the thread, or unfold it"},
	{"o", "that thread alone, or everything again"},
	{"t p", "threads; people"},
	{"Esc", "no filter"},
	{"", "Proposals"},
	{"a", "approve the one that waits for longest: it is shown, Enter runs it"},
	{"r", "reject it, with a reason"},
	{"m", "amend it: change the arguments, see the difference, send"},
	{"n", "look at it; the next one"},
	{"q", "all that wait; there:"},
	{"x X", "choose one to be rejected; all up to it"},
	{"b l", "choose all by the same proposer; all of the same to the same"},
	{"R", "reject all that are chosen, for one reason"},
	{"w", "take back a proposal of your own"},
	{"", "Forms"},
	{"e", "fill in the form that waits, or answer another question"},
	{"", "Everywhere"},
	{"?", "this sheet (F1 while you write)"},
	{"v", "walk the record's hash chain: was anything edited?"},
	{"M", "let the mouse scroll and pick, or not"},
	{"Ctrl-L", "draw the screen anew"},
	{"Ctrl-C", "leave"},
}

func (m *Model) openKeys() {
	m.openPage("Keys", func(width int) []string {
		var lines []string
		for _, s := range sheet {
			if s.keys == "" {
				lines = append(lines, "", bold.Render(s.does))
				continue
			}
			said, _ := fold(s.does, width-16, 0)
			for i, line := range said {
				keys := s.keys
				if i > 0 {
					keys = ""
				}
				lines = append(lines, "  "+ask.Render(pad(keys, 14))+line)
			}
		}
		return append(lines, "", dim.Render("States that can be filtered for:"), dim.Render("  "+strings.Join(store.States(), " ")))
	})
}

// openHelp shows what can be typed.
func (m *Model) openHelp(about string) {
	if about != "" {
		lines := command.Describe(command.Verb(strings.TrimPrefix(about, "/")))
		if lines != nil {
			m.openPage("/"+strings.TrimPrefix(about, "/"), func(width int) []string { return foldAll(lines, width) })
			return
		}
	}
	m.openPage("Commands", func(width int) []string {
		lines := []string{dim.Render(cut("A line without a / in front is said to everybody; //TEXT says what begins with a /.", width))}
		for _, u := range command.Usages() {
			lines = append(lines, ask.Render(cut("/"+string(u.Verb)+" "+u.Args, width)))
			lines = append(lines, foldAll([]string{"    " + u.Does}, width)...)
		}
		return lines
	})
}

func foldAll(lines []string, width int) []string {
	var out []string
	for _, line := range lines {
		said, _ := fold(line, width, 0)
		out = append(out, said...)
	}
	return out
}
