package space

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Snapshot is a copy of the projection at one place in the order: what a
// checkpoint holds (section 9 of the contract). [Restore] makes a state of it
// that goes on as the one that it was taken of.
//
// Of rights it holds the orders that made them, not what came of them, so that
// under another configuration what was revoked stays revoked, and what was
// granted lasts as long as its grantor may give it. What has ended does not come
// back.
type Snapshot struct {
	Seq         uint64            `json:"seq"`
	Given       string            `json:"given"` // a digest of what the configuration gave
	Grants      []savedGrant      `json:"grants,omitempty"`
	Revocations []savedRevocation `json:"revocations,omitempty"`
	Lapsed      []string          `json:"lapsed,omitempty"`
	Present     []string          `json:"present,omitempty"`
	Redacting   []Redaction       `json:"redacting,omitempty"`
	Requests    []savedRequest    `json:"requests,omitempty"`
	Open        []savedProposal   `json:"open_proposals,omitempty"`
	Rounds      []savedProposal   `json:"fulfilled_proposals,omitempty"` // those that are not among Ended
	Ended       []savedProposal   `json:"ended_proposals,omitempty"`
	Tools       []savedTools      `json:"tools,omitempty"`
	IDs         []savedID         `json:"ids,omitempty"`
	Contexts    []savedContext    `json:"contexts,omitempty"` // touched last at the end
	Forgot      bool              `json:"contexts_forgotten,omitzero"`
}

type savedGrant struct {
	ID           string              `json:"id"`
	Seq          uint64              `json:"seq"`
	From         string              `json:"from"`
	To           string              `json:"to"`
	Capabilities parley.Capabilities `json:"capabilities"`
	Expires      time.Time           `json:"expires,omitzero"`
}

type savedRevocation struct {
	Seq        uint64            `json:"seq"`
	Of         string            `json:"recipient"`
	Capability parley.Capability `json:"capability"`
	Wider      bool              `json:"wider,omitzero"` // something wider remained
}

