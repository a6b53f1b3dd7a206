package asked

import (
	"fmt"
	"testing"

	"github.com/parleyhq/parley"
)

func envelope(t *testing.T, text string) *parley.Envelope {
	t.Helper()
	e, err := parley.Decode([]byte(text), 10)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

const question = `{"id":"q","from":"files","to":["you","boss"],"kind":"mcp/request:elicitation/create","payload":{"id":"q","method":"elicitation/create","params":{"message":"?"}}}`

func TestRead(t *testing.T) {
	e := envelope(t, question)
	if params, ok := Read(e, "you"); !ok || string(params) != `{"message":"?"}` {
		t.Errorf("you are asked %s, %t", params, ok)
	}
	if _, ok := Read(e, "agent"); ok {
		t.Error("the agent is asked, who is not named")
	}
	e.Kind = "mcp/proposal:elicitation/create"
	if _, ok := Read(e, "you"); ok {
		t.Error("a proposal asks")
	}
}

// Only those who were asked can answer, and only who asked can take it back.
func TestEndOf(t *testing.T) {
	a := &Ask{Request: envelope(t, question)}
	for text, want := range map[string]string{
		`{"from":"boss","kind":"mcp/response:elicitation/create","correlation_id":"q"}`:                                                                               "boss  true",
		`{"from":"agent","kind":"mcp/response:elicitation/create","correlation_id":"q"}`:                                                                              "  false",
		`{"from":"boss","kind":"mcp/response:elicitation/create","correlation_id":"other"}`:                                                                           "  false",
		`{"from":"files","kind":"mcp/request:notifications/cancelled","payload":{"method":"notifications/cancelled","params":{"requestId":"q","reason":"late"}}}`:     " late true",
		`{"from":"files","kind":"mcp/request:notifications/cancelled","correlation_id":"q","payload":{"method":"notifications/cancelled","params":{"requestId":7}}}`:  "  true",
		`{"from":"boss","kind":"mcp/request:notifications/cancelled","correlation_id":"q","payload":{"method":"notifications/cancelled","params":{"requestId":"q"}}}`: "  false",
		`{"from":"files","kind":"chat","correlation_id":"q","payload":{"text":"never mind"}}`:                                                                         "  false",
	} {
		end, ok := a.EndOf(envelope(t, text))
		if got := fmt.Sprint(end.AnsweredBy, " ", end.Reason, " ", ok); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestQueueIsBounded(t *testing.T) {
	var q Queue
	for i := range 2 * Most {
		from := fmt.Sprint("asker-", i/(MostEach+4))
		if q.IsFull(from) {
			continue
		}
		q = append(q, &Ask{Request: &parley.Envelope{ID: fmt.Sprint(i), From: from}})
	}
	if len(q) != Most {
		t.Errorf("%d wait", len(q))
	}
	first := q.Find("0")
	q.Remove(first)
	if q.Find("0") != nil || len(q) != Most-1 || q.IsFull("asker-0") {
		t.Errorf("%d wait once one is gone", len(q))
	}
}
