package journal

import (
	"github.com/parleyhq/parley"
)

// orders are the redactions that a [Verifier] has seen, and for which it has not
// seen yet who ordered them.
type orders struct {
	waiting map[string]*Break // by the envelope's id: its place
}

// maxOrders bounds what an export of somebody else's can make a verifier keep.
const maxOrders = 1 << 20

// pass sees each record of the chain.
func (o *orders) pass(r *Record) error {
	if r.Type != Admitted {
		return nil
	}
	if r.Redacted {
		return o.wait(r)
	}
	if r.Kind == parley.KindRedact && len(o.waiting) > 0 {
		id, _ := parley.MemberString(parley.Member(r.Body, "payload"), "id")
		delete(o.waiting, id)
	}
	return nil
}

func (o *orders) wait(r *Record) error {
	if o.waiting[r.ID] != nil {
		return nil
	}
	if len(o.waiting) == maxOrders {
		return parley.Errorf(parley.LimitReached, "the chain cannot be checked: more than %d redactions wait for their orders", maxOrders)
	}
	if o.waiting == nil {
		o.waiting = map[string]*Break{}
	}
	o.waiting[r.ID] = &Break{Index: r.Index, Seq: r.Seq, Reason: "redacted without an order on record"}
	return nil
}

// missing is the first redaction that nobody ordered, or nil.
func (o *orders) missing() (first *Break) {
	for _, b := range o.waiting {
		if first == nil || b.Index < first.Index {
			first = b
		}
	}
	return first
}
