package client

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// API reads over HTTP what is on record in a space, and sends single envelopes,
// without a place in the room (section 10 of the contract). What the gateway
// refuses is a [*parley.Error]; where it cannot be reached the error holds one
// with unavailable.
type API struct {
	where  endpoint
	space  func() string
	http   *http.Client
	header http.Header
}

// NewAPI makes an API for a gateway's address, as in [Dial]. Of the options
// Token, Space and HTTPClient (default: [http.DefaultClient]) count. A space
// has to be named, here or in the address.
func NewAPI(rawURL string, opts *Options) (*API, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	where, err := parseEndpoint(rawURL, o.Space)
	if err != nil {
		return nil, err
	}
	if where.space == "" {
		return nil, parley.Errorf(parley.InvalidArgument, "no space is named").WithHint("set Options.Space")
	}
	a := &API{where: where, space: where.name, http: o.HTTPClient, header: o.header()}
	if a.http == nil {
		a.http = http.DefaultClient
	}
	return a, nil
}

// Query chooses envelopes. The zero value is all of them, oldest first.
type Query struct {
	After, Before uint64 // exclusive positions; 0 is none
	Limit         int    // envelopes in all; 0 is no limit
	Kind          string // a pattern
	From, To      string // participants
	Context       string // a context's id
	Subtree       bool   // and its descendants
	Correlation   string // an id that they answer
	Text          string // full-text search
	Since, Until  time.Time
	Descending    bool // newest first
}

func (q *Query) values() url.Values {
	v := parameters{}
	v.position("after", q.After)
	v.position("before", q.Before)
	v.set("kind", q.Kind)
	v.set("from", q.From)
	v.set("to", q.To)
	v.set("context", q.Context)
	v.on("subtree", "true", q.Subtree)
	v.set("correlation", q.Correlation)
	v.set("q", q.Text)
	v.time("since", q.Since)
	v.time("until", q.Until)
	v.page(q.Limit, q.Descending)
	return url.Values(v)
}

// ProposalRecord is a proposal as the gateway keeps it.
type ProposalRecord struct {
	ID      string
	Kind    string
	From    string
	To      []string
	Payload jsontext.Value
	State   ProposalState
	Opened  time.Time
	Closed  Closing // zero while it is open
}

// ProposalState is open, or a [Decision].
type ProposalState string

// ProposalOpen is the state of a proposal that nobody decided yet.
const ProposalOpen ProposalState = "open"

// Closing says how a proposal ended.
type Closing struct {
	By     string
	ID     string // the envelope that ended it
	At     time.Time
	Reason string
}

// Envelope reads one by its id; not_found where there is none.
func (a *API) Envelope(ctx context.Context, id string) (*parley.Envelope, error) {
	body, err := a.get(ctx, nil, "envelopes", id)
	if err != nil {
		return nil, err
	}
	return parley.Decode(body, maxNesting)
}

// Envelopes reads those that match, page by page as the loop goes on. A nil
// query is all. An error is the last thing that comes.
func (a *API) Envelopes(ctx context.Context, q *Query) iter.Seq2[*parley.Envelope, error] {
	if q == nil {
		q = new(Query)
	}
	return decoded(limited(a.list(ctx, q.values(), "envelopes"), q.Limit))
}

// Chain is what the correlations of an envelope, or of a context, reach, both
// ways, in the space's order: from reasoning to proposal to decision to call to
// result.
type Chain struct {
	Envelopes []*parley.Envelope
	Truncated bool // it is a long one, and some was left out: what was said before what acts
}

// Chain reads the chain of an envelope or of a context.
func (a *API) Chain(ctx context.Context, id string) (Chain, error) {
	page, err := a.get(ctx, url.Values{}, "envelopes", id, "chain")
	if err != nil {
		return Chain{}, err
	}
	c := Chain{Truncated: string(parley.Member(page, "truncated")) == "true"}
	for item := range parley.Elements(parley.Member(page, "items")) {
		e, err := parley.Decode(item, maxNesting)
		if err != nil {
			return Chain{}, err
		}
		c.Envelopes = append(c.Envelopes, e)
	}
	return c, nil
}

// Participants are all whom the space knows; Present says who is connected.
func (a *API) Participants(ctx context.Context) ([]Participant, error) {
	var list []Participant
	for v, err := range a.list(ctx, url.Values{}, "participants") {
		if err != nil {
			return nil, err
		}
		list = append(list, readParticipant(v))
	}
	return list, nil
}

// Proposals are those in a state; the empty one is all.
func (a *API) Proposals(ctx context.Context, state ProposalState) ([]ProposalRecord, error) {
	q := url.Values{"state": {cmp.Or(string(state), "all")}}
	var list []ProposalRecord
	for v, err := range a.list(ctx, q, "proposals") {
		if err != nil {
			return nil, err
		}
		list = append(list, readProposalRecord(v))
	}
	return list, nil
}

// Proposal reads one by its id; proposal_not_found or not_found where there is
// none.
func (a *API) Proposal(ctx context.Context, id string) (ProposalRecord, error) {
	body, err := a.get(ctx, nil, "proposals", id)
	if err != nil {
		return ProposalRecord{}, err
	}
	return readProposalRecord(body), nil
}

