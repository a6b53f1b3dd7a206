package gateway

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/parleyhq/parley"
)

// metrics are a gateway's figures for Prometheus, in registries of its own: one
// for what concerns the whole gateway, and one for each space, so that whoever
// asks with a token is shown the spaces that it belongs to and no other.
type metrics struct {
	gateway  *prometheus.Registry
	requests *prometheus.CounterVec   // by method and status
	duration prometheus.Histogram     // of requests that were answered
	spaces   map[string]*spaceMetrics // not changed once the gateway runs
}

func newMetrics() *metrics {
	m := &metrics{
		gateway: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_http_requests_total",
			Help: "HTTP requests that were answered, by method and status.",
		}, []string{"method", "status"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "parley_http_request_duration_seconds",
			Help:    "Time taken to answer an HTTP request, WebSockets aside.",
			Buckets: prometheus.ExponentialBuckets(0.0005, 4, 9), // 0.5 ms to 33 s
		}),
		spaces: make(map[string]*spaceMetrics),
	}
	m.gateway.MustRegister(m.requests, m.duration,
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	return m
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

// spaceMetrics are the figures of one space. Every handle is resolved before
// the space runs: to count something is one atomic addition.
type spaceMetrics struct {
	registry *prometheus.Registry

	admitted   prometheus.Counter // envelopes that are on record
	refused    map[parley.Code]prometheus.Counter
	refusedAny *prometheus.CounterVec // for codes that the table lacks

	delivered prometheus.Counter // frames written to connections
	bytes     prometheus.Counter // their bytes
	skipped   prometheus.Counter // frames that a connection's filter kept from it

	connections prometheus.Gauge
	closed      map[closeReason]prometheus.Counter

	commitSeconds prometheus.Histogram // from append to durable, of each batch's first record
	commitRecords prometheus.Histogram // records in one batch
	failures      prometheus.Counter   // batches that the journal could not write
}

// closeReason says why a connection ended.
type closeReason string

// The reasons, after the close codes of section 5 of the contract.
const (
	closedByPeer       closeReason = "peer"       // it left, or its network did
	closedGoingAway    closeReason = "going_away" // 1001
	closedProtocol     closeReason = "protocol"   // 1002, 1003, 1007, 1009: not what we speak
	closedUnauthorized closeReason = "unauthorized"
	closedRemoved      closeReason = "removed"
	closedSlow         closeReason = "slow"
	closedReplaced     closeReason = "replaced"
	closedFlooding     closeReason = "flooding"
	closedFault        closeReason = "fault" // of ours
)

var closeReasons = [...]closeReason{
	closedByPeer, closedGoingAway, closedProtocol, closedUnauthorized, closedRemoved,
	closedSlow, closedReplaced, closedFlooding, closedFault,
}

// closeReasonOf names a WebSocket close code that we sent; 0 is a connection
// that its peer ended.
func closeReasonOf(code int) closeReason {
	switch code {
	case 0, 1000:
		return closedByPeer
	case 1001:
		return closedGoingAway
	case 1002, 1003, 1007, 1009:
		return closedProtocol
	case 4001:
		return closedUnauthorized
	case 4003:
		return closedRemoved
	case 4008:
		return closedSlow
	case 4009:
		return closedReplaced
	case 4029:
		return closedFlooding
	}
	return closedFault
}

// refusable are the codes that admission refuses with (section 5).
var refusable = [...]parley.Code{
	parley.MalformedEnvelope, parley.EnvelopeTooLarge, parley.UnsupportedProtocol, parley.IdentityMismatch,
	parley.ReservedKind, parley.RateLimited, parley.InvalidKind, parley.InvalidSubject, parley.KindMismatch,
	parley.CapabilityViolation, parley.InvalidContext, parley.ContextLimit, parley.MissingCorrelation,
	parley.InvalidCorrelation, parley.LimitReached, parley.TargetAbsent, parley.ProposalNotFound,
	parley.ProposalClosed, parley.ProposalMismatch, parley.NotProposer, parley.SelfFulfilment,
	parley.DuplicateID, parley.NotFound, parley.Unavailable, parley.Internal,
}

// space makes the figures of one space, before the gateway runs.
func (m *metrics) space(name string) *spaceMetrics {
	s := &spaceMetrics{registry: prometheus.NewRegistry()}
	reg := registerer{prometheus.WrapRegistererWith(prometheus.Labels{"space": name}, s.registry)}
	s.admitted = reg.counter("parley_envelopes_admitted_total", "Envelopes that were admitted and are on record.")
	s.refusedAny = reg.counters("parley_envelopes_refused_total", "Envelopes that were refused, by code.", "code")
	s.refused = resolve(s.refusedAny, refusable[:])
	s.delivered = reg.counter("parley_frames_delivered_total", "Frames that were written to connections.")
	s.bytes = reg.counter("parley_delivered_bytes_total", "Bytes of the frames that were written to connections.")
	s.skipped = reg.counter("parley_frames_skipped_total", "Frames that a connection's filter kept from it.")
	s.connections = reg.gauge("parley_connections", "WebSocket connections that are open.")
	s.closed = resolve(reg.counters("parley_connections_closed_total", "WebSocket connections that ended, by reason.", "reason"), closeReasons[:])
	s.commitSeconds = reg.histogram("parley_journal_commit_duration_seconds",
		"Time from handing a batch's first record to the journal until it is durable.",
		prometheus.ExponentialBuckets(0.0001, 2.5, 12)) // 0.1 ms to 2.4 s
	s.commitRecords = reg.histogram("parley_journal_commit_records",
		"Records that became durable together.", prometheus.ExponentialBuckets(1, 2, 13))
	s.failures = reg.counter("parley_journal_failures_total", "Batches of records that the journal could not write.")
	m.spaces[name] = s
	return s
}

// scrapeTime is how long a scrape waits for a space and its log.
const scrapeTime = 2 * time.Second

// watch adds the figures that are read when somebody asks.
func (s *spaceMetrics) watch(r *room) {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	reg := prometheus.WrapRegistererWith(prometheus.Labels{"space": r.name}, s.registry)
	reg.MustRegister(&watcher{
		room:    r,
		present: desc("parley_participants_present", "Participants that have a connection."),
		open:    desc("parley_proposals_open", "Proposals that are open."),
		last:    desc("parley_journal_last_seq", "Place of the newest envelope in the space's order."),
		lag:     desc("parley_journal_index_lag_envelopes", "Envelopes that the full-text index has not read yet."),
	})
}

// watcher asks a space and its log once for each scrape. A figure that cannot
// be had in time is left out.
type watcher struct {
	room                     *room
	present, open, last, lag *prometheus.Desc
}

func (w *watcher) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{w.present, w.open, w.last, w.lag} {
		ch <- d
	}
}

