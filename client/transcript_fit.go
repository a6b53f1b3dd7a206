package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// telling is a transcript on its way. It does no I/O: envelopes come in with
// take, newest first, settle decides how many of them are told as they are, and
// digest what of the others is summed up.
type telling struct {
	// Static.
	budget int
	count  func(string) int
	me     string
	plain  bool // without digests

	lines   []line // newest first
	tokens  int    // of lines, while they are taken in
	beyond  int    // of lines, how many came after the budget was spent
	more    bool   // others were not taken in
	kept    int    // so many of lines are told as they are
	spent   int    // by them, and by summed
	reserve int    // for the note
	summed  []line // digests, in the order in which they were made
}

// line is one block of text.
type line struct {
	seq     uint64
	own     bool
	context string // "" is the main one
	text    string
	cost    int
}

const (
	messageTokens = 4       // what a message takes besides its texts
	mostTokens    = 1 << 24 // beyond all windows
	alwaysWhole   = 128     // tokens of a text that is not cut where it fits
	lookBack      = 1_000   // envelopes that are counted beyond the budget
	mostDigests   = 16
	leastDigest   = 48 // tokens below which a digest says nothing

	// What the gateway takes as the budget of a digest.
	fewestTokens     = 100
	mostDigestTokens = 100_000
)

func newTelling(budget int, count func(string) int, me string) *telling {
	return &telling{budget: min(budget, mostTokens), count: count, me: me}
}

// cost is what a text takes as a message of its own. It is bounded, so that
// sums of them are.
func (t *telling) cost(text string) int {
	return min(max(t.count(text), 0), t.budget) + messageTokens
}

// take takes in an envelope, and reports whether another one is wanted.
func (t *telling) take(e *parley.Envelope) bool {
	l := line{seq: e.Seq, own: t.me != "" && e.From == t.me}
	if e.Context != nil {
		l.context = e.Context.ID
	}
	if t.tokens <= t.budget {
		l.text, l.cost = t.shorten(tellEnvelope(e, l.own))
		t.tokens += l.cost
	} else if t.beyond++; t.beyond > lookBack {
		t.more = true
		return false
	}
	t.lines = append(t.lines, l)
	return true
}

// shorten cuts a text short that alone would take more than half of a budget
// worth speaking of.
func (t *telling) shorten(text string) (string, int) {
	most := max(t.budget/2, min(t.budget, alwaysWhole))
	tail := fmt.Sprintf(" … (cut short, %d bytes in all)", len(text))
	if len(text) <= most*bytesPerToken {
		if c := t.cost(text); c <= most {
			return text, c
		}
	}
	// A text of more bytes is taken for too long without counting them, which is slow.
	low, high := 0, min(len(text), most*bytesPerToken)
	for low < high {
		mid := (low + high + 1) / 2
		if t.cost(prefix(text, mid)+tail) <= most {
			low = mid
		} else {
			high = mid - 1
		}
	}
	short := prefix(text, low) + tail
	return short, t.cost(short)
}

// bytesPerToken is more than texts have that are worth telling.
const bytesPerToken = 16

// prefix is the first bytes of a text, without half a character at the end.
func prefix(text string, n int) string { return strings.ToValidUTF8(text[:n], "") }

// settle decides what is told as it is: everything, if that fits, else what
// leaves room for the note, and a quarter for digests where contexts lose some.
func (t *telling) settle() {
	t.keep(t.budget)
	if t.kept == len(t.lines) && !t.more {
		return
	}
	t.reserve = t.cost(noteText(len(t.lines), t.more, mostDigests, t.newest()))
	if t.reserve > t.budget/4 {
		t.reserve = 0 // a model with so small a window is better off with the newest
	}
	room := t.budget - t.reserve
	if t.keep(room); len(t.lost()) > 0 && !t.plain {
		t.keep(room - room/4)
	}
}

func (t *telling) newest() uint64 {
	if len(t.lines) == 0 {
		return 0
	}
	return t.lines[0].seq
}

// keep keeps as many of the newest as there is room for.
func (t *telling) keep(room int) {
	t.kept, t.spent = 0, 0
	for _, l := range t.lines {
		if l.text == "" || t.spent+l.cost > room {
			return
		}
		t.kept++
		t.spent += l.cost
	}
}

// lost are the contexts of what is not told as it is, the newest first.
func (t *telling) lost() []string {
	var ids []string
	seen := map[string]bool{"": true}
	for _, l := range t.lines[t.kept:] {
		if !seen[l.context] {
			seen[l.context] = true
			ids = append(ids, l.context)
		}
	}
	return ids
}

// before is the position of the oldest that is told as it is.
func (t *telling) before() uint64 {
	switch {
	case t.kept == len(t.lines) && !t.more:
		return 0
	case t.kept == 0:
		return t.newest() + 1
	}
	return t.lines[t.kept-1].seq
}

