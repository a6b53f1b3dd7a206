package gateway

import (
	"context"
	"slices"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// join is how a connection wants to take part (section 6 of the contract).
type join struct {
	settings  space.Settings
	history   int // newest envelopes to be sent first
	resume    bool
	after     uint64 // with resume: the position it has
	epoch     string
	exclusive bool
	packed    bool // compression was agreed on
}

// enter takes a connection in. Its welcome follows once that is on record.
func (r *room) enter(ctx context.Context, c *conn) error {
	var refused error
	if err := r.do(ctx, func() { refused = r.admitConn(c) }); err != nil {
		return err
	}
	return refused
}

func (r *room) admitConn(c *conn) error {
	if err := r.closed(); err != nil {
		return err
	}
	presence, err := r.count(c)
	if err != nil {
		return err
	}
	others := slices.Clone(r.conns[c.id])
	r.setConns(c.id, append(r.conns[c.id], c))
	if presence != nil && !r.own(presence) {
		r.dropConn(c)
		return unavailable()
	}
	if c.join.exclusive {
		for _, other := range others {
			other.close(closing{code: statusReplaced, reason: "replaced by an exclusive connection", upTo: r.state.Seq(), drain: true})
		}
	}
	r.resolve(c)
	r.welcome(c)
	return nil
}

// count counts a connection as one of its participant's, where there is room for it.
func (r *room) count(c *conn) (presence *parley.Envelope, err error) {
	switch {
	case c.join.exclusive && r.makesRoom(c.id):
		return r.state.Replace(c.id, r.now())
	case len(r.conns[c.id]) >= connectionsEach:
		return nil, parley.Errorf(parley.LimitReached, "connections: you have %d open, the limit for one participant", connectionsEach)
	}
	return r.state.Connect(c.id, r.now())
}

// makesRoom reports whether closing a participant's connections would end one that
// is not ending already. While many still are, they count as others do.
func (r *room) makesRoom(id string) bool {
	ending := 0
	for _, c := range r.conns[id] {
		if c.isClosing() {
			ending++
		}
	}
	return ending < min(endingEach, len(r.conns[id]))
}

func (r *room) setConns(id string, list []*conn) {
	r.connsMu.Lock()
	defer r.connsMu.Unlock()
	if len(list) == 0 {
		delete(r.conns, id)
	} else {
		r.conns[id] = list
	}
}

// leave lets a connection go, whose goroutines have ended.
func (r *room) leave(c *conn) {
	_ = r.do(context.Background(), func() { r.dropConn(c) }) // else the space has ended
}

func (r *room) dropConn(c *conn) {
	list := r.conns[c.id]
	i := slices.Index(list, c)
	if i < 0 {
		return
	}
	r.setConns(c.id, slices.Delete(slices.Clone(list), i, i+1))
	if presence := r.state.Disconnect(c.id, r.now()); presence != nil && !r.down {
		r.own(presence)
	}
	if r.drained != nil && len(r.conns) == 0 {
		close(r.drained)
		r.drained = nil
	}
}

// resolve decides where a connection that resumes goes on. From a position
// that this order never had, nothing can be resumed: then it joins as if new,
// and is told of the gap.
func (r *room) resolve(c *conn) {
	j := &c.join
	if !j.resume {
		return
	}
	switch last := r.state.Seq(); {
	case j.epoch != r.epoch || j.after > last:
		j.resume, c.gap = false, true
	case j.after+1 < r.first:
		j.after, c.gap = r.first-1, true
	}
}

// welcome sends a connection what the space is now, once all of that is on
// record.
func (r *room) welcome(c *conn) {
	seq := r.state.Seq()
	gap := c.gap && !c.isWelcomed()
	w := r.state.Welcome(c.id, space.History{Epoch: r.epoch, First: r.first, Last: seq, Gap: gap})
	r.whenDurable(func(err error) {
		if err == nil { // else there is another one when the space is back
			c.welcome(w, seq)
		}
	})
}
