package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

// capable is a call by somebody with these capabilities.
func capable(tool, text, capabilities string) jsontext.Value {
	return mcpwords.SetMeta(toolCall(tool, text), mcpwords.MetaClientCapabilities, jsontext.Value(capabilities))
}

const elicits, samples = `{"elicitation":{}}`, `{"sampling":{}}`

// answering joins as somebody who answers what servers ask, and notes it.
type answering struct {
	*client.Room
	mu    sync.Mutex
	asked []*parley.Envelope
}

func (b *bridged) answering(who string) *answering {
	b.t.Helper()
	a := &answering{}
	room, err := client.Dial(b.t.Context(), b.URL, &client.Options{Token: b.Token(who), Space: b.Space,
		Handler: func(_ context.Context, req *client.Request) (any, error) {
			a.mu.Lock()
			a.asked = append(a.asked, req.Envelope)
			a.mu.Unlock()
			switch req.Kind.Method {
			case "elicitation/create":
				return jsontext.Value(`{"action":"accept","content":{"who":"` + who + `","big":9007199254740993}}`), nil
			case "sampling/createMessage":
				return jsontext.Value(`{"role":"assistant","model":"m","content":{"type":"text","text":"by ` + who + `"}}`), nil
			case "roots/list":
				return jsontext.Value(`{"roots":[{"uri":"file:///of-` + who + `"}]}`), nil
			}
			return nil, client.MethodNotFound(req.Kind.Method)
		}})
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(room.Close)
	a.Room = room
	return a
}

func (a *answering) heard() []*parley.Envelope {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.asked)
}

func text(t *testing.T, r *client.Reply, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for v := range parley.Elements(parley.Member(r.Result, "content")) {
		s, _ := parley.MemberString(v, "text")
		return s
	}
	t.Fatalf("no text in %s", r.Result)
	return ""
}

// legacySDK are servers of the legacy era over both links.
func legacySDK(t *testing.T, f func(t *testing.T, s Server)) {
	t.Run("stdio", func(t *testing.T) { f(t, testServer(t, "sdk")) })
	t.Run("http", func(t *testing.T) {
		_, at := serveHTTP(t, newSDKHandler(nil))
		f(t, at)
	})
}

func TestLegacyServerAsksBack(t *testing.T) {
	legacySDK(t, func(t *testing.T, s Server) {
		s.Roots = true
		b := bridge(t, s, Join{Serves: map[string][]string{"sampling": {"nobody", "boss", "agent"}, "elicitation": {"nobody"}}})
		you, agent, boss := b.answering("you"), b.answering("agent"), b.answering("boss")

		var envelope string
		call := func(who *answering, params jsontext.Value) (*client.Reply, error) {
			e, err := client.NewRequest("files", "tools/call", params)
			if err != nil {
				t.Fatal(err)
			}
			e.ID = client.NewID()
			envelope = e.ID
			return who.Call(t.Context(), e)
		}
		r, err := call(you, capable("elicit", "", elicits))
		if got := text(t, r, err); got != "accept you" {
			t.Errorf("got %q", got)
		}
		asked := you.heard()
		if len(asked) != 1 || asked[0].Kind != "mcp/request:elicitation/create" || asked[0].From != "files" || !slices.Equal(asked[0].Correlation.IDs, []string{envelope}) {
			t.Fatalf("you heard %+v", asked)
		}
		// Who can be asked is; who cannot has somebody who serves it.
		r, err = call(you, capable("sample", "", samples))
		if got := text(t, r, err); got != "by you" {
			t.Errorf("got %q", got)
		}
		r, err = call(you, toolCall("sample", ""))
		if got := text(t, r, err); got != "by boss" {
			t.Errorf("got %q", got)
		}
		if asked := boss.heard(); len(asked) != 1 || !slices.Equal(asked[0].Correlation.IDs, []string{envelope}) {
			t.Errorf("boss heard %+v", asked)
		}
		r, err = call(you, capable("roots", "", `{"roots":{}}`))
		if got := text(t, r, err); got != "file:///of-you" {
			t.Errorf("got %q", got)
		}
		if _, err := you.Notify(t.Context(), "files", "roots/list_changed", nil); err != nil {
			t.Fatal(err)
		}
		r, err = call(you, capable("await-roots-changed", "", `{"roots":{}}`))
		if got := text(t, r, err); got != "changed" {
			t.Errorf("got %q", got)
		}
		// Who serves elicitation is not here.
		r, err = call(you, toolCall("elicit", ""))
		if got := text(t, r, err); !strings.Contains(got, "nobody who serves it is in the room") {
			t.Errorf("got %q", got)
		}
		// A fulfilment is its proposer's call.
		p, err := agent.Propose(t.Context(), "files", "tools/call", capable("elicit", "", elicits))
		if err != nil {
			t.Fatal(err)
		}
		r, err = you.Fulfil(t.Context(), p.Envelope)
		if got := text(t, r, err); got != "accept agent" {
			t.Errorf("got %q", got)
		}
		if asked := agent.heard(); len(asked) != 1 {
			t.Errorf("agent heard %+v", asked)
		}
	})
}

