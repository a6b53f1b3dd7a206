package gateway

import (
	"cmp"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are a gateway's figures for Prometheus, in registries of its own: one
// for what concerns the whole gateway, and one for each space, so that whoever
// asks with a token is shown the spaces that it belongs to and no other.
type metrics struct {
	gateway  *prometheus.Registry
	requests *prometheus.CounterVec // by method and status
	duration prometheus.Histogram   // of requests that were answered
	signIns  signIns
	refused  tokensRefused
	spaces   map[string]*spaceMetrics // not changed once the gateway runs
}

// signIns counts those who ask for a session.
type signIns struct{ accepted, refused, limited prometheus.Counter }

// tokensRefused counts those who bring a token with a request, and are turned away.
type tokensRefused struct{ unknown, limited prometheus.Counter }

func newMetrics() *metrics {
	m := &metrics{gateway: prometheus.NewRegistry(), spaces: make(map[string]*spaceMetrics)}
	reg := registerer{m.gateway}
	m.requests = reg.counters("parley_http_requests_total",
		"HTTP requests that were answered, by method and status.", "method", "status")
	m.duration = reg.histogram("parley_http_request_duration_seconds",
		"Time taken to answer an HTTP request, WebSockets aside.",
		prometheus.ExponentialBuckets(0.0005, 4, 9)) // 0.5 ms to 33 s
	results := reg.counters("parley_sign_ins_total", "Tokens and codes that browsers wanted to sign in with, by result.", "result")
	m.signIns = signIns{results.WithLabelValues("accepted"), results.WithLabelValues("refused"), results.WithLabelValues("limited")}
	reasons := reg.counters("parley_tokens_refused_total", "Tokens in the Authorization header that were refused, by reason.", "reason")
	m.refused = tokensRefused{reasons.WithLabelValues("unknown"), reasons.WithLabelValues("limited")}
	m.gateway.MustRegister(
		buildInfo(),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
}

// buildInfo is always 1; its labels say what is running.
func buildInfo() prometheus.Collector {
	version, revision := "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		version = info.Main.Version
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				revision = s.Value
			}
		}
	}
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "parley_build_info",
		Help: "Always 1. The labels say what was built, and with which Go.",
		ConstLabels: prometheus.Labels{
			"version": cmp.Or(version, "(devel)"), "revision": revision, "goversion": runtime.Version(),
		},
	})
	g.Set(1)
	return g
}

// Registerer takes figures of whatever else works in a space, as bridges do:
// they get the space for a label, and are shown to whom the space is. nil where
// there is no such space.
func (g *Gateway) Registerer(space string) prometheus.Registerer {
	s := g.metrics.spaces[space]
	if s == nil {
		return nil
	}
	return s.labelled(space)
}

// answered counts an HTTP request. A WebSocket counts when it ends, and its
// time is no answer's.
func (m *metrics) answered(method string, status int, took time.Duration) {
	m.requests.WithLabelValues(knownMethod(method), strconv.Itoa(status)).Inc()
	if status != http.StatusSwitchingProtocols {
		m.duration.Observe(took.Seconds())
	}
}

// knownMethod keeps what a client makes up from becoming a label.
func knownMethod(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// handler serves the gateway's figures and those of the named spaces.
func (m *metrics) handler(spaces []string) http.Handler {
	gatherers := prometheus.Gatherers{m.gateway}
	for _, name := range spaces {
		if s := m.spaces[name]; s != nil {
			gatherers = append(gatherers, s.registry)
		}
	}
	return promhttp.HandlerFor(gatherers, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError})
}
