package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/tui/asked"
	"github.com/parleyhq/parley/internal/tui/fill"
)

// filling is a form that is being filled in, or something else that is being answered.
type filling struct {
	asked *asked.Ask
	form  fill.Model
	plain *answering // where it is no form
}

var formStyles = fill.Styles{Title: heading, Label: bold, Quoted: plain, Hint: dim, Required: ask, Problem: bad, Question: alert}

// fillIn opens a form, or goes on with it as it was left.
func (m *Model) fillIn(a *asked.Ask) tea.Cmd {
	if m.filling == nil || m.filling.asked != a {
		m.filling = &filling{asked: a}
		if a.Form == nil {
			m.filling.plain = &answering{Ask: a, agreed: m.now()}
		} else {
			m.filling.form = fill.New(a.Form, formStyles).From(a.Request.From, a.Cause)
		}
	}
	m.focus = onForm
	return nil
}

func (m *Model) formKey(k tea.KeyPressMsg) tea.Cmd {
	if k.String() == "ctrl+r" {
		m.putAside(m.filling.asked)
		return nil
	}
	if p := m.filling.plain; p != nil && !m.filling.asked.Sending {
		if action := m.answerKey(p, k.String()); action != "" {
			return m.submit(m.filling, fill.Result{Action: action})
		}
		return nil
	}
	return m.fillWith(k)
}

// putAside goes back to the room. What can only be answered elsewhere makes way for what
// else waits.
func (m *Model) putAside(a *asked.Ask) {
	m.focus = onStream
	if a.Agreeable() || len(m.forms) < 2 {
		m.say("The " + a.Noun() + " waits: e goes on with it.")
		return
	}
	m.forms.Remove(a)
	m.forms = append(m.forms, a)
	m.say(fmt.Sprintf("The question waits: e opens the next one, /form #%d goes on with it.", a.Request.Seq))
}

func (m *Model) fillPaste(p tea.PasteMsg) tea.Cmd { return m.fillWith(p) }

func (m *Model) fillWith(msg tea.Msg) tea.Cmd {
	if m.filling.asked.Sending || m.filling.plain != nil {
		return nil
	}
	var cmd tea.Cmd
	m.filling.form, cmd = m.filling.form.Update(msg)
	if r, ok := m.filling.form.Result(); ok {
		return m.submit(m.filling, r)
	}
	return cmd
}

// submit sends what came of a form.
func (m *Model) submit(f *filling, r fill.Result) tea.Cmd {
	result := `{"action":` + quote(string(r.Action))
	if r.Content != nil { // who agrees to open a link says nothing else
		result += `,"content":` + string(r.Content)
	}
	f.asked.Sending = true
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		err := m.room.Answer(ctx, f.asked.Request, jsontext.Value(result+"}"), nil)
		return func(m *Model) tea.Cmd {
			f.asked.Sending = false
			m.submitted(f, r.Action, err)
			return nil
		}
	})
}

func (m *Model) submitted(f *filling, action fill.Action, err error) {
	words := map[fill.Action]string{fill.Accept: "Sent.", fill.Decline: "Declined.", fill.Cancel: "Put away."}
	switch {
	case err == nil:
		m.finish(f.asked, words[action])
	case isEnded(err):
		m.finish(f.asked, "Nobody waits for that any more: it was answered elsewhere, or is no longer asked.")
	default:
		if f.plain == nil {
			f.form = f.form.Reopen()
		}
		m.fail(err)
	}
}

func (m *Model) drawForm(height int) []string {
	if p := m.filling.plain; p != nil {
		return m.drawAnswering(p, height)
	}
	m.filling.form = m.filling.form.SetSize(m.width, height)
	return strings.Split(m.filling.form.View(), "\n")
}

func (m *Model) formHint() string {
	if m.width < 64 {
		return "Ctrl-R back to the room · Ctrl-C leaves"
	}
	return "Ctrl-R back to the room: the " + m.filling.asked.Noun() + " waits · Ctrl-C leaves"
}
