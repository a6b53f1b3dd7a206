package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// renderer writes envelopes so that they read like a conversation: who, to
// whom, what, and which proposal it answers.
//
//	14:03:21 #5   agent → files  proposes write_file path=hello.txt content="Hello!"  · id 019a9f3c-1b2c
//	14:03:40 #6   you → files  fulfils #5: write_file path=hello.txt content="Hello!"
//	14:03:40 #7   files → you  answers #6: 6 bytes written
//
// It belongs to one goroutine.
type renderer struct {
	w     io.Writer
	paint palette
	zone  *time.Location // nil is this machine's
	full  bool           // cut nothing
	types *contextTypes  // nil where each envelope is believed
	level int            // how deep what comes next is nested

	day  string // of the line before, so that a new day can be told
	seen memory
}

// line is what one envelope becomes.
type line struct {
	who    string   // "agent → files"
	speaks bool     // who says the text, word for word
	text   string   // what it says, in one line
	more   []string // further lines
}

// gap is closer after "agent:" than after "agent → files".
func (l line) gap() string {
	if l.speaks {
		return " "
	}
	return "  "
}

// write renders one envelope.
func (r *renderer) write(e *parley.Envelope) error {
	l := r.line(e)
	r.seen.add(e)
	var b strings.Builder
	r.writeDay(&b, e.TS)
	head := r.clock(e.TS) + " " + fmt.Sprintf("%-5s", r.place(e.Seq))
	nest := strings.Repeat("  ", min(r.level, mostLevels))
	b.WriteString(r.paint.dim(head) + nest)
	if l.who != "" {
		b.WriteString(" " + l.who)
	}
	if l.text != "" {
		b.WriteString(l.gap() + l.text)
	}
	b.WriteByte('\n')
	for _, text := range l.more {
		fmt.Fprintf(&b, "%*s%s\n", len(head)+len(nest)+3, "", text)
	}
	_, err := io.WriteString(r.w, b.String())
	return err
}

// mostLevels is how far in lines may begin.
const mostLevels = 16

func (r *renderer) place(seq uint64) string {
	if seq == 0 {
		return ""
	}
	return fmt.Sprintf("#%d", seq)
}

func (r *renderer) clock(ts time.Time) string {
	if ts.IsZero() {
		return "        "
	}
	return r.local(ts).Format(time.TimeOnly)
}

func (r *renderer) local(ts time.Time) time.Time {
	if r.zone == nil {
		return ts.Local()
	}
	return ts.In(r.zone)
}

// writeDay writes the date wherever it changes, and first where it is not today.
func (r *renderer) writeDay(b *strings.Builder, ts time.Time) {
	if ts.IsZero() {
		return
	}
	day := r.local(ts).Format(time.DateOnly)
	if day != r.day {
		fmt.Fprintln(b, r.paint.dim("— "+day+" —"))
	}
	r.day = day
}

// who is sender and addressees.
func (r *renderer) who(e *parley.Envelope) string {
	s := r.paint.name(clean(e.From))
	if len(e.To) > 0 {
		s += " → " + r.list(e.To)
	}
	return s
}

func (r *renderer) list(ids []string) string {
	const most = 5
	named := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		named = append(named, r.paint.name(clean(id)))
	}
	s := strings.Join(named, ", ")
	if more := len(ids) - most; more > 0 {
		s += fmt.Sprintf(" and %d more", more)
	}
	return s
}

// ref names an envelope that another one answers: by its place where it was
// seen, else by its short id.
func (r *renderer) ref(id string) string {
	if s, ok := r.seen.get(id); ok && s.seq > 0 {
		return fmt.Sprintf("#%d", s.seq)
	}
	return clean(safe.ShortID(id))
}

func (r *renderer) refs(ids []string) string {
	named := make([]string, len(ids))
	for i, id := range ids {
		named[i] = r.ref(id)
	}
	return strings.Join(named, ", ")
}

// memory is what was rendered lately, so that answers can say to what.
type memory struct {
	byID  map[string]sight
	order []string
}

type sight struct {
	seq  uint64
	kind parley.Kind
}

const maxSeen = 8192

func (m *memory) add(e *parley.Envelope) {
	if e.ID == "" {
		return
	}
	if m.byID == nil {
		m.byID = make(map[string]sight)
	}
	if _, known := m.byID[e.ID]; !known {
		m.order = append(m.order, e.ID)
	}
	m.byID[e.ID] = sight{e.Seq, parley.SplitKind(e.Kind)}
	if len(m.order) > maxSeen {
		delete(m.byID, m.order[0])
		m.order = m.order[1:]
	}
}

func (m *memory) get(id string) (sight, bool) {
	s, ok := m.byID[id]
	return s, ok
}