type savedRequest struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`
	From     string   `json:"from"`
	To       []string `json:"to,omitempty"`
	Context  string   `json:"context,omitempty"` // older checkpoints lack it
	Proposer string   `json:"proposer,omitempty"`
	Seq      uint64   `json:"seq,omitzero"`
	Fulfils  string   `json:"fulfilment,omitempty"`
}

type savedProposal struct {
	ID      string        `json:"id"`
	Seq     uint64        `json:"seq"`
	Kind    string        `json:"kind"`
	From    string        `json:"from"`
	To      []string      `json:"to,omitempty"`
	Known   []string      `json:"known,omitempty"`    // of an open one
	Named   bool          `json:"addressed,omitzero"` // it named somebody, perhaps nobody who is kept in To
	State   ProposalState `json:"state"`
	Opened  time.Time     `json:"opened"`
	Expires time.Time     `json:"expires"`
	Digest  parley.Digest `json:"digest"`
	Target  string        `json:"target,omitempty"`
	Closed  *savedClosing `json:"closed,omitempty"`

	Tool      parley.Digest `json:"tool,omitzero"`
	Round     *savedRound   `json:"round,omitempty"`
	Collect   bool          `json:"collect,omitzero"`
	Proposed  parley.Digest `json:"proposed,omitzero"` // where it is not Digest
	Collected bool          `json:"collected,omitzero"`
}

type savedRound struct {
	Answer string        `json:"answer"`
	State  parley.Digest `json:"state,omitzero"`
}

// savedTools are one participant's.
type savedTools struct {
	Of   string      `json:"participant"`
	List []savedTool `json:"list"`
}

type savedTool struct {
	Name     string        `json:"name"`
	Digest   parley.Digest `json:"digest"`
	Accepted parley.Digest `json:"accepted,omitzero"` // where it is not Digest
	Notice   uint64        `json:"notice"`
	Change   string        `json:"change,omitempty"`
}

type savedClosing struct {
	By     string    `json:"by"`
	ID     string    `json:"id"`
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

type savedID struct {
	ID     string   `json:"id"`
	Seq    uint64   `json:"seq"`
	Digest [16]byte `json:"digest"`
	Fixed  bool     `json:"fixed,omitzero"`
	Asked  bool     `json:"proposal,omitzero"`
}

type savedContext struct {
	KnownContext
	Holder string    `json:"holder,omitempty"`
	Kept   time.Time `json:"kept,omitzero"`
}

// Copy is a projection at one moment, not yet written out: copying is quick,
// and the rest can be done elsewhere.
type Copy struct {
	small    Snapshot // all but the windows
	ended    []entry[*proposal]
	rounds   []entry[*proposal]
	ids      []entry[idEntry]
	contexts []savedContext
	tools    []*Tool
}

// Copy takes a copy of the projection. What it takes does not grow with the
// journal.
func (s *State) Copy() *Copy {
	c := &Copy{
		small: Snapshot{
			Seq:       s.seq,
			Given:     s.given,
			Lapsed:    slices.Sorted(maps.Keys(s.lapsed)),
			Present:   slices.Sorted(maps.Keys(s.present)),
			Redacting: slices.Clone(s.redacting),
			Forgot:    s.contexts.forgot,
		},
		ended:    s.proposals.ended.entries(),
		rounds:   s.proposals.rounds.entries(),
		ids:      s.ids.entries(),
		contexts: s.contexts.saved(),
	}
	for _, g := range s.grants {
		c.small.Grants = append(c.small.Grants, savedGrant{g.id, g.seq, g.from, g.to, slices.Clone(g.caps), g.expires})
	}
	for _, m := range s.members {
		for _, r := range m.revoked {
			c.small.Revocations = append(c.small.Revocations, savedRevocation{r.seq, m.id, r.part, r.wider})
		}
	}
	c.small.Revocations = append(c.small.Revocations, s.absent...)
	for _, p := range s.proposals.open {
		c.small.Open = append(c.small.Open, save(p))
	}
	for _, of := range s.requests.sender {
		for _, id := range of.ids {
			if r := s.requests.open[id]; r != nil {
				c.small.Requests = append(c.small.Requests, savedRequest{r.id, r.kind.String(), r.from, r.to, r.context, r.proposer, r.seq, r.fulfilment})
			}
		}
	}
	for _, of := range s.tools.of {
		c.tools = slices.AppendSeq(c.tools, maps.Values(of))
	}
	return c
}

// Snapshot puts a copy in order. It may be called on another goroutine.
func (c *Copy) Snapshot() *Snapshot {
	n := &c.small
	slices.SortStableFunc(n.Revocations, func(a, b savedRevocation) int { return cmp.Compare(a.Seq, b.Seq) })
	slices.SortFunc(n.Open, func(a, b savedProposal) int { return cmp.Compare(a.Seq, b.Seq) })
	slices.SortStableFunc(n.Requests, func(a, b savedRequest) int { return cmp.Compare(a.From, b.From) })
	ended := make(map[string]bool, len(c.ended))
	n.Ended = slices.Grow(n.Ended, len(c.ended))
	for _, e := range c.ended {
		ended[e.id] = true
		n.Ended = append(n.Ended, save(e.value))
	}
	for _, e := range c.rounds {
		if !ended[e.value.ID] {
			n.Rounds = append(n.Rounds, save(e.value))
		}
	}
	n.Tools = saveTools(c.tools)
	n.Contexts = c.contexts
	n.IDs = slices.Grow(n.IDs, len(c.ids))
	for _, e := range c.ids {
		n.IDs = append(n.IDs, savedID{e.id, e.value.seq, e.value.digest, e.value.fixed, e.value.proposal})
	}
	return n
}

// ReadSnapshot reads what [Snapshot.JSON] wrote.
func ReadSnapshot(data jsontext.Value) (*Snapshot, error) {
	n := new(Snapshot)
	if err := json.Unmarshal(data, n, json.RejectUnknownMembers(true)); err != nil {
		return nil, err
	}
	return n, nil
}

// given is a digest of what the configuration gives.
func (r *Rules) given() string {
	h := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(r.Participants)) {
		fmt.Fprintf(h, "%q", id)
		for _, c := range r.Participants[id] {
			fmt.Fprintf(h, " %q", c.String())
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

func save(p *proposal) savedProposal {
	saved := savedProposal{
		ID: p.ID, Seq: p.Seq, Kind: p.Kind.String(), From: p.From, To: p.To, Known: p.known, Named: p.addressed,
		State: p.State, Opened: p.Opened, Expires: p.Expires, Digest: p.digest, Target: p.target,
	}
	saved.Tool, saved.Collect, saved.Collected = p.tool, p.Collect, p.Collected
	if p.proposed != p.digest {
		saved.Proposed = p.proposed
	}
	if p.round != nil {
		saved.Round = &savedRound{p.round.answer, p.round.state}
	}
	if p.State != Open {
		saved.Closed = &savedClosing{p.Closed.By, p.Closed.ID, p.Closed.At, p.Closed.Reason}
	}
	return saved
}

// saveTools puts tools together by participant, in order.
func saveTools(tools []*Tool) (saved []savedTools) {
	SortTools(tools)
	for _, t := range tools {
		one := savedTool{Name: t.Name, Digest: t.Digest, Notice: t.Notice, Change: t.Change}
		if !t.IsAccepted() {
			one.Accepted = t.Accepted
		}
		if len(saved) == 0 || saved[len(saved)-1].Of != t.Participant {
			saved = append(saved, savedTools{Of: t.Participant})
		}
		last := &saved[len(saved)-1]
		last.List = append(last.List, one)
	}
	return saved
}
