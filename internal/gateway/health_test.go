package gateway

import (
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/parleyhq/parley"
)

func TestHealth(t *testing.T) {
	h := newHouse(t)
	if got := h.ask("", "GET", "/healthz", "").ok(200).body; got != "{\"status\":\"ok\"}\n" {
		t.Error(got)
	}
	if got := h.ask("", "GET", "/readyz", "").ok(200).body; got != "{\"status\":\"ready\"}\n" {
		t.Error(got)
	}
	if err := h.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.ask("", "GET", "/readyz", "").refused(503, parley.Unavailable)
	h.ask("", "GET", "/healthz", "").ok(200)
}

func TestMetrics(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	h.chat("human", "c1")
	h.propose("p1", `[]`)
	h.ask("agent", "POST", "/v1/spaces/demo/envelopes", `{"kind":"system/notice"}`).ok(403)
	body := h.ask("", "GET", "/metrics", "").ok(200).body
	for _, want := range []string{
		`parley_envelopes_admitted_total{space="demo"} 3`,
		`parley_envelopes_admitted_total{space="lazy"} 0`,
		`parley_envelopes_refused_total{code="reserved_kind",space="demo"} 1`,
		`parley_envelopes_refused_total{code="rate_limited",space="demo"} 0`,
		`parley_connections{space="demo"} 1`,
		`parley_connections_closed_total{reason="slow",space="demo"} 0`,
		`parley_participants_present{space="demo"} 1`,
		`parley_proposals_open{space="demo"} 1`,
		`parley_journal_last_seq{space="demo"} 3`,
		`parley_journal_index_lag_envelopes{space="demo"} 0`,
		`parley_journal_failures_total{space="demo"} 0`,
		`parley_journal_commit_records_count{space="demo"} `,
		`parley_journal_commit_duration_seconds_bucket{space="demo",le="+Inf"} `,
		`parley_http_requests_total{method="POST",status="403"} 1`,
		`go_goroutines `,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s", want)
		}
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

func TestWhoSeesMetrics(t *testing.T) {
	h := newHouse(t)
	remote := func(r *http.Request) { r.RemoteAddr = "192.168.1.9:1234" }
	proxied := func(r *http.Request) { r.Header.Set("X-Forwarded-For", "192.168.1.9") }
	named := func(r *http.Request) { r.Host = "parley.example" }
	for _, change := range []func(*http.Request){remote, proxied, named} {
		h.ask("", "GET", "/metrics", "", change).refused(401, parley.Unauthorized)
	}
	own := h.ask("agent", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(own, `space="demo"`) || strings.Contains(own, `space="lazy"`) {
		t.Error("a token does not show its own spaces alone")
	}
	both := h.ask("both", "GET", "/metrics", "", remote).ok(200).body
	if !strings.Contains(both, `space="demo"`) || !strings.Contains(both, `space="lazy"`) {
		t.Error("a token of two spaces does not show both")
	}
	h.ask("stranger", "GET", "/metrics", "").refused(401, parley.Unauthorized)
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
