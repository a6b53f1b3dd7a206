package main

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// figures are what a measurement yields; times are in microseconds.
type figures struct {
	PerSecond float64 `json:"calls_per_second"`
	P50       float64 `json:"p50_us"`
	P99       float64 `json:"p99_us"`
	Calls     int     `json:"calls"`
	CPU       float64 `json:"cpu_us_per_call"` // of the way's processes
}

// calls makes calls on a session for a while, so many at once as there are
// connections. Any that fails ends it.
func calls(ctx context.Context, conns []*conn, ids *atomic.Int64, length time.Duration) (figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	took := make([][]time.Duration, len(conns))
	start := time.Now()
	var work sync.WaitGroup
	for i, c := range conns {
		work.Go(func() {
			for begin := time.Now(); begin.Sub(start) < length && ctx.Err() == nil; {
				if err := c.call(int(ids.Add(1))); err != nil {
					cancel(err)
					return
				}
				end := time.Now()
				took[i] = append(took[i], end.Sub(begin))
				begin = end
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return figures{}, context.Cause(ctx)
	}
	return sum(slices.Concat(took...), time.Since(start)), nil
}

func sum(took []time.Duration, length time.Duration) figures {
	if len(took) == 0 {
		return figures{}
	}
	slices.Sort(took)
	at := func(q float64) float64 {
		return float64(took[int(q*float64(len(took)-1))]) / float64(time.Microsecond)
	}
	return figures{PerSecond: float64(len(took)) / length.Seconds(), P50: at(0.5), P99: at(0.99), Calls: len(took)}
}
