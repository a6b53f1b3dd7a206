package load

import (
	"cmp"
	"context"
	"time"

	"github.com/parleyhq/parley"
)

// Idle says how many connections are opened that only wait.
type Idle struct {
	Setting     // of which Duration is how long they wait before memory is looked at
	Connections int
	Workers     int // processes that they are spread over, 1 where 0
}

// IdleResult is what a run measured.
type IdleResult struct {
	Connections    int     `json:"connections"`
	OpenSeconds    float64 `json:"open_seconds"` // until all of them were there
	OpenPerSecond  float64 `json:"opened_per_second"`
	MemoryBefore   uint64  `json:"memory_before_bytes"`
	MemoryAfter    uint64  `json:"memory_after_bytes"`
	PerConnection  float64 `json:"memory_per_connection_bytes"`
	IdleCPUSeconds float64 `json:"cpu_seconds_per_second_idle"`
	Server         Usage   `json:"server"`
}

// Run opens the connections, and says what they cost the server.
func (d Idle) Run(ctx context.Context) (*IdleResult, error) {
	if d.Connections < 1 {
		return nil, parley.Errorf(parley.InvalidArgument, "no connection was asked for")
	}
	c, err := newCrew(ctx, d.Command, 0)
	if err != nil {
		return nil, err
	}
	defer c.close()
	before, _, known := memory(d.PID)
	if !known {
		return nil, parley.Errorf(parley.InvalidArgument, "the memory of the server's process is not known").
			WithHint("give its process id with --pid, on Linux and on this machine")
	}
	start := time.Now()
	if err := c.hire(cmp.Or(d.Workers, 1), job{Role: roleIdle, Target: d.Target, Count: d.Connections}); err != nil {
		return nil, err
	}
	open := time.Since(start).Seconds()
	from := c.from(d.PID)
	if err := c.sleep(d.Duration, d.progress(c, from)); err != nil {
		return nil, err
	}
	n := c.since(from)
	after, _, _ := memory(d.PID)
	if _, err := c.end(); err != nil {
		return nil, err
	}
	res := &IdleResult{
		Connections: d.Connections, OpenSeconds: open, OpenPerSecond: float64(d.Connections) / open,
		MemoryBefore: before, MemoryAfter: after,
		PerConnection: (float64(after) - float64(before)) / float64(d.Connections), Server: n.usage,
	}
	if n.usage.CPUSeconds != nil {
		res.IdleCPUSeconds = *n.usage.CPUSeconds / n.seconds
	}
	return res, nil
}

const idleBuffer = 512

// idle keeps connections open, reads what comes, and sends nothing.
func (w *worker) idle() (*result, error) {
	streams, err := w.connect()
	if err != nil {
		return nil, err
	}
	w.ready()
	err = w.together(func(n int) error {
		return newWalker(streams[n], idleBuffer, nil).until(func(uint64) {})
	})
	return w.result(nil), err
}
