package mcpfront_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

func (v *server) notify(t testing.TB, method, params string, opts ...client.SendOption) {
	t.Helper()
	if _, err := v.room.Notify(t.Context(), "agent", "notifications/"+method, jsontext.Value(params), opts...); err != nil {
		t.Fatal(err)
	}
}

func TestListeningStream(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{}`)
	listen := func(more ...string) *stream {
		st := s.open(request{method: http.MethodGet, headers: append([]string{in}, more...)})
		if len(more) == 0 {
			<-st.events // without a message, but with an id
		}
		return st
	}
	first := listen()
	files.notify(t, "message", `{"level":"info","data":1}`)
	e := first.next()
	if member(t, e.data, "params", "data") != "1" {
		t.Errorf("%+v", e)
	}
	second := listen("Last-Event-ID: " + e.id)
	if got := first.ended(); len(got) > 0 {
		t.Errorf("the first stream got %s", got)
	}
	files.notify(t, "message", `{"level":"info","data":2}`)
	e = second.next()
	if member(t, e.data, "params", "data") != "2" {
		t.Errorf("%+v", e)
	}
	second.hangUp()
	second.ended()
	for i := 3; i < 6; i++ {
		files.notify(t, "message", fmt.Sprintf(`{"level":"info","data":%d}`, i))
	}
	third := s.open(request{method: http.MethodGet, headers: []string{in, "Last-Event-ID: " + e.id}})
	for i := 3; i < 6; i++ {
		if e := third.next(); member(t, e.data, "params", "data") != fmt.Sprint(i) {
			t.Errorf("resumed with %+v", e)
		}
	}
	if r := s.do(request{method: http.MethodDelete, headers: []string{in}}); r.status != http.StatusNoContent {
		t.Errorf("%d", r.status)
	}
	third.ended()
}

// TestLogLevels holds that each session gets what it asked for.
func TestLogLevels(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	streams := map[string]*stream{}
	for _, level := range []string{"", "debug", "warning", "emergency"} {
		in := s.session("/mcp/demo", "agent", `{}`)
		if level != "" {
			s.do(request{headers: []string{in}, body: call(1, "logging/setLevel", `{"level":"`+level+`"}`)})
		}
		streams[level] = s.open(request{method: http.MethodGet, headers: []string{in}})
	}
	for _, level := range []string{"debug", "info", "warning", "alert", "unheard-of"} {
		files.notify(t, "message", `{"level":"`+level+`"}`)
	}
	files.notify(t, "tools/list_changed", `{}`)
	for level, want := range map[string]string{
		"": "debug info warning alert unheard-of", "debug": "debug info warning alert unheard-of", "warning": "warning alert unheard-of", "emergency": "unheard-of",
	} {
		var got []string
		for {
			m := streams[level].next().data
			if member(t, m, "method") != "notifications/message" {
				break
			}
			got = append(got, member(t, m, "params", "level"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %s, want %s", level, got, want)
		}
	}
}

// TestGeneralStreamIsBounded holds what a client misses that does not listen.
func TestGeneralStreamIsBounded(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{}`)
	big := strings.Repeat("x", 500_000)
	for i := range 20 {
		files.notify(t, "message", fmt.Sprintf(`{"level":"info","data":%q,"n":%d}`, big, i))
	}
	files.notify(t, "message", `{"level":"info","data":"last"}`)
	until(t, "the call arrives behind them", func() bool {
		return s.do(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__echo"}`)}).status == http.StatusOK
	})
	st := s.open(request{method: http.MethodGet, headers: []string{in}})
	kept := 0
	for member(t, st.next().data, "params", "data") != "last" {
		kept++
	}
	if kept == 0 || kept > 4 {
		t.Errorf("%d of them were kept", kept)
	}
}

func TestResumeOfACall(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in := s.session("/mcp/demo", "agent", `{}`)
	st := s.open(request{headers: []string{in}, body: call(7, "tools/call", `{"name":"files__hang","_meta":{"progressToken":"p"}}`)})
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
	id := files.requests("tools/call")[0].Envelope.ID
	files.notify(t, "progress", `{"progressToken":"p","progress":1}`, client.Correlate(id))
	e := st.next()
	st.hangUp()
	st.ended()
	files.notify(t, "progress", `{"progressToken":"p","progress":2}`, client.Correlate(id))
	if files.cancelled() > 0 {
		t.Error("to hang up has cancelled the call")
	}
	back := s.open(request{method: http.MethodGet, headers: []string{in, "Last-Event-ID: " + e.id}})
	if m := back.next().data; member(t, m, "params", "progress") != "2" {
		t.Errorf("%s", m)
	}
	close(files.release)
	if got := back.ended(); len(got) != 1 || member(t, got[0], "id") != "7" {
		t.Errorf("%s", got)
	}
	again := s.open(request{method: http.MethodGet, headers: []string{in, "Last-Event-ID: " + e.id}})
	if got := again.ended(); len(got) != 2 {
		t.Errorf("%s", got)
	}
	foreign := s.session("/mcp/demo", "agent", `{}`)
	if r := s.do(request{method: http.MethodGet, headers: []string{foreign, "Last-Event-ID: " + e.id}}); r.status != http.StatusBadRequest {
		t.Errorf("another session resumed it: %d %s", r.status, r.body)
	}
	s.front().Sweep(time.Now().Add(2 * time.Minute))
	if r := s.do(request{method: http.MethodGet, headers: []string{in, "Last-Event-ID: " + e.id}}); r.status != http.StatusBadRequest {
		t.Errorf("it is still there: %d %s", r.status, r.body)
	}
}

