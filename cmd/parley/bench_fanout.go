package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/load"
)

// mostParticipants is how many participants connections are spread over.
const mostParticipants = 100

// benchFanout says how many send to how many.
type benchFanout struct {
	benchFlags
	receivers, senders int
	workers            int
	window             int
	rate               float64
	query              string
}

func newBenchFanout(t *terminal) *cobra.Command {
	var b benchFanout
	cmd := &cobra.Command{
		Use:   "fanout",
		Short: "Senders to receivers, every message to all of them",
		Long: `Let senders send to receivers, every message to all of them. Without --rate they send as
fast as everybody receives, with at most --window messages under way. With --rate they send
at that rate, whatever becomes of it.`,
		Example: `  parley bench fanout --receivers 200
  parley bench fanout --receivers 20 --rate 2000 --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), t) },
	}
	b.add(cmd)
	f := cmd.Flags()
	f.IntVar(&b.receivers, "receivers", 20, "how many receive")
	f.IntVar(&b.senders, "senders", 1, "how many send")
	f.IntVar(&b.workers, "workers", 2, "the processes that receivers are spread over")
	f.IntVar(&b.window, "window", 1024, "messages that are sent and not received by all")
	f.StringVar(&b.query, "query", "", "`PARAMETERS` with which receivers connect, as kinds=chat&routing=directed")
	f.Float64Var(&b.rate, "rate", 0, "messages per `SECOND`, of all senders; 0 is as many as can be received")
	return cmd
}

func (b *benchFanout) check() error {
	return cmp.Or(
		between("receivers", b.receivers, 1, mostBenched), between("senders", b.senders, 1, mostBenched),
		between("workers", b.workers, 1, mostWorkers), between("window", b.window, 1, mostBenched),
		checkRate(b.rate, true), checkQuery(b.query),
	)
}

func (b *benchFanout) run(ctx context.Context, t *terminal) error {
	if err := b.check(); err != nil {
		return err
	}
	s, err := b.open(ctx, t, benchNeed{participants: min(b.receivers, mostParticipants), connections: b.receivers + b.senders})
	if err != nil {
		return err
	}
	defer s.close()
	s.target.Query = b.query
	s.progress.say("connecting")
	r, err := load.Fanout{
		Setting: s.setting(), Receivers: b.receivers, Senders: b.senders, Workers: b.workers, Window: b.window, Rate: b.rate,
	}.Run(ctx)
	if err != nil {
		return err
	}
	var rows benchRows
	rows.add("deliveries", thousands(r.DeliveriesPerSecond), "per second")
	rows.add("messages", thousands(r.MessagesPerSecond), "per second")
	rows.server(r.Server, r.CPUSecondsPerMillion, "deliveries")
	rows.latency("latency", r.Latency)
	if r.Lost > 0 {
		rows.add("lost", thousands(float64(r.Lost)), "deliveries")
	}
	rows.refused(r.Errors, r.FirstError)
	settings := struct {
		Receivers int     `json:"receivers"`
		Senders   int     `json:"senders"`
		Workers   int     `json:"workers"`
		Bytes     int     `json:"envelope_bytes"`
		Window    int     `json:"window,omitzero"`
		Rate      float64 `json:"rate_per_second,omitzero"`
		Query     string  `json:"query,omitempty"`
		Sync      string  `json:"sync,omitempty"`
	}{b.receivers, b.senders, b.workers, b.size, b.window, b.rate, b.query, s.sync()}
	how := fmt.Sprintf("window %d", b.window)
	if b.rate > 0 {
		settings.Window = 0
		how = thousands(b.rate) + " per second"
	}
	return s.report("fanout", settings, r, fmt.Sprintf("fanout: %s to %s, %d bytes, %s",
		plural(b.senders, "sender", "senders"), plural(b.receivers, "receiver", "receivers"), b.size, how), rows)
}

// sync is that of the gateway's journal, where it is ours.
func (s *benchSite) sync() string {
	if s.gateway == nil {
		return ""
	}
	return s.flags.sync
}
