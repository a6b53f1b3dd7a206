package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/load"
)

// benchStart says how much is on record when a gateway starts.
type benchStart struct {
	benchFlags
	records int
	times   int
}

func newBenchStart(t *terminal) *cobra.Command {
	var b benchStart
	cmd := &cobra.Command{
		Use:   "start",
		Short: "The time from starting a gateway to its first welcome",
		Long: `Make a journal, and start a gateway on it again and again: after an end in order, and after
one by SIGKILL. The first start finds no checkpoint and reads everything. The time is that
from starting the process to the first welcome.`,
		Example: `  parley bench start --records 1000000
  parley bench start --records 10000000 --dir /var/tmp`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), t) },
	}
	b.add(cmd)
	for _, unused := range []string{"against", "space", "token-file", "pid", "warmup", "duration", "profile"} {
		cmd.Flags().Lookup(unused).Hidden = true
	}
	f := cmd.Flags()
	f.IntVar(&b.records, "records", 100_000, "envelopes on record")
	f.IntVar(&b.times, "times", 3, "how often it is started in each way")
	return cmd
}

// startFigures are times from starting the process to the first welcome.
type startFigures struct {
	MakeSeconds   float64   `json:"journal_made_in_seconds"`
	FirstSeconds  float64   `json:"first_start_seconds"` // without a checkpoint
	InOrder       float64   `json:"start_after_end_in_order_median_seconds"`
	Killed        float64   `json:"start_after_kill_median_seconds"`
	InOrderEach   []float64 `json:"start_after_end_in_order_seconds"`
	KilledEach    []float64 `json:"start_after_kill_seconds"`
	MemoryAtStart uint64    `json:"gateway_memory_bytes,omitempty"`
}

func (b *benchStart) run(ctx context.Context, t *terminal) error {
	if b.url != "" {
		return usagef("start needs a gateway of its own")
	}
	if err := cmp.Or(between("records", b.records, 1, mostRecords), between("times", b.times, 1, mostStarts)); err != nil {
		return err
	}
	s, err := b.prepare(t)
	if err != nil {
		return err
	}
	defer s.close()
	var r startFigures
	if err := b.measure(ctx, s, &r); err != nil {
		return err
	}
	var rows benchRows
	rows.add("after an end in order", fmt.Sprintf("%.3f", r.InOrder), "s")
	rows.add("after SIGKILL", fmt.Sprintf("%.3f", r.Killed), "s")
	rows.add("the first time, without a checkpoint", fmt.Sprintf("%.3f", r.FirstSeconds), "s")
	rows.add("making the journal", fmt.Sprintf("%.1f", r.MakeSeconds), "s")
	settings := struct {
		Records int    `json:"records"`
		Bytes   int    `json:"envelope_bytes"`
		Sync    string `json:"sync"`
	}{b.records, b.size, b.sync}
	return s.report("start", settings, r, fmt.Sprintf("start: %s envelopes on record", thousands(float64(b.records))), rows)
}

// prepare is a site whose gateway does not run yet.
func (b *benchStart) prepare(t *terminal) (*benchSite, error) {
	if err := b.check(benchNeed{}); err != nil {
		return nil, err
	}
	s := &benchSite{flags: &b.benchFlags, t: t, progress: &benchProgress{t: t}}
	var err error
	s.gateway, err = makeBenchGateway(&b.benchFlags, benchNeed{participants: mostParticipants})
	return s, err
}

func (b *benchStart) measure(ctx context.Context, s *benchSite, r *startFigures) (err error) {
	start := time.Now()
	var from []string
	for i := range s.gateway.tokens {
		from = append(from, benchParticipant(i))
	}
	err = load.MakeJournal(ctx, s.gateway.journal(), benchSpace, from, b.records, b.size, func(done int) {
		s.progress.say("making the journal: %d of %d envelopes", done, b.records)
	})
	if err != nil {
		return err
	}
	r.MakeSeconds = time.Since(start).Seconds()
	s.progress.say("starting for the first time")
	if r.FirstSeconds, err = s.timeStart(ctx); err != nil {
		return err
	}
	for range b.times {
		s.progress.say("ending in order, and starting")
		s.gateway.stop()
		if err := appendStart(ctx, s, &r.InOrderEach); err != nil {
			return err
		}
		s.progress.say("killing, and starting")
		s.gateway.crash()
		if err := appendStart(ctx, s, &r.KilledEach); err != nil {
			return err
		}
	}
	r.InOrder, r.Killed = median(r.InOrderEach), median(r.KilledEach)
	r.MemoryAtStart, _ = load.MemoryOf(s.pid())
	return nil
}

func appendStart(ctx context.Context, s *benchSite, list *[]float64) error {
	seconds, err := s.timeStart(ctx)
	*list = append(*list, seconds)
	return err
}

// timeStart starts the gateway, and returns the time to the first welcome.
func (s *benchSite) timeStart(ctx context.Context) (float64, error) {
	start := time.Now()
	if err := s.gateway.start(ctx); err != nil {
		return 0, err
	}
	s.aim(s.gateway.url, benchSpace, s.gateway.tokens)
	err := load.Visit(ctx, s.target)
	return time.Since(start).Seconds(), err
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
