package mcpfront_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// tool is a modern call of a tool.
func tool(name, capabilities, arguments, more string) request {
	return modern(1, "tools/call", capabilities, `{"name":"`+name+`","arguments":`+arguments+more+`}`)
}

func TestServerAsksSession(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	one := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask"}`)})
	other := s.open(request{headers: []string{in}, body: call(2, "tools/call", `{"name":"files__ask"}`)})
	ids := map[string]bool{}
	for i, st := range []*stream{one, other} {
		q := st.next().data
		if got := member(t, q, "params"); member(t, q, "method") != "elicitation/create" || got != `{"message":"which?","n":9007199254740993}` {
			t.Errorf("asked %s", q)
		}
		id := member(t, q, "id")
		ids[id] = true
		r := s.do(request{headers: []string{in}, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","n":%d}}`, id, i)})
		if r.status != http.StatusAccepted {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if len(ids) != 2 {
		t.Errorf("two questions have the ids %v", ids)
	}
	for i, st := range []*stream{one, other} {
		if got := st.ended(); len(got) != 1 || member(t, got[0], "result", "said") != fmt.Sprintf(`{"action":"accept","n":%d}`, i) {
			t.Errorf("%d: %s", i, got)
		}
	}
}

func TestServerAsksWhatNobodyDeclared(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	for _, caps := range []string{`{}`, `{"sampling":{}}`, `{"roots":{},"experimental":{"elicitation":{}}}`} {
		in := s.session("/mcp/demo", "agent", caps)
		for _, q := range []request{
			{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask"}`)},
			tool("files__ask", caps, `{}`, ""),
		} {
			r := s.do(q)
			if said := member(t, r.last(), "result", "said"); len(r.messages) != 1 || !strings.Contains(said, "did not declare") {
				t.Errorf("%s: %s", caps, r.messages)
			}
		}
		r := s.do(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__rounds"}`)})
		if len(r.messages) != 1 || !strings.Contains(member(t, r.last(), "error", "message"), "did not declare") {
			t.Errorf("%s: %s", caps, r.messages)
		}
	}
	if n := len(files.requests("tools/call")); n != 9 {
		t.Errorf("%d calls came to the server", n)
	}
}

// TestServerOffersTools holds that a client whose model takes no tools is not
// offered any, in either era of either side.
func TestServerOffersTools(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	for _, params := range []string{`{"messages":[],"tools":[{"name":"x"}]}`, `{"messages":[],"toolChoice":{"mode":"required"}}`} {
		asked := `{"method":"sampling/createMessage","params":` + params + `}`
		for caps, taken := range map[string]bool{`{"sampling":{}}`: false, `{"sampling":{"tools":true}}`: false, `{"sampling":{"tools":{}}}`: true} {
			in := s.session("/mcp/demo", "agent", caps)
			for name, q := range map[string]request{
				"both legacy":              {headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask","arguments":`+asked+`}`)},
				"a modern client":          tool("files__ask", caps, asked, ""),
				"a modern server's rounds": {headers: []string{in}, body: call(2, "tools/call", `{"name":"files__rounds","arguments":{"asks":`+asked+`}}`)},
			} {
				st := s.open(q)
				m := st.next().data
				st.hangUp()
				refused := strings.Contains(m, "-32602") && strings.Contains(m, "without sampling.tools")
				if refused == taken || taken && !strings.Contains(m, params) {
					t.Errorf("%s, %s, %s: %s", name, caps, params, m)
				}
			}
		}
	}
}

// TestForgedQuestions holds that nothing reaches a client but from the server
// of its call, and for that call.
func TestForgedQuestions(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files, wiki := s.serve("files"), s.serve("wiki")
	mallory := s.join("mallory", client.Options{})
	in := s.session("/mcp/demo", "agent", `{"elicitation":{},"sampling":{}}`)
	st := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__hang","_meta":{"progressToken":1}}`)})
	get := s.open(request{method: http.MethodGet, headers: []string{in}})
	listen := s.open(modern(5, "subscriptions/listen", `{}`, `{"notifications":{"toolsListChanged":true}}`))
	listen.next()
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
	id := files.requests("tools/call")[0].Envelope.ID
	for name, room := range map[string]*client.Room{"mallory": mallory, "wiki": wiki.room} {
		for _, method := range []string{"elicitation/create", "sampling/createMessage", "tools/call", "roots/list"} {
			if reply, err := room.Request(t.Context(), "agent", method, jsontext.Value(`{"name":"x"}`), client.Correlate(id)); err == nil {
				t.Errorf("%s: %s was answered with %s", name, method, reply.Result)
			}
		}
		for _, method := range []string{"notifications/progress", "notifications/message", "notifications/cancelled"} {
			// The room refuses some of them.
			_, _ = room.Notify(t.Context(), "agent", method, jsontext.Value(`{"progressToken":1,"progress":9,"level":"error","data":"forged","requestId":1}`), client.Correlate(id))
		}
	}
	for _, method := range []string{"tools/list_changed", "resources/updated", "message", "cancelled", "progress", "initialized", "nonsense"} {
		_, _ = mallory.Notify(t.Context(), "agent", "notifications/"+method, jsontext.Value(`{"uri":"file:///w/a","requestId":1,"data":"forged"}`))
	}
	for _, method := range []string{"cancelled", "progress", "nonsense"} { // the server's own, but nothing to a client
		_, _ = files.room.Notify(t.Context(), "agent", "notifications/"+method, jsontext.Value(`{"requestId":1,"progressToken":7}`))
	}
	if _, err := files.room.Notify(t.Context(), "", "notifications/tools/list_changed", nil); err != nil {
		t.Fatal(err)
	}
	if got := get.next().data; got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` {
		t.Errorf("the first thing that came was %s", got)
	}
	if got := listen.next().data; got != `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":5}}}` {
		t.Errorf("the first thing that came was %s", got)
	}
	close(files.release)
	if got := st.ended(); len(got) != 1 || member(t, got[0], "result", "content") != "[]" {
		t.Errorf("the call's stream had %s", got)
	}
}

// TestAskAfterTheEnd holds that a question which comes at its call's end does
// not wait for ever.
func TestAskAfterTheEnd(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	for _, q := range []request{
		{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__hang"}`)},
		tool("files__hang", `{"elicitation":{}}`, `{}`, ""),
	} {
		files.mu.Lock()
		files.release = make(chan struct{})
		files.got = nil
		files.mu.Unlock()
		st := s.open(q)
		until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
		id := files.requests("tools/call")[0].Envelope.ID
		asked := make(chan error, 1)
		go func() {
			_, err := files.room.Request(t.Context(), "agent", "elicitation/create", jsontext.Value(`{}`), client.Correlate(id))
			asked <- err
		}()
		// In the era without sessions it ends the request, but not the call.
		if m := st.next().data; member(t, m, "method") != "elicitation/create" && member(t, m, "result", "resultType") != "input_required" {
			t.Errorf("%s", m)
		}
		close(files.release)
		if err := <-asked; err == nil || !strings.Contains(err.Error(), "is over") {
			t.Errorf("asked %v", err)
		}
		st.ended()
	}
}

func TestServerAsksModernClient(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	const caps = `{"elicitation":{}}`
	park := func() (state string) {
		t.Helper()
		r := s.do(tool("files__ask", caps, `{}`, ""))
		state = member(t, r.last(), "result", "requestState")
		want := `{"resultType":"input_required","_meta":{"parley/errors":true},"inputRequests":{"q1":{"method":"elicitation/create","params":{"message":"which?","n":9007199254740993}}},"requestState":"` + state + `"}`
		if got := member(t, r.last(), "result"); got != want {
			t.Fatalf("got %s, want %s", got, want)
		}
		return state
	}
	retry := func(state, responses string) request {
		return tool("files__ask", caps, `{}`, `,"requestState":"`+state+`","inputResponses":`+responses)
	}
	gone := func(q request) {
		t.Helper()
		if r := s.do(q); r.status != http.StatusBadRequest || member(t, r.last(), "error", "data", "code") != "outcome_unknown" {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	state := park()
	r := s.do(retry(state, `{"q1":{"action":"accept","n":9007199254740993}}`))
	if got := member(t, r.last(), "result", "said"); got != `{"action":"accept","n":9007199254740993}` {
		t.Errorf("%s", r.last())
	}
	gone(retry(state, `{"q1":{}}`)) // twice

	state = park()
	gone(retry(state+"x", `{"q1":{}}`))
	foreign := retry(state, `{"q1":{}}`)
	foreign.as = "other"
	gone(foreign)
	elsewhere := modern(1, "tools/call", caps, `{"name":"ask","requestState":"`+state+`","inputResponses":{"q1":{}}}`)
	elsewhere.path = "/mcp/demo/files"
	gone(elsewhere)
	gone(tool("files__echo", caps, `{}`, `,"requestState":"`+state+`","inputResponses":{"q1":{}}`))
	gone(modern(1, "prompts/get", caps, `{"name":"files__greet","requestState":"`+state+`"}`))
	if r := s.do(retry(state, `{}`)); !strings.Contains(member(t, r.last(), "result", "said"), "did not answer") {
		t.Errorf("a retry without answers: %s", r.last())
	}

	state = park()
	s.front().Sweep(time.Now().Add(mcpfront.ParkedFor + time.Second))
	gone(retry(state, `{"q1":{}}`))
	until(t, "the server hears of it", func() bool {
		files.mu.Lock()
		defer files.mu.Unlock()
		return len(files.answers) == 3
	})
	if _, _, parked := s.front().Counts(); parked != 0 {
		t.Errorf("%d calls are parked", parked)
	}
}

func TestFloodOfParkedCalls(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	full := false
	for range 1_100 {
		r := s.do(tool("files__ask", `{"elicitation":{}}`, `{}`, ""))
		if full = strings.Contains(r.last(), "limit_reached"); full {
			break
		}
	}
	if _, _, parked := s.front().Counts(); !full || parked > 200 {
		t.Errorf("%d calls of one participant are parked", parked)
	}
	q := tool("files__ask", `{"elicitation":{}}`, `{}`, "")
	q.as = "other"
	if r := s.do(q); member(t, r.last(), "result", "resultType") != "input_required" {
		t.Errorf("another participant: %s", r.last())
	}
}

func TestRounds(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	for times, want := range map[int]string{1: `{"a":{"n":1}}`, 3: `{"a":{"n":3}}`, 99: ""} {
		st := s.open(request{headers: []string{in}, body: call(1, "tools/call", fmt.Sprintf(`{"name":"files__rounds","arguments":{"times":%d}}`, times))})
		for n := 1; ; n++ {
			m := st.next().data
			if member(t, m, "method") != "elicitation/create" {
				if got := member(t, m, "result", "said"); got != want || want == "" && !strings.Contains(m, "gave no result") {
					t.Errorf("%d rounds ended with %s", times, m)
				}
				break
			}
			s.do(request{headers: []string{in}, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"n":%d}}`, member(t, m, "id"), n)})
		}
	}
	if n := len(files.requests("tools/call")); n > 2+4+64 {
		t.Errorf("%d rounds", n)
	}
	// Clients of the other era make the rounds themselves.
	r := s.do(tool("files__rounds", `{}`, `{}`, ""))
	if got := member(t, r.last(), "result", "requestState"); got != "x" || member(t, r.last(), "result", "resultType") != "input_required" {
		t.Errorf("%s", r.last())
	}
	r = s.do(tool("files__rounds", `{}`, `{}`, `,"requestState":"x","inputResponses":{"a":{"n":1.0}}`))
	if got := member(t, r.last(), "result", "said"); got != `{"a":{"n":1.0}}` {
		t.Errorf("%s", r.last())
	}
}

// TestClientRefuses holds that a client's error crosses, and its garbage does not.
func TestClientRefuses(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	for answer, want := range map[string]string{
		`"error":{"code":-1,"message":"I will not"}`: "I will not",
		`"result":{"a":1,"a":2}`:                     "cannot be relayed",
		`"error":{"code":-1,"code":"x"}`:             "cannot be relayed",
	} {
		st := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask"}`)})
		id := member(t, st.next().data, "id")
		s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + id + `,` + answer + `}`})
		if got := st.ended(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%s: %s", answer, got)
		}
	}
	other := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	st := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__ask"}`)})
	id := member(t, st.next().data, "id")
	for _, m := range []string{`"id":"` + id + `","result":{"by":"a text"}`, `"id":0,"result":{}`, `"id":99,"result":{}`} {
		s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0",` + m + `}`})
	}
	s.do(request{headers: []string{other}, body: `{"jsonrpc":"2.0","id":` + id + `,"result":{"by":"another session"}}`})
	s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + id + `,"result":{"by":"us"}}`})
	s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + id + `,"result":{"by":"us again"}}`})
	if got := st.ended(); len(got) != 1 || member(t, got[0], "result", "said") != `{"by":"us"}` {
		t.Errorf("%s", got)
	}
}
