package gateway

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// house is a gateway with two spaces, whose participants' tokens are their ids
// with "-token" behind. The token of "both" belongs to both spaces.
type house struct {
	*Gateway
	t       *testing.T
	journal *journal.Memory
	handler http.Handler
	log     *logged
	clock   *clock
}

// logged collects what is logged.
type logged struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clock is one that a test sets.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

func capabilities(t *testing.T, patterns ...string) parley.Capabilities {
	t.Helper()
	caps, err := parley.ParseCapabilities(patterns...)
	if err != nil {
		t.Fatal(err)
	}
	return caps
}

func tokenOf(name string) TokenHash { return sha256.Sum256([]byte(name + "-token")) }

func newHouse(t *testing.T, change ...func(*Options)) *house {
	t.Helper()
	demo := Space{
		Rules: space.Rules{
			Name:   "demo",
			Limits: space.Limits{EnvelopeBytes: 4 << 10, Rate: 1000, Burst: 1000, OpenProposals: 40},
			Participants: map[string]parley.Capabilities{
				"human": capabilities(t, "mcp/*", "chat", "capability/*", "space/*"),
				"agent": capabilities(t, "mcp/proposal:*", "chat", "note"),
				"files": capabilities(t, "mcp/response:*"),
				"hasty": capabilities(t, "chat"),
			},
		},
		Participants: map[string]Participant{
			"human": {Tokens: []TokenHash{tokenOf("human"), tokenOf("both")}},
			"agent": {Tokens: []TokenHash{tokenOf("agent")}},
			"files": {Tokens: []TokenHash{tokenOf("files")}},
			"hasty": {Tokens: []TokenHash{tokenOf("hasty")}},
		},
	}
	lazy := Space{
		Rules: space.Rules{Name: "lazy", Lazy: true, Participants: map[string]parley.Capabilities{
			"reader": capabilities(t, "mcp/*"),
		}},
		Participants: map[string]Participant{"reader": {Tokens: []TokenHash{tokenOf("both")}}},
	}
	h := &house{
		t: t, log: &logged{}, clock: &clock{t: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)},
		journal: journal.NewMemory(journal.MemoryOptions{Epoch: "e1"}),
	}
	opts := Options{
		Journal: h.journal,
		Spaces:  []Space{demo, lazy},
		Logger:  slog.New(slog.NewTextHandler(h.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Now:     h.clock.now,
		Hosts:   []string{"parley.example"},
	}
	for _, c := range change {
		c(&opts)
	}
	g, err := New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	h.Gateway, h.handler = g, g.Handler()
	t.Cleanup(func() {
		if err := g.Shutdown(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
		_ = h.journal.Close()
	})
	return h
}

// reply is what a request was answered with.
type reply struct {
	t      *testing.T
	status int
	header http.Header
	body   string
}

// ask makes a request in the name of a participant; "" is nobody.
func (h *house) ask(who, method, path, body string, change ...func(*http.Request)) reply {
	h.t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	req.Host = "localhost:7717"
	req.RemoteAddr = "127.0.0.1:4321"
	if who != "" {
		req.Header.Set("Authorization", "Bearer "+who+"-token")
	}
	for _, c := range change {
		c(req)
	}
	rec := httptest.NewRecorder()
	h.handler.ServeHTTP(rec, req)
	return reply{h.t, rec.Code, rec.Header(), rec.Body.String()}
}

// get and post are ask in the demo space, whose answer must be a success.
func (h *house) get(who, path string) reply {
	h.t.Helper()
	return h.ask(who, "GET", "/v1/spaces/demo/"+path, "").ok(http.StatusOK)
}

func (h *house) post(who, path, body string) reply {
	h.t.Helper()
	return h.ask(who, "POST", "/v1/spaces/demo/"+path, body).ok(http.StatusAccepted)
}

func (r reply) ok(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("status %d, want %d: %s", r.status, status, r.body)
	}
	return r
}

// refused checks that the answer is a problem of that code.
func (r reply) refused(status int, code parley.Code) map[string]any {
	r.t.Helper()
	r.ok(status)
	var p map[string]any
	if err := json.Unmarshal([]byte(r.body), &p); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
	if p["code"] != string(code) || p["status"] != float64(status) || p["type"] != "about:blank" ||
		p["title"] != http.StatusText(status) || p["detail"] == "" {
		r.t.Fatalf("want %s: %s", code, r.body)
	}
	if got := r.header.Get("Content-Type"); got != "application/problem+json" {
		r.t.Fatalf("Content-Type is %s", got)
	}
	return p
}

// into reads the body.
func (r reply) into(v any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(r.body), v); err != nil {
		r.t.Fatalf("%v: %s", err, r.body)
	}
}