func TestSessions(t *testing.T) {
	for _, c := range []struct {
		sessions Sessions
		// whether the two share a process
		two, capable, again, others bool
	}{
		{"", true, false, true, false},
		{SessionsShared, true, true, true, true},
		{SessionsPeer, false, false, true, false},
	} {
		t.Run(string(c.sessions), func(t *testing.T) {
			reg := prometheus.NewRegistry()
			s := testServer(t, "sdk")
			s.Sessions = c.sessions
			b := bridge(t, s, Join{Metrics: NewMetrics(reg, "files")})
			you, boss := b.dial("you"), b.dial("boss")
			pid := func(who *client.Room, capabilities string) string {
				r, err := who.Request(t.Context(), "files", "tools/call", capable("pid", "", capabilities))
				return text(t, r, err)
			}
			yours := pid(you, elicits)
			for _, same := range []struct {
				what   string
				pids   [2]string
				expect bool
			}{
				{"two who declare nothing", [2]string{pid(you, `{}`), pid(boss, `{"experimental":{"x":{}}}`)}, c.two},
				{"one who declares and one who does not", [2]string{pid(boss, `{}`), yours}, c.capable},
				{"one, twice", [2]string{pid(you, ` { "elicitation" : { } } `), yours}, c.again},
				{"two who declare the same", [2]string{pid(boss, elicits), yours}, c.others},
			} {
				if got := same.pids[0] == same.pids[1]; got != same.expect {
					t.Errorf("%s: %v", same.what, same.pids)
				}
			}
			if err := b.end(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(scrape(reg), "parley_bridge_sessions{server=\"files\"} 0\n") {
				t.Error(scrape(reg))
			}
		})
	}
}

// TestOwnSessionDies sees that nobody else notices.
func TestOwnSessionDies(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you := b.dial("you")
	_, err := you.Request(t.Context(), "files", "tools/call", capable("die", "", elicits))
	if rpc, ok := errors.AsType[*client.RPCError](err); !ok || !strings.Contains(string(rpc.Data), OutcomeUnknown) {
		t.Fatalf("got %v", err)
	}
	r, err := you.Request(t.Context(), "files", "tools/call", capable("echo", "again", elicits))
	if got := text(t, r, err); got != "again" {
		t.Errorf("got %q", got)
	}
	if len(b.joins) != 0 {
		t.Error("the server has joined again")
	}
}

func TestIdleSessionEnds(t *testing.T) {
	reg := prometheus.NewRegistry()
	b := bridge(t, testServer(t, "sdk"), Join{Metrics: NewMetrics(reg, "files"), Connect: &Options{SessionIdle: 20 * time.Millisecond}})
	you := b.dial("you")
	r, err := you.Request(t.Context(), "files", "tools/call", capable("echo", "x", elicits))
	text(t, r, err)
	eventually(t, func() bool { return strings.Contains(scrape(reg), "parley_bridge_sessions{server=\"files\"} 0\n") })
}

func eventually(t *testing.T, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !ready(); {
		if time.Now().After(deadline) {
			t.Fatal("it does not come")
		}
		<-time.After(5 * time.Millisecond)
	}
}

func TestTooManySessions(t *testing.T) {
	b := &Bridge{join: Join{}}
	a := &attendance{b: b, sessions: map[ownKey]*session{}}
	open := func(owner string, n, users int) {
		for i := range n {
			s := &session{owner: owner, users: users, made: make(chan struct{}), since: time.Unix(int64(i), 0)}
			a.sessions[ownKey{owner, parley.DigestParams(jsontext.Value(fmt.Sprintf(`{"%s":%d}`, owner, i)))}] = s
		}
	}
	open("you", maxOwnSessions, 1)
	if err := a.makeRoom("you"); err == nil || !strings.Contains(err.Error(), "in use") {
		t.Errorf("got %v", err)
	}
	if err := a.makeRoom("boss"); err != nil {
		t.Errorf("got %v", err)
	}
	for i := range maxSessions - maxOwnSessions - 1 {
		open(fmt.Sprint("p", i), 1, 1)
	}
	open("idle", 1, 0)
	if err := a.makeRoom("boss"); err != nil || len(a.sessions) != maxSessions-1 {
		t.Errorf("got %v, %d", err, len(a.sessions))
	}
	open("busy", 1, 1)
	if err := a.makeRoom("boss"); err == nil {
		t.Error("there is room")
	}
	clear(a.sessions)
	open("you", maxOwnSessions, 0)
	if err := a.makeRoom("you"); err != nil || len(a.sessions) != maxOwnSessions-1 {
		t.Errorf("got %v, %d", err, len(a.sessions))
	}
	for key := range maps.Keys(a.sessions) {
		if key.declared == parley.DigestParams(jsontext.Value(`{"you":0}`)) {
			t.Error("the one that was idle longest is there")
		}
	}
}

func TestWhom(t *testing.T) {
	callOf := func(peer, declared string) *flight { return &flight{peer: peer, declared: jsontext.Value(declared)} }
	mute, talker, other := callOf("mute", ``), callOf("talker", samples), callOf("other", samples)
	own := &session{owner: "talker", asks: jsontext.Value(samples)}
	served := &session{owner: "talker", asks: jsontext.Value(elicits), declared: jsontext.Value(`{"elicitation":{},"sampling":{}}`)}
	for _, c := range []struct {
		name    string
		s       *session
		flights []*flight
		want    string
	}{
		{"nobody", &session{}, nil, ""},
		{"one who cannot", &session{}, []*flight{mute}, ""},
		{"one who can", &session{}, []*flight{talker}, "talker"},
		{"two who cannot", &session{}, []*flight{mute, mute}, ""},
		{"one who can and one who cannot", &session{}, []*flight{mute, talker}, "error"},
		{"two who can", &session{}, []*flight{other, talker}, "error"},
		{"one who can, twice", &session{}, []*flight{talker, talker}, "talker"},
		{"own, nothing in flight", own, nil, "talker"},
		{"own", own, []*flight{talker}, "talker"},
		{"own, two in flight", own, []*flight{talker, talker}, "talker"},
		{"own, of one who cannot", served, []*flight{mute}, ""},
		{"own, of one who cannot, nothing in flight", served, nil, ""},
	} {
		got, err := c.s.whom(need{service: "sampling"}, c.flights)
		if err != nil {
			got = "error"
		}
		if got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestModernServerAsksBack(t *testing.T) {
	t.Run("stdio", func(t *testing.T) { testModernServerAsksBack(t, anyEra(testServer(t, "sdk"))) })
	t.Run("http", func(t *testing.T) {
		_, at := serveHTTP(t, newSDKHandler(&mcp.StreamableHTTPOptions{Stateless: true}))
		testModernServerAsksBack(t, anyEra(at))
	})
}

func testModernServerAsksBack(t *testing.T, s Server) {
	b := bridge(t, s, Join{Serves: map[string][]string{"sampling": {"boss"}}})
	you, boss, agent := b.dial("you"), b.answering("boss"), b.dial("agent")
	call := func(params jsontext.Value, opts ...client.SendOption) (*client.Reply, error) {
		return you.Request(t.Context(), "files", "tools/call", params, opts...)
	}
	inputs := func(r *client.Reply) string {
		var names []string
		for name := range parley.Members(parley.Member(r.Result, "inputRequests")) {
			names = append(names, name)
		}
		slices.Sort(names)
		return strings.Join(names, " ")
	}
	retry := func(params jsontext.Value, r *client.Reply, responses string) jsontext.Value {
		params = mcpwords.SetMember(params, "inputResponses", jsontext.Value(responses))
		return mcpwords.SetMember(params, "requestState", parley.Member(r.Result, "requestState"))
	}
	const form = `{"action":"accept","content":{"who":"you"}}`

	// All is the caller's: it goes back as it came.
	params := capable("inputs", "", `{"elicitation":{},"sampling":{}}`)
	r, err := call(params)
	if err != nil || inputs(r) != "form model" || string(parley.Member(r.Result, "requestState")) != `"theirs"` {
		t.Fatalf("got %s, %v", r.Result, err)
	}
	r, err = call(retry(params, r, `{"form":`+form+`,"model":{"role":"assistant","model":"m","content":{"type":"text","text":"mine"}}}`), client.Correlate(r.Envelope.Correlation.IDs...))
	if got := text(t, r, err); got != "theirs accept mine" {
		t.Errorf("got %q", got)
	}

	// A part is answered in the room, and kept sealed until the caller has the rest.
	params = capable("inputs", "", elicits)
	first, err := call(params)
	if err != nil || inputs(first) != "form" {
		t.Fatalf("got %s, %v", first.Result, err)
	}
	r, err = call(retry(params, first, `{"form":`+form+`}`))
	if got := text(t, r, err); got != "theirs accept by boss" {
		t.Errorf("got %q", got)
	}
	// What boss has answered counts once.
	if _, err := call(retry(params, first, `{"form":`+form+`}`)); err == nil || !strings.Contains(err.Error(), "used before") {
		t.Errorf("the same once more: %v", err)
	}
	if first, err = call(params); err != nil {
		t.Fatal(err)
	}
	for name, bad := range map[string]jsontext.Value{
		"another call":  retry(capable("inputs", "other", elicits), first, `{}`),
		"another state": mcpwords.SetMember(params, "requestState", jsontext.Value(`"`+sealMark+`AAAA"`)),
	} {
		if _, err := call(bad); err == nil || !strings.Contains(err.Error(), "requestState") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Another caller cannot go on with it; agent may only read, so it proposes.
	p, err := agent.Propose(t.Context(), "files", "tools/call", retry(params, first, `{}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := you.FulfilID(t.Context(), p.ID); err == nil || !strings.Contains(err.Error(), "requestState") {
		t.Errorf("got %v", err)
	}

	// All of it in the room.
	before := len(boss.heard())
	r, err = call(toolCall("model", ""))
	if got := text(t, r, err); got != "by boss" {
		t.Errorf("got %q", got)
	}
	if asked := boss.heard(); len(asked) != before+1 || len(asked[before].Correlation.IDs) != 1 {
		t.Errorf("boss heard %+v", asked)
	}

	// Nobody.
	if _, err := call(toolCall("inputs", "")); err == nil || !strings.Contains(err.Error(), "serves: [elicitation]") {
		t.Errorf("got %v", err)
	}
	// Without end.
	if _, err := call(toolCall("endless", "")); err == nil || !strings.Contains(err.Error(), "64 rounds") {
		t.Errorf("got %v", err)
	}
	// Without end, and the caller plays along.
	params = capable("endless", "", `{"sampling":{}}`)
	r, err = call(params)
	rounds := 0
	for ; err == nil && rounds < 100; rounds++ {
		r, err = call(retry(params, r, `{}`), client.Correlate(r.Envelope.Correlation.IDs...))
	}
	if rounds != maxRounds+1 || !strings.Contains(fmt.Sprint(err), "64 rounds") {
		t.Errorf("after %d rounds %v", rounds, err)
	}
}
