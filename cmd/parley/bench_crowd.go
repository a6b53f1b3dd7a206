package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/load"
)

// benchCrowd says how many come at once while others talk.
type benchCrowd struct {
	benchFlags
	who                string // the flag of joiners
	joiners, history   int
	receivers, senders int
	rate               float64
	kill               bool
}

func newBenchJoin(t *terminal) *cobra.Command {
	var b benchCrowd
	cmd := &cobra.Command{
		Use:   "join",
		Short: "Many who join at once and ask for history",
		Long: `Let many join at the same moment, each asking for history, while others talk at a fixed
rate. The live traffic is measured before and meanwhile.`,
		Example: `  parley bench join --joiners 1000
  parley bench join --joiners 100 --history 500 --rate 1000`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.join(cmd.Context(), t) },
	}
	b.addCrowd(cmd, "joiners", 1000, "how many join at once")
	return cmd
}

func newBenchResume(t *terminal) *cobra.Command {
	var b benchCrowd
	cmd := &cobra.Command{
		Use:   "resume",
		Short: "Many who resume at once after a restart of the gateway",
		Long: `Start the gateway anew, and let many connections resume at the same moment from a position
before the restart, while others talk at a fixed rate. The live traffic is measured before
and meanwhile. With --against the gateway is not started anew.`,
		Example: `  parley bench resume --connections 500
  parley bench resume --connections 100 --history 10000 --kill`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.resume(cmd.Context(), t) },
	}
	b.addCrowd(cmd, "connections", 500, "how many resume at once")
	cmd.Flags().BoolVar(&b.kill, "kill", false, "end the gateway with SIGKILL, not in order")
	return cmd
}

func (b *benchCrowd) addCrowd(cmd *cobra.Command, name string, joiners int, usage string) {
	b.add(cmd)
	b.who = name
	f := cmd.Flags()
	f.IntVar(&b.joiners, name, joiners, usage)
	f.IntVar(&b.history, "history", 1000, "envelopes that each of them gets")
	f.IntVar(&b.receivers, "receivers", 20, "how many receive the live traffic")
	f.IntVar(&b.senders, "senders", 1, "how many send it")
	f.Float64Var(&b.rate, "rate", 500, "live messages per `SECOND`, of all senders")
}

func (b *benchCrowd) check() error {
	return cmp.Or(
		between(b.who, b.joiners, 1, mostBenched), between("history", b.history, 1, mostBenched),
		between("receivers", b.receivers, 1, mostBenched), between("senders", b.senders, 1, mostBenched),
		checkRate(b.rate, false),
	)
}

func (b *benchCrowd) open(ctx context.Context, t *terminal) (*benchSite, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	return b.benchFlags.open(ctx, t, benchNeed{
		participants: min(b.joiners, mostParticipants), connections: b.joiners + b.receivers + b.senders, history: b.history,
	})
}

func (b *benchCrowd) join(ctx context.Context, t *terminal) error {
	s, err := b.open(ctx, t)
	if err != nil {
		return err
	}
	defer s.close()
	s.progress.say("filling the history")
	if err := load.Fill(ctx, s.target, b.history); err != nil {
		return err
	}
	return b.run(ctx, s, "join", "history="+strconv.Itoa(b.history))
}

func (b *benchCrowd) resume(ctx context.Context, t *terminal) error {
	s, err := b.open(ctx, t)
	if err != nil {
		return err
	}
	defer s.close()
	at, err := s.head(ctx)
	if err != nil {
		return err
	}
	s.progress.say("filling the history")
	if err := load.Fill(ctx, s.target, b.history); err != nil {
		return err
	}
	if s.gateway != nil {
		s.progress.say("starting the gateway anew")
		if err := s.restart(ctx, b.kill); err != nil {
			return err
		}
	}
	return b.run(ctx, s, "resume", url.Values{"after": {strconv.FormatUint(at.Seq, 10)}, "epoch": {at.Epoch}}.Encode())
}

// head is the newest position of the space.
func (s *benchSite) head(ctx context.Context) (*parley.Position, error) {
	head, err := s.api.get(ctx, "/head", nil)
	if err != nil {
		return nil, err
	}
	epoch, _ := parley.MemberString(head, "epoch")
	seq, err := strconv.ParseUint(string(parley.Member(head, "seq")), 10, 64)
	if err != nil {
		return nil, parley.Errorf(parley.Internal, "%s does not say where the space ends", s.api.url)
	}
	return &parley.Position{Epoch: epoch, Seq: seq}, nil
}

// restart ends the gateway, and starts it with the same journal.
func (s *benchSite) restart(ctx context.Context, kill bool) error {
	if kill {
		s.gateway.crash()
	} else {
		s.gateway.stop()
	}
	if err := s.gateway.start(ctx); err != nil {
		return err
	}
	s.aim(s.gateway.url, benchSpace, s.gateway.tokens)
	return nil
}

func (b *benchCrowd) run(ctx context.Context, s *benchSite, name, query string) error {
	const quietly = "presence=off" // who joins is not part of the live traffic
	joining := s.target
	joining.Query = quietly + "&" + query
	s.target.Query = quietly
	s.longer = time.Minute // or until the gateway ends
	s.progress.say("connecting")
	r, err := load.Crowd{
		Live:    load.Fanout{Setting: s.setting(), Receivers: b.receivers, Senders: b.senders, Rate: b.rate},
		Joiners: b.joiners, Joining: joining, Want: b.history,
	}.Run(ctx)
	if err != nil {
		return err
	}
	var rows benchRows
	rows.add("all have theirs after", fmt.Sprintf("%.2f", r.CompleteSeconds), "s")
	rows.latency("let in", r.Welcomed)
	rows.latency("has it all", r.Complete)
	rows.latency("live, quiet", r.Quiet)
	rows.latency("live, meanwhile", r.During)
	rows.add("live p99", fmt.Sprintf("%.1f", r.P99Ratio), "times its quiet value")
	rows.server(r.Server, r.CPUSecondsPerMillion, "envelopes of history")
	if r.Lost > 0 {
		rows.add("lost", thousands(float64(r.Lost)), "live deliveries")
	}
	rows.refused(r.Errors, r.FirstError)
	settings := struct {
		Joiners   int     `json:"joiners"`
		History   int     `json:"history"`
		Receivers int     `json:"live_receivers"`
		Senders   int     `json:"live_senders"`
		Rate      float64 `json:"live_rate_per_second"`
		Bytes     int     `json:"envelope_bytes"`
		Kill      bool    `json:"killed,omitzero"`
		Sync      string  `json:"sync,omitempty"`
	}{b.joiners, b.history, b.receivers, b.senders, b.rate, b.size, b.kill, s.sync()}
	return s.report(name, settings, r, fmt.Sprintf("%s: %s at once, %s each; live: %s per second to %d",
		name, plural(b.joiners, "connection", "connections"), plural(b.history, "envelope", "envelopes"), thousands(b.rate), b.receivers), rows)
}
