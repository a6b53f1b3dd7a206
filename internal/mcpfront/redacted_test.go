package mcpfront_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// redact takes off the record what an envelope said, and waits for it.
func (s *site) redact(boss *client.Room, id string) {
	s.t.Helper()
	if _, err := boss.Send(s.t.Context(), &parley.Envelope{Kind: "space/redact", Payload: jsontext.Value(`{"id":"` + id + `"}`)}); err != nil {
		s.t.Fatal(err)
	}
	until(s.t, "it is redacted", func() bool {
		e, err := boss.API().Envelope(s.t.Context(), id)
		return err == nil && string(e.Payload) == `{"redacted":true}`
	})
	s.caughtUp(boss)
}

// caughtUp waits until the asker's seat has heard of all that happened: an answer
// that is still on its way there may be told although it is off the record by now.
func (s *site) caughtUp(boss *client.Room) {
	s.t.Helper()
	last, err := boss.Chat(s.t.Context(), "so far", client.To("asker"))
	if err != nil {
		s.t.Fatal(err)
	}
	until(s.t, "the asker's seat has caught up", func() bool {
		return s.front().Reached(mcpfront.Place{Space: "demo", Participant: "asker"}).Seq >= last.Seq
	})
}

// fetch comes back for what became of a proposal until that was told: to find out
// may take longer than a call is held.
func (s *site) fetch(q request, proposal string) string {
	s.t.Helper()
	waits := []string{`"status":"running"`, `"status":"pending","proposal":"` + proposal + `"`}
	var last string
	until(s.t, "it is told", func() bool {
		last = s.do(q).last()
		return !slices.ContainsFunc(waits, func(w string) bool { return strings.Contains(last, w) })
	})
	return last
}