// digest sums up contexts of what is not told as it is, in equal shares of the
// room that is left. Those that are gone, or do not fit, are left out.
func (t *telling) digest(read func(id string, tokens int) (*Digest, error), lets func(*ContextRecord, *DigestEntry) bool) error {
	if t.plain {
		return nil
	}
	ids := t.lost()
	ids = ids[:min(len(ids), mostDigests, t.room()/leastDigest)]
	untold := t.untold()
	for i, id := range ids {
		share := t.room() / (len(ids) - i)
		d, err := read(id, min(max(share+t.known(id), fewestTokens), mostDigestTokens))
		if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			continue
		}
		if err != nil {
			return err
		}
		text := t.sumUp(d, share, func(e *DigestEntry) bool { return untold(e.Seq, func() bool { return lets(&d.Context, e) }) })
		if text == "" {
			continue
		}
		cost := t.cost(text)
		t.summed = append(t.summed, line{context: id, text: text, cost: cost})
		t.spent += cost
	}
	return nil
}

// room is what is left for digests.
func (t *telling) room() int { return t.budget - t.reserve - t.spent }

// untold returns what says whether an envelope, by its position, is one that
// is left to tell, and then takes it for told. Of envelopes older than those
// that were taken in only a guess tells.
func (t *telling) untold() func(seq uint64, guess func() bool) bool {
	left := make(map[uint64]bool)
	for _, l := range t.lines[t.kept:] {
		left[l.seq] = true
	}
	return func(seq uint64, guess func() bool) bool {
		wanted, known := left[seq]
		if !known {
			wanted = t.more && seq < t.lines[len(t.lines)-1].seq && guess()
		}
		left[seq] = false
		return wanted
	}
}

// known is what the envelopes of a context take that are told as they are. A
// digest has the newest first, and so has these before others.
func (t *telling) known(id string) int {
	n := 0
	for _, l := range t.lines[:t.kept] {
		if l.context == id {
			n += l.cost
		}
	}
	return n
}

// sumUp writes a digest within a share: what was concluded and is to be decided
// first, then of the messages what fits, the newest before others.
func (t *telling) sumUp(d *Digest, share int, wanted func(*DigestEntry) bool) string {
	head := tellDigest(d)
	room := share - t.cost(head)
	if room < 0 {
		return ""
	}
	var parts []*DigestEntry // the least important last
	for _, e := range entries(d) {
		if !wanted(e) {
			continue
		}
		cost := max(t.count(tellEntries([]*DigestEntry{e})), 0)
		if cost <= room {
			room -= cost
			parts = append(parts, e)
		}
	}
	for { // parts may take more together than one by one
		text := head + tellEntries(parts)
		if len(parts) == 0 || t.cost(text) <= share {
			return text
		}
		parts = parts[:len(parts)-1]
	}
}

// entries are those of a digest, the most important first.
func entries(d *Digest) []*DigestEntry {
	var list []*DigestEntry
	if d.Conclusion != nil {
		list = append(list, d.Conclusion)
	}
	for i := range d.Proposals {
		list = append(list, &d.Proposals[i])
	}
	for i := range d.Messages {
		list = append(list, &d.Messages[i])
	}
	return list
}

// messages puts it all together: the note, the digests, the newest envelopes.
func (t *telling) messages() *Messages {
	m := &Messages{Omitted: len(t.lines) - t.kept, More: t.more, Before: t.before()}
	for _, d := range t.summed {
		m.Digests = append(m.Digests, d.context)
	}
	if m.Before > 0 {
		note := noteText(m.Omitted, m.More, len(m.Digests), m.Before)
		if t.spent+t.cost(note) <= t.budget {
			m.add(RoleUser, note)
		}
	}
	for _, d := range slices.Backward(t.summed) { // the newest context comes last
		m.add(RoleUser, d.text)
	}
	slices.Reverse(m.Digests)
	for _, l := range slices.Backward(t.lines[:t.kept]) {
		role := RoleUser
		if l.own {
			role = RoleAssistant
		}
		m.add(role, l.text)
	}
	for _, one := range m.Messages {
		m.Tokens += messageTokens
		for _, b := range one.Content {
			m.Tokens += max(t.count(b.Text), 0)
		}
	}
	return m
}

// add appends a block, to the last message where the role is the same.
func (m *Messages) add(role, text string) {
	if n := len(m.Messages); n == 0 || m.Messages[n-1].Role != role {
		m.Messages = append(m.Messages, Message{Role: role})
	}
	last := &m.Messages[len(m.Messages)-1]
	last.Content = append(last.Content, Block{Type: "text", Text: text})
}
