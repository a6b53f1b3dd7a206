package mcpfront_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/space"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what has to happen.
const patience = 20 * time.Second

// site is a gateway with /mcp, in this process, and the servers of its spaces.
type site struct {
	t   testing.TB
	url string
	now atomic.Pointer[mcpfront.Front]
	g   *gateway.Gateway
	web *http.Client

	budget map[string]int // in tokens, by participant, or by participant and tool with a blank between

	slow map[string]string // servers that do not say what they offer: "" to anybody, else to callers with a session of their own

	mu     sync.Mutex
	offers map[string]*mcpfront.Offer // by server; nil where it is down
	listed []int                      // how many tools the front read, each time
}

// cast is who there is in every space, with what they may send.
var cast = map[string][]string{
	"agent":   {"mcp/request:*", "mcp/proposal:*", "mcp/withdraw:*", "mcp/response:*", "chat"},
	"other":   {"mcp/request:*", "mcp/proposal:*", "mcp/withdraw:*", "mcp/response:*", "chat"},
	"asker":   {"mcp/proposal:*", "mcp/withdraw:*", "mcp/request:tools/call:echo", "mcp/request:resources/read:file:///w/*", "mcp/response:*"},
	"silent":  {"mcp/response:*"},
	"boss":    {"*"},
	"files":   {"mcp/response:*", "mcp/request:*"},
	"wiki":    {"mcp/response:*", "mcp/request:*"},
	"mallory": {"mcp/*"},
	"remote":  {"mcp/response:*", "mcp/request:notifications/*"},
}

// begin serves the spaces demo and annex. Change may adapt the rules.
func begin(t testing.TB, o mcpfront.Options, change func(*space.Rules)) *site {
	t.Helper()
	return beginKeeping(t, o, change, gateway.Retention{})
}

