package client

import (
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
			Raw:           limits,
		},
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
