package mcpbridge

import (
	"strings"
	"sync"
	"time"
)

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
	mask    *strings.Replacer

	mu     sync.Mutex
	began  bool // at least once
	phase  Phase
	ready  *Upstream // what can be called
	joined *Upstream // what is in the room

	// For [Bridge.Status].
	was      Condition
	since    time.Time
	restarts int
	failures int
	retryAt  time.Time
	exit     *Exit
	tools    int // -1 while they are not known
}

// server notes what became of the server.
func (p *tracker) server(s State) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase, p.ready = s.Phase, s.Upstream
	if s.Phase == Starting {
		if p.began {
			p.restarts++
			p.metrics.restarted()
		}
		p.began = true
	}
	if s.Phase == Failed {
		p.failures, p.retryAt = s.Failures, time.Now().Add(s.RetryIn)
	}
	if s.Err != nil {
		p.note(s.Err)
	}
	p.moved()
}

// failed notes what ended the bridge.
func (p *tracker) failed(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.note(err)
}

func (p *tracker) note(err error) {
	p.exit = &Exit{At: time.Now(), Reason: cut(p.mask.Replace(err.Error()), mostReason)}
}

// moved notes that something may be another way than it was.
func (p *tracker) moved() {
	p.metrics.stands(p.standing())
	now := p.condition()
	if now != p.was {
		p.was, p.since = now, time.Now()
	}
}

// offers notes how many tools there are.
func (p *tracker) offers(tools int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tools = tools
}

// join notes which connection to the server is in the room; nil is none.
func (p *tracker) join(u *Upstream) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.joined, p.tools = u, -1
	p.moved()
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