// beginKeeping is begin where no more than that is kept of the records.
func beginKeeping(t testing.TB, o mcpfront.Options, change func(*space.Rules), most gateway.Retention) *site {
	t.Helper()
	s := &site{t: t, offers: map[string]*mcpfront.Offer{"files": filesOffer(), "wiki": wikiOffer()}}
	keep := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	t.Cleanup(func() { keep.Close() })
	var spaces []gateway.Space
	for _, name := range []string{"demo", "annex"} {
		one := gateway.Space{
			Rules:        space.Rules{Name: name, Participants: map[string]parley.Capabilities{}},
			Participants: map[string]gateway.Participant{},
			Retention:    most,
		}
		for id, patterns := range cast {
			caps, err := parley.ParseCapabilities(patterns...)
			if err != nil {
				t.Fatal(err)
			}
			one.Rules.Participants[id] = caps
			one.Participants[id] = gateway.Participant{Tokens: []gateway.TokenHash{sha256.Sum256([]byte("token-" + id))}}
		}
		if change != nil {
			change(&one.Rules)
		}
		spaces = append(spaces, one)
	}
	var err error
	if s.g, err = gateway.New(t.Context(), gateway.Options{Journal: keep, Spaces: spaces, RetainEvery: 10 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	s.now.Store(mcpfront.New(s, o))
	var routes []gateway.Route
	for _, pattern := range []string{"/mcp", "/mcp/{space}", "/mcp/{space}/{participant}"} {
		routes = append(routes, gateway.Route{Pattern: pattern, Serve: func(w http.ResponseWriter, r *http.Request) error { return s.front().Serve(w, r) }})
	}
	srv := httptest.NewUnstartedServer(nil)
	srv.Config = gateway.Server(s.g.Handler(routes...))
	srv.Start()
	s.url, s.web = srv.URL, srv.Client()
	t.Cleanup(func() {
		s.front().Close()
		if err := s.g.Shutdown(context.WithoutCancel(t.Context())); err != nil {
			t.Errorf("shutdown: %v", err)
		}
		srv.CloseClientConnections()
		srv.Close()
	})
	return s
}

// front is the one that serves at present.
func (s *site) front() *mcpfront.Front { return s.now.Load() }

// restart makes the front a new one, as a restart of the process does.
func (s *site) restart() {
	s.front().Close()
	s.now.Store(mcpfront.New(s, mcpfront.Options{}))
}

// Who implements [mcpfront.House].
func (s *site) Who(r *http.Request) ([]mcpfront.Place, error) {
	members, err := s.g.Identify(r)
	var places []mcpfront.Place
	for _, m := range members {
		places = append(places, mcpfront.Place(m))
	}
	return places, err
}

// Dial implements [mcpfront.House].
func (s *site) Dial(ctx context.Context, at mcpfront.Place, o *client.Options) (*client.Room, error) {
	mine := *o
	mine.Space, mine.Token = at.Space, "token-"+at.Participant
	return client.Dial(ctx, s.url, &mine)
}

// Servers implements [mcpfront.House].
func (s *site) Servers(string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for name := range s.offers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Offer implements [mcpfront.House].
func (s *site) Offer(ctx context.Context, _ mcpfront.Place, server string, capabilities jsontext.Value) (*mcpfront.Offer, error) {
	if on, slow := s.slow[server]; slow && (on == "" || capabilities != nil) {
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	o, ok := s.offers[server]
	switch {
	case o != nil:
		return o, nil
	case ok && server == "remote":
		return nil, parley.Errorf(parley.NotFound, "it joins by itself")
	}
	return nil, parley.Errorf(parley.Unavailable, "the MCP server is down")
}

// offer changes what a server has.
func (s *site) offer(server string, o *mcpfront.Offer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offers[server] = o
}

// Listed implements [mcpfront.House].
func (s *site) Listed(_ context.Context, _, _ string, tools []jsontext.Value) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listed = append(s.listed, len(tools))
}

// Uncollected implements [mcpfront.House].
func (s *site) Uncollected(ctx context.Context, at mcpfront.Place, kind parley.Kind, to string, params jsontext.Value) (mcpfront.Waiting, bool, error) {
	p, found, err := s.g.Uncollected(ctx, at.Space, at.Participant, kind, to, params)
	return mcpfront.Waiting{ID: p.ID, Outdated: p.Outdated, Unsure: p.Unsure}, found, err
}

// ResultBudget implements [mcpfront.House].
func (s *site) ResultBudget(at mcpfront.Place, _, tool string) int {
	if n, ok := s.budget[at.Participant+" "+tool]; ok {
		return n
	}
	return s.budget[at.Participant]
}

// Collected implements [mcpfront.House].
func (s *site) Collected(ctx context.Context, at mcpfront.Place, proposal string) error {
	return s.g.Collected(ctx, at.Space, proposal)
}

// Round implements [mcpfront.House].
func (s *site) Round(ctx context.Context, at mcpfront.Place, kind parley.Kind, to string, params jsontext.Value) (string, string, bool, error) {
	fulfilment, p, found, err := s.g.OpenRound(ctx, at.Space, at.Participant, kind, to, params)
	return fulfilment, p.ID, found, err
}

// join brings a participant into demo.
func (s *site) join(id string, o client.Options) *client.Room {
	s.t.Helper()
	o.Space, o.Token = "demo", "token-"+id
	room, err := client.Dial(s.t.Context(), s.url, &o)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { room.Close() })
	return room
}

// request is one of a client's, with what it says of itself.
type request struct {
	method  string // of HTTP; POST where empty
	path    string // "/mcp/demo" where empty
	as      string // a participant; "agent" where empty
	headers []string
	body    string
}

func (s *site) request(ctx context.Context, q request) (*http.Request, error) {
	if q.method == "" {
		q.method = http.MethodPost
	}
	if q.path == "" {
		q.path = "/mcp/demo"
	}
	if q.as == "" {
		q.as = "agent"
	}
	r, err := http.NewRequestWithContext(ctx, q.method, s.url+q.path, strings.NewReader(q.body))
	if err != nil {
		return nil, err
	}
	if q.as != "nobody" {
		r.Header.Set("Authorization", "Bearer token-"+q.as)
	}
	if q.method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
	} else {
		r.Header.Set("Accept", "text/event-stream")
	}
	for _, line := range q.headers {
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case name == "Host":
			r.Host = value
		case value == "":
			r.Header.Del(name)
		default:
			r.Header.Add(name, value)
		}
	}
	return r, nil
}

// reply is a response that was read to its end.
type reply struct {
	status   int
	header   http.Header
	body     string
	messages []string // of the body, whichever way they came
}

// last is the last message.
func (r *reply) last() string {
	if len(r.messages) == 0 {
		return ""
	}
	return r.messages[len(r.messages)-1]
}

// do sends a request and reads the response to its end.
func (s *site) do(q request) *reply {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	r, err := s.request(ctx, q)
	if err != nil {
		s.t.Fatal(err)
	}
	res, err := s.web.Do(r)
	if err != nil {
		s.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		s.t.Fatalf("%v, after %s", err, body)
	}
	out := &reply{status: res.StatusCode, header: res.Header, body: string(body)}
	if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		for line := range strings.Lines(out.body) {
			if data, ok := strings.CutPrefix(line, "data: "); ok {
				out.messages = append(out.messages, strings.TrimSuffix(data, "\n"))
			}
		}
	} else if len(body) > 0 {
		out.messages = []string{strings.TrimSpace(out.body)}
	}
	return out
}

