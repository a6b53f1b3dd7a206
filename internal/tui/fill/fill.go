package fill

import (
	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/form"
)

// Styles are how the parts of a form look. The zero value has no colours, and takes
// nothing away.
type Styles struct {
	Title    lipgloss.Style // who asks
	Label    lipgloss.Style // of the field that has the focus
	Quoted   lipgloss.Style // what the asker wrote
	Hint     lipgloss.Style // what fits, and which keys there are
	Required lipgloss.Style // the mark of what has to be answered
	Problem  lipgloss.Style // what does not fit
	Question lipgloss.Style // what has to be confirmed
}

// An Action is what becomes of a form, by the word that MCP has for it.
type Action string

// The actions of MCP.
const (
	Accept  Action = "accept"
	Decline Action = "decline"
	Cancel  Action = "cancel"
)

// A Result is what a person made of a form.
type Result struct {
	Action  Action
	Content jsontext.Value // of Accept: an object that fits the form
}

// Model is a form that is being filled in.
type Model struct {
	form   *form.Form
	styles Styles
	asker  string // may be empty
	cause  string
	begun  bool // a key was pressed
	width  int
	height int

	entries []entry
	input   textinput.Model // of the text that has the focus
	focus   int             // an entry, onMessage, or onReview
	offset  int             // the first line of the body that is seen
	loose   bool            // the person has scrolled: the focus may be out of sight

	message []string // folded
	review  []string // folded; nil until it is needed
	pending Action   // waits for the same key again
	note    string   // in place of the keys, until the next one
	result  *Result
}

// Where the focus can be besides an entry.
const (
	onMessage = -1
	onReview  = -2
)

// New begins with a form.
func New(f *form.Form, styles Styles) Model {
	m := Model{form: f, styles: styles, focus: onMessage, entries: make([]entry, len(f.Fields)), input: textinput.New()}
	for i := range m.entries {
		m.entries[i] = newEntry(&f.Fields[i])
	}
	m.input.Prompt = ""
	m.input.CharLimit = maxTyped
	s := m.input.Styles()
	s.Cursor.Blink = false
	s.Focused, s.Blurred = textinput.StyleState{}, textinput.StyleState{}
	m.input.SetStyles(s)
	return m.SetSize(80, 24)
}

// maxTyped is how long an answer may be, in characters.
const maxTyped = 64 << 10

// From says who asks, and why if that is known.
func (m Model) From(asker, cause string) Model {
	m.asker, m.cause = asker, cause
	return m
}

// start puts the focus on the first field, or on a message that leaves no room for it.
func (m Model) start() Model {
	switch {
	case len(m.entries) == 0:
		m = m.toReview()
	case len(m.message)+4 > m.bodyHeight():
		m = m.focusOn(onMessage)
	default:
		m = m.focusOn(0)
	}
	m.offset = 0
	return m
}

// SetSize fits the form to a part of the screen.
func (m Model) SetSize(width, height int) Model {
	m.width, m.height = max(width, 1), max(height, 1)
	m.message = m.folded(m.form.Message, m.width-barWidth)
	m.input.SetWidth(max(m.width-6, 1))
	if !m.begun {
		return m.start()
	}
	if m.focus == onReview {
		m.review = m.reviewLines()
	} else {
		m.review = nil
	}
	return m.inSight()
}

// Init begins nothing: the form needs no time.
func (m Model) Init() tea.Cmd { return nil }

// Result is what the person decided; done is false until then.
func (m Model) Result() (r Result, done bool) {
	if m.result == nil {
		return Result{}, false
	}
	return *m.result, true
}

// Reopen goes on with a form whose result could not be sent.
func (m Model) Reopen() Model {
	m.result = nil
	return m
}

// finish ends the form, unless something in it does not fit.
func (m Model) finish(a Action) Model {
	r := Result{Action: a}
	if a == Accept {
		content, err := m.form.Content(m.answers())
		if err != nil { // each answer was checked on the way here
			m.note = problemOf(err)
			return m
		}
		r.Content = content
	}
	m.result = &r
	return m
}

func (m Model) answers() map[string]jsontext.Value {
	answers := map[string]jsontext.Value{}
	for i := range m.entries {
		if e := &m.entries[i]; e.value != nil {
			answers[e.field.Name] = e.value
		}
	}
	return answers
}

// focusOn goes to an entry.
func (m Model) focusOn(i int) Model {
	m.input.Blur()
	m.focus, m.loose = i, false
	if i >= 0 && m.entries[i].isTyped() {
		m.input.SetValue(m.entries[i].typed)
		m.input.CursorEnd()
		m.input.Focus()
	}
	return m.inSight()
}

// leave takes over what was typed into the entry that has the focus.
func (m Model) leave() Model {
	if m.focus >= 0 {
		m.entries[m.focus].settle()
	}
	return m
}

// toReview checks everything, and shows what would be sent, or the first field that
// has to be looked at.
func (m Model) toReview() Model {
	m = m.leave()
	first, wrong := -1, 0
	for i := range m.entries {
		if e := &m.entries[i]; !e.check() {
			wrong++
			if first < 0 {
				first = i
			}
		}
	}
	if wrong > 0 {
		m = m.focusOn(first)
		m.note = counted(wrong, "field needs", "fields need") + " another look"
		return m
	}
	m.input.Blur()
	m.focus, m.loose, m.offset = onReview, true, 0
	m.review = m.reviewLines()
	return m
}
