package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/load"
)

// benchExchange says how many send and wait for answers.
type benchExchange struct {
	benchFlags
	senders int
	window  int
	to      string
	bare    bool
	batch   int
}

// exchangeSettings are told with the figures.
type exchangeSettings struct {
	Senders int    `json:"senders"`
	Window  int    `json:"window"`
	Bytes   int    `json:"envelope_bytes"`
	Sync    string `json:"sync,omitempty"`
}

func newBenchCall(t *terminal) *cobra.Command {
	var b benchExchange
	cmd := &cobra.Command{
		Use:   "call",
		Short: "Round trips through a bridged tool",
		Long: `Call a tool again and again: request, bridge, MCP server, and the answer back. The tool
says again what it was told, and is served over stdio.`,
		Example: `  parley bench call --callers 8
  parley bench call --against http://127.0.0.1:7717 --token-file you.token --to echo`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.call(cmd.Context(), t) },
	}
	b.add(cmd)
	f := cmd.Flags()
	f.IntVar(&b.senders, "callers", 1, "how many call, each as a participant of its own")
	f.IntVar(&b.window, "window", 1, "calls of one caller that may be unanswered")
	f.StringVar(&b.to, "to", benchEcho, "the `PARTICIPANT` with the tool echo")
	return cmd
}

func newBenchAppend(t *terminal) *cobra.Command {
	var b benchExchange
	cmd := &cobra.Command{
		Use:   "append",
		Short: "Senders alone, until what they sent is on record",
		Long: `Let senders send, with nobody who receives: each envelope counts once it is acknowledged,
and so on record. With --bare the same rows are then inserted by SQLite alone, for the
ratio.`,
		Example: `  parley bench append --senders 64 --bare
  parley bench append --senders 1 --window 1 --sync full`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.append(cmd.Context(), t) },
	}
	b.add(cmd)
	f := cmd.Flags()
	f.IntVar(&b.senders, "senders", 64, "how many send")
	f.IntVar(&b.window, "window", 16, "envelopes of one sender that may be unacknowledged")
	f.BoolVar(&b.bare, "bare", false, "insert the same rows without a gateway as well")
	f.IntVar(&b.batch, "batch", 64, "rows in one transaction of --bare")
	return cmd
}

// check refuses flags that make no sense; who is the flag of senders.
func (b *benchExchange) check(who string, most int) error {
	if b.bare && b.url != "" {
		return usagef("--bare reads the journal of a gateway of the bench's own").hint("leave out --against, or --bare")
	}
	err := cmp.Or(between(who, b.senders, 1, most), between("window", b.window, 1, mostBenched))
	if b.bare {
		err = cmp.Or(err, between("batch", b.batch, 1, mostBenched))
	}
	return err
}

func (b *benchExchange) call(ctx context.Context, t *terminal) error {
	if err := b.check("callers", mostConfigured); err != nil {
		return err
	}
	if !parley.ValidParticipantID(b.to) {
		return usagef("--to cannot be %.80q", b.to).hint("write the id of a participant, as %s", benchEcho)
	}
	s, err := b.open(ctx, t, benchNeed{participants: b.senders, connections: b.senders, echo: true, to: b.to})
	if err != nil {
		return err
	}
	defer s.close()
	s.target.Work, s.target.To = load.WorkCall, b.to
	r, rows, err := b.exchange(ctx, s, "calls")
	if err != nil {
		return err
	}
	return s.report("call", b.settings(s), r, fmt.Sprintf("call: %s, %d at a time each, %d bytes",
		plural(b.senders, "caller", "callers"), b.window, b.size), rows)
}

func (b *benchExchange) append(ctx context.Context, t *terminal) error {
	if err := b.check("senders", mostBenched); err != nil {
		return err
	}
	s, err := b.open(ctx, t, benchNeed{participants: min(b.senders, mostParticipants), connections: b.senders})
	if err != nil {
		return err
	}
	defer s.close()
	r, rows, err := b.exchange(ctx, s, "admissions")
	if err != nil {
		return err
	}
	figures := struct {
		*load.ExchangeResult
		Bare  *load.BareResult `json:"bare_sqlite,omitempty"`
		Ratio float64          `json:"ratio_to_bare_sqlite,omitzero"`
	}{ExchangeResult: r}
	if b.bare {
		if figures.Bare, err = b.insertBare(ctx, s); err != nil {
			return err
		}
		figures.Ratio = r.AnswersPerSecond / figures.Bare.RowsPerSecond
		rows.add("SQLite alone", thousands(figures.Bare.RowsPerSecond), fmt.Sprintf("rows per second, %d in a transaction", b.batch))
		rows.add("of that", fmt.Sprintf("%.2f", figures.Ratio), "")
		if cpu := figures.Bare.CPUSecondsPerMillion; cpu != nil {
			rows.add("SQLite's CPU", fmt.Sprintf("%.2f", *cpu), "s per million rows")
		}
	}
	return s.report("append", b.settings(s), figures, fmt.Sprintf("append: %s, window %d, %d bytes",
		plural(b.senders, "sender", "senders"), b.window, b.size), rows)
}

func (b *benchExchange) settings(s *benchSite) exchangeSettings {
	return exchangeSettings{b.senders, b.window, b.size, s.sync()}
}

func (b *benchExchange) exchange(ctx context.Context, s *benchSite, what string) (*load.ExchangeResult, benchRows, error) {
	s.progress.say("connecting")
	r, err := load.Exchange{Setting: s.setting(), Senders: b.senders, Window: b.window}.Run(ctx)
	if err != nil {
		return nil, nil, err
	}
	var rows benchRows
	rows.add(what, thousands(r.AnswersPerSecond), "per second")
	rows.server(r.Server, r.CPUSecondsPerMillion, what)
	rows.latency("latency", r.Latency)
	rows.refused(r.Errors, r.FirstError)
	return r, rows, nil
}

// insertBare ends the gateway, and inserts what is in its journal elsewhere.
func (b *benchExchange) insertBare(ctx context.Context, s *benchSite) (*load.BareResult, error) {
	s.progress.say("inserting the same rows with SQLite alone")
	s.gateway.stop()
	r, err := load.Bare(ctx, s.gateway.journal(), b.sync, b.batch, b.duration)
	if err != nil && ctx.Err() == nil {
		err = parley.Errorf(parley.Unavailable, "the bare insert failed: %v", err)
	}
	return r, err
}
