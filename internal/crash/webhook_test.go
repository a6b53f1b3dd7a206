package crash

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/journal/sqlite"
)

const webhookSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// Whenever the gateway is killed, a webhook is told of every proposal and of every
// end of one that is on record, and what it is told twice has the same id.
func TestKillWithWebhooks(t *testing.T) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 150*time.Second, errors.New("the test takes too long"))
	defer cancel()
	dir := t.TempDir()
	tr, err := newTrial(Options{Program: program(t), Dir: dir, Seed: *seed + 1, Out: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	step := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	r := newHookReceiver(t)
	text := strings.Replace(configuration(tr.journal), "    retention: {size: "+kept+"}\n", "", 1) +
		fmt.Sprintf("    webhooks:\n      - {name: all, url: %q, secret: %s, events: [proposal.*]}\n", r.listen(), webhookSecret)
	step(os.WriteFile(filepath.Join(dir, "parley.yaml"), []byte(text), 0o600))
	step(tr.open(ctx))
	defer tr.close()
	for n := range max(*rounds/3, 3) {
		step(tr.round(ctx, n+1))
	}
	step(tr.settle(ctx))
	step(faultless(tr))
	want := happened(ctx, t, tr.journal)
	if len(want) < 10 {
		t.Fatalf("there was too little to tell of: %v", want)
	}
	step(r.until(ctx, want))
	t.Logf("%d events, in %d requests", len(want), r.requests)
}

// happened are the events of proposals that are on record, as TYPE ID.
func happened(ctx context.Context, t *testing.T, path string) map[string]bool {
	t.Helper()
	j, err := sqlite.Open(ctx, sqlite.Options{Path: path, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	log, err := j.Reader(ctx, spaceName)
	if err != nil {
		t.Fatal(err)
	}
	events, proposals := map[string]bool{}, map[string]bool{}
	for r, err := range log.Read(ctx, journal.Query{Kinds: []string{"mcp/*"}}) {
		if err != nil {
			t.Fatal(err)
		}
		typ := map[string]string{parley.TypeRequest: "fulfilled", parley.TypeReject: "rejected", parley.TypeWithdraw: "withdrawn"}[parley.SplitKind(r.Effective).Type]
		if parley.SplitKind(r.Effective).Type == parley.TypeProposal {
			proposals[r.ID] = true
			events["proposal.opened "+r.ID] = true
		} else if typ != "" && len(r.Correlations) == 1 && proposals[r.Correlations[0]] {
			events["proposal."+typ+" "+r.Correlations[0]] = true
		}
	}
	return events
}

// hookReceiver takes all that is signed.
type hookReceiver struct {
	t      *testing.T
	verify *standardwebhooks.Webhook

	mu       sync.Mutex
	requests int
	ids      map[string]string // by TYPE ID
	news     chan struct{}     // closed when ids changes, and made anew
}

func newHookReceiver(t *testing.T) *hookReceiver {
	verify, err := standardwebhooks.NewWebhook(webhookSecret)
	if err != nil {
		t.Fatal(err)
	}
	return &hookReceiver{t: t, verify: verify, ids: map[string]string{}, news: make(chan struct{})}
}

func (r *hookReceiver) listen() string {
	srv := httptest.NewServer(r)
	r.t.Cleanup(srv.Close)
	return srv.URL
}

func (r *hookReceiver) ServeHTTP(_ http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return // the sender was killed
	}
	var m struct {
		Type string
		Data struct{ Proposal struct{ ID string } }
	}
	if err := errors.Join(r.verify.Verify(body, req.Header), json.Unmarshal(body, &m)); err != nil {
		r.t.Errorf("%s: %v", body, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.requests++
	event, id := m.Type+" "+m.Data.Proposal.ID, req.Header.Get("webhook-id")
	if first, ok := r.ids[event]; ok && first != id {
		r.t.Errorf("%s came as %s and as %s", event, first, id)
	}
	r.ids[event] = id
	close(r.news)
	r.news = make(chan struct{})
}

// until waits until all that is wanted has come, and says what has that is not.
func (r *hookReceiver) until(ctx context.Context, want map[string]bool) error {
	for {
		r.mu.Lock()
		missing, news := "", r.news
		for event := range want {
			if r.ids[event] == "" {
				missing = event
			}
		}
		for event := range r.ids {
			if !want[event] {
				r.t.Errorf("%s never happened", event)
			}
		}
		r.mu.Unlock()
		if missing == "" {
			return nil
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("%s did not come: %w", missing, context.Cause(ctx))
		}
	}
}