// items are the ids of a list, and its cursor.
func (r reply) items() (ids []string, next uint64) {
	r.t.Helper()
	var list struct {
		Items []struct {
			ID string `json:"id"`
		} `json:"items"`
		Next uint64 `json:"next"`
	}
	r.into(&list)
	for _, item := range list.Items {
		ids = append(ids, item.ID)
	}
	return ids, list.Next
}

// chat says something and returns where it stands.
func (h *house) chat(who, id string) uint64 {
	h.t.Helper()
	var got struct{ Seq uint64 }
	h.post(who, "envelopes", fmt.Sprintf(`{"id":%q,"kind":"chat","payload":{"text":"this is %s"}}`, id, id)).into(&got)
	return got.Seq
}

// join connects a participant, until the test ends.
func (h *house) join(who string) {
	h.t.Helper()
	srv := httptest.NewServer(h.handler)
	h.t.Cleanup(srv.Close)
	ws, _, err := websocket.Dial(h.t.Context(), srv.URL+"/ws?topic=demo", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + who + "-token"}},
	})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { _ = ws.CloseNow() })
	if _, _, err := ws.Read(h.t.Context()); err != nil { // the welcome
		h.t.Fatal(err)
	}
}

func TestStatusOfEveryCode(t *testing.T) {
	for status, codes := range map[int][]parley.Code{
		400: {parley.MalformedEnvelope, parley.UnsupportedProtocol, parley.InvalidKind, parley.InvalidSubject,
			parley.KindMismatch, parley.InvalidContext, parley.MissingCorrelation, parley.InvalidCorrelation, parley.InvalidArgument},
		401: {parley.Unauthorized},
		403: {parley.IdentityMismatch, parley.ReservedKind, parley.CapabilityViolation, parley.NotProposer, parley.SelfFulfilment},
		404: {parley.NotFound, parley.ProposalNotFound},
		409: {parley.DuplicateID, parley.ProposalClosed, parley.ProposalMismatch, parley.TargetAbsent, parley.ContextLimit, parley.LimitReached},
		413: {parley.EnvelopeTooLarge},
		429: {parley.RateLimited},
		503: {parley.Unavailable},
		500: {parley.Internal, parley.InvalidConfig, "whatever_else"},
	} {
		for _, code := range codes {
			if got := statusOf(code); got != status {
				t.Errorf("%s is %d, want %d", code, got, status)
			}
		}
	}
}

func TestWhatNobodyServes(t *testing.T) {
	h := newHouse(t)
	h.ask("human", "GET", "/v1/nothing", "").refused(404, parley.NotFound)
	r := h.ask("human", "PATCH", "/v1/spaces", "")
	r.refused(405, parley.InvalidArgument)
	if got := r.header.Get("Allow"); got != "GET, HEAD" {
		t.Errorf("Allow is %q", got)
	}
	h.ask("human", "GET", "/v1//spaces", "").ok(http.StatusTemporaryRedirect)
}

