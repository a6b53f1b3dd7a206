package gateway

import (
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/parleyhq/parley/internal/journal"
)

// onDisk is a journal that says it is kept in files.
type onDisk struct{ journal.Journal }

func (onDisk) Disk() (journal.Disk, error) {
	return journal.Disk{Record: 1, Ahead: 2, Search: 3, Size: 10, Free: 4}, nil
}

func TestMetrics(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Journal = onDisk{o.Journal} })
	mcp := prometheus.NewGauge(prometheus.GaugeOpts{Name: "parley_bridge_test", Help: "Stands for a bridge's."})
	h.Registerer("demo").MustRegister(mcp)
	if reg := h.Registerer("nowhere"); reg != nil {
		t.Error("a space that is not there has figures")
	}
	h.join("files")
	h.chat("human", "c1")
	h.propose("p1", `[]`)
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"system/notice"}`).ok(403)
	for range floodRecords + 5 {
		h.ask("hasty", "POST", "/v1/spaces/demo/envelopes", `{"kind":"note"}`).ok(403)
	}
	h.rooms["demo"].metrics.checkpoint.Store(2)
	body := h.ask("", "GET", "/metrics", "").ok(200).body
	for _, want := range []string{
		`parley_envelopes_admitted_total{space="demo"} 3`,
		`parley_envelopes_admitted_total{space="lazy"} 0`,
		`parley_envelopes_refused_total{code="reserved_kind",space="demo"} 1`,
		`parley_envelopes_refused_total{code="rate_limited",space="demo"} 0`,
		`parley_envelopes_refused_total{code="capability_violation",space="demo"} 25`,
		`parley_refusals_flooded_total{space="demo"} 5`,
		`parley_space_ready{space="demo"} 1`,
		`parley_submissions_waiting{space="demo"} 0`,
		`parley_connections{space="demo"} 1`,
		`parley_connections_closed_total{reason="slow",space="demo"} 0`,
		`parley_participants_present{space="demo"} 1`,
		`parley_proposals_open{space="demo"} 1`,
		`parley_proposals_oldest_timestamp_seconds{space="demo"} 1.795176e+09`,
		`parley_checkpoint_age_envelopes{space="demo"} 1`,
		`parley_contexts_remembered{space="demo"} 0`,
		`parley_checkpoint_age_envelopes{space="lazy"} 0`,
		`parley_connection_lag_envelopes_count{space="demo"} `,
		`parley_connection_lag_bytes_bucket{space="demo",le="0"} `,
		`parley_journal_size_bytes{file="record"} 1`,
		`parley_journal_size_bytes{file="wal"} 2`,
		`parley_journal_size_bytes{file="search"} 3`,
		`parley_journal_disk_size_bytes 10`,
		`parley_journal_disk_free_bytes 4`,
		`parley_bridge_test{space="demo"} 0`,
		`parley_build_info{goversion="` + runtime.Version() + `",`,
		`parley_journal_last_seq{space="demo"} 3`,
		`parley_journal_index_lag_envelopes{space="demo"} 0`,
		`parley_journal_failures_total{space="demo"} 0`,
		`parley_journal_commit_records_count{space="demo"} `,
		`parley_journal_commit_duration_seconds_bucket{space="demo",le="+Inf"} `,
		`parley_http_requests_total{method="POST",status="403"} 26`,
		`go_goroutines `,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
	}
	if strings.Contains(body, `parley_proposals_oldest_timestamp_seconds{space="lazy"}`) {
		t.Error("a space without proposals has an oldest one")
	}
	if t.Failed() {
		t.Log(body)
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// The sweeper takes the lag of every connection once a second.
func TestLagIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := memory(t, Options{})
		ann := h.join("ann", "")
		say := func(text string) {
			if _, err := h.g.Submit(t.Context(), "demo", "bob", []byte(chat(text))); err != nil {
				t.Fatal(err)
			}
		}
		say("nobody is behind yet")
		ann.until("chat")
		synctest.Wait()
		for range 5 { // a pipe holds nothing: what is not read is not sent
			say(strings.Repeat("x", 2000))
		}
		time.Sleep(1500 * time.Millisecond)
		body := scrape(t, h.g)
		for _, want := range []string{
			`parley_connection_lag_envelopes_bucket{space="demo",le="4"} 0`,
			`parley_connection_lag_envelopes_bucket{space="demo",le="16"} 1`,
			`parley_connection_lag_envelopes_sum{space="demo"} 5`,
			`parley_connection_lag_bytes_bucket{space="demo",le="4096"} 0`,
			`parley_connection_lag_bytes_bucket{space="demo",le="16384"} 1`,
		} {
			if !strings.Contains(body, want+"\n") {
				t.Errorf("no %s", want)
			}
		}
		if t.Failed() {
			t.Log(body)
		}
		ann.ws.CloseNow()
	})
}

// scrape is what Prometheus would get on this machine.
func scrape(t *testing.T, g *Gateway) string {
	t.Helper()
	rec := httptest.NewRecorder()
	g.metrics.handler(g.Spaces()).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	return rec.Body.String()
}

func TestCloseReasons(t *testing.T) {
	for code, want := range map[int]closeReason{
		0: closedByPeer, 1000: closedByPeer, 1001: closedGoingAway, 1003: closedProtocol, 1007: closedProtocol,
		4001: closedUnauthorized, 4003: closedRemoved, 4008: closedSlow, 4009: closedReplaced, 4029: closedFlooding, 1011: closedFault,
	} {
		if got := closeReasonOf(code); got != want {
			t.Errorf("%d is %s, want %s", code, got, want)
		}
	}
	m := newMetrics().space("s")
	m.refuse("made_up") // a code that the table lacks is counted all the same
	if m.closed[closedFault] == nil {
		t.Error("a reason has no counter")
	}
}
