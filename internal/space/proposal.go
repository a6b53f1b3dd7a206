package space

import (
	"cmp"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Proposals (section 7). In a strict space the gateway keeps which are open and
// holds four promises: the first end in the order wins; a fulfilment asks for
// exactly what was proposed, of whom it was proposed; a change says so; all of
// it survives a restart.

// ProposalState is what became of a proposal.
type ProposalState string

// The states of section 10.
const (
	Open      ProposalState = "open"
	Fulfilled ProposalState = "fulfilled"
	Amended   ProposalState = "amended"
	Rejected  ProposalState = "rejected"
	Withdrawn ProposalState = "withdrawn"
	Expired   ProposalState = "expired"
)

// Proposal is what the state knows of one; the rest is in the journal: its
// payload and, once it has ended, those in To who are unknown here, and a
// reason longer than a word.
type Proposal struct {
	// Outdated says, of an open one that [State.Uncollected] returns, that its
	// tool has another definition now, so that nobody can approve it any more.
	Outdated bool

	// Unsure says, of an approved one that [State.Uncollected] returns, that nobody
	// can tell whether it asked for the same call: what it said was redacted.
	Unsure bool

	ID      string
	Seq     uint64
	Kind    parley.Kind // effective
	From    string
	To      []string
	State   ProposalState
	Opened  time.Time
	Expires time.Time
	Closed  Closing // zero while it is open

	Collect   bool // its proposer comes back for what became of it
	Collected bool // and has got it
}

// Closing says how a proposal ended.
type Closing struct {
	By     string // who ended it
	ID     string // with which envelope
	At     time.Time
	Reason string // of a rejection
}

type proposal struct {
	Proposal
	digest    parley.Digest // of params without _meta, as fulfilled once it is
	target    string        // whom the fulfilment asked
	known     []string      // while it is open: those in To who take part here
	addressed bool          // it named somebody
	tool      parley.Digest // of the definition that an approval is for; zero is none
	proposed  parley.Digest // of params as proposed, where it is to be collected; zero once nothing on record says them
	round     *openRound    // of a fulfilled one; nil where nobody is asked for more
}

// size is what a proposal takes, about, in bytes.
func (p *proposal) size() int {
	return 336 + len(p.ID) + len(p.From) + sizeOf(p.Kind, p.To)
}

// Bounds of what proposals take, besides the limit on their number: the state
// has to fit into a checkpoint.
const (
	maxOpenBytes     = 8 << 20 // of all that are open
	maxOpenBytesFrom = 1 << 20 // of one proposer
	maxAddressees    = 1 << 10 // of To; beyond, those who do not take part are left out
	endedSize        = 1 << 13 // how many of the ended are remembered
	roundsSize       = 1 << 12 // how many of the fulfilled, for further rounds
)

// proposalBook holds the open proposals, and the newest ended ones.
type proposalBook struct {
	open     map[string]*proposal
	ended    *window[*proposal]
	rounds   *window[*proposal] // by the id of the fulfilment
	openFrom map[string]int     // how many are open, by proposer
	size     int                // of the open ones, in bytes
	sizeFrom map[string]int     // the same by proposer
	expiry   []*proposal        // open ones, soonest first

	collecting map[string][]string // those that are to be collected, by proposer, oldest first
}

func newProposalBook() *proposalBook {
	return &proposalBook{
		open:     make(map[string]*proposal),
		ended:    newWindow[*proposal](endedSize),
		rounds:   newWindow[*proposal](roundsSize),
		openFrom: make(map[string]int),
		sizeFrom: make(map[string]int),

		collecting: make(map[string][]string),
	}
}

func (b *proposalBook) get(id string) *proposal {
	if p := b.open[id]; p != nil {
		return p
	}
	p, _ := b.ended.get(id)
	return p
}

func (b *proposalBook) add(p *proposal) {
	b.open[p.ID] = p
	b.openFrom[p.From]++
	b.size += p.size()
	b.sizeFrom[p.From] += p.size()
	at, _ := slices.BinarySearchFunc(b.expiry, p, soonest)
	b.expiry = slices.Insert(b.expiry, at, p)
}

func (b *proposalBook) close(p *proposal, state ProposalState, c Closing) {
	b.size -= p.size()
	b.sizeFrom[p.From] -= p.size()
	p.State, p.Closed = state, c
	p.To, p.known = p.known, nil
	delete(b.open, p.ID)
	if b.openFrom[p.From]--; b.openFrom[p.From] == 0 {
		delete(b.openFrom, p.From)
		delete(b.sizeFrom, p.From)
	}
	if at, ok := slices.BinarySearchFunc(b.expiry, p, soonest); ok {
		b.expiry = slices.Delete(b.expiry, at, at+1)
	}
	b.ended.add(p.ID, p)
	if state == Fulfilled || state == Amended {
		b.rounds.add(c.ID, p)
	}
}

// change puts another version in the place of an ended proposal: others may
// hold the old one.
func (b *proposalBook) change(p *proposal, to func(*proposal)) {
	next := *p
	to(&next)
	if held, _ := b.ended.get(p.ID); held == p {
		b.ended.change(p.ID, &next)
	}
	if held, _ := b.rounds.get(p.Closed.ID); held == p {
		b.rounds.change(p.Closed.ID, &next)
	}
}

func soonest(a, b *proposal) int {
	return cmp.Or(a.Expires.Compare(b.Expires), cmp.Compare(a.Seq, b.Seq))
}

// Proposals lists what is known: the open ones and the newest ended, by their
// place in the order. An empty state is any.
func (s *State) Proposals(state ProposalState) []Proposal {
	var list []Proposal
	for _, p := range s.proposals.open {
		if state == "" || state == Open {
			list = append(list, p.Proposal)
		}
	}
	if state != Open { // of the ended there may be very many
		for _, e := range s.proposals.ended.ring {
			if state == "" || state == e.value.State {
				list = append(list, e.value.Proposal)
			}
		}
	}
	slices.SortFunc(list, func(a, b Proposal) int { return cmp.Compare(a.Seq, b.Seq) })
	return list
}

// Proposal returns one that is open or ended not too long ago.
func (s *State) Proposal(id string) (Proposal, bool) {
	p := s.proposals.get(id)
	if p == nil {
		return Proposal{}, false
	}
	return p.Proposal, true
}

// OpenProposals is how many are open.
func (s *State) OpenProposals() int { return len(s.proposals.open) }

// OldestProposal is when the oldest open proposal was made; zero where none is
// open.
func (s *State) OldestProposal() (oldest time.Time) {
	for _, p := range s.proposals.open {
		oldest = sooner(oldest, p.Opened)
	}
	return oldest
}

func (j *judgement) correlateProposal() error {
	for _, id := range j.e.Correlation.IDs {
		if j.proposals.get(id) != nil {
			return parley.Errorf(parley.InvalidCorrelation, "a proposal cannot answer the proposal %q", id)
		}
	}
	return nil
}

func (j *judgement) judgeProposal() error {
	if !j.strict() {
		return nil
	}
	if _, err := expiresOf(j.e.Payload); err != nil {
		return err
	}
	if most := j.rules.Limits.OpenProposals; j.proposals.openFrom[j.from] >= most {
		return parley.Errorf(parley.LimitReached, "open_proposals: you have %d open proposals, the limit", most).
			WithHint("withdraw one, or wait until one is decided")
	}
	size := j.newProposal(j.e, j.kind).size()
	if j.proposals.sizeFrom[j.from]+size > maxOpenBytesFrom || j.proposals.size+size > maxOpenBytes {
		return parley.Errorf(parley.LimitReached, "open_proposals: the names in the open ones take more than %d bytes of yours, or %d of all", maxOpenBytesFrom, maxOpenBytes).
			WithHint("name fewer in to, or wait until some are decided")
	}
	return nil
}

// expiresOf reads payload.expires of a proposal or grant; zero where absent.
func expiresOf(payload jsontext.Value) (time.Time, error) {
	raw := parley.Member(payload, "expires")
	if raw == nil || raw.Kind() == 'n' {
		return time.Time{}, nil
	}
	text, _ := parley.MemberString(payload, "expires")
	at, err := time.Parse(time.RFC3339, text)
	at = at.UTC()
	if err != nil || at.Year() < 1 || at.Year() > 9999 { // a zone may carry it beyond
		return time.Time{}, parley.Errorf(parley.KindMismatch, "expires is %.60s, not a time as in RFC 3339", raw)
	}
	return at, nil
}

func (s *State) applyProposal(e *parley.Envelope, kind parley.Kind) {
	if s.rules.Lazy {
		return
	}
	p := s.newProposal(e, kind)
	p.digest = paramsDigest(e.Payload)
	if len(e.To) == 1 {
		p.tool = s.definition(kind, e.To[0])
	}
	s.proposals.add(p)
	if p.Collect = asksToCollect(e.Payload); p.Collect {
		p.proposed = p.digest
		s.proposals.collectable(p)
	}
}

func (s *State) newProposal(e *parley.Envelope, kind parley.Kind) *proposal {
	expires, _ := expiresOf(e.Payload)
	if expires.IsZero() {
		expires = e.TS.Add(s.rules.Limits.ProposalTTL)
	}
	known := s.knownOf(e.To)
	to, size := known, 0
	for _, id := range e.To {
		size += len(id)
	}
	if size <= maxAddressees { // the others may join later
		to = slices.Clone(e.To)
	}
	return &proposal{
		Proposal: Proposal{
			ID: e.ID, Seq: e.Seq, Kind: kind, From: e.From, To: to,
			State: Open, Opened: e.TS, Expires: expires,
		},
		known:     known,
		addressed: len(e.To) > 0,
	}
}

// paramsDigest is what a fulfilment is compared by: params without their
// top-level _meta, which belongs to the transport.
func paramsDigest(payload jsontext.Value, without ...string) parley.Digest {
	return parley.DigestParams(parley.Member(payload, "params"), append(without, "_meta")...)
}
