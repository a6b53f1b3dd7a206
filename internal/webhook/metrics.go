package webhook

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the figures of one space's webhooks. [NewMetrics] makes them; nil
// counts nothing.
type Metrics struct {
	events   *prometheus.CounterVec
	pending  *prometheus.GaugeVec
	dead     *prometheus.GaugeVec
	oldest   *prometheus.GaugeVec
	disabled *prometheus.GaugeVec
	attempts *prometheus.HistogramVec
}

// ending is what became of an event.
type ending string

const (
	endedDelivered ending = "delivered" // it was taken
	endedFailed    ending = "failed"    // it was not, and is sent again
	endedDead      ending = "dead"      // it was given up
	endedLost      ending = "lost"      // its record is gone
)

var endings = [...]ending{endedDelivered, endedFailed, endedDead, endedLost}

// NewMetrics registers the figures of a space.
func NewMetrics(reg prometheus.Registerer) *Metrics {
	gauge := func(name, help string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, []string{"webhook"})
	}
	m := &Metrics{
		events: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "parley_webhook_deliveries_total",
			Help: "Attempts to send an event, and events that were given up, by result.",
		}, []string{"webhook", "result"}),
		pending: gauge("parley_webhook_pending", "Events that wait to be taken, at most 1,000."),
		dead:    gauge("parley_webhook_dead", "Events that were given up and are kept, at most 1,000."),
		oldest: gauge("parley_webhook_oldest_timestamp_seconds",
			"When the oldest event happened that waits, in seconds since 1970; 0 while none does."),
		disabled: gauge("parley_webhook_disabled", "1 while nothing is sent, since the receiver answered 410."),
		attempts: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "parley_webhook_attempt_duration_seconds",
			Help:    "Time that a receiver took to answer, or not to.",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 9), // 1 ms to 65 s
		}, []string{"webhook"}),
	}
	reg.MustRegister(m.events, m.pending, m.dead, m.oldest, m.disabled, m.attempts)
	return m
}

// hookMetrics are those of one webhook; nil counts nothing.
type hookMetrics struct {
	events                          map[ending]prometheus.Counter
	pending, dead, oldest, disabled prometheus.Gauge
	attempts                        prometheus.Observer
}

func (m *Metrics) of(webhook string) *hookMetrics {
	if m == nil {
		return nil
	}
	one := &hookMetrics{
		events:  map[ending]prometheus.Counter{},
		pending: m.pending.WithLabelValues(webhook), dead: m.dead.WithLabelValues(webhook),
		oldest: m.oldest.WithLabelValues(webhook), disabled: m.disabled.WithLabelValues(webhook),
		attempts: m.attempts.WithLabelValues(webhook),
	}
	for _, e := range endings {
		one.events[e] = m.events.WithLabelValues(webhook, string(e))
	}
	return one
}

// Track makes the figures of a webhook appear before it has done anything.
func (m *Metrics) Track(webhook string) { m.of(webhook) }

func (m *hookMetrics) attempted(r result) {
	if m != nil && !r.at.IsZero() {
		m.attempts.Observe(r.took.Seconds())
	}
}

func (m *hookMetrics) ended(e ending) {
	if m != nil {
		m.events[e].Inc()
	}
}

func (m *hookMetrics) stands(pending, dead int, oldest time.Time, disabled bool) {
	if m == nil {
		return
	}
	m.pending.Set(float64(pending))
	m.dead.Set(float64(dead))
	since, off := 0.0, 0.0
	if !oldest.IsZero() {
		since = float64(oldest.UnixMilli()) / 1e3
	}
	if disabled {
		off = 1
	}
	m.oldest.Set(since)
	m.disabled.Set(off)
}
