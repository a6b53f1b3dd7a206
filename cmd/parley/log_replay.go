package main

import (
	"context"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
)

// replayFlags say how to play a context.
type replayFlags struct {
	only  bool
	full  bool
	speed float64
}

func newLogReplay(t *terminal, from *recordFlags) *cobra.Command {
	var flags replayFlags
	cmd := &cobra.Command{
		Use:   "replay CONTEXT",
		Short: "Play one context again, from its first envelope on",
		Long: `Show all that was said in a context and in those nested in it, in the order in which
it was said; what is nested begins further in. CONTEXT is its id, or the unique
beginning of a recent one. parley log tree lists them.

With --speed 1 the pauses are those there were, but none is longer than 5 seconds.`,
		Example: `  parley log replay 0199a9f3-c1b2 --speed 2
  parley log replay reason-789 --only --journal .parley/parley.db`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			if flags.speed < 0 || math.IsNaN(flags.speed) {
				return usagef("--speed is %v", flags.speed).hint("1 is as fast as it was, 0 without pauses")
			}
			rec, err := from.open(ctx, t)
			if err != nil {
				return stopped(ctx, err)
			}
			defer rec.close()
			pace := &pace{speed: flags.speed, wait: wait}
			return stopped(ctx, runReplay(ctx, rec, newPrinter(t, flags.full), pace, args[0], flags.only))
		},
	}
	f := cmd.Flags()
	f.BoolVar(&flags.only, "only", false, "without the contexts nested in it")
	f.Float64Var(&flags.speed, "speed", 0, "how many times as fast as it was; 0 is without pauses")
	f.BoolVar(&flags.full, "full", false, "cut nothing")
	return cmd
}

// runReplay reads page by page: whoever takes their time keeps no gateway waiting.
func runReplay(ctx context.Context, rec record, p *printer, pace *pace, name string, only bool) error {
	id, err := findToRead(ctx, rec, name, only)
	if err != nil {
		return err
	}
	p.goBy(ctx, rec, mostTypes)
	levels := newLevels(id)
	for wire, err := range rec.list(ctx, query{contexts: []string{id}, subtree: !only}) {
		if err != nil {
			return err
		}
		e, err := decodeAny(wire)
		if err != nil {
			return err
		}
		if err := pace.until(ctx, e.TS); err != nil {
			return err
		}
		if p.r == nil {
			err = p.raw(wire)
		} else {
			p.r.level = levels.of(e.Context)
			err = p.envelope(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// levels say how deep below a root contexts are nested, as far as they were seen.
type levels map[string]int

func newLevels(root string) levels { return levels{root: 0} }

// of is the level of an envelope's context. The first envelope of a context says
// what it is nested in; a parent that nobody has opened yet counts as a level.
func (l levels) of(c *parley.Context) int {
	if c == nil {
		return 0
	}
	level, known := l[c.ID]
	if !known {
		above, seen := l[c.Parent]
		if level = above + 1; !seen {
			level = 2
		}
		l[c.ID] = level
	}
	return level
}

// mostPause is the longest that a replay pauses.
const mostPause = 5 * time.Second

// pace keeps the pauses that there were between envelopes.
type pace struct {
	speed float64 // 0 is without pauses
	wait  func(context.Context, time.Duration) error
	last  time.Time
}

// until waits as long as it took from the envelope before to one of a time.
func (p *pace) until(ctx context.Context, ts time.Time) error {
	before := p.last
	p.last = ts
	if p.speed == 0 || before.IsZero() || !ts.After(before) {
		return ctx.Err()
	}
	pause := min(float64(ts.Sub(before))/p.speed, float64(mostPause))
	return p.wait(ctx, time.Duration(pause))
}

// wait lets time pass.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
