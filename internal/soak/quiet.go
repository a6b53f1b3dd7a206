package soak

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// Quiet is what the gateway takes while nobody is there but its own bridges.
type Quiet struct {
	sample
	Waited time.Duration // until it was quiet
}

// quietTime is how long it may take for the gateway to be rid of a crew: longer
// than its time-outs, and than a bridge waits that has died several times.
const quietTime = 90 * time.Second

// settled reports whether all that a crew began has come to an end.
func settled(q Quiet) bool {
	f := q.figures
	return f.sum("parley_bridge_state", `state="up"`) == 2 && f.sum("parley_connections") == 2 &&
		f.sum("parley_participants_present") == 2 && f.sum("parley_bridge_calls_in_flight") == 0 &&
		f.sum("parley_proposals_open") == 0 && f.sum("parley_submissions_waiting") == 0 &&
		f.sum("parley_journal_index_lag_envelopes") == 0
}

// quiet waits until it is quiet enough, or for quietTime: whoever judges finds
// then what is not.
func (s *soak) quiet(ctx context.Context, enough func(Quiet) bool) (q Quiet, err error) {
	began := time.Now()
	for {
		s.stir(ctx)
		f, err := s.figures(ctx)
		if err != nil {
			return q, fmt.Errorf("soak: the gateway, left alone, does not tell its figures: %w", err)
		}
		q = Quiet{newSample(time.Since(s.began), f), time.Since(began)}
		if enough(q) {
			return q, nil
		}
		if q.Waited > quietTime {
			if !settled(q) {
				s.tally.fault("the gateway, left alone for %v, is still busy: %v", quietTime, busy(f))
			}
			return q, nil
		}
		if !sleep(ctx, 100*time.Millisecond) {
			return q, ctx.Err()
		}
	}
}

// busy is what settled looks at, for people.
func busy(f figures) map[string]float64 {
	m := make(map[string]float64)
	for _, name := range []string{
		"parley_bridge_state", "parley_connections", "parley_participants_present", "parley_bridge_calls_in_flight",
		"parley_proposals_open", "parley_submissions_waiting", "parley_journal_index_lag_envelopes",
	} {
		if v := f.sum(name); v != 0 {
			m[name] = v
		}
	}
	return m
}

// stir reads much at once, so that the gateway has open what it may have open to
// read its journal, and has loaded what it loads once.
func (s *soak) stir(ctx context.Context) {
	var reading sync.WaitGroup
	defer reading.Wait()
	for i := range 16 {
		reading.Go(func() {
			c := s.visitor([]string{keeps, drops}[i%2])
			defer c.http.CloseIdleConnections()
			c.glance(ctx, "/envelopes?limit=1000&q="+words[i])
			c.glance(ctx, "/envelopes?limit=1000")
			c.glance(ctx, "/contexts/fresh%2F0%2F0/digest") // what counts tokens is loaded by the first
		})
	}
}

// visitor is nobody's crew.
func (s *soak) visitor(space string) *crew {
	return &crew{url: s.gateway.url, space: space, tally: &s.tally, http: httpClient(false)}
}

// heads are where the chains end, to be held against the journal later.
func (s *soak) heads(ctx context.Context) (map[string]string, error) {
	heads := make(map[string]string)
	for _, space := range []string{keeps, drops} {
		c := s.visitor(space)
		h, err := c.head(ctx)
		c.http.CloseIdleConnections()
		if err != nil {
			return nil, err
		}
		heads[space] = h.Head
	}
	return heads, nil
}

// headOf is what the gateway says of a chain.
type headOf struct {
	Head        string
	First, Last uint64
}

func (c *crew) head(ctx context.Context) (h headOf, err error) {
	resp, err := c.do(ctx, http.MethodGet, "reader", "/head", "")
	if err != nil {
		return h, err
	}
	defer resp.Body.Close()
	return h, readJSON(resp.Body, &h)
}
