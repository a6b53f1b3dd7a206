package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// work is how many calls are under way at once.
var work = []int{1, 16, 64}

// cell is one measurement.
type cell struct {
	Way   string  `json:"way"`
	Calls int     `json:"concurrent"`
	Round int     `json:"round"`
	Found figures `json:"figures"`
	Error string  `json:"error,omitempty"`
}

func (b *bench) measure(ctx context.Context) error {
	r := &report{Machine: machine(), Missing: map[string]string{}}
	var opened []*open
	defer func() {
		for _, o := range opened {
			o.stop()
		}
	}()
	for _, w := range ways {
		if w.name != directly && !strings.Contains(w.name, b.only) {
			r.Missing[w.name] = "nobody asked"
			continue
		}
		if reason := b.missing(w); reason != "" {
			r.Missing[w.name] = reason
			continue
		}
		o, err := b.start(ctx, w)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil && w.name == directly {
			return err
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "hop:", err)
			r.Missing[w.name] = err.Error()
			continue
		}
		if opened = append(opened, o); w.name == directly {
			b.direct = o.url
		}
	}
	if err := b.memory(ctx, opened, r); err != nil {
		return err
	}
	for round := range b.rounds + 1 { // the first is to get warm
		if err := b.round(ctx, opened, round, r); err != nil {
			return err
		}
	}
	return r.write(b.results)
}

func (b *bench) round(ctx context.Context, opened []*open, round int, r *report) error {
	length := b.length
	if round == 0 {
		length = min(length, 300*time.Millisecond)
	}
	for _, n := range work {
		for i := range opened {
			o := opened[(i+round)%len(opened)] // whoever comes first may have it better
			c := cell{Way: o.name, Calls: n, Round: round}
			if err := o.measure(ctx, n, length, &c.Found); err != nil {
				c.Error = err.Error()
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if round > 0 {
				r.Cells = append(r.Cells, c)
				fmt.Fprintf(os.Stderr, "round %d  %2d at once  %-32s %7.0f calls/s  p50 %6.0f µs  p99 %6.0f µs  %s\n",
					round, n, o.name, c.Found.PerSecond, c.Found.P50, c.Found.P99, c.Error)
			}
		}
	}
	return nil
}

func (o *open) measure(ctx context.Context, n int, length time.Duration, found *figures) error {
	conns, err := o.connect(ctx, n)
	if err != nil {
		return err
	}
	defer closeAll(conns)
	before := consumed(o.cmd.Process.Pid)
	if *found, err = calls(ctx, conns, &o.ids, length); err != nil {
		return err
	}
	found.CPU = float64((consumed(o.cmd.Process.Pid) - before).Microseconds()) / float64(found.Calls)
	return nil
}
