package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/journal"
)

// statsFlags say what to count, and how much of it to show.
type statsFlags struct {
	since, until time.Time
	participant  string
	context      string // as somebody named it
	limit        int
	limited      bool // the limit was written
}

func newLogStats(t *terminal, from *recordFlags) *cobra.Command {
	var flags statsFlags
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Count who said what, how tools answered, and what that took in tokens",
		Long: `Count what is on record: envelopes by participant and kind; calls of tools with
failures and times; the tokens of answers in the response envelope, and how many
their profiles saved; refusals. Each table begins with the largest.

A call counts as its proposer's where it fulfils a proposal. Its time is from the
request to the answer, as the record has them. Saved are the tokens that the debug
profile would have taken more. Refusals beyond the first of a second are on record
without a code, and count as "flood".`,
		Example: `  parley log stats --since 24h
  parley log stats --journal .parley/parley.db --participant agent --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags.limited = cmd.Flags().Changed("limit")
			return runStats(cmd.Context(), t, from, flags)
		},
	}
	f := cmd.Flags()
	f.Var(moment{&flags.since}, "since", "only from then on: 2026-11-20, 15:04, or 10m for ten minutes ago")
	f.Var(moment{&flags.until}, "until", "only until then")
	f.StringVar(&flags.participant, "participant", "", "only what this `PARTICIPANT` sent and called, and calls of its tools")
	f.StringVar(&flags.context, "context", "", "only what belongs to this `CONTEXT`: its id, or how a recent one's begins")
	f.IntVarP(&flags.limit, "limit", "n", 20, "at most `N` lines of a table; 0 is all, which JSON Lines have unless told")
	return cmd
}

func (f *statsFlags) check() error {
	switch {
	case f.limit < 0:
		return usagef("--limit is below 0").hint("0 is all")
	case !f.since.IsZero() && !f.until.IsZero() && !f.since.Before(f.until):
		return usagef("nothing lies between --since and --until").hint("--since is the earlier one")
	}
	return nil
}

func runStats(ctx context.Context, t *terminal, from *recordFlags, flags statsFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	rec, err := from.open(ctx, t)
	if err != nil {
		return err
	}
	defer rec.close()
	if flags.context != "" {
		if flags.context, err = findContext(ctx, rec, flags.context); err != nil {
			return err
		}
	}
	var s *stats
	err = unlessOvertaken(func() error {
		s = newStats(flags)
		return countRecords(ctx, rec, flags.since, func(r *journal.Record) { s.count(r) })
	})
	if err != nil {
		return err
	}
	if flags.participant != "" && s.envelopes == 0 && len(s.callRows()) == 0 {
		t.say("Nothing that is on record there is by %q, or to it.", flags.participant)
	}
	if !flags.limited && t.asJSON() {
		flags.limit = 0
	}
	return printStats(t, s, flags.limit)
}

// countRecords hands on the records of the chain, from some time before the first
// envelope since then on.
func countRecords(ctx context.Context, rec record, since time.Time, each func(*journal.Record)) error {
	after, err := beginning(ctx, rec, since)
	if err != nil {
		return err
	}
	for r, err := range rec.chain(ctx, after) {
		if err != nil {
			return err
		}
		each(r)
	}
	return nil
}

// beginning is a place in the chain behind which everything lies since then. An
// envelope's index there is never less than its seq.
func beginning(ctx context.Context, rec record, since time.Time) (index uint64, err error) {
	if since.IsZero() {
		return 0, nil
	}
	for wire, err := range rec.list(ctx, query{since: since, limit: 1}) {
		if err != nil {
			return 0, err
		}
		return max(seqOf(wire), 1) - 1, nil
	}
	head, err := rec.head(ctx)
	return head.Seq, err
}
