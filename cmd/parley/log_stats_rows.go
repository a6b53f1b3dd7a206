package main

import (
	"cmp"
	"slices"
	"time"
)

// What is counted, as lines of JSON. The first of all says what it is about.
type (
	recordRow struct {
		Stat      string    `json:"stat"` // record
		Envelopes int       `json:"envelopes"`
		Bytes     int64     `json:"bytes"`
		First     time.Time `json:"first,omitzero"`
		Last      time.Time `json:"last,omitzero"`
	}
	saidRow struct {
		Stat        string `json:"stat"` // envelopes
		Participant string `json:"participant"`
		Kind        string `json:"kind"`
		Envelopes   int    `json:"envelopes"`
		Bytes       int64  `json:"bytes"`
	}
	callRow struct {
		Stat     string `json:"stat"` // calls
		Server   string `json:"server"`
		Tool     string `json:"tool"`
		Calls    int    `json:"calls"`
		Answered int    `json:"answered"`
		Failed   int    `json:"failed"`
		P50      *int64 `json:"p50_ms,omitempty"` // nil where nothing was answered
		P95      *int64 `json:"p95_ms,omitempty"`
		Max      *int64 `json:"max_ms,omitempty"`
	}
	answerRow struct {
		Stat        string `json:"stat"` // tokens
		Server      string `json:"server"`
		Tool        string `json:"tool"`
		Participant string `json:"participant"`
		Profile     string `json:"profile"`
		Answers     int    `json:"answers"`
		Tokens      int64  `json:"tokens"`
		Saved       int64  `json:"saved"`
	}
	refusalRow struct {
		Stat        string `json:"stat"` // refusals
		Participant string `json:"participant"`
		Code        string `json:"code"`
		Refusals    int    `json:"refusals"`
	}
)

func (s *stats) record() recordRow {
	return recordRow{"record", s.envelopes, s.bytes, s.first, s.last}
}

// saidRows and those below begin with the largest.
func (s *stats) saidRows() []saidRow {
	var rows []saidRow
	for k, c := range s.said.by {
		rows = append(rows, saidRow{"envelopes", k.Participant, k.Kind, c.Envelopes, c.Bytes})
	}
	slices.SortFunc(rows, func(a, b saidRow) int {
		return cmp.Or(cmp.Compare(b.Envelopes, a.Envelopes), cmp.Compare(a.Participant, b.Participant), cmp.Compare(a.Kind, b.Kind))
	})
	return rows
}

func (s *stats) callRows() []callRow {
	var rows []callRow
	for k, c := range s.calls.by {
		row := callRow{Stat: "calls", Server: k.Server, Tool: k.Tool, Calls: c.Calls, Answered: c.Answered, Failed: c.Failed}
		if c.times != nil {
			row.P50, row.P95, row.Max = new(c.times.ValueAtPercentile(50)), new(c.times.ValueAtPercentile(95)), new(c.times.Max())
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b callRow) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool))
	})
	return rows
}

func (s *stats) answerRows() []answerRow {
	var rows []answerRow
	for k, c := range s.answers.by {
		rows = append(rows, answerRow{"tokens", k.Server, k.Tool, k.Participant, k.Profile, c.Answers, c.Tokens, c.Saved})
	}
	slices.SortFunc(rows, func(a, b answerRow) int {
		return cmp.Or(cmp.Compare(b.Tokens, a.Tokens), cmp.Compare(a.Server, b.Server), cmp.Compare(a.Tool, b.Tool),
			cmp.Compare(a.Participant, b.Participant), cmp.Compare(a.Profile, b.Profile))
	})
	return rows
}

func (s *stats) refusalRows() []refusalRow {
	var rows []refusalRow
	for k, c := range s.refusals.by {
		rows = append(rows, refusalRow{"refusals", k.Participant, k.Code, c.Refusals})
	}
	slices.SortFunc(rows, func(a, b refusalRow) int {
		return cmp.Or(cmp.Compare(b.Refusals, a.Refusals), cmp.Compare(a.Participant, b.Participant), cmp.Compare(a.Code, b.Code))
	})
	return rows
}
