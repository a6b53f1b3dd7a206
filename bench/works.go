package main

import "github.com/parleyhq/parley/internal/load"

// size is how long a message is as it is received, in bytes.
const size = 300

// work is what servers are given to do.
type work struct {
	name, title        string
	receivers, senders int
	window             int      // messages under way, where it is as many as can be
	half               string   // the work whose half rate, of rival, is this one's
	rate               float64  // messages a second, where it is neither
	servers, quick     []string // by name, in the order of a round; quick ones are fewer
}

const (
	window   = 1024  // messages that are under way at most
	calmRate = 1_000 // messages a second, where nobody is in a hurry
	loneRate = 200   // and from one sender alone
)

// rival is who aims speak of.
const rival = "nats-server, WebSocket"

var (
	everybody = []string{"parley", "floor, 16 frames per write", "floor, 1 frame per write",
		rival, "nats-server, plain", "Redis pub/sub", "mosquitto", "Node ws"}
	andMore = append([]string{"floor, 256 frames per write"}, everybody...)
	brokers = []string{"parley", rival, "nats-server, plain", "Redis pub/sub", "mosquitto"}
	two     = []string{"parley", rival}
)

var works = []work{
	{name: "fanout-200", title: "200 receivers, as fast as can be", receivers: 200, senders: 4, window: window, servers: andMore, quick: everybody},
	{name: "fanout-20", title: "20 receivers, as fast as can be", receivers: 20, senders: 4, window: window, servers: everybody, quick: two},
	{name: "fanout-2", title: "2 receivers, as fast as can be", receivers: 2, senders: 4, window: window, servers: everybody, quick: two},
	{name: "calm-20", title: "20 receivers, 1,000 messages a second", receivers: 20, senders: 4, rate: calmRate, servers: brokers, quick: two},
	{name: "calm-2", title: "2 receivers, 1,000 messages a second", receivers: 2, senders: 4, rate: calmRate, servers: brokers, quick: two},
	{name: "half-20", title: "20 receivers, half of what saturates nats-server's WebSocket", receivers: 20, senders: 4, half: "fanout-20", servers: brokers, quick: two},
	{name: "half-200", title: "200 receivers, half of what saturates nats-server's WebSocket", receivers: 200, senders: 4, half: "fanout-200", servers: brokers, quick: two},
	{name: "alone", title: "One sender alone, 200 messages a second", receivers: 1, senders: 1, rate: loneRate,
		servers: []string{"parley", "parley, sync: full", "floor, 1 frame per write", rival, "nats-server, plain", "Redis pub/sub", "mosquitto"},
		quick:   []string{"parley", "parley, sync: full", rival}},
	{name: "memory-100", title: "100 receivers, 1,000 messages a second", receivers: 100, senders: 1, rate: calmRate, servers: two, quick: two[:1]},
	{name: "memory-1100", title: "1,100 receivers, 1,000 messages a second", receivers: 1100, senders: 1, rate: calmRate, servers: two, quick: two[:1]},
}

// cell is one measurement: a server doing some work in a round.
type cell struct {
	Work   string             `json:"work"`
	Server string             `json:"server"`
	Round  int                `json:"round"`
	Result *load.FanoutResult `json:"result,omitempty"`
	Error  string             `json:"error,omitempty"`
}

// perCoreSecond is how many deliveries a second of the server's CPU time makes.
func perCoreSecond(c cell) (float64, bool) {
	if c.Result == nil || c.Result.Server.CPUSeconds == nil || *c.Result.Server.CPUSeconds == 0 {
		return 0, false
	}
	return float64(c.Result.Deliveries) / *c.Result.Server.CPUSeconds, true
}

func p50(c cell) (float64, bool) {
	if c.Result == nil || c.Result.Latency.Samples == 0 {
		return 0, false
	}
	return c.Result.Latency.P50, true
}

func p99(c cell) (float64, bool) {
	if c.Result == nil || c.Result.Latency.Samples == 0 {
		return 0, false
	}
	return c.Result.Latency.P99, true
}

func perSecond(c cell) (float64, bool) {
	if c.Result == nil || c.Result.MessagesPerSecond == 0 {
		return 0, false
	}
	return c.Result.MessagesPerSecond, true
}

func peak(c cell) (float64, bool) {
	if c.Result == nil || c.Result.Server.PeakRSS == nil {
		return 0, false
	}
	return float64(*c.Result.Server.PeakRSS), true
}

// figure reads a number off a cell, where it has one.
type figure func(cell) (float64, bool)

// cells are all measurements so far.
type cells []cell

// of are the figures of a server's rounds at some work.
func (all cells) of(work, server string, f figure) samples {
	var list samples
	for _, c := range all {
		if c.Work == work && c.Server == server {
			if v, ok := f(c); ok {
				list = append(list, sample{round: c.Round, value: v})
			}
		}
	}
	return list
}
