package space

import (
	"bytes"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// mostWelcomed is how many participants a welcome names.
const mostWelcomed = 1_000

// History is what a newcomer is told of the space's record.
type History struct {
	Epoch string
	First uint64 // the oldest envelope that is kept; 0 is none
	Last  uint64 // the newest
	Gap   bool   // what lies between its position and First is gone, or its position was never here
}

// Welcome is a system/welcome (section 6 of the contract) as of when it was
// made. It holds on to nothing that changes, so that it may be written anywhere.
type Welcome struct {
	you     string
	present []*presentOne
	space   []byte
	history History
}

// Welcome says what the space is to one participant now.
func (s *State) Welcome(id string, h History) *Welcome {
	if s.told == nil {
		s.told = s.appendSpace(nil)
	}
	w := &Welcome{present: s.roster.share(), space: s.told, history: h}
	if i, ok := s.roster.find(id); ok {
		w.you = w.present[i].json
	} else {
		w.you = string(s.appendParticipant(nil, id))
	}
	return w
}

// Payload appends what the envelope carries.
func (w *Welcome) Payload(b []byte) jsontext.Value {
	b = append(append(b, `{"you":`...), w.you...)
	b = append(b, `,"participants":[`...)
	for i, other := range w.present[:min(len(w.present), mostWelcomed)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, other.json...)
	}
	b = strconv.AppendInt(append(b, `],"participants_total":`...), int64(len(w.present)), 10)
	b = append(append(b, `,"space":`...), w.space...)
	return append(w.history.append(append(b, `,"history":`...)), '}')
}

func (s *State) appendParticipant(b []byte, id string) []byte {
	b = appendString(append(b, `{"id":`...), id)
	b = append(b, `,"capabilities":`...)
	return append(s.Capabilities(id).AppendJSON(b), '}')
}

func (s *State) appendSpace(b []byte) []byte {
	enforcement := "strict"
	if s.rules.Lazy {
		enforcement = "lazy"
	}
	b = appendString(append(b, `{"name":`...), s.rules.Name)
	b = append(b, `,"enforcement":"`+enforcement+`","limits":`...)
	b = s.rules.Limits.append(b)
	if len(s.rules.ContextTypes) > 0 {
		b = s.rules.appendContextTypes(append(b, `,"context_types":`...))
	}
	return append(b, '}')
}

func (h History) append(b []byte) []byte {
	b = appendString(append(b, `{"epoch":`...), h.Epoch)
	b = strconv.AppendUint(append(b, `,"first":`...), h.First, 10)
	b = strconv.AppendUint(append(b, `,"last":`...), h.Last, 10)
	if h.Gap {
		b = append(b, `,"gap":true`...)
	}
	return append(b, '}')
}

// append writes the limits under their configuration names: sizes in bytes,
// durations as the configuration spells them, rates per second.
func (l Limits) append(b []byte) []byte {
	m := members(append(b, '{'))
	m.number("envelope_bytes", float64(l.EnvelopeBytes))
	m.number("nesting", float64(l.Nesting))
	m.number("participants", float64(l.Participants))
	m.number("connections", float64(l.Connections))
	m.number("history", float64(l.History))
	m.number("lag_envelopes", float64(l.LagEnvelopes))
	m.number("lag_bytes", float64(l.LagBytes))
	m.number("rate", l.Rate)
	m.number("burst", float64(l.Burst))
	m.number("context_rate", l.ContextRate)
	m.number("context_depth", float64(l.ContextDepth))
	m.number("open_contexts", float64(l.OpenContexts))
	m.number("context_metadata_bytes", float64(l.ContextMetadataBytes))
	m.number("open_proposals", float64(l.OpenProposals))
	m.duration("proposal_ttl", l.ProposalTTL)
	m.duration("context_idle", l.ContextIdle)
	m.duration("approval_wait", l.ApprovalWait)
	m.duration("call_timeout", l.CallTimeout)
	return append(m.done(), '}')
}

// members are those of an object, each with a comma behind it.
type members []byte

func (m *members) number(name string, n float64) {
	b := append(strconv.AppendQuote(*m, name), ':')
	*m = append(strconv.AppendFloat(b, n, 'f', -1, 64), ',')
}

func (m *members) duration(name string, d time.Duration) {
	b := append(strconv.AppendQuote(*m, name), ':')
	*m = append(strconv.AppendQuote(b, d.String()), ',')
}

// done drops the last comma.
func (m members) done() []byte { return bytes.TrimSuffix(m, []byte{','}) }

func appendStrings(b []byte, list []string) []byte {
	b = append(b, '[')
	for i, s := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s)
	}
	return append(b, ']')
}

func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 is replaced
	return b
}
