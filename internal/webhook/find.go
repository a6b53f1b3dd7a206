package webhook

import (
	"context"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// found is an event in the record.
type found struct {
	typ      EventType
	record   *journal.Record // what happened
	id       string          // of the proposal, where it is about one
	proposal *journal.Record // the proposal; nil where it is no longer on record
}

// mostNamed is how many ids of one envelope are looked at; a strict space takes no
// more.
const mostNamed = 64

// find is what a record tells. It goes by the rules of section 7 of the contract: in
// a strict space nothing else would have been let in. A lazy space follows no
// proposals, so that there whatever names one counts.
func find(ctx context.Context, log journal.Reader, r *journal.Record) ([]found, error) {
	if r.Type == journal.Refused || r.Type == journal.Flood {
		return []found{{typ: EnvelopeRefused, record: r}}, nil
	}
	kind := parley.SplitKind(r.Effective)
	typ := ProposalRejected
	switch kind.Type {
	case parley.TypeProposal:
		return []found{{ProposalOpened, r, r.ID, r}}, nil
	case parley.TypeRequest:
		typ = ProposalFulfilled
		if r.Amends {
			typ = ProposalAmended
		}
	case parley.TypeReject:
	case parley.TypeWithdraw:
		typ = ProposalWithdrawn
	case parley.KindNotice:
		if !tellsExpiry(r) {
			return nil, nil
		}
		typ = ProposalExpired
	default:
		return nil, nil
	}
	var all []found
	for _, id := range r.Correlations[:min(len(r.Correlations), mostNamed)] {
		p, err := before(ctx, log, r, id)
		if err != nil {
			return nil, err
		}
		if p == nil && typ == ProposalExpired { // a notice of the gateway's own is about one
			all = append(all, found{typ: typ, record: r, id: id})
		}
		if p != nil && ends(kind, parley.SplitKind(p.Effective)) {
			all = append(all, found{typ, r, id, p})
		}
	}
	return all, nil
}

// before is the newest envelope with an id that stands before a record; nil where
// there is none.
func before(ctx context.Context, log journal.Reader, r *journal.Record, id string) (*journal.Record, error) {
	if id == "" { // as a condition, no id is any
		return nil, nil
	}
	for one, err := range log.Read(ctx, journal.Query{ID: id, Before: r.Seq, Newest: true, Limit: 1}) {
		return one, err
	}
	return nil, nil
}

// ends reports whether an envelope that names another one ends it: the other is a
// proposal, and this is no notification that only speaks of it.
func ends(kind, of parley.Kind) bool {
	return of.Type == parley.TypeProposal &&
		(kind.Type != parley.TypeRequest || kind.Method == of.Method || !strings.HasPrefix(kind.Method, "notifications/"))
}

// noticeExpired is the event of the notice that ends a proposal.
const noticeExpired = "proposal_expired"

func tellsExpiry(r *journal.Record) bool {
	if r.From != parley.GatewayID || r.Redacted {
		return false
	}
	e, err := r.Decode()
	if err != nil {
		return false
	}
	event, _ := parley.MemberString(e.Payload, "event")
	return event == noticeExpired
}

// wants reports whether a webhook is for an event.
func (h *Hook) wants(f *found) bool {
	if !h.takes(f.typ) {
		return false
	}
	about := f.record
	if f.id != "" {
		if about = f.proposal; about == nil {
			return len(h.Kinds) == 0 && len(h.From) == 0 // nobody knows any more
		}
	}
	return h.takesFrom(about.From) && h.takesKind(about)
}

// window bounds how many refusals a webhook is told of.
type window struct {
	Began      time.Time `json:"began,omitzero"`
	Told       int       `json:"told,omitzero"`
	Suppressed int       `json:"suppressed,omitzero"` // refusals since the last that was told
}

// Of refusals so many are told within so long.
const (
	refusalsTold   = 10
	refusalsWindow = time.Minute
)

// admit counts a refusal, by the time at which it was made, so that who reads again
// after a crash comes to the same result. It reports how many were left out before
// it, and false where it is left out as well.
func (w *window) admit(r *journal.Record) (suppressed int, told bool) {
	if since := r.TS.Sub(w.Began); since >= refusalsWindow || since < 0 {
		w.Began, w.Told = r.TS, 0
	}
	if w.Told >= refusalsTold {
		w.Suppressed += max(r.DecodeRefusal().Count, 1)
		return 0, false
	}
	suppressed, w.Suppressed = w.Suppressed, 0
	w.Told++
	return suppressed, true
}
