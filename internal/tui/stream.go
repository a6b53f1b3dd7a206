package tui

import (
	"fmt"
	"slices"

	"github.com/parleyhq/parley/internal/tui/safe"
	"github.com/parleyhq/parley/internal/tui/store"
)

// stream is the list of rows that is looked at: those that pass the filter, but of a
// folded thread its head alone. Whoever moves away from the newest row stays where
// they are.
type stream struct {
	painter
	height int

	filter store.Filter
	folded map[string]bool
	view   []*store.Row
	heads  map[string]int // thread → number of its first row in view
	read   int            // rows before this number were looked at

	at    int  // the row under the cursor, in view
	stuck bool // to the newest
	fresh int  // rows that came below what is seen

	top, topLine int // the first line that is seen: row in view, line of it
	cache        map[int]drawn
}

type drawn struct {
	version, width, looks int
	folds                 string // what the head of a thread says
	lines                 []string
}

func newStream(s *store.Store) *stream {
	return &stream{painter: painter{store: s}, folded: map[string]bool{}, heads: map[string]int{}, cache: map[int]drawn{}, stuck: true}
}

func (s *stream) resize(width, height int) {
	s.width, s.height = max(width, 8), max(height, 1)
	s.most = max(3, min(12, height-2))
}

// show makes the view anew, for another filter or after folding.
func (s *stream) show(f store.Filter) {
	var current *store.Row
	if !s.stuck {
		current = s.current()
	}
	s.filter = f
	s.view, s.read = nil, s.store.Dropped()
	clear(s.heads)
	s.extend()
	s.fresh = 0
	s.top, s.topLine = 0, 0
	if current == nil {
		s.newest()
		return
	}
	s.at = s.nearest(current)
	s.stuck = s.at == len(s.view)-1
	s.top = max(0, s.at-s.height/4)
}

// nearest is the place in view of a row, or of the last one before it that is shown.
func (s *stream) nearest(r *store.Row) int {
	i, _ := slices.BinarySearchFunc(s.view, r.N, func(a *store.Row, n int) int { return a.N - n })
	return max(0, min(i, len(s.view)-1))
}

// update takes in what the store learnt.
func (s *stream) update(changed []*store.Row) {
	s.forget()
	if s.affects(changed) {
		s.show(s.filter)
		return
	}
	before := len(s.view)
	s.extend()
	if s.stuck {
		s.newest()
	} else {
		s.fresh += len(s.view) - before
	}
}

// affects reports whether a row changed in what the filter looks at.
func (s *stream) affects(changed []*store.Row) bool {
	if s.filter.State == "" && s.filter.Words == "" && s.filter.From == "" {
		return false
	}
	for _, r := range changed {
		if r.N < s.read && s.filter.Match(r) != s.shows(r) {
			return true
		}
	}
	return false
}

func (s *stream) shows(r *store.Row) bool {
	_, found := slices.BinarySearchFunc(s.view, r.N, func(a *store.Row, n int) int { return a.N - n })
	return found || r.Context != "" && s.folded[r.Context]
}

// extend looks at the rows that were not looked at yet.
func (s *stream) extend() {
	rows := s.store.Rows()
	for _, r := range rows[min(len(rows), max(0, s.read-s.store.Dropped())):] {
		if !s.filter.Match(r) {
			continue
		}
		if r.Context != "" {
			if _, ok := s.heads[r.Context]; !ok {
				s.heads[r.Context] = r.N
			} else if s.folded[r.Context] {
				continue
			}
		}
		s.view = append(s.view, r)
	}
	s.read = s.store.Dropped() + len(rows)
}

// forget lets go of what the store let go of.
func (s *stream) forget() {
	dropped := s.store.Dropped()
	n := 0
	for n < len(s.view) && s.view[n].N < dropped {
		delete(s.cache, s.view[n].N)
		n++
	}
	if n == 0 {
		return
	}
	s.view = slices.Clone(s.view[n:])
	s.at, s.top = max(0, s.at-n), s.top-n
	if s.top < 0 {
		s.top, s.topLine = 0, 0
	}
	for context, head := range s.heads {
		if head < dropped {
			delete(s.heads, context)
		}
	}
	for _, r := range s.view {
		if _, ok := s.heads[r.Context]; r.Context != "" && !ok {
			s.heads[r.Context] = r.N
		}
	}
}

// current is the row under the cursor, or nil.
func (s *stream) current() *store.Row {
	if s.at < 0 || s.at >= len(s.view) {
		return nil
	}
	return s.view[s.at]
}

func (s *stream) newest() {
	s.at, s.stuck, s.fresh = len(s.view)-1, true, 0
}

