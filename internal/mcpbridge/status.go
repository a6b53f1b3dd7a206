package mcpbridge

import (
	"strings"
	"sync"
	"time"
)

// Status is how a bridge's server does at one moment, for who looks after it.
type Status struct {
	Transport string // stdio or http
	Condition Condition
	Since     time.Time // when it came into that condition
	PID       int       // of its program; 0 where there is none
	Restarts  int       // how often it was started again, for whatever reason

	Failures int       // in a row, while it fails
	RetryAt  time.Time // of Failing: when it is started again
	LastExit *Exit     // how it failed last; nil where it never did

	Protocol string // the version that was agreed on; "" until then
	Era      Era    // of that
	Tools    int    // that it offers to everybody; -1 while that is not known, or nobody asks ([Join.OnOffer])

	// Stderr is what it has written to its standard error last, oldest first. What
	// it is configured with does not show.
	Stderr []string
}

// Exit is an end of a server that nobody asked for.
type Exit struct {
	At     time.Time
	Reason string
}

// Condition is what a bridge's server is going through.
type Condition string

// The conditions.
const (
	FirstStart Condition = "starting"   // for the first time
	StartAgain Condition = "restarting" // once more
	Running    Condition = "running"    // it is in the room
	Failing    Condition = "failed"     // it died or could not be started; it is started again at RetryAt
	Ended      Condition = "stopped"    // for good
)

// Status says how the server does.
func (b *Bridge) Status() Status {
	s := b.tracker.status()
	s.Transport = "stdio"
	if b.server.URL != "" {
		s.Transport = "http"
	}
	s.Stderr = b.said.all()
	return s
}

// EndPause has a server that failed started again at once. It does nothing to one
// that is up or starts anyway.
func (b *Bridge) EndPause() { b.up.EndPause() }

// status is what the tracker knows of it.
func (p *tracker) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Status{
		Condition: p.condition(), Since: p.since, Restarts: p.restarts,
		LastExit: p.exit, Tools: -1,
	}
	if p.phase == Failed {
		s.Failures, s.RetryAt = p.failures, p.retryAt
	}
	if p.ready != nil {
		s.PID = p.ready.pid()
		s.Protocol, s.Era = p.ready.Info().Version, Legacy
		if p.ready.modern.Load() {
			s.Era = Modern
		}
	}
	if p.joined != nil && p.joined == p.ready {
		s.Tools = p.tools
	}
	return s
}

func (p *tracker) condition() Condition {
	switch standing := p.standing(); {
	case p.phase == Stopped:
		return Ended
	case standing == StandsUp:
		return Running
	case p.phase == Failed:
		return Failing
	case p.restarts > 0:
		return StartAgain
	}
	return FirstStart
}

// pid is that of the server's program, 0 where it is reached over HTTP.
func (u *Upstream) pid() int {
	if l, ok := u.link.(*stdio); ok {
		return l.cmd.Process.Pid
	}
	return 0
}

const (
	keptLines = 50
	keptLine  = 1 << 10 // bytes of one

	mostReason = 4 << 10 // bytes of why it failed
)

// keptWords are the last lines of a server's standard error.
type keptWords struct {
	mu    sync.Mutex
	lines []string
}

func (k *keptWords) add(line string) {
	line = cut(line, keptLine)
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.lines) == keptLines {
		k.lines = append(k.lines[:0], k.lines[1:]...)
	}
	k.lines = append(k.lines, line)
}

// cut leaves so many bytes of a text, and says where it did.
func cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

func (k *keptWords) all() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	return append([]string(nil), k.lines...)
}
