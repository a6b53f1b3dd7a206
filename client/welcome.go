package client

import (
	"cmp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Welcome is what the gateway tells a newcomer (section 6 of the contract).
type Welcome struct {
	You          Participant
	Participants []Participant // who is here, at most 1,000
	Total        int           // how many are
	Space        Space
	History      History
}

// Participant is somebody in the space.
type Participant struct {
	ID           string
	Capabilities parley.Capabilities // what it may send
	Present      bool                // has a connection
}

// Space is what a newcomer learns of the space.
type Space struct {
	Name   string
	Lazy   bool // the gateway reads no payloads (section 3)
	Limits Limits

	// ContextTypes are the types of contexts of which the gateway told something,
	// by name. Others may be used as well.
	ContextTypes map[string]ContextType
}

// ContextType is what the space says of contexts of one type.
type ContextType struct {
	Description string
	Kinds       []string      // patterns of what is expected in one; a hint, never enforced
	Limits      ContextLimits // those of the space where the type has none of its own
}

// ContextLimits are those of one context; zero where the gateway did not tell.
type ContextLimits struct {
	Rate          float64       // envelopes per second and sender
	Depth         int           // how deep it may lie; one without a parent has 1
	Open          int           // how many a participant may have open
	MetadataBytes int           // of one envelope
	Idle          time.Duration // without an envelope, until it is concluded
}

// Limits are those of a space that concern a client; zero where the gateway
// did not tell.
type Limits struct {
	EnvelopeBytes int64
	Nesting       int
	History       int
	OpenProposals int
	Rate          float64 // envelopes per second
	ProposalTTL   time.Duration
	ApprovalWait  time.Duration
	CallTimeout   time.Duration
	Context       ContextLimits  // of contexts whose type has none of its own
	Raw           jsontext.Value // all of them, as they were told
}

// History is what the gateway keeps of the space's record.
type History struct {
	Epoch string
	First uint64 // the oldest; 0 is none
	Last  uint64 // the newest
	Gap   bool   // it cannot resume where we asked
}

// readWelcome reads the payload of a system/welcome. Members that are missing
// or of another type count as not told.
func readWelcome(payload jsontext.Value) Welcome {
	w := Welcome{You: readParticipant(parley.Member(payload, "you"))}
	w.You.Present = true
	for v := range parley.Elements(parley.Member(payload, "participants")) {
		p := readParticipant(v)
		p.Present = true
		w.Participants = append(w.Participants, p)
	}
	w.Total = max(int(number(payload, "participants_total")), len(w.Participants))
	w.Space = readSpace(parley.Member(payload, "space"))
	h := parley.Member(payload, "history")
	w.History.Epoch = text(h, "epoch")
	w.History.First = sequence(h, "first")
	w.History.Last = sequence(h, "last")
	w.History.Gap = parley.Member(h, "gap").Kind() == 't'
	return w
}

func readParticipant(v jsontext.Value) Participant {
	p := Participant{ID: text(v, "id"), Present: parley.Member(v, "present").Kind() == 't'}
	for el := range parley.Elements(parley.Member(v, "capabilities")) {
		var c parley.Capability
		if c.UnmarshalJSON(el) == nil { // what a newer gateway knows is the gateway's to judge
			p.Capabilities = append(p.Capabilities, c)
		}
	}
	return p
}

func readSpace(v jsontext.Value) Space {
	limits := parley.Member(v, "limits")
	context := readContextLimits(limits, ContextLimits{})
	return Space{
		Name: text(v, "name"),
		Lazy: text(v, "enforcement") == "lazy",
		Limits: Limits{
			EnvelopeBytes: int64(number(limits, "envelope_bytes")),
			Nesting:       int(number(limits, "nesting")),
			History:       int(number(limits, "history")),
			OpenProposals: int(number(limits, "open_proposals")),
			Rate:          number(limits, "rate"),
			ProposalTTL:   duration(limits, "proposal_ttl"),
			ApprovalWait:  duration(limits, "approval_wait"),
			CallTimeout:   duration(limits, "call_timeout"),
			Context:       context,
			Raw:           limits,
		},
		ContextTypes: readContextTypes(parley.Member(v, "context_types"), context),
	}
}

// readContextTypes fills in the space's limits where a type tells none.
func readContextTypes(v jsontext.Value, of ContextLimits) map[string]ContextType {
	types := make(map[string]ContextType)
	for name, said := range parley.Members(v) {
		t := ContextType{Description: text(said, "description"), Limits: readContextLimits(parley.Member(said, "limits"), of)}
		for kind := range parley.Elements(parley.Member(said, "kinds")) {
			if b, err := jsontext.AppendUnquote(nil, kind); err == nil {
				t.Kinds = append(t.Kinds, string(b))
			}
		}
		types[name] = t
	}
	return types
}

func readContextLimits(v jsontext.Value, of ContextLimits) ContextLimits {
	return ContextLimits{
		Rate:          cmp.Or(number(v, "context_rate"), of.Rate),
		Depth:         cmp.Or(int(number(v, "context_depth")), of.Depth),
		Open:          cmp.Or(int(number(v, "open_contexts")), of.Open),
		MetadataBytes: cmp.Or(int(number(v, "context_metadata_bytes")), of.MetadataBytes),
		Idle:          cmp.Or(duration(v, "context_idle"), of.Idle),
	}
}

func text(obj jsontext.Value, name string) string {
	s, _ := parley.MemberString(obj, name)
	return s
}

func number(obj jsontext.Value, name string) float64 {
	f, _ := strconv.ParseFloat(string(parley.Member(obj, name)), 64)
	return f
}

func sequence(obj jsontext.Value, name string) uint64 {
	n, _ := strconv.ParseUint(string(parley.Member(obj, name)), 10, 64)
	return n
}

func duration(obj jsontext.Value, name string) time.Duration {
	d, _ := time.ParseDuration(text(obj, name))
	return d
}

func when(obj jsontext.Value, name string) time.Time {
	t, _ := time.Parse(time.RFC3339, text(obj, name))
	return t
}
