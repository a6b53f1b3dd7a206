package gateway

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// ApprovalLink makes a link with which a participant can decide on a proposal, once,
// without signing in. It lasts a day, or as long as the proposal. Whoever has the
// link decides in the participant's name: it goes to them alone.
//
// The error is not_found for a space or participant that is not here and for a
// proposal whose envelope retention has dropped, proposal_not_found, proposal_closed,
// self_fulfilment where the participant made the proposal, and unavailable where it is
// not known how browsers reach the gateway.
func (g *Gateway) ApprovalLink(ctx context.Context, space, proposal, decider string) (url string, expires time.Time, err error) {
	r, err := g.room(space)
	if err != nil {
		return "", time.Time{}, err
	}
	base := cmp.Or(g.opts.PublicURL, g.opts.URL)
	if base == "" {
		return "", time.Time{}, parley.Errorf(parley.Unavailable, "it is not known how browsers reach the gateway").
			WithHint("set public_url in the configuration")
	}
	tokens := r.people[decider].Tokens
	if len(tokens) == 0 {
		return "", time.Time{}, parley.Errorf(parley.NotFound, "no participant here that has a token is called %.80q", decider)
	}
	l := approval{space: space, proposal: proposal, decider: decider, tokens: tokens}
	return g.makeApproval(ctx, base, l, approvalDefault)
}

// makeApproval makes a link that is bound as l says.
func (g *Gateway) makeApproval(ctx context.Context, base string, l approval, ttl time.Duration) (url string, expires time.Time, err error) {
	var p space.Proposal
	known, open := false, map[string]bool{}
	c := caller{identity: identity{room: g.rooms[l.space], token: l.tokens[0]}, reads: g.api.reads}
	err = g.View(ctx, l.space, func(s *space.State) {
		p, known = s.Proposal(l.proposal)
		for _, one := range g.api.approvals.about(l.space, l.decider) {
			other, ok := s.Proposal(one)
			open[one] = ok && other.State == space.Open
		}
	})
	switch {
	case err != nil:
		return "", time.Time{}, err
	case !known:
		return "", time.Time{}, noProposal(c, l.proposal)
	case p.State != space.Open:
		return "", time.Time{}, closed(&p)
	case p.From == l.decider:
		return "", time.Time{}, parley.Errorf(parley.SelfFulfilment, "%s made the proposal, so somebody else decides on it", l.decider)
	}
	rec, err := c.one(ctx, at(p.Seq))
	switch {
	case err != nil:
		return "", time.Time{}, err
	case rec == nil: // nobody could be shown what it asks for
		return "", time.Time{}, dropped(&p)
	}
	now := g.now()
	l.made, l.expires = now, now.Add(ttl)
	if !p.Expires.IsZero() && p.Expires.Before(l.expires) {
		l.expires = p.Expires
	}
	text, code := secret(approvalBytes)
	l.code, l.seq, l.proposer = code, p.Seq, p.From
	g.api.approvals.add(l, now, open)
	g.saveApprovals()
	return strings.TrimSuffix(base, "/") + decidePage + "#code=" + text, l.expires, nil
}

// decidePage is where a link leads.
const decidePage = consolePath + "decide.html"

// linkRequest is the body that asks for a link.
type linkRequest struct {
	TTL string `json:"ttl"`
}

// makeLink makes a link for whoever shows a token. A session makes none: it would
// outlive itself by them.
func makeLink(w http.ResponseWriter, r *http.Request, c caller) error {
	g := c.room.g
	if _, err := g.bearer(r); err != nil {
		return err
	}
	var body linkRequest
	if err := decodeBody(w, r, &body); err != nil {
		return err
	}
	ttl, err := body.ttl()
	if err != nil {
		return err
	}
	l := approval{space: c.room.name, proposal: r.PathValue("id"), decider: c.id, tokens: []TokenHash{c.token}}
	var tooFast error
	err = c.view(r.Context(), func(s *space.State) { tooFast = s.Charge(c.id, c.room.now()) }) // each is a write to the disk
	if err = cmp.Or(err, tooFast); err != nil {
		return err
	}
	url, expires, err := g.makeApproval(r.Context(), g.baseURL(r), l, ttl)
	if err != nil {
		return err
	}
	b := appendQuote([]byte(`{"url":`), url)
	b = appendTime(append(b, `,"expires":`...), expires)
	return writeJSON(w, http.StatusCreated, append(b, '}', '\n'))
}

func (l *linkRequest) ttl() (time.Duration, error) {
	if l.TTL == "" {
		return approvalDefault, nil
	}
	ttl, err := time.ParseDuration(l.TTL)
	if err != nil || ttl < approvalLeast || ttl > approvalMost {
		return 0, parley.Errorf(parley.InvalidArgument, "ttl is not a time from 1m to %.0fh", approvalMost.Hours()).
			WithHint(`write it like {"ttl": "8h"}`)
	}
	return ttl, nil
}

// baseURL is how browsers reach the gateway: as configured, else as whoever asks
// does.
func (g *Gateway) baseURL(r *http.Request) string {
	if g.opts.PublicURL != "" {
		return g.opts.PublicURL
	}
	scheme := "http"
	if r.TLS != nil || r.Header.Get("X-Forwarded-Proto") == "https" {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}
