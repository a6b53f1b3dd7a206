package mcpfront_test

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// A question that may belong to one of two calls goes to the one whose client is
// there.
func TestQuestionOfCallsOfWhichOneIsParked(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	const caps = `{"elicitation":{}}`
	if r := s.do(tool("files__ask", caps, `{}`, "")); member(t, r.last(), "result", "resultType") != "input_required" {
		t.Fatal(r.messages)
	}
	st := s.open(tool("files__hang", caps, `{}`, ""))
	until(t, "both calls arrive", func() bool { return len(files.requests("tools/call")) == 2 })
	var ids []string
	for _, q := range files.requests("tools/call") {
		ids = append(ids, q.Envelope.ID)
	}
	asked := make(chan error, 1)
	go func() {
		_, err := files.room.Request(t.Context(), "agent", "elicitation/create", jsontext.Value(`{"message":"second?"}`), client.Correlate(ids...))
		asked <- err
	}()
	got := st.ended()
	if len(got) != 1 || member(t, got[0], "result", "inputRequests", "q1", "params", "message") != "second?" {
		t.Fatalf("%s", got)
	}
	state := member(t, got[0], "result", "requestState")
	close(files.release)
	r := s.do(tool("files__hang", caps, `{}`, `,"inputResponses":{"q1":{"action":"decline"}},"requestState":"`+state+`"`))
	if member(t, r.last(), "result", "content") != "[]" {
		t.Error(r.messages)
	}
	<-asked
}
