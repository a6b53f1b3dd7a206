package journal_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// logOf is a log in memory that holds these envelopes.
func logOf(t *testing.T, texts ...string) journal.Log {
	t.Helper()
	s := sink{make(chan *journal.Record, len(texts))}
	j := journal.NewMemory(journal.MemoryOptions{})
	t.Cleanup(func() { _ = j.Close() })
	log, err := j.Open(t.Context(), "demo", s)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range texts {
		e, err := parley.Decode([]byte(text), 0)
		if err != nil {
			t.Fatal(err)
		}
		log.Append(journal.Envelope(e, parley.SplitKind(e.Kind), [16]byte{}))
		<-s.durable
	}
	return log
}

// plenty is room for every thread here.
const plenty = 1 << 20

func idsOf(records []*journal.Record) string {
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, " ")
}

func TestThread(t *testing.T) {
	log := logOf(t,
		`{"id":"thought","kind":"reflection","context":{"id":"why"}}`,
		`{"id":"noise","kind":"chat"}`,
		`{"id":"proposal","kind":"mcp/proposal:tools/call","correlation_id":"why"}`,
		`{"id":"other","kind":"mcp/proposal:tools/call"}`,
		`{"id":"call","kind":"mcp/request:tools/call","correlation_id":"proposal"}`,
		`{"id":"result","kind":"mcp/response:tools/call","correlation_id":["call"]}`,
		`{"id":"late","kind":"mcp/reject:tools/call","correlation_id":"other"}`,
		`{"id":"dangling","kind":"chat","correlation_id":"gone"}`,
	)
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
		records, more, err := journal.Thread(t.Context(), log, c.id, c.most, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := idsOf(records); got != c.want || more != c.more {
			t.Errorf("the thread of %s is %s (more: %v), want %s (%v)", c.id, got, more, c.want, c.more)
		}
	}
	if _, _, err := journal.Thread(t.Context(), log, "nobody", 9, plenty); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("an unknown id: %v", err)
	}
}

// What a context concluded and the action that names the context are of one
// thread, from whichever end it is followed.
func TestThreadAcrossAConclusion(t *testing.T) {
	log := logOf(t,
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
	)
	const all = "question thought end action result next denial"
	for id, want := range map[string]string{
		"end": all, "question": all, "action": all, "result": all, "denial": all, "why": all,
		"thought": "thought", "apart": "apart", "same": "same reply", "musing": "musing", "guess": "musing guess",
	} {
		records, _, err := journal.Thread(t.Context(), log, id, 100, plenty)
		if err != nil {
			t.Fatal(err)
		}
		if got := idsOf(records); got != want {
			t.Errorf("the thread of %s is %s, want %s", id, got, want)
		}
	}
}

// Where room is short, what was asked for and what ended it come first, then other
// acts, then what was said. What has no room is left out alone.
func TestThreadWithoutRoom(t *testing.T) {
	fat := `,"payload":"` + strings.Repeat("x", 1_000) + `"}`
	log := logOf(t,
		`{"id":"thought","kind":"reflection"`+fat,
		`{"id":"other","kind":"mcp/request:tools/call"`+fat,
		`{"id":"proposal","kind":"mcp/proposal:tools/call","correlation_id":["thought","other"]}`,
		`{"id":"talk","kind":"chat","correlation_id":"proposal"}`,
		`{"id":"progress","kind":"mcp/request:notifications/progress","correlation_id":["proposal","call"]}`,
		`{"id":"call","kind":"mcp/request:tools/call","correlation_id":"proposal"}`,
		`{"id":"flood","kind":"mcp/request:tools/call","correlation_id":"call"}`,
		`{"id":"result","kind":"mcp/response:tools/call","correlation_id":["call"]}`,
		`{"id":"grant","kind":"capability/grant","correlation_id":"result"}`,
		`{"id":"later","kind":"chat","correlation_id":"result"`+fat,
	)
	for _, c := range []struct {
		id          string
		most, bytes int
		want        string
		cut         bool
	}{
		{"proposal", 10, plenty, "thought other proposal talk progress call flood result grant later", false},
		{"proposal", 9, plenty, "thought other proposal talk progress call flood result grant", true},
		{"proposal", 1, plenty, "proposal", true},
		{"proposal", 3, plenty, "proposal call result", true},
		{"result", 3, plenty, "proposal call result", true},
		{"call", 3, plenty, "proposal call result", true},
		{"talk", 4, plenty, "proposal talk call result", true},
		{"proposal", 4, plenty, "other proposal call result", true},
		{"proposal", 6, plenty, "other proposal call flood result grant", true},
		{"proposal", 7, plenty, "thought other proposal call flood result grant", true},
		{"proposal", 11, 900, "proposal call flood result grant", true},
		{"proposal", 11, 1, "proposal", true},
		{"later", 11, 1, "later", true},
	} {
		records, cut, err := journal.Thread(t.Context(), log, c.id, c.most, c.bytes)
		if err != nil {
			t.Fatal(err)
		}
		if got := idsOf(records); got != c.want || cut != c.cut {
			t.Errorf("with room for %d and %d bytes, the thread of %s is %s (cut: %v), want %s (%v)", c.most, c.bytes, c.id, got, cut, c.want, c.cut)
		}
	}
}

// A record that names a great many others has only so many of them looked up.
func TestThreadIsBoundedInWork(t *testing.T) {
	var texts []string
	for i := range 10 {
		ids := []string{"root"}
		for k := range 5 {
			ids = append(ids, fmt.Sprintf("gone-%d-%d", i, k))
		}
		texts = append(texts, fmt.Sprintf(`{"id":"a%d","kind":"chat","correlation_id":["%s"]}`, i, strings.Join(ids, `","`)))
	}
	log := &counted{Log: logOf(t, texts...)}
	const most = 10
	_, cut, err := journal.Thread(t.Context(), log, "root", most, plenty)
	if err != nil || !cut || log.reads > 4*5*most {
		t.Errorf("%d reads for at most %d records; cut: %v, %v", log.reads, most, cut, err)
	}
}

// counted counts how often a log is read.
type counted struct {
	journal.Log
	reads int
}

func (c *counted) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	c.reads++
	return c.Log.Read(ctx, q)
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
	records, _, err := journal.Thread(context.Background(), log, "r1", 100, 1<<20)
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
