package main

import (
	"github.com/parleyhq/parley/internal/gateway"
)

// Of implements [gateway.Bridges].
func (l *hall) Of(space string) []gateway.Bridge {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list []gateway.Bridge
	for name, b := range l.bridges {
		if name.space != space {
			continue
		}
		s := b.Status()
		one := gateway.Bridge{
			Participant: name.id, Transport: s.Transport, State: string(s.Condition), Since: s.Since,
			PID: s.PID, Restarts: s.Restarts, Failures: s.Failures, RetryAt: s.RetryAt,
			Era: string(s.Era), Protocol: s.Protocol, Tools: s.Tools, Stderr: s.Stderr,
		}
		if s.LastExit != nil {
			one.ExitAt, one.Exit = s.LastExit.At, s.LastExit.Reason
		}
		list = append(list, one)
	}
	return list
}

// Restart implements [gateway.Bridges]. A server that is up hears of the order in
// its room; one that failed is absent, and does not.
func (l *hall) Restart(space, participant string) {
	l.mu.Lock()
	b := l.bridges[bridgeName{space, participant}]
	l.mu.Unlock()
	if b != nil {
		b.EndPause()
	}
}
