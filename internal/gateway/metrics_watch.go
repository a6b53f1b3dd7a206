package gateway

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley/internal/journal"
)

// scrapeTime is how long a scrape waits for a space and its log.
const scrapeTime = 2 * time.Second

// watcher asks a space and its log once for each scrape. A figure that cannot
// be had in time is left out.
type watcher struct {
	room *room

	ready, waiting, present, open, oldest, contexts *prometheus.Desc // of the space
	last, lag, checkpoint                           *prometheus.Desc // of its log
}

// watch adds the figures that are read when somebody asks.
func (s *spaceMetrics) watch(r *room) {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	s.labelled(r.name).MustRegister(&watcher{
		room:    r,
		ready:   desc("parley_space_ready", "Whether the space takes envelopes: 0 while its journal cannot be written."),
		waiting: desc("parley_submissions_waiting", "Envelopes that wait to be judged."),
		present: desc("parley_participants_present", "Participants that have a connection."),
		open:    desc("parley_proposals_open", "Proposals that are open."),
		oldest: desc("parley_proposals_oldest_timestamp_seconds",
			"Unix time at which the oldest open proposal was made. Absent while none is open."),
		contexts: desc("parley_contexts_remembered", "Contexts that the rules have in memory: at most 16,384. Of others the record is asked."),
		last:     desc("parley_journal_last_seq", "Place of the newest envelope in the space's order."),
		lag:      desc("parley_journal_index_lag_envelopes", "Envelopes that the full-text index has not read yet."),
		checkpoint: desc("parley_checkpoint_age_envelopes",
			"Envelopes since the newest checkpoint, which the next start has to read."),
	})
}

// Describe implements [prometheus.Collector].
func (w *watcher) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{
		w.ready, w.waiting, w.present, w.open, w.oldest, w.contexts, w.last, w.lag, w.checkpoint,
	} {
		ch <- d
	}
}

// Collect implements [prometheus.Collector].
func (w *watcher) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
	defer cancel()
	w.collectSpace(ctx, ch)
	w.collectLog(ctx, ch)
}

func (w *watcher) collectSpace(ctx context.Context, ch chan<- prometheus.Metric) {
	var ready, present, open, contexts int
	var oldest time.Time
	gauge(ch, w.waiting, len(w.room.inbox))
	err := w.room.do(ctx, func() {
		if w.room.closed() == nil {
			ready = 1
		}
		present, open = len(w.room.conns), w.room.state.OpenProposals()
		oldest = w.room.state.OldestProposal()
		contexts = w.room.state.ContextsRemembered()
	})
	if err != nil {
		return
	}
	gauge(ch, w.ready, ready)
	gauge(ch, w.present, present)
	gauge(ch, w.open, open)
	gauge(ch, w.contexts, contexts)
	if open > 0 {
		gauge(ch, w.oldest, float64(oldest.UnixMilli())/1000)
	}
}

func (w *watcher) collectLog(ctx context.Context, ch chan<- prometheus.Metric) {
	b, err := w.room.record.Bounds(ctx)
	if err != nil {
		return
	}
	gauge(ch, w.last, b.Last)
	gauge(ch, w.lag, b.Last-min(b.Indexed, b.Last))
	gauge(ch, w.checkpoint, b.Last-min(w.room.metrics.checkpoint.Load(), b.Last))
}

// gauge sends a figure to who collects.
func gauge[N int | int64 | uint64 | float64](ch chan<- prometheus.Metric, d *prometheus.Desc, v N, labels ...string) {
	ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), labels...)
}

// diskUser is a journal that is kept in files.
type diskUser interface {
	Disk() (journal.Disk, error)
}

// diskWatcher asks a journal for the room that it takes, and that there is.
type diskWatcher struct {
	journal          diskUser
	files, free, all *prometheus.Desc
}

// watchJournal adds what is known of the journal as a whole: whether the disk
// takes a write, and of its files, if it has any.
func (m *metrics) watchJournal(g *Gateway) {
	m.gateway.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "parley_journal_writable",
		Help: "Whether the journal takes a write, which is tried where nobody else has written just before.",
	}, func() float64 {
		if g.writable(context.Background()) != nil {
			return 0
		}
		return 1
	}))
	on, ok := g.opts.Journal.(diskUser)
	if !ok {
		return
	}
	m.gateway.MustRegister(&diskWatcher{
		journal: on,
		files: prometheus.NewDesc("parley_journal_size_bytes",
			"Size of the journal's files: the record, its write-ahead log, the search index.", []string{"file"}, nil),
		free: prometheus.NewDesc("parley_journal_disk_free_bytes", "What is left on the journal's file system.", nil, nil),
		all:  prometheus.NewDesc("parley_journal_disk_size_bytes", "Size of the journal's file system.", nil, nil),
	})
}

// Describe implements [prometheus.Collector].
func (w *diskWatcher) Describe(ch chan<- *prometheus.Desc) {
	ch <- w.files
	ch <- w.free
	ch <- w.all
}

// Collect implements [prometheus.Collector].
func (w *diskWatcher) Collect(ch chan<- prometheus.Metric) {
	d, err := w.journal.Disk()
	if err != nil {
		return
	}
	gauge(ch, w.files, d.Record, "record")
	gauge(ch, w.files, d.Ahead, "wal")
	gauge(ch, w.files, d.Search, "search")
	if d.Size > 0 {
		gauge(ch, w.free, d.Free)
		gauge(ch, w.all, d.Size)
	}
}