// move moves the cursor by rows.
func (s *stream) move(by int) {
	at := s.at + by
	if at >= len(s.view)-1 {
		s.newest()
		return
	}
	if s.stuck {
		s.anchor()
	}
	s.at, s.stuck = max(0, at), false
}

// page moves by a screen.
func (s *stream) page(by int) {
	lines := 0
	step := 1
	if by < 0 {
		step = -1
	}
	n := 0
	for i := s.at; i >= 0 && i < len(s.view) && lines < s.height-1; i += step {
		lines += len(s.lines(i))
		n++
	}
	s.move(step * max(1, n-1))
}

func (s *stream) oldest() { s.move(-len(s.view)) }

// toggle folds a thread, or unfolds it.
func (s *stream) toggle(context string) {
	if context == "" {
		return
	}
	s.folded[context] = !s.folded[context]
	if len(s.folded) > 1000 {
		s.folded = map[string]bool{context: s.folded[context]}
	}
	if head := s.store.Row(s.heads[context]); s.folded[context] && head != nil && head.Context == context {
		if i := s.nearest(head); i < len(s.view) && s.view[i] == head {
			s.at, s.stuck = i, false // what is under the cursor is about to go
		}
	}
	s.show(s.filter)
}

// lines draws the row at a place in view.
func (s *stream) lines(i int) []string {
	r := s.view[i]
	folds := s.folds(r)
	if d, ok := s.cache[r.N]; ok && d.version == r.Version && d.width == s.width && d.looks == s.store.Lookalikes() && d.folds == folds {
		return d.lines
	}
	var lines []string
	if folds != "" {
		lines = append(lines, folds)
	}
	if folds == "" || !s.folded[r.Context] {
		lines = append(lines, s.row(r)...)
	}
	if len(s.cache) > 1000 {
		clear(s.cache)
	}
	s.cache[r.N] = drawn{r.Version, s.width, s.store.Lookalikes(), folds, lines}
	return lines
}

// folds is the line above the first row of a thread.
func (s *stream) folds(r *store.Row) string {
	if r.Context == "" || s.heads[r.Context] != r.N {
		return ""
	}
	c := s.store.Context(r.Context)
	if c == nil {
		return ""
	}
	sign := "▾ "
	if s.folded[r.Context] {
		sign = "▸ "
	}
	name := c.ID
	if c.Type != "" {
		name = c.Type + " " + c.ID
	}
	state := ""
	if c.Concluded {
		state = ", concluded"
	}
	return " " + note.Render(sign+safe.Line(name, max(8, s.width-20))) + dim.Render(fmt.Sprintf(" · %s%s", grouped(c.Count), state))
}

// draw is what is seen, with the cursor where keys go to the stream.
func (s *stream) draw(cursor bool) []string {
	if len(s.view) == 0 {
		return rect([]string{"", dim.Render(cut(s.nothing(), s.width))}, s.height)
	}
	if s.stuck {
		s.anchor()
	} else {
		s.reach()
	}
	var out []string
	for i := s.top; i < len(s.view) && len(out) < s.height; i++ {
		lines := s.lines(i)
		if i == s.top {
			lines = lines[min(s.topLine, len(lines)):]
		}
		for j, line := range lines {
			if cursor && i == s.at {
				line = pointed(line, j == 0)
			}
			out = append(out, line)
		}
	}
	return rect(out, s.height)
}

func (s *stream) nothing() string {
	if len(s.store.Rows()) > 0 {
		return " Nothing here matches the filter. Esc shows all."
	}
	return " Nothing has been said here yet."
}

// pointed is a line with the cursor in its gutter, which is a blank in all of them.
func pointed(line string, first bool) string {
	if len(line) == 0 || line[0] != ' ' {
		return line
	}
	if first {
		return ask.Render("›") + line[1:]
	}
	return ask.Render("▏") + line[1:]
}

// anchor puts the newest line at the bottom.
func (s *stream) anchor() { s.fill(len(s.view) - 1) }

// fill puts the last line of a row at the bottom.
func (s *stream) fill(last int) {
	left := s.height
	for i := last; i >= 0; i-- {
		n := len(s.lines(i))
		if n >= left {
			s.top, s.topLine = i, n-left
			return
		}
		left -= n
	}
	s.top, s.topLine = 0, 0
}

// reach brings the row under the cursor into sight.
func (s *stream) reach() {
	s.top = min(s.top, len(s.view)-1)
	if s.at < s.top || s.at == s.top && s.topLine > 0 {
		s.top, s.topLine = s.at, 0
		return
	}
	used := -s.topLine
	for i := s.top; i <= s.at && used <= s.height; i++ {
		used += len(s.lines(i))
	}
	if used > s.height {
		s.fill(s.at)
	}
}
