package webhook

import (
	"context"
	"slices"
	"time"

	"github.com/parleyhq/parley"
)

// Status is how a webhook does.
type Status struct {
	Name      string    `json:"name"`
	URL       string    `json:"url"` // without path and query
	Events    []string  `json:"events"`
	Content   string    `json:"content"`
	State     string    `json:"state"`            // active, paused or disabled
	Reason    string    `json:"reason,omitempty"` // of disabled
	Since     time.Time `json:"since,omitzero"`   // of disabled
	Until     time.Time `json:"until,omitzero"`   // of paused
	Pending   int       `json:"pending"`
	Unread    uint64    `json:"unread,omitzero"` // records that are looked at when there is room for their events
	Oldest    time.Time `json:"oldest,omitzero"` // of those that wait
	Next      time.Time `json:"next,omitzero"`   // when one of them is sent next
	Dead      int       `json:"dead"`
	Lost      int       `json:"lost,omitzero"`
	Delivered uint64    `json:"delivered"` // since the gateway was started
	Last      *Attempt  `json:"last,omitempty"`
}

// Attempt is how a receiver answered.
type Attempt struct {
	At      time.Time `json:"at"`
	Status  int       `json:"status,omitzero"`
	Problem string    `json:"problem,omitempty"`
	Took    int64     `json:"took_ms"`
}

// Letter is an event that was given up.
type Letter struct {
	ID       string    `json:"id"`
	Event    EventType `json:"event"`
	At       time.Time `json:"at"`
	Proposal string    `json:"proposal,omitempty"`
	Attempts int       `json:"attempts"`
	Tried    time.Time `json:"tried,omitzero"`
	Status   int       `json:"status,omitzero"`
	Problem  string    `json:"problem"`
}

