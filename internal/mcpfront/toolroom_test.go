package mcpfront_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/space"
	toolkit "github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/room"
	"github.com/parleyhq/parley/tool/sampling"
)

// asksTwo is a tool that asks a human, and then a model.
func asksTwo(ctx context.Context, c *toolkit.Call, in struct{}) (string, error) {
	type who struct {
		Name string `json:"name"`
	}
	x, err := toolkit.Elicit[who](ctx, c, sampling.Elicitation[struct{}]{Key: "who", Message: "which?"})
	if err != nil {
		return "", err
	}
	y, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("Greet " + x.Parsed.Name)}})
	return y.Parsed, err
}

// takeTools takes a server of package tool into the room, as remote.
func (s *site) takeTools(name string, o room.Options) (leave func()) {
	s.t.Helper()
	server, err := toolkit.NewServer(toolkit.Options{Name: "tools", Title: "Tools in the room", Tier: toolkit.Community, NoUsage: true, Getenv: func(string) string { return "" }, Dir: s.t.TempDir()})
	if err != nil {
		s.t.Fatal(err)
	}
	toolkit.Add(server, toolkit.Tool{Name: name, Description: "Asks two.", Needs: []toolkit.Ability{toolkit.Sampling, toolkit.Elicitation}}, asksTwo)
	ctx, stop := context.WithCancel(s.t.Context())
	joined, ended := make(chan struct{}), make(chan error, 1)
	o.Token, o.Space, o.OnJoin = "token-remote", "demo", func(string) { close(joined) }
	go func() { ended <- room.Serve(ctx, server, s.url, o) }()
	select {
	case <-joined:
	case err := <-ended:
		s.t.Fatal(err)
	}
	return func() {
		stop()
		if err := <-ended; err != nil {
			s.t.Error(err)
		}
	}
}

// TestToolsOfTheRoom holds that a server which takes part in the room without a
// bridge is one to MCP clients as well: listed, called, and asking back in both
// eras, or asking others.
func TestToolsOfTheRoom(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, func(r *space.Rules) {
		caps, err := parley.ParseCapabilities("mcp/response:*", "mcp/request:*")
		if err != nil {
			t.Fatal(err)
		}
		r.Participants["remote"] = caps
	})
	s.offer("remote", nil)
	serves := room.Options{Serves: map[string][]string{"sampling": {"silent"}, "elicitation": {"silent"}}}
	leave := s.takeTools("ask", serves)
	s.join("silent", client.Options{Handler: func(_ context.Context, q *client.Request) (any, error) {
		if q.Kind.Method == "elicitation/create" {
			return jsontext.Value(`{"action":"accept","content":{"name":"silent"}}`), nil
		}
		return jsontext.Value(greets(string(q.Params))), nil
	}})
	plain := s.session("/mcp/demo", "agent", `{}`)
	both := s.session("/mcp/demo", "agent", `{"sampling":{},"elicitation":{}}`)
	list := s.do(request{headers: []string{plain}, body: call(1, "tools/list", `{}`)}).last()
	if !strings.Contains(list, `"name":"remote__ask"`) || !strings.Contains(list, `Asks two.`) {
		t.Fatalf("listed are %s", list)
	}
	said := func(m string) string { return member(t, m, "result", "structuredContent", "data") }

	// Others in the room answer for a client that cannot, of either era.
	for _, q := range []request{
		{headers: []string{plain}, body: call(2, "tools/call", `{"name":"remote__ask","arguments":{}}`)},
		tool("remote__ask", `{}`, `{}`, ""),
	} {
		if r := s.do(q).last(); said(r) != "Hello silent" {
			t.Errorf("got %s", r)
		}
	}
	// A legacy client is asked in its session.
	st := s.open(request{headers: []string{both}, body: call(3, "tools/call", `{"name":"remote__ask","arguments":{}}`)})
	for range 2 {
		q := st.next().data
		r := s.do(request{headers: []string{both}, body: fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, member(t, q, "id"), answerOf(t, q))})
		if r.status != http.StatusAccepted {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	if got := said(st.next().data); got != "Hello me" {
		t.Errorf("the legacy client got %q", got)
	}
	// A modern one by what its request is answered with.
	more := ""
	for _, key := range []string{"q1", "q2"} {
		r := s.do(tool("remote__ask", `{"sampling":{},"elicitation":{}}`, `{}`, more)).last()
		more = fmt.Sprintf(`,"requestState":%q,"inputResponses":{%q:%s}`, member(t, r, "result", "requestState"), key, answerOf(t, member(t, r, "result", "inputRequests", key)))
	}
	if r := s.do(tool("remote__ask", `{"sampling":{},"elicitation":{}}`, `{}`, more)).last(); said(r) != "Hello me" {
		t.Errorf("the modern client got %s", r)
	}
	// Come back with other tools, it is asked for them anew.
	leave()
	leave = s.takeTools("ask_again", serves)
	defer leave()
	until(t, "the list is read again", func() bool {
		return strings.Contains(s.do(request{headers: []string{plain}, body: call(4, "tools/list", `{}`)}).last(), "remote__ask_again")
	})
}

// answerOf answers a question as a client does.
func answerOf(t *testing.T, q string) string {
	if member(t, q, "method") == "elicitation/create" {
		return `{"action":"accept","content":{"name":"me"}}`
	}
	return greets(q)
}

// greets is a model that does as it is told.
func greets(asked string) string {
	_, name, _ := strings.Cut(asked, "Greet ")
	name, _, _ = strings.Cut(name, `"`)
	return `{"role":"assistant","model":"m","content":{"type":"text","text":"Hello ` + name + `"}}`
}
