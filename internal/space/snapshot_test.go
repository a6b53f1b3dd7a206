package space

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// fullState is a state whose windows are full.
func fullState(tb testing.TB) *State {
	tb.Helper()
	s := New(Rules{
		Name:         "demo",
		Participants: map[string]parley.Capabilities{"agent": caps("*"), "files": caps("*")},
		NewID:        func() string { return "gw" },
	})
	call := jsontext.Value(`{"method":"tools/call","params":{"name":"w"}}`)
	apply := func(e parley.Envelope) {
		e.From, e.TS, e.Seq = "agent", time.Date(2026, 1, 2, 9, 0, 0, 0, time.UTC), s.Seq()+1
		s.Apply(&e, parley.SplitKind(e.Kind))
	}
	for i := range windowSize + 100 {
		proposal := fmt.Sprintf("0190c3b2-8f4e-7aaa-8000-%012d", i)
		apply(parley.Envelope{ID: proposal, To: []string{"files"}, Kind: "mcp/proposal:tools/call:w", Payload: call,
			Context: &parley.Context{ID: fmt.Sprint("context ", i), Type: "x"}})
		apply(parley.Envelope{ID: fmt.Sprint("f", i), To: []string{"files"}, Kind: "mcp/request:tools/call:w", Payload: call,
			Correlation: parley.CorrelateWith(proposal)})
	}
	return s
}

func TestSnapshotOfFullWindows(t *testing.T) {
	s := fullState(t)
	data, err := s.Copy().Snapshot().JSON()
	if err != nil {
		t.Fatal(err)
	}
	n, err := ReadSnapshot(data)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(s.Rules(), n).Copy().Snapshot().JSON()
	if err != nil {
		t.Fatal(err)
	}
	if string(again) != string(data) {
		t.Error("a restored state has another snapshot")
	}
	t.Logf("%.1f MB", float64(len(data))/1e6)
}

// TestSnapshotWithoutContextsOfRequests goes on from a checkpoint that does not say
// in which contexts requests were asked: their answers need room like any others.
func TestSnapshotWithoutContextsOfRequests(t *testing.T) {
	p := newPlay(t, t.Name())
	p.do("rules open_contexts=1 context_idle=1s")
	p.do(`you> {"id":"q","to":["you"],"kind":"mcp/request:tools/list","context":{"id":"a"},"payload":{"method":"tools/list"}}`)
	p.do("after 1s")
	p.do(`you> {"kind":"chat","context":{"id":"b"}}`)
	data, err := p.state.Copy().Snapshot().JSON()
	if err != nil {
		t.Fatal(err)
	}
	older := bytes.Replace(data, []byte(`"context":"a",`), nil, 1)
	if len(older) == len(data) {
		t.Fatalf("the request's context is not in %s", data)
	}
	n, err := ReadSnapshot(older)
	if err != nil {
		t.Fatal(err)
	}
	answer := `you> {"correlation_id":"q","kind":"mcp/response:tools/list","context":{"id":"a"},"payload":{"result":{}}}`
	restored := Restore(p.rules, n)
	restored.AdoptConnections(p.state)
	p.state = restored
	if got := p.do(answer)[0]; !strings.HasPrefix(got, "refused context_limit") {
		t.Error("while there is no room: ", got)
	}
	p.do("after 1s")
	if got := p.do(answer)[0]; !strings.HasPrefix(got, "#") {
		t.Error("when there is room: ", got)
	}
}

func BenchmarkCopy(b *testing.B) {
	s := fullState(b)
	for b.Loop() {
		s.Copy()
	}
}

func BenchmarkSnapshot(b *testing.B) {
	s := fullState(b)
	for b.Loop() {
		if _, err := s.Copy().Snapshot().JSON(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRestore(b *testing.B) {
	s := fullState(b)
	data, err := s.Copy().Snapshot().JSON()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		n, err := ReadSnapshot(data)
		if err != nil {
			b.Fatal(err)
		}
		Restore(s.Rules(), n)
	}
}
