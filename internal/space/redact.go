package space

import (
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// Redaction is an order to redact: the envelopes with that id which stand before
// it. What comes later may have the same id.
type Redaction struct {
	ID    string `json:"id"`
	Order uint64 `json:"order"` // its seq
}

// judgeRedact refuses what is known to be impossible. An id that is not
// remembered any more is looked for when the order is carried out.
func (j *judgement) judgeRedact() error {
	if !parley.ValidID(j.object) {
		return parley.Errorf(parley.NotFound, "%.140q is not the id of an envelope", j.object)
	}
	if j.object == j.e.ID {
		return parley.Errorf(parley.NotFound, "an order to redact cannot name itself")
	}
	if len(j.redacting) >= maxRedacting {
		return parley.Errorf(parley.LimitReached, "redactions: %d are being carried out", maxRedacting).
			WithHint("send it again in a moment")
	}
	if j.proposals.open[j.object] != nil {
		return parley.Errorf(parley.KindMismatch, "the proposal %q is open; whoever decides on it must be able to read it", j.object).
			WithHint("reject or withdraw it first")
	}
	if entry, known := j.ids.get(j.object); known && entry.fixed {
		return parley.Errorf(parley.KindMismatch, "capability/*, space/* and system/* cannot be redacted; %q is one", j.object)
	}
	return nil
}

// maxRedacting is how many orders to redact may wait to be carried out.
const maxRedacting = 1_000

// applyRedact forgets here what the envelope said, and has the rest done.
func (s *State) applyRedact(e *parley.Envelope) []Effect {
	id, _ := parley.MemberString(e.Payload, "id")
	if known, ok := s.ids.get(id); ok {
		known.digest = [16]byte{}
		s.ids.change(id, known)
	}
	for _, p := range s.proposals.ended.ring {
		s.proposals.forget(p.value, id)
	}
	for _, p := range s.proposals.rounds.ring {
		if done, _ := s.proposals.ended.get(p.value.ID); done != p.value { // an id may come again
			s.proposals.forget(p.value, id)
		}
	}
	order := Redaction{ID: strings.Clone(id), Order: e.Seq}
	s.redacting = append(s.redacting, order)
	return []Effect{{Type: Redact, Redaction: order}}
}

// forget drops what is kept of the payload of an envelope, where that is an
// ended proposal, what ended it, or an answer that asked for more.
func (b *proposalBook) forget(p *proposal, id string) {
	if p.round != nil && p.round.answer == id {
		b.change(p, func(p *proposal) { p.round = nil })
		return
	}
	if p.ID != id && p.Closed.ID != id {
		return
	}
	b.change(p, func(p *proposal) {
		if !p.elsewhere(id) {
			p.proposed = parley.Digest{}
		}
		p.digest = parley.Digest{}
		if p.Closed.ID == id {
			p.Closed.Reason = ""
		}
	})
}

// elsewhere reports whether what was proposed stands on record once the envelope
// with an id is redacted: the proposal says it and, unless it amends, the
// fulfilment. A digest is there as long as neither was redacted; a second order for
// the same one counts as for both.
func (p *proposal) elsewhere(id string) bool {
	return p.digest != (parley.Digest{}) && (p.Closed.ID == id || p.State == Fulfilled)
}

// Redacting are the orders that are not known to be carried out.
func (s *State) Redacting() []Redaction { return slices.Clone(s.redacting) }

// RedactionFailed makes the notice that an order to redact could not be carried
// out.
func (s *State) RedactionFailed(id string, why *parley.Error, now time.Time) *parley.Envelope {
	b := appendString([]byte(`{"event":"`+noticeRedactionFailed+`","id":`), id)
	b = appendString(append(b, `,"reason":`...), why.Error())
	return s.system(parley.KindNotice, now, append(b, '}'), id)
}

// Redacted notes that a redaction was carried out, or turned out to be
// impossible.
func (s *State) Redacted(order Redaction) {
	s.redacting = slices.DeleteFunc(s.redacting, func(other Redaction) bool { return other == order })
}

// redactionsEnded notes that a notice said what became of the orders before it.
func (s *State) redactionsEnded(id string, notice uint64) {
	s.redacting = slices.DeleteFunc(s.redacting, func(r Redaction) bool { return r.ID == id && r.Order < notice })
}
