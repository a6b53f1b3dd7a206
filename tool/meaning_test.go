package tool

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestMeaningOfArguments(t *testing.T) {
	for _, same := range [][]string{
		{`{"a":1,"b":"<x>"}`, `{ "b": "\u003cx\u003e", "a": 1.0 }`},
		{``, `null`, `{}`, ` { } `},
		{`{"a":`, `{"a":`},
	} {
		for _, other := range same {
			if meaningOf([]byte(same[0])) != meaningOf([]byte(other)) {
				t.Errorf("%q does not mean %q", same[0], other)
			}
		}
	}
	if meaningOf([]byte(`{"a":1}`)) == meaningOf([]byte(`{"a":2}`)) {
		t.Error("1 is 2")
	}
}

// A client may lay its arguments out anew in each request.
func TestRetryLaidOutAnew(t *testing.T) {
	s := new(shop)
	server, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	AddHandoff(server, buy, s.handoff())
	client := roundClient(t, server)
	first, err := playRound(t, client, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: "ask", Arguments: json.RawMessage(`{ "item" : "\u0074ea" }`), RequestState: first.RequestState})
	if err != nil || !again.NeedsInput() {
		t.Errorf("%+v, %v", again, err)
	}
}

// What waiting calls hold is bounded by its size as well as by their number.
func TestRunsAreBounded(t *testing.T) {
	var r runs
	call := func(handle string, size int) *conversation {
		return &conversation{handle: handle, size: size, v: new(served), done: make(chan struct{})}
	}
	large := call("a", maxRunBytes-10)
	if err := r.add(large, 10); err != nil {
		t.Fatal(err)
	}
	if err := r.add(call("b", 20), 10); !errors.Is(err, &Error{Code: ResourceExhausted}) {
		t.Errorf("got %v", err)
	}
	close(large.done) // it has ended, and makes room
	if err := r.add(call("b", 20), 10); err != nil || r.size != 20 {
		t.Errorf("%d bytes: %v", r.size, err)
	}
	r.drop(r.get("b"))
	if r.size != 0 || len(r.all) != 0 {
		t.Errorf("%d bytes of %d are left", r.size, len(r.all))
	}
	for i := range 10 {
		if err := r.add(call(string(rune('a'+i)), 0), 10); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.add(call("z", 0), 10); !errors.Is(err, &Error{Code: ResourceExhausted}) {
		t.Errorf("got %v", err)
	}
}
