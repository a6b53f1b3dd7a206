package load

import (
	"cmp"
	"context"
	"time"

	"github.com/parleyhq/parley"
)

// Crowd says how many join at once while others talk. The live traffic is
// measured twice: for Duration before anybody joins, and from then on until all
// who joined have got what they wanted.
type Crowd struct {
	Live     Fanout // at a rate
	Joiners  int
	Joining  Target        // what they join with
	Want     int           // messages that each of them waits for
	Workers  int           // processes that they are spread over, 1 where 0
	Patience time.Duration // in which all have to have them, 1 min where 0
}

// CrowdResult is what a run measured.
type CrowdResult struct {
	Joiners         int     `json:"joiners"`
	CompleteSeconds float64 `json:"complete_seconds"` // until all had what they wanted

	Welcomed Latency `json:"welcomed"` // of each joiner, from dialling to being let in
	Complete Latency `json:"complete"` // until it had what it wanted

	Quiet  Latency `json:"live_quiet"`  // of the live traffic, before anybody joined
	During Latency `json:"live_during"` // and while they joined

	P99Ratio float64 `json:"live_p99_ratio"` // during, in multiples of quiet
	Lost     uint64  `json:"lost"`
	Errors   uint64  `json:"errors"`
	Server   Usage   `json:"server"` // while they joined

	FirstError string `json:"first_error,omitempty"`

	// CPU seconds of the server for a million of the messages that joiners
	// waited for, with the live traffic meanwhile.
	CPUSecondsPerMillion *float64 `json:"cpu_seconds_per_million_envelopes,omitempty"`
}

// Run runs the load.
func (d Crowd) Run(ctx context.Context) (*CrowdResult, error) {
	live := d.Live.withDefaults()
	if d.Joiners < 1 || live.Rate <= 0 || live.Receivers < 1 || live.Senders < 1 {
		return nil, parley.Errorf(parley.InvalidArgument, "joiners need live traffic at a rate to be measured by")
	}
	c, err := newCrew(ctx, live.Command, live.Receivers)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := live.hire(c, 2); err != nil {
		return nil, err
	}
	err = c.hire(cmp.Or(d.Workers, 1), job{Role: roleJoin, Target: d.Joining, Count: d.Joiners, Want: d.Want})
	if err != nil {
		return nil, err
	}
	quiet, err := live.measure(c)
	if err != nil {
		return nil, err
	}
	from := c.from(live.PID)
	c.board.enter(measured + 1)
	if err := d.await(c); err != nil {
		return nil, err
	}
	n := c.since(from)
	c.board.enter(stopped)
	if err := c.drain(); err != nil {
		return nil, err
	}
	lost := live.lost(c)
	all, err := c.end()
	if err != nil {
		return nil, err
	}
	return d.result(n, all, lost), refusedAll(quiet, all)
}

// await waits until everybody has what they want.
func (d Crowd) await(c *crew) error {
	t := time.NewTimer(cmp.Or(d.Patience, time.Minute))
	defer t.Stop()
	for _, h := range c.hands {
		if h.role != roleJoin {
			continue
		}
		select {
		case <-h.done:
		case <-c.ctx.Done():
			return context.Cause(c.ctx)
		case <-t.C:
			return parley.Errorf(parley.Unavailable, "not everybody who joined got what they wanted in time")
		}
	}
	return nil
}

func (d Crowd) result(n counted, all *found, lost uint64) *CrowdResult {
	r := &CrowdResult{
		Joiners: d.Joiners, CompleteSeconds: n.seconds,
		Welcomed: all.joined.Welcomed.latency(), Complete: all.joined.Complete.latency(),
		Quiet: all.latencies[0].latency(), During: all.latencies[1].latency(),
		Lost: lost, Errors: all.errors, FirstError: all.first, Server: n.usage,
		CPUSecondsPerMillion: n.usage.perMillion(uint64(d.Joiners) * uint64(d.Want)),
	}
	if r.Quiet.P99 > 0 {
		r.P99Ratio = r.During.P99 / r.Quiet.P99
	}
	return r
}