// List says how the webhooks of a space do.
func (d *Desk) List(ctx context.Context, space string) ([]Status, error) {
	list := []Status{}
	for _, c := range d.couriers {
		if c.hook.Space != space {
			continue
		}
		var s Status
		if err := c.do(ctx, func() error { s = c.status(); return nil }); err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

// Dead lists the events of a webhook that were given up, the oldest first.
func (d *Desk) Dead(ctx context.Context, space, name string) (list []Letter, err error) {
	err = d.with(ctx, space, name, func(c *courier) error {
		list = make([]Letter, len(c.dead))
		for i, it := range c.dead {
			list[i] = Letter{
				ID: it.ID, Event: it.Type, At: it.At, Proposal: it.Proposal, Attempts: it.Attempts,
				Tried: it.Tried, Status: it.Status, Problem: it.Error,
			}
		}
		return nil
	})
	return list, err
}

// Retry sends one dead letter again, or with "" all for which there is room, and
// says how many.
func (d *Desk) Retry(ctx context.Context, space, name, id string) (n int, err error) {
	err = d.with(ctx, space, name, func(c *courier) error {
		if c.disabled != nil {
			return parley.Errorf(parley.Unavailable, "the webhook %s is disabled", name).WithHint("enable it first: parley webhook enable %s", name)
		}
		room := mostPending - len(c.pending)
		if room <= 0 {
			return parley.Errorf(parley.LimitReached, "%d events of %s wait already, the limit", len(c.pending), name).
				WithHint("try it again when the receiver has taken some")
		}
		taken := c.take(id, room)
		if len(taken) == 0 && id != "" {
			return noLetter(name, id)
		}
		for _, it := range taken {
			it.Attempts, it.Next = 0, time.Now()
			c.requeue(it)
		}
		n = len(taken)
		c.paused = time.Time{} // somebody knows better
		c.write()
		return nil
	})
	return n, err
}

// Drop forgets one dead letter, or with "" all, and says how many.
func (d *Desk) Drop(ctx context.Context, space, name, id string) (n int, err error) {
	err = d.with(ctx, space, name, func(c *courier) error {
		if n = len(c.take(id, mostDead)); n == 0 && id != "" {
			return noLetter(name, id)
		}
		c.write()
		return nil
	})
	return n, err
}

// Enable has a webhook send again that was disabled, from now on.
func (d *Desk) Enable(ctx context.Context, space, name string) error {
	return d.with(ctx, space, name, func(c *courier) error {
		if c.disabled != nil {
			c.disabled, c.paused = nil, time.Time{}
			_, c.at, _ = c.feed.next(c.at.index)
			c.write()
		}
		return nil
	})
}

// Test sends a test event at once, and says how it was answered. It is neither
// queued nor sent again, and goes to a webhook that is disabled as well.
func (d *Desk) Test(ctx context.Context, space, name string) (Attempt, error) {
	c, err := d.find(space, name)
	if err != nil {
		return Attempt{}, err
	}
	select {
	case c.testing <- struct{}{}:
		defer func() { <-c.testing }()
	default:
		return Attempt{}, parley.Errorf(parley.RateLimited, "%s is being tested", name).WithHint("one test at a time")
	}
	timeout := c.hook.Timeout
	if timeout == 0 {
		timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	defer context.AfterFunc(d.sending, cancel)()
	m := &message{Type: testEvent, Timestamp: time.Now().UTC().Truncate(time.Millisecond), Data: testData{space, name}}
	body, err := m.body()
	if err != nil {
		return Attempt{}, err
	}
	var r result
	if c.post(ctx, newID(), body, &r); r.broken != nil {
		return Attempt{}, r.broken
	}
	return r.told(), nil
}

func (r *result) told() Attempt {
	return Attempt{At: r.at.Truncate(time.Millisecond), Status: r.status, Problem: r.problem, Took: r.took.Milliseconds()}
}

func noLetter(name, id string) error {
	return parley.Errorf(parley.NotFound, "%s has no dead letter %.80q", name, id).WithHint("parley webhook dead %s lists them", name)
}

func (d *Desk) find(space, name string) (*courier, error) {
	for _, c := range d.couriers {
		if c.hook.Space == space && c.hook.Name == name {
			return c, nil
		}
	}
	return nil, parley.Errorf(parley.NotFound, "there is no webhook %.80q here", name).WithHint("parley webhook list shows those that there are")
}

// with calls f where the state of a webhook is owned.
func (d *Desk) with(ctx context.Context, space, name string, f func(*courier) error) error {
	c, err := d.find(space, name)
	if err != nil {
		return err
	}
	return c.do(ctx, func() error { return f(c) })
}

func (c *courier) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	select {
	case c.calls <- func() { done <- f() }:
		return <-done
	case <-c.ended:
		return parley.Errorf(parley.Unavailable, "the gateway is going away").WithHint("try it again in a moment")
	case <-ctx.Done():
		return ctx.Err()
	}
}

// status is owned by run.
func (c *courier) status() Status {
	s := Status{
		Name: c.hook.Name, URL: Shown(c.hook.URL), Content: "ids", State: "active",
		Pending: len(c.pending), Dead: len(c.dead), Lost: c.lost, Delivered: c.delivered,
	}
	if _, end, _ := c.feed.next(c.at.index); len(c.pending) >= mostPending {
		s.Unread = end.index - min(c.at.index, end.index)
	}
	for _, t := range c.hook.Events {
		s.Events = append(s.Events, string(t))
	}
	if c.hook.Full {
		s.Content = "full"
	}
	for _, it := range c.pending {
		if s.Oldest.IsZero() || it.At.Before(s.Oldest) {
			s.Oldest = it.At
		}
		if !it.flying && (s.Next.IsZero() || it.Next.Before(s.Next)) {
			s.Next = it.Next.UTC().Truncate(time.Millisecond)
		}
	}
	switch {
	case c.disabled != nil:
		s.State, s.Reason, s.Since = "disabled", c.disabled.Reason, c.disabled.At
	case time.Now().Before(c.paused):
		s.State, s.Until = "paused", c.paused.UTC().Truncate(time.Millisecond)
	}
	if c.lastResult != nil {
		last := c.lastResult.told()
		s.Last = &last
	}
	return s
}

// take takes out one dead letter, or with "" the oldest, at most so many.
func (c *courier) take(id string, most int) (taken []*item) {
	if id == "" {
		taken = slices.Clone(c.dead[:min(len(c.dead), most)])
		c.dead = slices.Delete(c.dead, 0, len(taken))
		return taken
	}
	if i := slices.IndexFunc(c.dead, func(it *item) bool { return it.ID == id }); i >= 0 {
		taken = append(taken, c.dead[i])
		c.dead = slices.Delete(c.dead, i, i+1)
	}
	return taken
}

// requeue puts an event back to where it belongs among those that wait.
func (c *courier) requeue(it *item) {
	i := slices.IndexFunc(c.pending, func(other *item) bool { return it.Index > 0 && other.Index > it.Index })
	if i < 0 {
		i = len(c.pending)
	}
	c.pending = slices.Insert(c.pending, i, it)
}