func readProposalRecord(v jsontext.Value) ProposalRecord {
	p := ProposalRecord{
		ID:      text(v, "id"),
		Kind:    text(v, "kind"),
		From:    text(v, "from"),
		Payload: parley.Member(v, "payload"),
		State:   ProposalState(text(v, "state")),
		Opened:  when(v, "opened"),
	}
	for el := range parley.Elements(parley.Member(v, "to")) {
		if s, err := jsontext.AppendUnquote(nil, el); err == nil {
			p.To = append(p.To, string(s))
		}
	}
	closed := parley.Member(v, "closed")
	p.Closed = Closing{By: text(closed, "by"), ID: text(closed, "id"), At: when(closed, "at"), Reason: text(closed, "reason")}
	return p
}

// Post sends one envelope, but for a missing id as it is, and returns once it
// is durable. To send it again with the same id is safe.
func (a *API) Post(ctx context.Context, e *parley.Envelope) (Receipt, error) {
	if e.ID == "" {
		named := *e
		named.ID = NewID()
		e = &named
	}
	body, err := a.do(ctx, http.MethodPost, nil, e.AppendBody(nil), "envelopes")
	if problem, ok := err.(*parley.Error); ok && problem.Code == parley.DuplicateID && problem.Seq > 0 {
		return Receipt{ID: e.ID, Seq: problem.Seq}, nil // admitted the first time
	}
	if err != nil {
		return Receipt{}, err
	}
	return Receipt{ID: text(body, "id"), Seq: sequence(body, "seq"), Epoch: text(body, "epoch")}, nil
}

// list yields the items of a list, page by page. The cursor of a page stands
// where the next one starts: after it, or before it where the newest come
// first.
func (a *API) list(ctx context.Context, values url.Values, parts ...string) iter.Seq2[jsontext.Value, error] {
	cursor := "after"
	if values.Get("order") == "desc" {
		cursor = "before"
	}
	return func(yield func(jsontext.Value, error) bool) {
		values := maps.Clone(values)
		for {
			page, err := a.get(ctx, values, parts...)
			if err != nil {
				yield(nil, err)
				return
			}
			for item := range parley.Elements(parley.Member(page, "items")) {
				if !yield(item, nil) {
					return
				}
			}
			next := cursorText(parley.Member(page, "next"))
			if next == "" || next == values.Get(cursor) {
				return
			}
			values.Set(cursor, next)
		}
	}
}

// pageSize bounds what is asked for at once; the gateway may send less.
const pageSize = 1_000

func cursorText(v jsontext.Value) string {
	switch v.Kind() {
	case '"':
		s, _ := jsontext.AppendUnquote(nil, v)
		return string(s)
	case '0':
		return string(v)
	}
	return ""
}

func limited(items iter.Seq2[jsontext.Value, error], most int) iter.Seq2[jsontext.Value, error] {
	if most <= 0 {
		return items
	}
	return func(yield func(jsontext.Value, error) bool) {
		n := 0
		for item, err := range items {
			if n++; !yield(item, err) || n == most {
				return
			}
		}
	}
}

func decoded(items iter.Seq2[jsontext.Value, error]) iter.Seq2[*parley.Envelope, error] {
	return func(yield func(*parley.Envelope, error) bool) {
		for item, err := range items {
			var e *parley.Envelope
			if err == nil {
				e, err = parley.Decode(item, maxNesting)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (a *API) get(ctx context.Context, q url.Values, parts ...string) (jsontext.Value, error) {
	return a.do(ctx, http.MethodGet, q, nil, parts...)
}

// mostBody bounds one answer of the gateway: a full page of full envelopes
// comes in shorter pages.
const mostBody = 256 << 20

func (a *API) do(ctx context.Context, method string, q url.Values, body []byte, parts ...string) (jsontext.Value, error) {
	resp, err := a.open(ctx, method, q, body, parts...)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readBody(resp.Body)
}

// open asks, and returns the answer as it begins to come, for the caller to
// close. A refusal is an error.
func (a *API) open(ctx context.Context, method string, q url.Values, body []byte, parts ...string) (*http.Response, error) {
	space := a.space()
	if space == "" {
		return nil, parley.Errorf(parley.InvalidArgument, "no space is named").WithHint("set Options.Space")
	}
	u := a.where.call(space, parts...)
	u.RawQuery = q.Encode()
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, parley.Errorf(parley.InvalidArgument, "%v", err)
	}
	req.Header = a.header.Clone()
	req.Header.Set("Accept", "application/json")
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := a.http.Do(req)
	if err != nil {
		return nil, connectError(a.where, err)
	}
	if resp.StatusCode/100 != 2 {
		defer resp.Body.Close()
		return nil, readRefusal(resp).problem
	}
	return resp, nil
}

// readBody reads an answer strictly: what is taken out of it later relies on
// that.
func readBody(r io.Reader) (jsontext.Value, error) {
	data, err := io.ReadAll(io.LimitReader(r, mostBody+1))
	switch v := jsontext.Value(bytes.TrimSpace(data)); {
	case err != nil:
		return nil, fmt.Errorf("client: reading the gateway's answer: %w", err)
	case len(data) > mostBody:
		return nil, parley.Errorf(parley.Internal, "the gateway's answer is over %d bytes", mostBody)
	case !v.IsValid():
		return nil, parley.Errorf(parley.Internal, "the gateway's answer is not valid JSON").
			WithHint("is this the address of a Parley gateway?")
	default:
		return v, nil
	}
}
