package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/load"
)

// benchIdle says how many connections only wait.
type benchIdle struct {
	benchFlags
	connections, participants int
}

func newBenchIdle(t *terminal) *cobra.Command {
	var b benchIdle
	cmd := &cobra.Command{
		Use:   "idle",
		Short: "Connections that only wait, and the memory that they take",
		Long: `Open connections that only wait, and see how much memory the gateway's process holds more
than before. They are looked at once --duration has passed.`,
		Example: `  parley bench idle --connections 10000 --participants 100
  parley bench idle --connections 1000 --duration 30s --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), t) },
	}
	b.add(cmd)
	f := cmd.Flags()
	f.IntVar(&b.connections, "connections", 10_000, "how many wait")
	f.IntVar(&b.participants, "participants", 100, "whose they are")
	return cmd
}

func (b *benchIdle) run(ctx context.Context, t *terminal) error {
	err := cmp.Or(between("connections", b.connections, 1, mostBenched), between("participants", b.participants, 1, mostConfigured))
	if err != nil {
		return err
	}
	if _, known := load.MemoryOf(b.pid); b.url != "" && !known {
		return usagef("the memory of the gateway's process is not known").
			hint("say with --pid which process it is, on Linux and on this machine")
	}
	s, err := b.open(ctx, t, benchNeed{participants: b.participants, connections: b.connections})
	if err != nil {
		return err
	}
	defer s.close()
	if err := load.Visit(ctx, s.target); err != nil { // what the first one costs is not counted
		return err
	}
	s.progress.say("connecting")
	r, err := load.Idle{Setting: s.setting(), Connections: b.connections}.Run(ctx)
	if err != nil {
		return err
	}
	var rows benchRows
	rows.add("memory of a connection", fmt.Sprintf("%.1f", r.PerConnection/1024), "KiB")
	rows.add("gateway's memory before", fmt.Sprintf("%.1f", float64(r.MemoryBefore)/(1<<20)), "MiB")
	rows.add("gateway's memory after", fmt.Sprintf("%.1f", float64(r.MemoryAfter)/(1<<20)), "MiB")
	rows.add("gateway's CPU, idle", fmt.Sprintf("%.3f", r.IdleCPUSeconds), "s per second")
	rows.add("connected", thousands(r.OpenPerSecond), "per second")
	settings := struct {
		Connections  int     `json:"connections"`
		Participants int     `json:"participants"`
		Waited       float64 `json:"waited_seconds"`
	}{b.connections, len(s.target.Tokens), b.duration.Seconds()}
	return s.report("idle", settings, r, fmt.Sprintf("idle: %s of %s",
		plural(b.connections, "connection", "connections"), plural(len(s.target.Tokens), "participant", "participants")), rows)
}
