// Package space holds the rules of one space as a pure state machine: who may
// send what (sections 3 to 5 and 7 of the contract), what follows from it, and
// who gets to see it (section 6).
//
// It has no I/O, no goroutines and no clock. The runtime asks it to judge what
// a participant sent, and tells it what came on record:
//
//	verdict, err := state.Judge("agent", envelope, now)  // refuses with a *parley.Error, changes nothing on record
//	envelope.Seq = …                                     // its place in the order
//	effects := state.Apply(verdict.Envelope, verdict.Kind)
//
// Judge reads; Apply is the one door through which the state changes. Since
// Apply needs nothing but envelopes, the state is a projection of the journal:
// applying a journal's envelopes in order rebuilds it.
//
// Beside the projection stands what is true only while the gateway runs: who
// is connected, and at which rate they send. It is lost at a restart, and
// should be.
//
// # Concurrency
//
// None: a State belongs to the one goroutine that owns the space.
package space

import (
	"cmp"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/parleyhq/parley"
)

// Rules are what the configuration says of a space. They do not change while
// it runs.
type Rules struct {
	Name         string
	Lazy         bool   // match kinds alone and read no payload (section 3)
	Protocol     string // what delivered envelopes carry; [parley.ProtocolMCPx]
	Limits       Limits
	Participants map[string]parley.Capabilities // by id, what the configuration gives them

	// Pins are the participants whose tools can be called only by a definition
	// that was accepted, as the first is.
	Pins map[string]bool

	// ContextTypes are contexts of which the configuration says more than the
	// limits of the space, by their type.
	ContextTypes map[string]ContextType

	// NewID makes the ids of envelopes that come without one. It must never
	// return the same id twice. Required.
	NewID func() string

	types     map[string]ContextType // ContextTypes with all limits; nil until they are resolved
	otherType ContextType            // of any type that is not among them
}

// WithDefaults fills in what was left open, except for NewID.
func (r Rules) WithDefaults() Rules {
	r.Limits = r.Limits.WithDefaults()
	r.Protocol = cmp.Or(r.Protocol, parley.ProtocolMCPx)
	r.resolve()
	return r
}

// State is everything that the rules of one space need to know.
type State struct {
	rules Rules

	// The projection of the journal.
	seq       uint64
	members   map[string]*member // everybody known, by id
	grants    []*grant           // in force, by their place in the order
	grantIDs  map[string]bool    // theirs
	grantEnds time.Time          // when the first of them expires; zero is never
	lapsed    map[string]bool    // grants that the configuration ended, and no notice yet
	absent    []savedRevocation  // of whom the configuration does not name
	ids       *window[idEntry]   // envelopes, to refuse duplicates
	contexts  *contextBook
	requests  *requestBook
	proposals *proposalBook
	tools     *toolBook
	present   map[string]bool // who joined and did not leave, as the record has it
	redacting []Redaction     // what was ordered, until the runtime has done it

	// Of this run alone.
	connections map[string]int           // open connections of whoever has any
	since       map[string]time.Time     // when they came
	connected   int                      // their sum
	roster      roster                   // the same, as a welcome tells it
	buckets     map[string]*rate.Limiter // of what somebody sends
	arrivals    map[string]*rate.Limiter // of connections
	inContexts  map[inContext]*rate.Limiter
	bucketsKept int // of inContexts, when they were looked through

	given   string // tells configurations apart that give other rights
	find    func(id string) (*KnownContext, error)
	scratch []byte // reused by contentDigest
	told    []byte // what a welcome says of the rules
}

// New is the state of a space without history.
func New(rules Rules) *State {
	rules = rules.WithDefaults()
	s := &State{
		rules:       rules,
		members:     make(map[string]*member),
		grantIDs:    make(map[string]bool),
		lapsed:      make(map[string]bool),
		ids:         newWindow[idEntry](windowSize),
		contexts:    newContextBook(),
		requests:    newRequestBook(),
		proposals:   newProposalBook(),
		tools:       newToolBook(),
		present:     make(map[string]bool),
		connections: make(map[string]int),
		since:       make(map[string]time.Time),
		buckets:     make(map[string]*rate.Limiter),
		arrivals:    make(map[string]*rate.Limiter),
		inContexts:  make(map[inContext]*rate.Limiter),
	}
	s.given = rules.given()
	for id, caps := range rules.Participants {
		s.members[id] = &member{id: id, base: slices.Clone(caps), caps: caps}
	}
	return s
}

// Rules are those the state was made with, limits filled in.
func (s *State) Rules() Rules { return s.rules }

// Seq is the place of the newest envelope that was applied.
func (s *State) Seq() uint64 { return s.seq }

// Known reports whether id is a participant of this space.
func (s *State) Known(id string) bool { return s.members[id] != nil }

// Verdict is what Judge found of an envelope that may be admitted.
type Verdict struct {
	Envelope *parley.Envelope // stamped: protocol, id, ts, from
	Kind     parley.Kind      // the effective kind
	To       []string         // whom it counts as addressed to: Envelope.To, and the proposer where it is or answers a fulfilment
}

// Effect is something that the runtime has to do once the envelope that caused
// it is on record.
type Effect struct {
	Type        EffectType
	Participant string
	Reason      string
	Redaction   Redaction
}

// EffectType says what is to be done.
type EffectType int

const (
	// Rewelcome sends the participant a fresh system/welcome: its
	// capabilities changed.
	Rewelcome EffectType = iota + 1
	// Remove closes the participant's connections with 4003.
	Remove
	// Redact carries out the Redaction; then [State.Redacted] is told.
	Redact
	// Restart starts the participant's server again, also one that is down and so
	// does not hear of it.
	Restart
)

// windowSize is how many of the newest envelope ids are remembered.
const windowSize = 1 << 16

// stamp fills in what the gateway says of an envelope.
func (s *State) stamp(e *parley.Envelope, from string, now time.Time) {
	e.Protocol = s.rules.Protocol
	e.From = from
	e.TS = now.UTC().Truncate(time.Millisecond)
	e.Seq = 0
	if e.ID == "" {
		e.ID = s.rules.NewID()
	}
}

// system makes an envelope of the gateway's own, which needs no judgement.
func (s *State) system(kind string, now time.Time, payload []byte, correlate ...string) *parley.Envelope {
	e := &parley.Envelope{Kind: kind, Payload: payload, Correlation: parley.CorrelateWith(correlate...)}
	s.stamp(e, parley.GatewayID, now)
	return e
}
