package tui

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
)

// lookBack finds the forms that came before we did.
func (m *Model) lookBack() tea.Cmd { return m.lookFor(false) }

// lookAgain finds out what became of forms while we could not see it.
func (m *Model) lookAgain() tea.Cmd { return m.lookFor(true) }

func (m *Model) lookFor(again bool) tea.Cmd {
	last := m.store.Last()
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		list, err := m.room.Unanswered(ctx)
		return func(m *Model) tea.Cmd {
			if err != nil {
				m.fail(err)
				return nil
			}
			if again {
				m.reconcile(list, last)
			}
			var cmds []tea.Cmd
			for _, e := range list {
				cmds = append(cmds, m.consider(e))
			}
			return tea.Batch(cmds...)
		}
	})
}

// reconcile holds the forms that wait against those that are unanswered on record.
func (m *Model) reconcile(list []*parley.Envelope, last uint64) {
	for _, f := range slices.Clone(m.forms) {
		listed := slices.ContainsFunc(list, func(e *parley.Envelope) bool { return e.ID == f.Request.ID })
		if !listed && !f.Sending && f.Request.Seq <= last {
			m.finish(f, "The "+f.Noun()+" of "+f.Request.From+" was answered, or is no longer asked.")
		}
	}
}

// consider looks at what an envelope has to do with forms.
func (m *Model) consider(e *parley.Envelope) tea.Cmd {
	if params, ok := asked.Read(e, m.store.Me); ok {
		return m.asked(e, params)
	}
	for _, f := range slices.Clone(m.forms) {
		// While ours is on its way, the gateway says whose was the first.
		if end, ok := f.EndOf(e); ok && !f.Sending {
			m.finish(f, "The "+f.Noun()+" of "+f.Request.From+" "+endWord(end))
		}
	}
	return nil
}

func endWord(end asked.End) string {
	switch {
	case end.AnsweredBy != "":
		return "was answered by " + end.AnsweredBy + "."
	case end.Reason != "":
		return "is no longer asked: " + beginning(end.Reason, 240)
	}
	return "is no longer asked."
}

// mostRefusals is how many refusals may be on their way: whoever makes more of them
// necessary gets none.
const mostRefusals = 64

// asked takes a form, or what is none, unless too many wait.
func (m *Model) asked(e *parley.Envelope, params jsontext.Value) tea.Cmd {
	if m.forms.Find(e.ID) != nil {
		return nil
	}
	if m.forms.IsFull(e.From) {
		return m.refuse(e, &client.RPCError{Code: client.CodeBusy, Message: "too many forms wait to be filled in here"})
	}
	waits := asked.Take(e, params)
	m.forms = append(m.forms, waits)
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
		defer cancel()
		cause := m.room.Cause(ctx, e)
		return func(*Model) tea.Cmd {
			waits.Cause = cause
			return nil
		}
	})
}

func (m *Model) refuse(e *parley.Envelope, why *client.RPCError) tea.Cmd {
	m.say(fmt.Sprintf("%s asks something (#%d) that is refused: %s", e.From, e.Seq, why.Message))
	if m.refusing == mostRefusals {
		return nil
	}
	m.refusing++
	return m.do(func(ctx context.Context) func(m *Model) tea.Cmd {
		err := m.room.Answer(ctx, e, nil, why)
		return func(m *Model) tea.Cmd {
			m.refusing--
			if !isEnded(err) {
				m.fail(err)
			}
			return nil
		}
	})
}

// isEnded reports whether an answer came too late, or second.
func isEnded(err error) bool {
	return errors.Is(err, &parley.Error{Code: parley.InvalidCorrelation})
}

// finish takes a form away, with a word.
func (m *Model) finish(f *asked.Ask, word string) {
	m.forms.Remove(f)
	m.say(word)
	if m.filling != nil && m.filling.asked == f {
		m.filling = nil
		if m.focus == onForm {
			m.focus = onStream
		}
	}
}

// openForm begins with the form that has waited longest, or goes on with it.
func (m *Model) openForm() tea.Cmd {
	if len(m.forms) == 0 {
		m.say("No form waits for you.")
		return nil
	}
	return m.fillIn(m.forms[0])
}

// openFormNamed opens the form with a position, or the first.
func (m *Model) openFormNamed(name string) tea.Cmd {
	if name == "" {
		m.stopWriting()
		return m.openForm()
	}
	seq, _ := strconv.ParseUint(strings.TrimPrefix(name, "#"), 10, 63)
	for _, f := range m.forms {
		if f.Request.Seq == seq && seq > 0 || f.Request.ID == name {
			m.stopWriting()
			return m.fillIn(f)
		}
	}
	m.say("No form " + name + " waits for you.")
	return nil
}
