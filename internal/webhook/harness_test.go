package webhook

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	demo     = "demo"
	secret   = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	patience = 60 * time.Second
)

var began = time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)

// room is a space's record that a test writes, and the desk that hears of it.
type room struct {
	t       testing.TB
	journal *journal.Memory
	log     journal.Log
	dir     string
	now     time.Time

	mu      sync.Mutex
	desk    *Desk
	settled chan struct{} // gets one for each record
}

func newRoom(t testing.TB) *room {
	t.Helper()
	r := &room{t: t, journal: journal.NewMemory(journal.MemoryOptions{Epoch: "e1"}), dir: t.TempDir(), now: began, settled: make(chan struct{}, 1<<16)}
	t.Cleanup(func() { r.journal.Close() })
	var err error
	if r.log, err = r.journal.Open(t.Context(), demo, r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Durable implements [journal.Sink].
func (r *room) Durable(records []*journal.Record) {
	r.mu.Lock()
	d := r.desk
	r.mu.Unlock()
	if d != nil {
		d.Recorded(demo, records)
	}
	for range records {
		r.settled <- struct{}{}
	}
}

// Failed implements [journal.Sink].
func (r *room) Failed(_ []*journal.Record, err error) { panic(err) }

// append puts a record on record.
func (r *room) append(rec *journal.Record) *journal.Record {
	r.log.Append(rec)
	<-r.settled
	return rec
}

// send puts an envelope on record, a second after the one before.
func (r *room) send(from, kind, id, answers, payload string, to ...string) *journal.Record {
	return r.append(r.envelope(from, kind, id, answers, payload, to...))
}

func (r *room) envelope(from, kind, id, answers, payload string, to ...string) *journal.Record {
	r.now = r.now.Add(time.Second)
	kind, amends := strings.CutSuffix(kind, "+")
	e := &parley.Envelope{
		Protocol: "mcpx/v0.1", ID: id, TS: r.now, From: from, To: to, Kind: kind, Amends: amends, Payload: []byte(payload),
	}
	if answers != "" {
		e.Correlation = parley.CorrelateWith(strings.Fields(answers)...)
	}
	return journal.Envelope(e, parley.SplitKind(kind), [16]byte{})
}

func (r *room) propose(id string) *journal.Record {
	return r.send("agent", "mcp/proposal:tools/call:write_file", id, "", `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/w/a"}}}`, "files")
}

func (r *room) fulfil(id, proposal string) *journal.Record {
	return r.send("boss", "mcp/request:tools/call:write_file", id, proposal, `{"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/w/a"}}}`, "files")
}

func (r *room) reject(id, proposal string) *journal.Record {
	return r.send("boss", "mcp/reject:tools/call:write_file", id, proposal, `{"reason":"unsafe","message":"not there"}`)
}

func (r *room) refuse(from, id string, count int) *journal.Record {
	r.now = r.now.Add(time.Second)
	return r.append(journal.NewRefusal(r.now, from, id, "mcp/request:tools/call:rm",
		journal.Refusal{Code: parley.CapabilityViolation, Bytes: 99, Count: count}, [16]byte{}))
}

// serve opens a desk and starts it.
func (r *room) serve(prepare func(*Desk), hooks ...Hook) *Desk {
	r.t.Helper()
	return r.serveWith(Options{Hooks: hooks}, prepare)
}

func (r *room) serveWith(o Options, prepare func(*Desk)) *Desk {
	r.t.Helper()
	o.Dir = r.dir
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(logOf(r.t), &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	d, err := Open(r.t.Context(), r.journal, o)
	if err != nil {
		r.t.Fatal(err)
	}
	if prepare != nil {
		prepare(d)
	}
	r.mu.Lock()
	r.desk = d
	r.mu.Unlock()
	if err := d.Start(r.t.Context(), nil); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { d.Close(cancelled()) })
	return d
}

// cancelled is a context that has ended.
func cancelled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

type testLog struct{ t testing.TB }

func logOf(t testing.TB) io.Writer { return testLog{t} }

func (l testLog) Write(b []byte) (int, error) {
	l.t.Log(strings.TrimSuffix(string(b), "\n"))
	return len(b), nil
}

// hook is a webhook that gets everything.
func hook(name, url string) Hook {
	return Hook{Space: demo, Name: name, URL: url, Secrets: []string{secret}, Events: EventTypes(), Retries: MostRetries}
}

// received is an event that a receiver took or refused, with a valid signature.
type received struct {
	id   string
	typ  EventType
	at   time.Time
	body string
	data struct {
		Space      string
		Proposal   struct{ ID string }
		Decision   struct{ ID string }
		Links      map[string]link
		Suppressed int
		Count      int
		ID         string
		Bridge     string
	}
}

// receiver takes what is sent to it, and answers as it is told.
type receiver struct {
	t      testing.TB
	verify *standardwebhooks.Webhook
	answer func(n int, r received, w http.ResponseWriter, req *http.Request) // nil is 200; n counts from 1

	mu  sync.Mutex
	got []received
	new chan struct{} // closed when got changes, and made anew
}

func newReceiver(t testing.TB) *receiver {
	v, err := standardwebhooks.NewWebhook(secret)
	if err != nil {
		t.Fatal(err)
	}
	return &receiver{t: t, verify: v, new: make(chan struct{})}
}

// listen serves on loopback, and returns the URL.
func (r *receiver) listen() string {
	srv := httptest.NewServer(r)
	r.t.Cleanup(srv.Close)
	return srv.URL + "/hooks/of-a-secret-path"
}

// ServeHTTP implements [http.Handler].
func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender was killed
	}
	if err := r.verify.VerifyIgnoringTimestamp(body, req.Header); err != nil {
		r.t.Errorf("%s: %v", body, err)
	}
	var m struct {
		Type EventType
		Data json.RawMessage
	}
	got := received{id: req.Header.Get("webhook-id"), body: string(body), at: time.Now()}
	err = json.Unmarshal(body, &m)
	if err == nil {
		err = json.Unmarshal(m.Data, &got.data)
	}
	if err != nil || req.Method != http.MethodPost || req.Header.Get("Content-Type") != "application/json" || strings.Contains(got.id, ".") {
		r.t.Errorf("%s %v %s: %v", req.Method, req.Header, body, err)
	}
	got.typ = m.Type
	r.mu.Lock()
	r.got = append(r.got, got)
	n := len(r.got)
	close(r.new)
	r.new = make(chan struct{})
	r.mu.Unlock()
	if r.answer != nil {
		r.answer(n, got, w, req)
	}
}