func TestSessionsExpire(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	idle, busy := s.session("/mcp/demo", "agent", `{}`), s.session("/mcp/demo", "agent", `{}`)
	st := s.open(request{method: http.MethodGet, headers: []string{busy}})
	<-st.events
	s.front().Sweep(time.Now().Add(31 * time.Minute))
	ping := func(in string) int {
		return s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","id":1,"method":"ping"}`}).status
	}
	if ping(idle) != http.StatusNotFound || ping(busy) != http.StatusOK {
		t.Errorf("the idle one: %d, the busy one: %d", ping(idle), ping(busy))
	}
	st.hangUp()
	st.ended()
	until(t, "nobody is there", func() bool {
		s.front().Sweep(time.Now().Add(31 * time.Minute))
		sessions, seats, _ := s.front().Counts()
		return sessions+seats == 0
	})
	if ping(busy) != http.StatusNotFound {
		t.Error("the session is still there")
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in, other := s.session("/mcp/demo", "agent", `{}`), s.session("/mcp/demo", "agent", `{}`)
	cancel := func(in, id string) {
		t.Helper()
		if r := s.do(request{headers: []string{in}, body: `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`}); r.status != http.StatusAccepted {
			t.Errorf("%d %s", r.status, r.body)
		}
	}
	cancel(in, "1") // before the request
	st := s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__hang"}`)})
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
	cancel(other, "1")
	cancel(in, `"1"`)
	cancel(in, "1.0")
	cancel(in, "{}")
	if r := s.do(request{headers: []string{in}, body: call(1, "ping", `{}`)}); member(t, r.last(), "error", "code") != "-32600" {
		t.Errorf("an id that is in use: %s", r.last())
	}
	if files.cancelled() > 0 {
		t.Error("somebody else has cancelled the call")
	}
	cancel(in, "1")
	if got := st.ended(); len(got) > 0 {
		t.Errorf("what was cancelled was answered with %s", got)
	}
	cancel(in, "1")
	until(t, "the server hears of it", func() bool { return files.cancelled() == 1 })
	if r := s.do(request{headers: []string{in}, body: call(1, "ping", `{}`)}); r.status != http.StatusOK {
		t.Errorf("the id is free again: %s", r.last())
	}
	// In the other era, to hang up is to cancel.
	st = s.open(tool("files__hang", `{}`, `{}`, ""))
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 2 })
	st.hangUp()
	until(t, "the server hears of it", func() bool { return files.cancelled() == 2 })
	st = s.open(tool("files__hang", `{"sampling":{}}`, `{}`, ""))
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 3 })
	st.hangUp()
	until(t, "the server hears of it", func() bool { return files.cancelled() == 3 })
	// And a session's end ends its calls.
	s.open(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__hang"}`)})
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 4 })
	s.do(request{method: http.MethodDelete, headers: []string{in}})
	until(t, "the server hears of it", func() bool { return files.cancelled() == 4 })
}

