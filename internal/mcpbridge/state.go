package mcpbridge

import "sync"

// Standing is what a bridge's server is to the room.
type Standing string

// The standings. A server that can be called but has not joined yet is still
// starting: nobody in the room can reach it.
const (
	StandsStarting Standing = "starting" // the program starts, or joins the room
	StandsUp       Standing = "up"       // a participant like any other
	StandsDown     Standing = "down"     // it failed, or the bridge has ended
)

var standings = [...]Standing{StandsStarting, StandsUp, StandsDown}

// tracker follows a server's way into the room and out of it. The supervisor and
// the bridge tell it on goroutines of their own, in any order.
type tracker struct {
	metrics *Metrics

	mu     sync.Mutex
	began  bool // at least once
	phase  Phase
	ready  *Upstream // what can be called
	joined *Upstream // what is in the room
}

// server notes what became of the server.
func (p *tracker) server(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.ready = s.Phase, s.Upstream
	if s.Phase == Starting {
		if p.began {
			p.metrics.restarted()
		}
		p.began = true
	}
	p.metrics.stands(p.standing())
}

// join notes which connection to the server is in the room; nil is none.
func (p *tracker) join(u *Upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.joined = u
	p.metrics.stands(p.standing())
}

func (p *tracker) standing() Standing {
	switch {
	case p.phase == Ready && p.joined == p.ready:
		return StandsUp
	case p.phase == Ready, p.phase == Starting:
		return StandsStarting
	}
	return StandsDown
}
