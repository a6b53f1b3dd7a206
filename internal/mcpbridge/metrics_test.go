package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// TestTracker follows servers into the room and out of it, in whatever order the
// two sides are told.
func TestTracker(t *testing.T) {
	one, two := &Upstream{}, &Upstream{}
	starting, failed, stopped := State{Phase: Starting}, State{Phase: Failed}, State{Phase: Stopped}
	ready := func(u *Upstream) State { return State{Phase: Ready, Upstream: u} }
	type step struct {
		told any // a State, or what is in the room
		want Standing
	}
	for name, steps := range map[string][]step{
		"up, restarted, up": {
			{starting, StandsStarting}, {ready(one), StandsStarting}, {one, StandsUp},
			{starting, StandsStarting}, {(*Upstream)(nil), StandsStarting}, {ready(two), StandsStarting}, {two, StandsUp},
			{stopped, StandsDown}, {(*Upstream)(nil), StandsDown},
		},
		"dies while it joins": {
			{starting, StandsStarting}, {ready(one), StandsStarting}, {failed, StandsDown}, {one, StandsDown}, {(*Upstream)(nil), StandsDown},
		},
		"is ready again before the old one has left": {
			{starting, StandsStarting}, {ready(one), StandsStarting}, {one, StandsUp},
			{failed, StandsDown}, {starting, StandsStarting}, {ready(two), StandsStarting},
			{(*Upstream)(nil), StandsStarting}, {two, StandsUp},
		},
		"cannot be started":   {{starting, StandsStarting}, {failed, StandsDown}, {starting, StandsStarting}},
		"the room throws out": {{starting, StandsStarting}, {ready(one), StandsStarting}, {one, StandsUp}, {(*Upstream)(nil), StandsStarting}, {stopped, StandsDown}},
	} {
		t.Run(name, func(t *testing.T) {
			reg := prometheus.NewRegistry()
			p := tracker{metrics: NewMetrics(reg, "files")}
			starts := 0
			for i, s := range steps {
				switch told := s.told.(type) {
				case State:
					if told.Phase == Starting {
						starts++
					}
					p.server(told)
				case *Upstream:
					p.join(told)
				}
				if got := standsNow(t, reg); got != string(s.want) {
					t.Errorf("after step %d it stands as %s, want %s", i+1, got, s.want)
				}
			}
			if want := fmt.Sprintf("parley_bridge_restarts_total{server=\"files\"} %d\n", starts-1); !strings.Contains(scrape(reg), want) {
				t.Errorf("not %s", want)
			}
		})
	}
}

// standsNow is the one state that is 1.
func standsNow(t *testing.T, reg prometheus.Gatherer) string {
	t.Helper()
	var found []string
	for line := range strings.Lines(scrape(reg)) {
		if strings.HasPrefix(line, "parley_bridge_state{") && strings.HasSuffix(line, " 1\n") {
			_, rest, _ := strings.Cut(line, `state="`)
			state, _, _ := strings.Cut(rest, `"`)
			found = append(found, state)
		}
	}
	if len(found) != 1 {
		t.Fatalf("it is in the states %q at once", found)
	}
	return found[0]
}

func TestOutcomes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want outcome
	}{
		{nil, callOK},
		{&jsonrpc.Error{Code: 1}, callError},
		{errTimeout, callTimeout},
		{client.ErrCancelled, callCancelled},
		{errStopping, callLost},
		{gone(errors.New("exit status 3")), callLost},
		{ErrSessionLost, callLost},
		{fmt.Errorf("%w: too long", ErrBadAnswer), callFailed},
		{&HTTPError{Status: 503}, callFailed},
		{context.Canceled, callFailed},
	} {
		if got := outcomeOf(c.err); got != c.want {
			t.Errorf("%v is %s, want %s", c.err, got, c.want)
		}
	}
}

// TestFailures holds that whoever might make a call again is told where it may
// have been made.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		err     error
		unknown bool
	}{
		{errTimeout, true},
		{errStopping, true},
		{gone(errors.New("exit status 3")), true},
		{errForgotten, true},
		{fmt.Errorf("%w: too long", ErrBadAnswer), true},
		{&HTTPError{Status: 502}, true},
		{&HTTPError{Status: 401}, false},
		{ErrSessionLost, false},
		{&jsonrpc.Error{Code: 1}, false},
		{errState, false},
	} {
		got := (&Bridge{}).failure(c.err)
		rpc, _ := errors.AsType[*client.RPCError](got)
		if unknown := rpc != nil && strings.Contains(string(rpc.Data), OutcomeUnknown); unknown != c.unknown {
			t.Errorf("%v becomes %v, unknown %v", c.err, got, unknown)
		}
	}
}

// TestMetricsOfABridge sees what a real server's life comes to.
func TestMetricsOfABridge(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	b := bridge(t, testServer(t, "sdk"), Join{Metrics: NewMetrics(reg, "files")})
	you := b.dial("you")
	for deadline := time.Now().Add(10 * time.Second); standsNow(t, reg) != "up"; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatal("it is not up although it has joined")
		}
	}
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("echo", "hi")); err != nil {
		t.Fatal(err)
	}
	if _, err := you.Request(t.Context(), "files", "no/such/method", nil); err == nil {
		t.Fatal("a method that nobody has was answered")
	}
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("die", "")); err == nil {
		t.Fatal("a server that died has answered")
	}
	if who := <-b.joins; who != "files" {
		t.Fatalf("%q joined", who)
	}
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	body := scrape(reg)
	for _, want := range []string{
		`parley_bridge_calls_in_flight{server="files"} 0`,
		`parley_bridge_calls_total{outcome="cancelled",server="files"} 0`,
		`parley_bridge_calls_total{outcome="error",server="files"} 1`,
		`parley_bridge_calls_total{outcome="failed",server="files"} 0`,
		`parley_bridge_calls_total{outcome="lost",server="files"} 1`,
		`parley_bridge_calls_total{outcome="ok",server="files"} 1`,
		`parley_bridge_calls_total{outcome="timeout",server="files"} 0`,
		`parley_bridge_call_duration_seconds_count{server="files"} 3`,
		`parley_bridge_restarts_total{server="files"} 1`,
		`parley_bridge_state{server="files",state="down"} 1`,
		`parley_bridge_state{server="files",state="starting"} 0`,
		`parley_bridge_state{server="files",state="up"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(body)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %v", problems, err)
	}
	if t.Failed() {
		t.Log(body)
	}
}

// scrape is what Prometheus would get.
func scrape(reg prometheus.Gatherer) string {
	rec := httptest.NewRecorder()
	promhttp.HandlerFor(reg, promhttp.HandlerOpts{}).ServeHTTP(rec, httptest.NewRequest("GET", "/metrics", nil))
	return rec.Body.String()
}