func (w *watcher) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	gauge := func(d *prometheus.Desc, v uint64) {
		ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v))
	}
	var present, open int
	err := w.room.do(ctx, func() { present, open = len(w.room.conns), w.room.state.OpenProposals() })
	if err == nil {
		gauge(w.present, uint64(present))
		gauge(w.open, uint64(open))
	}
	if b, err := w.room.record.Bounds(ctx); err == nil {
		gauge(w.last, b.Last)
		gauge(w.lag, b.Last-min(b.Indexed, b.Last))
	}
}

// refuse counts a refusal.
func (s *spaceMetrics) refuse(code parley.Code) {
	if c := s.refused[code]; c != nil {
		c.Inc()
		return
	}
	s.refusedAny.WithLabelValues(string(code)).Inc()
}

// deliver counts frames that went out in one write.
func (s *spaceMetrics) deliver(frames, bytes int) {
	s.delivered.Add(float64(frames))
	s.bytes.Add(float64(bytes))
}

// commit counts a batch that became durable, so long after its first record
// was handed over.
func (s *spaceMetrics) commit(records int, took time.Duration) {
	s.commitRecords.Observe(float64(records))
	s.commitSeconds.Observe(took.Seconds())
}

// open counts a connection, until close does.
func (s *spaceMetrics) open() { s.connections.Inc() }

// close counts the end of a connection, by the WebSocket close code that we
// sent; 0 where its peer ended it.
func (s *spaceMetrics) close(code int) {
	s.connections.Dec()
	s.closed[closeReasonOf(code)].Inc()
}

// registerer makes figures and registers them.
type registerer struct{ prometheus.Registerer }

func (r registerer) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	r.MustRegister(c)
	return c
}

func (r registerer) counters(name, help, label string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
	r.MustRegister(c)
	return c
}

func (r registerer) gauge(name, help string) prometheus.Gauge {
	g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	r.MustRegister(g)
	return g
}

func (r registerer) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	r.MustRegister(h)
	return h
}

// resolve finds the counters of the labels that are known beforehand.
func resolve[L ~string](v *prometheus.CounterVec, labels []L) map[L]prometheus.Counter {
	m := make(map[L]prometheus.Counter, len(labels))
	for _, l := range labels {
		m[l] = v.WithLabelValues(string(l))
	}
	return m
}