func TestWhoMayCall(t *testing.T) {
	h := newHouse(t)
	for _, path := range []string{
		"/v1/spaces", "/v1/session", "/v1/spaces/demo/envelopes", "/v1/spaces/demo/envelopes/x", "/v1/spaces/demo/envelopes/x/chain",
		"/v1/spaces/demo/participants", "/v1/spaces/demo/proposals", "/v1/spaces/demo/proposals/x", "/v1/spaces/demo/journal", "/v1/spaces/demo/head",
	} {
		r := h.ask("", "GET", path, "")
		r.refused(401, parley.Unauthorized)
		if r.header.Get("WWW-Authenticate") == "" {
			t.Errorf("%s: no WWW-Authenticate", path)
		}
		if path != "/v1/session" {
			h.ask("stranger", "GET", path, "").refused(401, parley.Unauthorized)
		}
	}
	h.ask("agent", "GET", "/v1/spaces/lazy/envelopes", "").refused(404, parley.NotFound)
	h.ask("agent", "GET", "/v1/spaces/none/envelopes", "").refused(404, parley.NotFound)
	h.ask("", "GET", "/v1/spaces", "", func(r *http.Request) { r.SetBasicAuth("human", "human-token") }).refused(401, parley.Unauthorized)
}

func TestSpaces(t *testing.T) {
	h := newHouse(t)
	h.chat("human", "c1")
	got := h.ask("both", "GET", "/v1/spaces", "").ok(200).body
	want := `{"items":[{"name":"demo","me":"human","enforcement":"strict","epoch":"e1","first":1,"last":1},` +
		`{"name":"lazy","me":"reader","enforcement":"lazy","epoch":"e1","first":0,"last":0}]}` + "\n"
	if got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := h.ask("agent", "GET", "/v1/spaces", "").ok(200).body; strings.Contains(got, "lazy") {
		t.Errorf("somebody else's space: %s", got)
	}
}

func TestHeadersThatKeepBrowsersCautious(t *testing.T) {
	h := newHouse(t)
	for _, r := range []reply{h.ask("human", "GET", "/v1/spaces", ""), h.ask("", "GET", "/v1/spaces", ""), h.ask("", "GET", "/healthz", "")} {
		for name, want := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"Cache-Control":                "no-store",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Content-Security-Policy":      "default-src 'none'; frame-ancestors 'none'",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
	}
}

func TestLogHasNoTokens(t *testing.T) {
	h := newHouse(t)
	h.ask("human", "GET", "/v1/spaces/demo/envelopes?q=human-token", "")
	h.ask("stranger", "GET", "/v1/spaces", "")
	h.ask("", "POST", "/v1/session", `{"token":"human-token"}`).ok(200)
	h.ask("", "POST", "/v1/session", `{"token":["human-token"]}`).refused(400, parley.InvalidArgument)
	log := h.log.String()
	if strings.Contains(log, "-token") {
		t.Errorf("a token in the log:\n%s", log)
	}
	for _, want := range []string{"method=GET path=/v1/spaces/demo/envelopes status=200", "participant=human", "status=401"} {
		if !strings.Contains(log, want) {
			t.Errorf("%q is not in the log:\n%s", want, log)
		}
	}
}

func TestPanicEndsOneRequest(t *testing.T) {
	h := newHouse(t)
	a := h.api
	mux := http.NewServeMux()
	mux.Handle("GET /early", a.answer(func(http.ResponseWriter, *http.Request) error { panic("the secret reason") }))
	mux.Handle("GET /late", a.answer(func(w http.ResponseWriter, _ *http.Request) error {
		_ = writeJSON(w, 200, []byte("{}"))
		panic("the secret reason")
	}))
	mux.Handle("GET /fault", a.answer(func(http.ResponseWriter, *http.Request) error { return fmt.Errorf("the secret reason") }))
	h.handler = a.wrap(mux)

	for _, path := range []string{"/early", "/fault"} {
		r := h.ask("", "GET", path, "")
		r.refused(500, parley.Internal)
		if strings.Contains(r.body, "secret") {
			t.Errorf("the client learns %s", r.body)
		}
	}
	func() {
		defer func() {
			if got := recover(); got != http.ErrAbortHandler {
				t.Errorf("panicked with %v", got)
			}
		}()
		h.ask("", "GET", "/late", "")
	}()
	if got := strings.Count(h.log.String(), "the secret reason"); got != 3 {
		t.Errorf("logged %d times:\n%s", got, h.log)
	}
}
