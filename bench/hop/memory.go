package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// memory is what sessions cost that do nothing.
type memory struct {
	Way      string `json:"way"`
	Sessions int    `json:"sessions"`
	Before   int64  `json:"before_bytes"` // resident, of the gateway alone
	After    int64  `json:"after_bytes"`
	Error    string `json:"error,omitempty"`
}

// memory opens sessions with a stream each, as clients do that wait, and says
// what that takes. Only Linux tells.
func (b *bench) memory(ctx context.Context, opened []*open, r *report) error {
	for _, o := range opened {
		if o.name == directly || o.npm != "" || b.idle == 0 {
			continue // those from npm start a server for each, which says nothing of them
		}
		m := memory{Way: o.name, Sessions: b.idle}
		if err := o.idle(ctx, &m); err != nil {
			m.Error = err.Error()
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Memory = append(r.Memory, m)
		fmt.Fprintf(os.Stderr, "%s: %d idle sessions: %s before, %s with them %s\n", m.Way, m.Sessions, mebibytes(m.Before), mebibytes(m.After), m.Error)
	}
	return nil
}

func (o *open) idle(ctx context.Context, m *memory) (err error) {
	if m.Before, err = resident(o.cmd.Process.Pid); err != nil {
		return err
	}
	for range m.Sessions {
		s, err := o.endpoint.open(ctx)
		if err != nil {
			return err
		}
		c, err := s.connect(ctx)
		if err != nil {
			return err
		}
		defer c.close()
		if err := c.listen(); err != nil {
			return err
		}
	}
	select { // what opening them took is given back
	case <-time.After(3 * time.Second):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	m.After, err = resident(o.cmd.Process.Pid)
	return err
}

func resident(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	number, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	kib, err := strconv.ParseInt(number, 10, 64)
	return kib << 10, err
}