func TestSubscriptions(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	in, other := s.session("/mcp/demo", "agent", `{}`), s.session("/mcp/demo", "agent", `{}`)
	own := s.session("/mcp/demo/files", "agent", `{}`)
	do := func(in, path, method, uri string) {
		t.Helper()
		if r := s.do(request{path: path, headers: []string{in}, body: call(1, "resources/"+method, `{"uri":"`+uri+`"}`)}); member(t, r.last(), "result") != `{}` {
			t.Fatalf("%s", r.last())
		}
	}
	get := s.open(request{method: http.MethodGet, headers: []string{in}})
	getOther := s.open(request{method: http.MethodGet, headers: []string{other}})
	getOwn := s.open(request{path: "/mcp/demo/files", method: http.MethodGet, headers: []string{own}})
	do(in, "/mcp/demo", "subscribe", "parley://files/file:///w/a")
	do(in, "/mcp/demo", "subscribe", "parley://files/file:///w/a")
	do(own, "/mcp/demo/files", "subscribe", "file:///w/a")
	listen := s.open(modern(9, "subscriptions/listen", `{}`,
		`{"notifications":{"toolsListChanged":false,"promptsListChanged":true,"resourceSubscriptions":["parley://files/file:///w/a","nowhere:///x"],"nonsense":true}}`))
	if got, want := listen.next().data, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"promptsListChanged":true,"resourceSubscriptions":["parley://files/file:///w/a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":9}}}`; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if n := len(files.requests("resources/subscribe")); n != 1 {
		t.Errorf("the server was asked %d times", n)
	}
	files.notify(t, "tools/list_changed", `{}`)
	files.notify(t, "resources/updated", `{"uri":"file:///w/b"}`)
	files.notify(t, "resources/updated", `{"uri":"file:///w/a","x":9007199254740993}`)
	files.notify(t, "prompts/list_changed", `{}`)
	for st, want := range map[*stream][]string{
		get:      {"tools/list_changed {}", `resources/updated {"uri":"parley://files/file:///w/a","x":9007199254740993}`, "prompts/list_changed {}"},
		getOther: {"tools/list_changed {}", "prompts/list_changed {}"},
		getOwn:   {"tools/list_changed {}", `resources/updated {"uri":"file:///w/a","x":9007199254740993}`, "prompts/list_changed {}"},
		listen: {`resources/updated {"uri":"parley://files/file:///w/a","x":9007199254740993,"_meta":{"io.modelcontextprotocol/subscriptionId":9}}`,
			`prompts/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":9}}`},
	} {
		for _, w := range want {
			m := st.next().data
			if got := strings.TrimPrefix(member(t, m, "method"), "notifications/") + " " + member(t, m, "params"); got != w {
				t.Errorf("got %s, want %s", got, w)
			}
		}
	}
	do(in, "/mcp/demo", "unsubscribe", "parley://files/file:///w/a")
	do(in, "/mcp/demo", "unsubscribe", "parley://files/file:///w/a")
	listen.hangUp()
	if n := len(files.requests("resources/unsubscribe")); n != 0 {
		t.Errorf("it was ended %d times while somebody had it", n)
	}
	s.do(request{path: "/mcp/demo/files", method: http.MethodDelete, headers: []string{own}})
	until(t, "the last one ends it", func() bool { return len(files.requests("resources/unsubscribe")) == 1 })
	q := request{as: "silent", headers: []string{s.session("/mcp/demo", "silent", `{}`)}, body: call(1, "resources/subscribe", `{"uri":"parley://files/file:///w/a"}`)}
	if r := s.do(q); !strings.Contains(member(t, r.last(), "error", "message"), "capability_violation") {
		t.Errorf("somebody without rights: %s", r.last())
	}
}

// TestSubscriptionIDKeepsItsType holds that the id crosses as it was written.
func TestSubscriptionIDKeepsItsType(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	for _, id := range []string{`"9"`, `9007199254740993`, `1.50`} {
		q := modern(123, "subscriptions/listen", `{}`, `{"notifications":{}}`)
		q.body = strings.Replace(q.body, `"id":123`, `"id":`+id, 1)
		st := s.open(q)
		if m := st.next().data; !strings.Contains(m, `"io.modelcontextprotocol/subscriptionId":`+id+`}`) {
			t.Errorf("%s: %s", id, m)
		}
		st.hangUp()
	}
}

// TestSubscribeTogether holds that many clients of one participant subscribe as
// one, and that each is told the truth.
func TestSubscribeTogether(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	files := s.serve("files")
	together := func(as string, n int, each func(in string)) {
		var wg sync.WaitGroup
		for range n {
			in := s.session("/mcp/demo", as, `{}`)
			wg.Go(func() { each(in) })
		}
		wg.Wait()
	}
	const body = `{"uri":"parley://files/file:///w/a"}`
	together("asker", 16, func(in string) {
		if r := s.do(request{as: "asker", headers: []string{in}, body: call(1, "resources/subscribe", body)}); !strings.Contains(r.last(), "capability_violation") {
			t.Errorf("%s", r.last())
		}
	})
	together("agent", 16, func(in string) {
		for range 5 {
			s.do(request{headers: []string{in}, body: call(1, "resources/subscribe", body)})
			s.do(request{headers: []string{in}, body: call(1, "resources/unsubscribe", body)})
		}
	})
	in := s.session("/mcp/demo", "agent", `{}`)
	s.do(request{headers: []string{in}, body: call(1, "resources/subscribe", body)})
	on := 0
	files.mu.Lock()
	defer files.mu.Unlock()
	for _, q := range files.got {
		switch {
		case q.Kind.Method == "resources/subscribe" && on == 0:
			on++
		case q.Kind.Method == "resources/unsubscribe" && on == 1:
			on--
		default:
			t.Fatalf("%s came where %d were open", q.Kind.Method, on)
		}
	}
	if on != 1 {
		t.Error("at the end nobody was subscribed")
	}
}
