package mcpfront_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// takesErrors are the arguments of files__rounds where it wants to know what got no
// answer.
const takesErrors = `{"errors":true}`

// why is the error that a server got for an answer.
func why(t *testing.T, inputResponses string) (code, message string) {
	t.Helper()
	e := mcp.ReadUnanswered(jsontext.Value(member(t, inputResponses, "a")))
	if e == nil {
		return "", inputResponses
	}
	return string(jsontext.Value(member(t, string(e.Raw), "code"))), e.Message
}

// TestNoAnswerIsTold holds that a modern server which wants to know hears what its
// question came to, and gives the call a result.
func TestNoAnswerIsTold(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	rounds := func(in string) request {
		return request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__rounds","arguments":`+takesErrors+`}`)}
	}
	said := s.do(rounds(s.session("/mcp/demo", "agent", `{}`))).last()
	if code, message := why(t, member(t, said, "result", "said")); code != "-32000" || !strings.Contains(message, "did not declare") {
		t.Errorf("nobody to ask: %s", said)
	}
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	st := s.open(rounds(in))
	s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + member(t, st.next().data, "id") + `,"error":{"code":-1,"message":"User rejected"}}`})
	got := st.ended()
	if code, message := why(t, member(t, got[len(got)-1], "result", "said")); code != "-1" || message != "User rejected" {
		t.Errorf("the human says no: %s", got)
	}
}

// TestGivenUpIsTold holds that such a server hears that nobody waits any more, while
// a client is asked for it.
func TestGivenUpIsTold(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	for n, q := range []request{
		{headers: []string{in}, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`},
		{method: "DELETE", headers: []string{in}},
	} {
		st := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__rounds","arguments":`+takesErrors+`}`)})
		st.next()
		s.do(q)
		until(t, "the server is told", func() bool { return len(files.requests("tools/call")) == 2*n+2 })
		last := files.requests("tools/call")[2*n+1]
		if !mcp.GivesUp(last.Params) || member(t, string(last.Params), "requestState") != "x" {
			t.Errorf("%s", last.Params)
		}
	}
}

// TestGivenUpAfterApproval holds that a client can come back to what was approved,
// though its session ended while it was asked something, and not to what it
// cancelled.
func TestGivenUpAfterApproval(t *testing.T) {
	t.Parallel()
	for name, cancelled := range map[string]bool{"the session ends": false, "the client cancels": true} {
		t.Run(name, func(t *testing.T) {
			s := begin(t, mcpfront.Options{}, nil)
			files, boss := s.serve("files"), s.join("boss", client.Options{})
			in := s.session("/mcp/demo", "asker", `{"elicitation":{}}`)
			asks := func(in string) *stream {
				return s.open(request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__rounds","arguments":`+takesErrors+`}`)})
			}
			st := asks(in)
			until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
			if _, err := boss.FulfilID(t.Context(), proposals(t, boss, client.ProposalOpen)[0].ID); err != nil {
				t.Fatal(err)
			}
			question := st.next().data
			for member(t, question, "method") != "elicitation/create" {
				question = st.next().data
			}
			calls := 1
			if cancelled {
				calls = 2
				s.do(request{as: "asker", headers: []string{in}, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`})
			} else {
				s.do(request{as: "asker", method: "DELETE", headers: []string{in}})
				in = s.session("/mcp/demo", "asker", `{"elicitation":{}}`)
			}
			until(t, "the server is told what it is to be told", func() bool { return len(files.requests("tools/call")) == calls })
			again := asks(in).next().data
			if cancelled && !strings.Contains(again, "whether the server acted on it is not known") || !cancelled && member(t, again, "method") != "elicitation/create" {
				t.Errorf("%s", again)
			}
		})
	}
}

// TestClientOfTheModernEraSaysWhy holds that what a modern client has no answer to
// can be told as well, and that it can give its call up.
func TestClientOfTheModernEraSaysWhy(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	const caps = `{"elicitation":{}}`
	answers := func(answers string) string {
		state := member(t, s.do(tool("files__ask", caps, `{}`, "")).last(), "result", "requestState")
		return s.do(tool("files__ask", caps, `{}`, `,"requestState":"`+state+`","inputResponses":`+answers)).last()
	}
	for _, code := range []string{"-1", "-32800"} {
		if got := answers(`{"q1":{"_meta":{"parley/error":{"code":` + code + `,"message":"no"}}}}`); !strings.Contains(member(t, got, "result", "said"), "no (JSON-RPC error "+code+")") {
			t.Errorf("%s", got)
		}
	}
	if got := answers(`{"parley/given-up":{}}`); !strings.Contains(member(t, got, "error", "message"), "cancelled") {
		t.Errorf("%s", got)
	}
	until(t, "the server hears of both", func() bool {
		files.mu.Lock()
		defer files.mu.Unlock()
		return len(files.answers) == 3
	})
	until(t, "nothing is left", func() bool { return s.front().Leftovers() == "" })
}
