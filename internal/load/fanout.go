package load

import "time"

// Fanout says how senders send to receivers, each message to all of them.
type Fanout struct {
	Target    Target
	Receivers int
	Senders   int
	Workers   int // processes that the receivers are spread over; senders have one more

	// Rate is how many messages are sent per second, by all senders together,
	// whatever becomes of them. With 0 they send as fast as can be received:
	// at most Window messages have been sent that not all have received.
	Rate   float64
	Window int

	Warmup   time.Duration // runs before anything is measured
	Duration time.Duration // is measured
	Sample   int           // one receiver of so many takes latencies; two do at least

	PID     int      // of the server; 0 where it is not known, or on another machine
	Command []string // what starts a worker: a program and arguments that lead to Work
}

// FanoutResult is what a run measured. Its JSON names have the units in them.
type FanoutResult struct {
	Seconds    float64 `json:"seconds"`
	Messages   uint64  `json:"messages"`   // sent within them
	Deliveries uint64  `json:"deliveries"` // received within them, by all receivers
	Lost       uint64  `json:"lost"`       // deliveries that never came
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

// Latency is how long messages took, from being sent to being received.
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
