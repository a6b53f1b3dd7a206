package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func TestThread(t *testing.T) {
	s := sink{make(chan *journal.Record, 16)}
	j := journal.NewMemory(journal.MemoryOptions{})
	defer j.Close()
	log, err := j.Open(t.Context(), "demo", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"id":"thought","kind":"reflection","context":{"id":"why"}}`,
		`{"id":"noise","kind":"chat"}`,
		`{"id":"proposal","kind":"mcp/proposal:tools/call","correlation_id":"why"}`,
		`{"id":"other","kind":"mcp/proposal:tools/call"}`,
		`{"id":"call","kind":"mcp/request:tools/call","correlation_id":"proposal"}`,
		`{"id":"result","kind":"mcp/response:tools/call","correlation_id":["call"]}`,
		`{"id":"late","kind":"mcp/reject:tools/call","correlation_id":"other"}`,
		`{"id":"dangling","kind":"chat","correlation_id":"gone"}`,
	} {
		e, err := parley.Decode([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
		<-s.durable
	}
	for _, c := range []struct {
		id   string
		most int
		want string
		more bool
	}{
		{"result", 100, "thought proposal call result", false},
		{"proposal", 100, "thought proposal call result", false},
		{"why", 100, "thought proposal call result", false},
		{"late", 100, "other late", false},
		{"noise", 100, "noise", false},
		{"gone", 100, "dangling", false},
		{"result", 2, "call result", true},
	} {
		records, more, err := journal.Thread(t.Context(), log, c.id, c.most)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || more != c.more {
			t.Errorf("the thread of %s is %s (more: %v), want %s (%v)", c.id, got, more, c.want, c.more)
		}
	}
	if _, _, err := journal.Thread(t.Context(), log, "nobody", 9); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("an unknown id: %v", err)
	}
}

// What a context concluded and the action that names the context are of one
// thread, from whichever end it is followed.
func TestThreadAcrossAConclusion(t *testing.T) {
	s := sink{make(chan *journal.Record, 32)}
	j := journal.NewMemory(journal.MemoryOptions{})
	defer j.Close()
	log, err := j.Open(t.Context(), "demo", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		`{"id":"question","kind":"chat"}`,
		`{"id":"thought","kind":"reflection","context":{"id":"why"}}`,
		`{"id":"end","kind":"conclusion","context":{"id":"why"},"correlation_id":"question"}`,
		`{"id":"action","kind":"mcp/request:tools/call","correlation_id":["why"]}`,
		`{"id":"result","kind":"mcp/response:tools/call","correlation_id":["action"]}`,
		`{"id":"next","kind":"conclusion","context":{"id":"then"},"correlation_id":"result"}`,
		`{"id":"denial","kind":"mcp/reject:tools/call","correlation_id":"then"}`,

		// An id is looked up among envelopes first.
		`{"id":"same","kind":"chat"}`,
		`{"id":"apart","kind":"conclusion","context":{"id":"same"}}`,
		`{"id":"reply","kind":"chat","correlation_id":"same"}`,

		// Only what concludes leads on.
		`{"id":"musing","kind":"reflection","context":{"id":"open"}}`,
		`{"id":"guess","kind":"chat","correlation_id":"open"}`,
	} {
		e, err := parley.Decode([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
		<-s.durable
	}
	const all = "question thought end action result next denial"
	for id, want := range map[string]string{
		"end": all, "question": all, "action": all, "result": all, "denial": all, "why": all,
		"thought": "thought", "apart": "apart", "same": "same reply", "musing": "musing", "guess": "musing guess",
	} {
		records, _, err := journal.Thread(t.Context(), log, id, 100)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, r := range records {
			ids = append(ids, r.ID)
		}
		if got := strings.Join(ids, " "); got != want {
			t.Errorf("the thread of %s is %s, want %s", id, got, want)
		}
	}
}

func ExampleThread() {
	s := sink{make(chan *journal.Record, 2)}
	j := journal.NewMemory(journal.MemoryOptions{})
	defer j.Close()
	log, err := j.Open(context.Background(), "demo", s)
	if err != nil {
		panic(err)
	}
	for _, e := range []*parley.Envelope{
		{ID: "p1", From: "agent", Kind: "mcp/proposal:tools/call"},
		{ID: "r1", From: "you", Kind: "mcp/reject:tools/call", Correlation: parley.CorrelateWith("p1")},
	} {
		log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
		<-s.durable
	}
	records, _, err := journal.Thread(context.Background(), log, "r1", 100)
	if err != nil {
		panic(err)
	}
	for _, r := range records {
		fmt.Println(r.Seq, r.From, r.Kind)
	}
	// Output:
	// 1 agent mcp/proposal:tools/call
	// 2 you mcp/reject:tools/call
}
