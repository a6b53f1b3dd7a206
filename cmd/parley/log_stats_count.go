package main

import (
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/mcpbridge"
)

// stats are what is counted of a record. Names come from participants and their
// servers, so there is a bound to how many are told apart.
type stats struct {
	flags statsFlags

	first, last time.Time
	envelopes   int
	bytes       int64

	said     counts[saidKey, saidCount]
	calls    counts[callKey, callCount]
	answers  counts[answerKey, answerCount]
	refusals counts[refusalKey, refusalCount]

	open      newest[openCall] // requests that nobody has answered yet
	proposals newest[proposed]
}

type (
	saidKey    struct{ Participant, Kind string }
	callKey    struct{ Server, Tool string }
	answerKey  struct{ Server, Tool, Participant, Profile string }
	refusalKey struct{ Participant, Code string }
)

type (
	saidCount struct {
		Envelopes int
		Bytes     int64
	}
	callCount struct {
		Calls    int
		Answered int
		Failed   int // of the answered: with isError, or with an error of the protocol
		times    *hdrhistogram.Histogram
	}
	answerCount struct {
		Answers       int
		Tokens, Saved int64
	}
	refusalCount struct{ Refusals int }
)

// openCall is a request without an answer.
type openCall struct {
	key    callKey
	to     []string
	caller string
	ts     time.Time
}

// proposed is a proposal of a call.
type proposed struct{ by, asks string }

func newStats(flags statsFlags) *stats { return &stats{flags: flags} }

// count takes in the next record.
func (s *stats) count(r *journal.Record) {
	if r.TS.Before(s.flags.since) || !s.flags.until.IsZero() && !r.TS.Before(s.flags.until) {
		return
	}
	switch r.Type {
	case journal.Admitted:
		s.envelope(r)
	case journal.Refused, journal.Flood:
		s.refusal(r)
	}
}

func (s *stats) envelope(r *journal.Record) {
	k := parley.SplitKind(r.Effective)
	s.link(r, k)
	if (s.flags.participant != "" && r.From != s.flags.participant) || !s.isAbout(r.Context) {
		return
	}
	if s.envelopes == 0 {
		s.first = r.TS
	}
	s.last = r.TS
	s.envelopes++
	s.bytes += int64(len(r.Body))
	c := s.said.at(saidKey{r.From, shortKind(k)}, saidKey{otherName, otherName})
	c.Envelopes++
	c.Bytes += int64(len(r.Body))
}

// isAbout says whether a context is the one that counts.
func (s *stats) isAbout(context string) bool {
	return s.flags.context == "" || context == s.flags.context
}

// shortKind is a kind without what it is about, which calls are counted by.
func shortKind(k parley.Kind) string {
	if k.Method == "" {
		return k.Type
	}
	return k.Type + ":" + k.Method
}

const toolsCall = "tools/call"

// link finds the calls of tools and their answers.
func (s *stats) link(r *journal.Record, k parley.Kind) {
	switch {
	case k.Type == parley.TypeProposal && k.Method == toolsCall:
		s.proposals.put(r.ID, proposed{r.From, k.Subject})
	case k.Type == parley.TypeRequest && k.Method == toolsCall && len(r.To) > 0:
		s.request(r, k.Subject)
	case k.Type == parley.TypeResponse:
		for _, id := range r.Correlations {
			if call, ok := s.open.get(id); ok && slices.Contains(call.to, r.From) {
				s.open.drop(id)
				s.answer(r, call)
			}
		}
	}
}

// request counts a call.
func (s *stats) request(r *journal.Record, tool string) {
	call := openCall{callKey{r.To[0], tool}, r.To, r.From, r.TS}
	for _, id := range r.Correlations {
		if p, ok := s.proposals.get(id); ok && p.asks == tool {
			call.caller = p.by
			break
		}
	}
	who := s.flags.participant
	if who != "" && who != call.caller && who != call.key.Server || !s.isAbout(r.Context) {
		return
	}
	s.open.put(r.ID, call)
	s.calls.at(call.key, otherCall).Calls++
}

var otherCall = callKey{otherName, otherName}

// answer counts what came of a call.
func (s *stats) answer(r *journal.Record, call openCall) {
	c := s.calls.at(call.key, otherCall)
	c.Answered++
	if c.times == nil {
		c.times = hdrhistogram.New(1, longestCall, 2)
	}
	_ = c.times.RecordValue(min(max(r.TS.Sub(call.ts).Milliseconds(), 0), longestCall)) // it lies within
	payload := parley.Member(r.Body, "payload")
	result := parley.Member(payload, "result")
	if string(parley.Member(result, "isError")) == "true" || parley.Member(payload, "error") != nil {
		c.Failed++
	}
	used, told := mcpbridge.ReadUsage(result)
	if !told {
		return
	}
	a := s.answers.at(answerKey{call.key.Server, call.key.Tool, call.caller, used.Profile}, answerKey{otherName, otherName, otherName, otherName})
	a.Answers++
	a.Tokens += int64(used.Tokens)
	a.Saved += int64(used.Saved)
}

// longestCall is the longest time that is told apart, in milliseconds.
const longestCall = int64(24 * time.Hour / time.Millisecond)

func (s *stats) refusal(r *journal.Record) {
	if s.flags.context != "" || s.flags.participant != "" && r.From != s.flags.participant {
		return // what is refused belongs to no context
	}
	refused := r.DecodeRefusal()
	n, code := 1, string(refused.Code)
	if r.Type == journal.Flood {
		n, code = refused.Count, "flood"
	}
	s.refusals.at(refusalKey{r.From, code}, refusalKey{otherName, otherName}).Refusals += n
}

const (
	// otherName stands for what is not told apart.
	otherName = "(other)"
	// maxCounted is how much of one thing is told apart.
	maxCounted = 1_000
	// maxRecent is how many requests, or proposals, are remembered.
	maxRecent = 1 << 16
)

// counts are counted by a key, up to maxCounted of them.
type counts[K comparable, V any] struct{ by map[K]*V }

// at is what is counted for a key, or for the rest.
func (c *counts[K, V]) at(k, rest K) *V {
	if c.by == nil {
		c.by = map[K]*V{}
	}
	if c.by[k] == nil {
		if len(c.by) >= maxCounted {
			k = rest
		}
		if c.by[k] == nil {
			c.by[k] = new(V)
		}
	}
	return c.by[k]
}

// newest are the newest entries by their ids.
type newest[V any] struct {
	by   map[string]V
	ring []string
	next int // the oldest of the ring, once it is full
}

func (m *newest[V]) get(id string) (V, bool) {
	v, ok := m.by[id]
	return v, ok
}

func (m *newest[V]) put(id string, v V) {
	if m.by == nil {
		m.by = map[string]V{}
	}
	if len(m.ring) < maxRecent {
		m.ring = append(m.ring, id)
	} else {
		delete(m.by, m.ring[m.next])
		m.ring[m.next] = id
		m.next = (m.next + 1) % maxRecent
	}
	m.by[id] = v
}

func (m *newest[V]) drop(id string) { delete(m.by, id) }