// approved makes a call that waits, and has it approved, with other params where
// there are any.
func (s *site) approved(boss *client.Room, q request, amended string) (proposal, fulfilment string) {
	s.t.Helper()
	if r := s.do(q); member(s.t, r.last(), "result", "structuredContent", "status") != "pending" {
		s.t.Fatalf("%s", r.last())
	}
	p := proposals(s.t, boss, client.ProposalOpen)[0]
	var err error
	if amended == "" {
		_, err = boss.FulfilID(s.t.Context(), p.ID)
	} else {
		var e *parley.Envelope
		if e, err = boss.API().Envelope(s.t.Context(), p.ID); err == nil {
			_, err = boss.Amend(s.t.Context(), e, jsontext.Value(amended))
		}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	record, err := boss.API().Proposal(s.t.Context(), p.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	s.answerTo(boss, record.Closed.ID)
	s.caughtUp(boss)
	return p.ID, record.Closed.ID
}

// TestRedactedBeforeItWasFetched holds that the result of an approved call is there
// for the same call as long as the proposal or its fulfilment says what was asked
// for.
func TestRedactedBeforeItWasFetched(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	for n, which := range []string{"proposal", "fulfilment", "amended"} {
		q, amended := asks(string(rune('1'+n))), ""
		if which == "amended" {
			amended = `{"name":"write","arguments":{"n":7}}`
		}
		p, f := s.approved(boss, q, amended)
		if which == "proposal" {
			s.redact(boss, p)
		} else {
			s.redact(boss, f)
		}
		s.restart()
		if last := s.fetch(q, p); member(t, last, "result", "_meta", "parley/proposal") != p || member(t, last, "result", "structuredContent", "name") != "write" {
			t.Errorf("the %s redacted: %s", which, last)
		}
		if r := s.do(q); member(t, r.last(), "result", "structuredContent", "status") != "pending" {
			t.Errorf("the %s redacted, and the result fetched: %s", which, r.last())
		}
		for _, open := range proposals(t, boss, client.ProposalOpen) {
			e, err := boss.API().Envelope(t.Context(), open.ID)
			if err == nil {
				_, err = boss.Reject(t.Context(), e, "busy", "")
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	if n := len(files.requests("tools/call")); n != 3 {
		t.Errorf("%d calls were made", n)
	}
}

// TestNobodyKnowsWhetherItWasThisCall holds that nothing is proposed anew while an
// approved call that was redacted may have been the same, and its result was not
// fetched.
func TestNobodyKnowsWhetherItWasThisCall(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	p, f := s.approved(boss, asks("1"), "")
	s.redact(boss, p)
	s.redact(boss, f)
	in := s.session("/mcp/demo", "asker", `{}`)
	legacy := request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__write","arguments":{"n":1}}`)}
	for _, q := range []request{asks("1"), asks("2"), legacy, asks("1")} {
		r := s.do(q)
		if member(t, r.last(), "result", "structuredContent", "status") != "redacted" || member(t, r.last(), "result", "structuredContent", "proposal") != p ||
			member(t, r.last(), "result", "isError") != "true" || !strings.Contains(r.last(), "parley__await with") {
			t.Errorf("%s", r.last())
		}
	}
	// Another tool is another call, and so is what somebody else asks for.
	other := tool("files__fail", `{}`, `{"n":1}`, "")
	other.as = "asker"
	if r := s.do(other); member(t, r.last(), "result", "structuredContent", "status") != "pending" {
		t.Errorf("%s", r.last())
	}
	if last := s.fetch(awaiting(p), p); member(t, last, "result", "_meta", "parley/proposal") != p || member(t, last, "result", "structuredContent", "name") != "write" {
		t.Errorf("%s", last)
	}
	var next string
	until(t, "it is out of the way", func() bool {
		r := s.do(asks("1"))
		next = member(t, r.last(), "result", "structuredContent", "proposal")
		return member(t, r.last(), "result", "structuredContent", "status") == "pending"
	})
	if next == p {
		t.Errorf("it is %s again", p)
	}
}

// TestNobodyKnowsInAPassThrough holds that a client is told once where it cannot
// fetch the result of what may have been the same call.
func TestNobodyKnowsInAPassThrough(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	q := tool("write", `{}`, `{"n":1}`, "")
	q.as, q.path = "asker", "/mcp/demo/files"
	p, f := s.approved(boss, q, "")
	s.redact(boss, f)
	s.redact(boss, p)
	if r := s.do(q); member(t, r.last(), "result", "structuredContent", "status") != "redacted" || strings.Contains(r.last(), "parley__") {
		t.Errorf("%s", r.last())
	}
	if r := s.do(q); member(t, r.last(), "result", "structuredContent", "status") != "pending" {
		t.Errorf("%s", r.last())
	}
}

// answerTo is the id of the answer to a call.
func (s *site) answerTo(boss *client.Room, call string) (id string) {
	s.t.Helper()
	until(s.t, "it is answered", func() bool {
		for e, err := range boss.API().Envelopes(s.t.Context(), &client.Query{Correlation: call, Kind: parley.TypeResponse}) {
			if err != nil {
				s.t.Fatal(err)
			}
			id = e.ID
		}
		return id != ""
	})
	return id
}

// isGone holds that a client is told once that its call was made, and that the same
// call is another one then.
func (s *site) isGone(q request, proposal string) {
	s.t.Helper()
	last := s.fetch(q, proposal)
	for name, want := range map[string]string{"status": "fulfilled", "proposal": proposal, "by": "boss", "error": "not_found"} {
		if got := member(s.t, last, "result", "structuredContent", name); got != want {
			s.t.Errorf("%s is %q, want %q: %s", name, got, want, last)
		}
	}
	if member(s.t, last, "result", "_meta", "parley/proposal") != proposal || member(s.t, last, "result", "isError") != "true" || !strings.Contains(last, "and made") || !strings.Contains(last, "Do not simply repeat it") {
		s.t.Errorf("%s", last)
	}
	again := s.do(q).last()
	if member(s.t, again, "result", "structuredContent", "status") != "pending" || member(s.t, again, "result", "structuredContent", "proposal") == proposal {
		s.t.Errorf("made again: %s", again)
	}
}

// TestResultRedactedBeforeItWasFetched holds that a call whose result is off the
// record is not taken for one that failed, and stands in nobody's way.
func TestResultRedactedBeforeItWasFetched(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	p, f := s.approved(boss, asks("1"), "")
	s.redact(boss, s.answerTo(boss, f))
	s.isGone(asks("1"), p)
	if last := s.fetch(awaiting(p), p); member(t, last, "result", "structuredContent", "status") != "fulfilled" || member(t, last, "result", "isError") != "true" {
		t.Errorf("%s", last)
	}
	if n := len(files.requests("tools/call")); n != 1 {
		t.Errorf("%d calls were made", n)
	}
}

// TestResultRedactedOfAnAmendedCall holds that what was changed is told all the same.
func TestResultRedactedOfAnAmendedCall(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	p, f := s.approved(boss, asks("1"), `{"name":"write","arguments":{"n":7}}`)
	s.redact(boss, s.answerTo(boss, f))
	if last := s.fetch(asks("1"), p); member(t, last, "result", "structuredContent", "status") != "amended" ||
		member(t, last, "result", "_meta", "parley/amended", "arguments") != `{"n":7}` {
		t.Errorf("%s", last)
	}
}

// TestResultRedactedOfOtherMethods holds that the same is said in the form of other
// methods, and by parley__await, which counts as fetched.
func TestResultRedactedOfOtherMethods(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	q := modern(1, "prompts/get", `{}`, `{"name":"files__greet"}`)
	q.as = "asker"
	p := member(t, s.do(q).last(), "error", "data", "proposal")
	if _, err := boss.FulfilID(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	record, err := boss.API().Proposal(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	s.redact(boss, s.answerTo(boss, record.Closed.ID))
	if r := s.fetch(awaiting(p), p); member(t, r, "result", "structuredContent", "data", "status") != "fulfilled" || member(t, r, "result", "isError") != "true" {
		t.Errorf("%s", r)
	}
	if r := s.do(q).last(); member(t, r, "error", "data", "status") != "pending" || member(t, r, "error", "data", "proposal") == p {
		t.Errorf("%s", r)
	}
}

// TestRoundRedacted holds that a call which went on after a question is told by its
// last answer: where that is off the record, and where only the first one is.
func TestRoundRedacted(t *testing.T) {
	t.Parallel()
	for name, last := range map[string]bool{"the last answer": true, "the first answer": false} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
			s.serve("files")
			boss, asker := s.join("boss", client.Options{}), s.join("asker", client.Options{})
			q := tool("files__rounds", `{}`, `{}`, "")
			q.as = "asker"
			p, f := s.approved(boss, q, "")
			first := s.answerTo(boss, f)
			e, err := client.NewRequest("files", "tools/call", jsontext.Value(`{"name":"rounds","arguments":{},"requestState":"x","inputResponses":{"a":{"n":1}}}`), client.Correlate(f))
			if err == nil {
				_, err = asker.Call(t.Context(), e)
			}
			if err != nil {
				t.Fatal(err)
			}
			if last {
				s.redact(boss, s.answerTo(boss, e.ID))
				s.isGone(q, p)
				return
			}
			s.redact(boss, first)
			if last := s.fetch(q, p); member(t, last, "result", "_meta", "parley/proposal") != p || member(t, last, "result", "said") != `{"a":{"n":1}}` {
				t.Errorf("%s", last)
			}
		})
	}
}

// TestQuestionRedacted holds that nothing is waited for where an answer that asked
// for more, and that nobody went on with, is off the record.
func TestQuestionRedacted(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	q := tool("files__rounds", `{}`, `{}`, "")
	q.as = "asker"
	p, f := s.approved(boss, q, "")
	// What is no round of it, whatever it refers to.
	if _, err := s.join("asker", client.Options{}).Propose(t.Context(), "files", "tools/list", nil, client.Correlate(f)); err != nil {
		t.Fatal(err)
	}
	s.redact(boss, s.answerTo(boss, f))
	s.isGone(q, p)
}

// TestResultDroppedBeforeItWasFetched holds the same of what retention dropped.
func TestResultDroppedBeforeItWasFetched(t *testing.T) {
	t.Parallel()
	s := beginKeeping(t, mcpfront.Options{}, waits(10*time.Millisecond), gateway.Retention{Bytes: 200_000})
	s.serve("files")
	boss := s.join("boss", client.Options{})
	p, f := s.approved(boss, asks("1"), "")
	for range 8 {
		if _, err := boss.Chat(t.Context(), strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "it is dropped", func() bool {
		_, err := boss.API().Envelope(t.Context(), f)
		return errors.Is(err, &parley.Error{Code: parley.NotFound})
	})
	s.caughtUp(boss)
	s.isGone(asks("1"), p)
}

// awaiting is the question of an asker who comes back for what became of a proposal.
func awaiting(proposal string) request {
	q := tool("parley__await", `{}`, `{"proposal":"`+proposal+`"}`, "")
	q.as = "asker"
	return q
}
