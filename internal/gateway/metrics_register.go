package gateway

import "github.com/prometheus/client_golang/prometheus"

// registerer makes figures and registers them.
type registerer struct{ prometheus.Registerer }

func (r registerer) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	r.MustRegister(c)
	return c
}

func (r registerer) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
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
