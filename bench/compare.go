package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/parleyhq/parley/internal/load"
)

// compare measures everything, and writes what came of it.
func (b *bench) compare(ctx context.Context) error {
	start := time.Now()
	rep := &report{Machine: machine(b), Skipped: map[string]string{}}
	for _, s := range servers {
		if reason := b.missing(s); reason != "" {
			rep.Skipped[s.name] = reason
		}
	}
	var longest time.Duration
	for round := range b.pace.rounds {
		begin := time.Now()
		if begin.Add(longest).After(start.Add(b.pace.budget)) {
			fmt.Fprintf(os.Stderr, "no time is left for round %d of %d\n", round+1, b.pace.rounds)
			break
		}
		if err := b.round(ctx, round+1, rep); err != nil {
			return err
		}
		longest = max(longest, time.Since(begin))
		rep.Seconds = time.Since(start).Seconds()
		rep.judge()
		if err := rep.write(b.results); err != nil {
			return err
		}
	}
	rep.print(os.Stdout)
	fmt.Printf("\nWritten to %s: compare.md, compare.svg, compare.json.\n", b.results)
	return nil
}

// round measures every server once at all work.
func (b *bench) round(ctx context.Context, round int, rep *report) error {
	for _, w := range works {
		for _, name := range b.serversOf(w) {
			if rep.Skipped[name] != "" || !b.wanted(w.name) {
				continue
			}
			c := b.cell(ctx, w, findServer(name), round, rep.Cells)
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			rep.Cells = append(rep.Cells, c)
			b.tell(c)
		}
		if err := b.others(ctx, round, rep, w.name); err != nil {
			return err
		}
	}
	return b.others(ctx, round, rep, "")
}

func (b *bench) serversOf(w work) []string {
	if b.pace.few {
		return w.quick
	}
	return w.servers
}

// wanted reports whether somebody asked for some work, or for everything.
func (b *bench) wanted(work string) bool { return strings.Contains(work, b.only) }

// tell says on standard error what was measured: this takes minutes.
func (b *bench) tell(c cell) {
	if c.Error != "" {
		fmt.Fprintf(os.Stderr, "round %d  %-12s %-28s %s\n", c.Round, c.Work, c.Server, c.Error)
		return
	}
	core, _ := perCoreSecond(c)
	fmt.Fprintf(os.Stderr, "round %d  %-12s %-28s %9.0f messages/s %8.2f M deliveries per CPU second  p50 %6.0f µs  p99 %7.0f µs%s\n",
		c.Round, c.Work, c.Server, c.Result.MessagesPerSecond, core/1e6, c.Result.Latency.P50, c.Result.Latency.P99, troubles(c.Result))
}

// troubles are what went wrong in a measurement that has a result.
func troubles(r *load.FanoutResult) string {
	var s string
	if r.Lost > 0 {
		s += fmt.Sprintf("  %d lost", r.Lost)
	}
	if r.Errors > 0 {
		s += fmt.Sprintf("  %d refused (%s)", r.Errors, r.FirstError)
	}
	return s
}

// cell measures one server, which is started for it.
func (b *bench) cell(ctx context.Context, w work, s server, round int, before cells) cell {
	c := cell{Work: w.name, Server: s.name, Round: round}
	var err error
	if c.Result, err = b.measured(ctx, w, s, before); err != nil {
		c.Result, c.Error = nil, err.Error()
	}
	return c
}

func (b *bench) measured(ctx context.Context, w work, s server, before cells) (*load.FanoutResult, error) {
	rate := w.rate
	if w.half != "" {
		rate = before.of(w.half, rival, perSecond).median() / 2
		if math.IsNaN(rate) {
			return nil, errors.New("it is not known what saturates " + rival)
		}
	}
	r, err := b.start(ctx, s)
	if err != nil {
		return nil, err
	}
	defer r.stop()
	res, err := b.fanout(ctx, r, w, rate)
	if err == nil && res.Deliveries == 0 {
		err = errors.New("nothing arrived while it was measured")
	}
	return res, err
}

func (b *bench) fanout(ctx context.Context, r *running, w work, rate float64) (*load.FanoutResult, error) {
	return load.Fanout{
		Setting: load.Setting{
			Target: r.target, Warmup: b.pace.warmup, Duration: b.pace.length,
			PID: r.pid, Command: b.cores.worker(b.self, "worker"),
		},
		Receivers: w.receivers, Senders: w.senders, Rate: rate, Window: w.window,
	}.Run(ctx)
}