func (r *receiver) all() []received {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

// until waits until what came is as wanted.
func (r *receiver) until(want func([]received) bool) []received {
	r.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		r.mu.Lock()
		got, new := slices.Clone(r.got), r.new
		r.mu.Unlock()
		if want(got) {
			return got
		}
		select {
		case <-new:
		case <-deadline.C:
			r.t.Fatalf("waited for something else than %s", told(got))
		}
	}
}

func (r *receiver) first(n int) []received {
	r.t.Helper()
	return r.until(func(got []received) bool { return len(got) >= n })[:n]
}

// told is what came, in short.
func told(got []received) string {
	var b strings.Builder
	for _, r := range got {
		fmt.Fprintf(&b, "%s %s%s%s\n", r.typ, r.data.Proposal.ID, r.data.ID, r.data.Bridge)
	}
	return b.String()
}

// status waits until a webhook does as wanted.
func status(t testing.TB, d *Desk, name string, want func(Status) bool) Status {
	t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(time.Millisecond) {
		list, err := d.List(t.Context(), demo)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range list {
			if s.Name == name && want(s) {
				return s
			}
		}
		if time.Now().After(deadline) {
			t.Fatalf("waited for something else than %+v", list)
		}
	}
}

func keyOf(n int) string {
	return NewSecret([]byte(strings.Repeat("k", n)))
}

func rawSecret() []byte {
	b, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretMark))
	return b
}

// linkMaker makes links for everybody but "nobody", and counts them.
func linkMaker(made *int) func(context.Context, string, string, string) (string, time.Time, error) {
	return func(_ context.Context, space, proposal, decider string) (string, time.Time, error) {
		if decider == "nobody" {
			return "", time.Time{}, parley.Errorf(parley.NotFound, "nobody is not here")
		}
		*made++
		return fmt.Sprintf("https://parley.example/approve#%s-%s-%s", space, proposal, decider), time.Now().Add(time.Hour), nil
	}
}

func patterns(t testing.TB, list ...string) parley.Capabilities {
	t.Helper()
	c, err := parley.ParseCapabilities(list...)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
