package load

import (
	"cmp"
	"context"
	"time"

	"github.com/parleyhq/parley"
)

// Setting is what all kinds of load have in common.
type Setting struct {
	Target   Target
	Warmup   time.Duration // runs before anything is measured
	Duration time.Duration // is measured
	PID      int           // of the server; 0 where it is not known, or on another machine
	Command  []string      // what starts a worker: a program and arguments that lead to Work

	// Progress, which may be nil, is told every now and then how many messages
	// have come. Measuring is told when the measured part begins.
	Progress  func(left time.Duration, received uint64)
	Measuring func()
}

// Fanout says how senders send to receivers, each message to all of them.
type Fanout struct {
	Setting
	Receivers int
	Senders   int
	Workers   int // processes that the receivers are spread over, 2 where 0; senders have one more
	Sample    int // one receiver of so many takes latencies, 16 where 0; two do at least

	// Rate is how many messages are sent per second, by all senders together,
	// whatever becomes of them. With 0 they send as fast as can be received:
	// at most Window messages, 1,024 where 0, have been sent that not all have
	// received.
	Rate   float64
	Window int
}

// FanoutResult is what a run measured. Its JSON names have the units in them.
type FanoutResult struct {
	Seconds    float64 `json:"seconds"`
	Messages   uint64  `json:"messages"`   // sent within them
	Deliveries uint64  `json:"deliveries"` // received within them, by all receivers
	Lost       uint64  `json:"lost"`       // deliveries that never came, of the whole run
	Errors     uint64  `json:"errors"`     // messages that the server refused
	FirstError string  `json:"first_error,omitempty"`

	MessagesPerSecond   float64 `json:"messages_per_second"`
	DeliveriesPerSecond float64 `json:"deliveries_per_second"`

	Latency Latency `json:"latency"`
	Server  Usage   `json:"server"`

	// CPU seconds of the server for a million deliveries; absent where the
	// server's process is not known.
	CPUSecondsPerMillion *float64 `json:"cpu_seconds_per_million_deliveries,omitempty"`
}

// Latency is how long messages took, from being sent to being received, or
// answered.
type Latency struct {
	Samples uint64  `json:"samples"`
	P50     float64 `json:"p50_us"`
	P99     float64 `json:"p99_us"`
	P999    float64 `json:"p999_us"`
	Max     float64 `json:"max_us"`
}

// Usage is what a process took from the machine.
type Usage struct {
	CPUSeconds *float64 `json:"cpu_seconds,omitempty"`       // user and system, while it was measured
	PeakRSS    *uint64  `json:"peak_memory_bytes,omitempty"` // since the process started
	RSS        *uint64  `json:"memory_bytes,omitempty"`      // at the end
}

func (f Fanout) withDefaults() Fanout {
	f.Workers = cmp.Or(f.Workers, 2)
	f.Sample = cmp.Or(f.Sample, 16)
	f.Window = cmp.Or(f.Window, 1_024)
	return f
}

// Run runs the load.
func (f Fanout) Run(ctx context.Context) (*FanoutResult, error) {
	f = f.withDefaults()
	if f.Receivers < 1 || f.Senders < 1 {
		return nil, parley.Errorf(parley.InvalidArgument, "a fan-out needs a receiver and a sender at least")
	}
	c, err := newCrew(ctx, f.Command, f.Receivers)
	if err != nil {
		return nil, err
	}
	defer c.close()
	if err := f.hire(c, 1); err != nil {
		return nil, err
	}
	counted, err := f.measure(c)
	if err != nil {
		return nil, err
	}
	c.board.enter(stopped)
	if err := c.drain(); err != nil {
		return nil, err
	}
	lost := f.lost(c)
	all, err := c.end()
	if err != nil {
		return nil, err
	}
	return fanoutResult(counted, all, lost), refusedAll(counted, all)
}

// hire opens receivers and senders, the receivers first.
func (f Fanout) hire(c *crew, phases int) error {
	receive := job{Role: roleReceive, Target: f.Target, Count: f.Receivers, Sample: f.Sample, Phases: phases}
	if err := c.hire(f.Workers, receive); err != nil {
		return err
	}
	return c.hire(1, job{Role: roleSend, Target: f.Target, Count: f.Senders, Window: f.Window, Rate: f.Rate})
}

// measure warms up and lets the first measured phase run.
func (r Setting) measure(c *crew) (counted, error) {
	if err := c.settle(); err != nil {
		return counted{}, err
	}
	c.board.enter(warming)
	if err := c.sleep(r.Warmup, nil); err != nil {
		return counted{}, err
	}
	if r.Measuring != nil {
		r.Measuring()
	}
	from := c.from(r.PID)
	c.board.enter(measured)
	err := c.sleep(r.Duration, r.progress(c, from))
	return c.since(from), err
}

func (r Setting) progress(c *crew, from interval) func(time.Duration) {
	if r.Progress == nil {
		return nil
	}
	return func(left time.Duration) { r.Progress(left, c.board.deliveries()-from.deliveries) }
}

// lost is how many deliveries have not come.
func (f Fanout) lost(c *crew) uint64 {
	sent, got := c.board.written()*uint64(f.Receivers), c.board.deliveries()
	return sent - min(sent, got)
}

// refusedAll is an error where the server took nothing of what was sent.
func refusedAll(n counted, all *found) error {
	if n.deliveries > 0 || all.errors == 0 {
		return nil
	}
	return parley.Errorf(parley.InvalidArgument, "the server refuses what is sent: %s", all.first)
}

func fanoutResult(n counted, all *found, lost uint64) *FanoutResult {
	return &FanoutResult{
		Seconds: n.seconds, Messages: n.written, Deliveries: n.deliveries, Lost: lost,
		Errors: all.errors, FirstError: all.first,
		MessagesPerSecond:    float64(n.written) / n.seconds,
		DeliveriesPerSecond:  float64(n.deliveries) / n.seconds,
		Latency:              all.latencies[0].latency(),
		Server:               n.usage,
		CPUSecondsPerMillion: n.usage.perMillion(n.deliveries),
	}
}
