package mcpbridge

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// Metrics are the figures of one bridge for Prometheus. [NewMetrics] makes
// them; a nil *Metrics counts nothing. To count is an atomic addition.
type Metrics struct {
	state    map[Standing]prometheus.Gauge
	restarts prometheus.Counter
	calls    map[outcome]prometheus.Counter
	seconds  prometheus.Histogram
	open     prometheus.Gauge
	own      prometheus.Gauge
	answers  *answers
}

// outcome is how a call of the server ended.
type outcome string

const (
	callOK        outcome = "ok"        // with a result, which may well tell of an error of the tool's
	callError     outcome = "error"     // with an error that the server answered
	callTimeout   outcome = "timeout"   // nobody waits any longer (limits: call_timeout)
	callCancelled outcome = "cancelled" // who asked has withdrawn the call
	callLost      outcome = "lost"      // the server died, or the bridge ended
	callFailed    outcome = "failed"    // in another way: as with an answer that cannot be relayed
)

var outcomes = [...]outcome{callOK, callError, callTimeout, callCancelled, callLost, callFailed}

// NewMetrics registers the figures of a bridge, whose server is known by the
// name: a label, so it comes from a configuration and not from a participant.
// A server has one bridge at a time.
func NewMetrics(reg prometheus.Registerer, server string) *Metrics {
	m := &Metrics{
		state: make(map[Standing]prometheus.Gauge, len(standings)),
		restarts: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "parley_bridge_restarts_total",
			Help: "How often an MCP server was started again, for whatever reason.",
		}),
		calls: make(map[outcome]prometheus.Counter, len(outcomes)),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_bridge_call_duration_seconds",
			Help:    "Time that an MCP server took for a call, however that ended.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 10), // 1 ms to 262 s
		}),
		open: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "parley_bridge_calls_in_flight",
			Help: "Calls that an MCP server works on.",
		}),
		own: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "parley_bridge_sessions",
			Help: "Sessions that callers have of their own with an MCP server, each a process where it is a command.",
		}),
		answers: newAnswers(),
	}
	state := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "parley_bridge_state",
		Help: "1 for the state that an MCP server is in: starting, up or down; 0 for the others.",
	}, []string{"state"})
	calls := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parley_bridge_calls_total",
		Help: "Calls of an MCP server that have ended, by outcome.",
	}, []string{"outcome"})
	for _, s := range standings {
		m.state[s] = state.WithLabelValues(string(s))
	}
	for _, o := range outcomes {
		m.calls[o] = calls.WithLabelValues(string(o))
	}
	m.stands(StandsDown)
	prometheus.WrapRegistererWith(prometheus.Labels{"server": server}, reg).
		MustRegister(state, m.restarts, calls, m.seconds, m.open, m.own, m.answers.count, m.answers.tokens, m.answers.saved)
	return m
}

// stands notes the state that the server is in now.
func (m *Metrics) stands(now Standing) {
	if m == nil {
		return
	}
	for s, g := range m.state {
		v := 0.0
		if s == now {
			v = 1
		}
		g.Set(v)
	}
}

func (m *Metrics) restarted() {
	if m != nil {
		m.restarts.Inc()
	}
}

// sessions counts callers' own sessions.
func (m *Metrics) sessions(n float64) {
	if m != nil {
		m.own.Add(n)
	}
}

// begin notes a call, until end does.
func (m *Metrics) begin() (began time.Time) {
	if m != nil {
		m.open.Inc()
	}
	return time.Now()
}

// end counts a call by what it ended with.
func (m *Metrics) end(began time.Time, err error) {
	if m == nil {
		return
	}
	m.open.Dec()
	m.calls[outcomeOf(err)].Inc()
	m.seconds.Observe(time.Since(began).Seconds())
}

// outcomeOf names what [Upstream.Call] returned, for a call whose context ends
// with a cause.
func outcomeOf(err error) outcome {
	if err == nil {
		return callOK
	}
	if _, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return callError
	}
	switch {
	case errors.Is(err, errTimeout):
		return callTimeout
	case errors.Is(err, errStopping), errors.Is(err, ErrServerGone):
		return callLost
	case errors.Is(err, client.ErrCancelled):
		return callCancelled
	}
	return callFailed
}
