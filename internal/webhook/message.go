package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// message is what is sent.
type message struct {
	Type      EventType `json:"type"`
	Timestamp time.Time `json:"timestamp"` // of the event
	Data      any       `json:"data"`
}

// body is the message as JSON. What was refused need not have been UTF-8: what is not
// is replaced.
func (m *message) body() ([]byte, error) {
	return json.Marshal(m, json.Deterministic(true), jsontext.AllowInvalidUTF8(true))
}

// proposalData is the data of an event about a proposal.
type proposalData struct {
	Space    string          `json:"space"`
	Proposal proposalView    `json:"proposal"`
	Decision *decisionView   `json:"decision,omitempty"`
	Links    map[string]link `json:"links,omitempty"` // by who decides with it
}

type proposalView struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind,omitempty"`
	From    string    `json:"from,omitempty"`
	To      []string  `json:"to,omitempty"`
	Context string    `json:"context,omitempty"`
	Seq     uint64    `json:"seq,omitzero"`
	Opened  time.Time `json:"opened,omitzero"`
	Expires time.Time `json:"expires,omitzero"`
	payloadView
}

// payloadView is a payload, or why it is not there.
type payloadView struct {
	Payload jsontext.Value `json:"payload,omitzero"`
	Omitted omission       `json:"payload_omitted,omitempty"`
}

type omission string

const (
	omittedByChoice omission = "content"  // the webhook gets ids alone
	omittedBySize   omission = "size"     // it is larger than mostPayload
	omittedForGood  omission = "redacted" // it is no longer on record
)

type decisionView struct {
	ID      string    `json:"id"`
	Kind    string    `json:"kind"`
	By      string    `json:"by"`
	To      []string  `json:"to,omitempty"`
	At      time.Time `json:"at"`
	Seq     uint64    `json:"seq"`
	Reason  string    `json:"reason,omitempty"`
	Message string    `json:"message,omitempty"`
	payloadView
}

type link struct {
	URL     string    `json:"url"`
	Expires time.Time `json:"expires"`
}

// refusalData is the data of envelope.refused.
type refusalData struct {
	Space      string      `json:"space"`
	Code       parley.Code `json:"code"`
	From       string      `json:"from"`
	ID         string      `json:"id,omitempty"`
	Kind       string      `json:"kind,omitempty"`
	Bytes      int         `json:"bytes,omitzero"`
	Count      int         `json:"count"`               // how many it stands for
	Suppressed int         `json:"suppressed,omitzero"` // that no event told of since the last one
}

// BridgeData is the data of bridge.failed and bridge.restarted.
type BridgeData struct {
	Space    string `json:"space"`
	Bridge   string `json:"bridge"`
	Failures int    `json:"failures,omitzero"` // in a row
	RetryIn  int64  `json:"retry_in_ms,omitzero"`
	Error    string `json:"error,omitempty"` // with full content
}

// testData is the data of webhook.test.
type testData struct {
	Space   string `json:"space"`
	Webhook string `json:"webhook"`
}

const (
	mostPayload = 64 << 10 // bytes of one that are sent
	mostText    = 2 << 10  // of a rejection's message, and of an error
)

// gone says that an event cannot be told any more.
func gone(what string) error {
	return parley.Errorf(parley.NotFound, "%s", what).WithHint("drop the event; nothing of it can be sent")
}

// describe makes what is sent of an event that is on record, as the record is now.
func (h *Hook) describe(ctx context.Context, log journal.Reader, it *item) (*message, error) {
	r, err := recordAt(ctx, log, it.Index)
	switch {
	case err != nil:
		return nil, err
	case r == nil || idOf(it.Type, r) != it.ID:
		return nil, gone("what it tells of is no longer on record")
	case it.Type == EnvelopeRefused:
		return h.refusal(r, it), nil
	}
	m := &message{Type: it.Type, Timestamp: r.TS}
	data := &proposalData{Space: h.Space, Proposal: proposalView{ID: it.Proposal}}
	p := r
	if it.Type != ProposalOpened {
		if p, err = before(ctx, log, r, it.Proposal); err != nil {
			return nil, err
		}
		data.Decision = h.decision(r, it.Type)
	}
	if p != nil {
		data.Proposal = h.proposal(p)
	}
	m.Data = data
	return m, nil
}

// recordAt is the record with an index; nil where it is not there any more.
func recordAt(ctx context.Context, log journal.Reader, index uint64) (*journal.Record, error) {
	for r, err := range log.Read(ctx, journal.Query{Chain: true, After: index - 1, Before: index + 1, Limit: 1}) {
		return r, err
	}
	return nil, nil
}

func (h *Hook) proposal(r *journal.Record) proposalView {
	p := proposalView{
		ID: r.ID, Kind: r.Effective, From: r.From, To: r.To, Context: r.Context, Seq: r.Seq, Opened: r.TS,
		payloadView: h.payload(r),
	}
	if h.ProposalTTL > 0 {
		p.Expires = r.TS.Add(h.ProposalTTL)
	}
	if text, ok := parley.MemberString(payloadOf(r), "expires"); ok {
		if at, err := time.Parse(time.RFC3339, text); err == nil && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999 {
			p.Expires = at.UTC()
		}
	}
	return p
}

func (h *Hook) decision(r *journal.Record, typ EventType) *decisionView {
	d := &decisionView{ID: r.ID, Kind: r.Effective, By: r.From, At: r.TS, Seq: r.Seq}
	payload := payloadOf(r)
	switch typ {
	case ProposalFulfilled:
		d.To = addressees(r) // params are as proposed
	case ProposalAmended:
		d.To, d.payloadView = addressees(r), h.payload(r)
	case ProposalRejected, ProposalWithdrawn:
		reason, _ := parley.MemberString(payload, "reason")
		if h.Full || slices.Contains(reasons, reason) {
			d.Reason = clip(reason, mostText)
		}
		if h.Full {
			text, _ := parley.MemberString(payload, "message")
			d.Message = clip(text, mostText)
		}
	}
	return d
}

// reasons are those of section 7 of the contract: words, which tell nothing else.
var reasons = []string{"disagree", "unsafe", "busy", "incapable", "policy", "duplicate", "invalid", "timeout", "other"}

func (h *Hook) payload(r *journal.Record) payloadView {
	payload := payloadOf(r)
	switch {
	case !h.Full:
		return payloadView{Omitted: omittedByChoice}
	case r.Redacted:
		return payloadView{Omitted: omittedForGood}
	case len(payload) > mostPayload:
		return payloadView{Omitted: omittedBySize}
	}
	return payloadView{Payload: payload}
}

// addressees are those that the envelope names; the record counts the proposer in.
func addressees(r *journal.Record) []string {
	e, err := r.Decode()
	if err != nil {
		return nil
	}
	return e.To
}

func payloadOf(r *journal.Record) jsontext.Value {
	e, err := r.Decode()
	if err != nil {
		return nil
	}
	return e.Payload
}

func (h *Hook) refusal(r *journal.Record, it *item) *message {
	f := r.DecodeRefusal()
	return &message{Type: EnvelopeRefused, Timestamp: r.TS, Data: &refusalData{
		Space: h.Space, Code: f.Code, From: r.From, ID: r.ID, Kind: r.Kind, Bytes: f.Bytes,
		Count: max(f.Count, 1), Suppressed: it.Suppressed,
	}}
}

// clip is text that is cut to so many bytes, where it must be.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 { // within a character
		most--
	}
	return s[:most] + "…"
}
