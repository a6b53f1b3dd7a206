package gateway

import (
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley"
)

// spaceMetrics are the figures of one space. Every handle is resolved before
// the space runs: to count something is one atomic addition.
type spaceMetrics struct {
	registry *prometheus.Registry

	admitted   prometheus.Counter // envelopes that are on record
	refused    map[parley.Code]prometheus.Counter
	refusedAny *prometheus.CounterVec // for codes that the table lacks
	flooded    prometheus.Counter     // refusals that are on record as a count only

	delivered prometheus.Counter // frames written to connections
	bytes     prometheus.Counter // their bytes
	skipped   prometheus.Counter // frames that a connection's filter kept from it

	connections  prometheus.Gauge
	closed       map[closeReason]prometheus.Counter
	lagEnvelopes prometheus.Histogram // of each connection, at each sweep
	lagBytes     prometheus.Histogram

	commitSeconds prometheus.Histogram // from append to durable, of each batch's first record
	commitRecords prometheus.Histogram // records in one batch
	failures      prometheus.Counter   // batches that the journal could not write
	committed     atomic.Int64         // Unix time in nanoseconds of the newest batch; 0 is none

	checkpoint atomic.Uint64 // seq of the newest checkpoint: what the next start need not read again
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
	reg := registerer{s.labelled(name)}
	s.admitted = reg.counter("parley_envelopes_admitted_total", "Envelopes that were admitted and are on record.")
	s.refusedAny = reg.counters("parley_envelopes_refused_total", "Envelopes that were refused, by code.", "code")
	s.refused = resolve(s.refusedAny, refusable[:])
	s.flooded = reg.counter("parley_refusals_flooded_total",
		"Refusals beyond the first of a sender's second, which are on record as a count only.")
	s.delivered = reg.counter("parley_frames_delivered_total", "Frames that were written to connections.")
	s.bytes = reg.counter("parley_delivered_bytes_total", "Bytes of the frames that were written to connections.")
	s.skipped = reg.counter("parley_frames_skipped_total", "Frames that a connection's filter kept from it.")
	s.connections = reg.gauge("parley_connections", "WebSocket connections that are open.")
	s.closed = resolve(reg.counters("parley_connections_closed_total", "WebSocket connections that ended, by reason.", "reason"), closeReasons[:])
	s.lagEnvelopes = reg.histogram("parley_connection_lag_envelopes",
		"How many envelopes a connection was behind, taken of each once a second.",
		append([]float64{0}, prometheus.ExponentialBuckets(1, 4, 8)...)) // up to 16,384
	s.lagBytes = reg.histogram("parley_connection_lag_bytes",
		"How many bytes a connection was behind, taken of each once a second.",
		append([]float64{0}, prometheus.ExponentialBuckets(1024, 4, 9)...)) // up to 64 MiB
	s.commitSeconds = reg.histogram("parley_journal_commit_duration_seconds",
		"Time from handing a batch's first record to the journal until it is durable.",
		prometheus.ExponentialBuckets(0.0001, 2.5, 12)) // 0.1 ms to 2.4 s
	s.commitRecords = reg.histogram("parley_journal_commit_records",
		"Records that became durable together.", prometheus.ExponentialBuckets(1, 2, 13))
	s.failures = reg.counter("parley_journal_failures_total", "Batches of records that the journal could not write.")
	m.spaces[name] = s
	return s
}

// labelled registers figures with the name of the space.
func (s *spaceMetrics) labelled(name string) prometheus.Registerer {
	return prometheus.WrapRegistererWith(prometheus.Labels{"space": name}, s.registry)
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
	s.committed.Store(time.Now().UnixNano())
}

// lag notes how far a connection is behind.
func (s *spaceMetrics) lag(envelopes, bytes uint64) {
	s.lagEnvelopes.Observe(float64(envelopes))
	s.lagBytes.Observe(float64(bytes))
}

// open counts a connection, until close does.
func (s *spaceMetrics) open() { s.connections.Inc() }

// close counts the end of a connection, by the WebSocket close code that we
// sent; 0 where its peer ended it.
func (s *spaceMetrics) close(code int) {
	s.connections.Dec()
	s.closed[closeReasonOf(code)].Inc()
}
