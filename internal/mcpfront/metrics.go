package mcpfront

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// Metrics are the figures of one space's MCP clients. [NewMetrics] makes them;
// a nil *Metrics counts nothing.
type Metrics struct {
	sessions prometheus.Gauge
	held     prometheus.Gauge
	requests map[ending]prometheus.Counter
	seconds  prometheus.Histogram
}

// ending is how a client's request ended.
type ending string

const (
	endedOK        ending = "ok"        // with a result, also one that says that the call failed or waits
	endedError     ending = "error"     // with a server's error, or for what was asked wrongly
	endedRefused   ending = "refused"   // the room did not let it through
	endedCancelled ending = "cancelled" // by the client, or by the end of its session
)

var endings = [...]ending{endedOK, endedError, endedRefused, endedCancelled}

// NewMetrics registers the figures of a space.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	requests := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "parley_mcp_requests_total",
		Help: "Requests of MCP clients that have ended, by outcome.",
	}, []string{"outcome"})
	m := &Metrics{
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "parley_mcp_sessions",
			Help: "Sessions of MCP clients; those of 2026-07-28 have none.",
		}),
		held: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "parley_mcp_held",
			Help: "Calls of MCP clients that are held until somebody has decided on them.",
		}),
		requests: make(map[ending]prometheus.Counter, len(endings)),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_mcp_request_duration_seconds",
			Help:    "Time that a request of an MCP client took, waiting for approval included.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 10), // 0.5 ms to 131 s
		}),
	}
	for _, e := range endings {
		m.requests[e] = requests.WithLabelValues(string(e))
	}
	reg.MustRegister(m.sessions, m.held, requests, m.seconds)
	return m
}

func (m *Metrics) session(n float64) {
	if m != nil {
		m.sessions.Add(n)
	}
}

func (m *Metrics) hold(n float64) {
	if m != nil {
		m.held.Add(n)
	}
}

// answered counts a request by what it ended with.
func (m *Metrics) answered(began time.Time, err error) {
	if m == nil {
		return
	}
	m.seconds.Observe(time.Since(began).Seconds())
	m.requests[endingOf(err)].Inc()
}

func endingOf(err error) ending {
	_, refused := errors.AsType[*parley.Error](err)
	_, theirs := errors.AsType[*client.RPCError](err)
	_, ours := errors.AsType[*jsonrpc.Error](err)
	switch {
	case err == nil:
		return endedOK
	case theirs, ours:
		return endedError
	case refused:
		return endedRefused
	case errors.Is(err, errCancelled), errors.Is(err, errSessionEnded), errors.Is(err, context.Canceled):
		return endedCancelled
	}
	return endedError
}