// stream is a response that is read as it comes.
type stream struct {
	t      testing.TB
	events chan event // closed at the end
	hangUp context.CancelFunc

	// Once the end is there, or an event.
	status int
	header http.Header
}

type event struct{ id, data string }

// open sends a request whose response stays open.
func (s *site) open(q request) *stream {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	r, err := s.request(ctx, q)
	if err != nil {
		s.t.Fatal(err)
	}
	st := &stream{t: s.t, events: make(chan event, 4096), hangUp: cancel}
	read := make(chan struct{})
	go func() {
		defer close(read)
		defer close(st.events)
		res, err := s.web.Do(r)
		if err != nil {
			return
		}
		defer res.Body.Close()
		st.status, st.header = res.StatusCode, res.Header
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			readEvents(res.Body, st.events)
		} else if body, err := io.ReadAll(res.Body); err == nil && len(body) > 0 {
			st.events <- event{data: string(body)}
		}
	}()
	s.t.Cleanup(func() { cancel(); <-read })
	return st
}

func readEvents(r io.Reader, events chan<- event) {
	in := bufio.NewReader(r)
	var e event
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimSuffix(line, "\n")
		if id, ok := strings.CutPrefix(line, "id: "); ok {
			e.id = id
		}
		if data, ok := strings.CutPrefix(line, "data:"); ok {
			e.data = strings.TrimPrefix(data, " ")
		}
		if line == "" && e != (event{}) {
			events <- e
			e = event{}
		}
	}
}

// next is the next message of a stream.
func (st *stream) next() event {
	st.t.Helper()
	for {
		select {
		case e, ok := <-st.events:
			if !ok {
				st.t.Fatal("the stream ended")
			}
			if e.data != "" {
				return e
			}
		case <-time.After(patience):
			st.t.Fatal("nothing came")
		}
	}
}

// ended waits for the end of a stream, and returns the messages up to there.
func (st *stream) ended() (messages []string) {
	st.t.Helper()
	for {
		select {
		case e, ok := <-st.events:
			if !ok {
				return messages
			}
			if e.data != "" {
				messages = append(messages, e.data)
			}
		case <-time.After(patience):
			st.t.Fatal("the stream did not end")
		}
	}
}

// session opens one of 2025-11-25, and returns the header that names it.
func (s *site) session(path, as, capabilities string) string {
	s.t.Helper()
	r := s.do(request{path: path, as: as, body: `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":` + capabilities + `,"clientInfo":{"name":"t","version":"1"}}}`})
	if r.status != http.StatusOK || r.header.Get("Mcp-Session-Id") == "" {
		s.t.Fatalf("initialize: %d %s", r.status, r.body)
	}
	return "Mcp-Session-Id: " + r.header.Get("Mcp-Session-Id")
}

// call is a request's body of 2025-11-25.
func call(id int, method, params string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`, id, method, params)
}

// modern is a request of 2026-07-28 with its headers. Params begin with a brace
// and have no _meta.
func modern(id int, method, capabilities, params string) request {
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":` + capabilities + `}`
	inner := strings.TrimSuffix(strings.TrimPrefix(params, "{"), "}")
	if inner != "" {
		inner += ","
	}
	q := request{headers: []string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}, body: call(id, method, "{"+inner+meta+"}")}
	for _, key := range []string{"name", "uri"} {
		if name, ok := parley.MemberString([]byte(params), key); ok {
			q.headers = append(q.headers, "Mcp-Name: "+name)
		}
	}
	return q
}

// member reads a member of JSON, by its path.
func member(t testing.TB, v string, path ...string) string {
	t.Helper()
	raw := jsontext.Value(v)
	for _, name := range path {
		raw = parley.Member(raw, name)
	}
	if raw.Kind() == '"' {
		text, _ := jsontext.AppendUnquote(nil, raw)
		return string(text)
	}
	return string(raw)
}

// until polls for what has to become true.
func until(t testing.TB, what string, fn func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !fn() {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
		<-tick.C
	}
}

func raws(list ...string) (out []jsontext.Value) {
	for _, v := range list {
		out = append(out, jsontext.Value(bytes.TrimSpace([]byte(v))))
	}
	return out
}

func kindOf(kind string) parley.Kind { return parley.SplitKind(kind) }

// payloadParams are the params of a proposal.
func payloadParams(p client.ProposalRecord) jsontext.Value { return parley.Member(p.Payload, "params") }
