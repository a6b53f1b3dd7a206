package client

import "github.com/parleyhq/parley"

// order follows the space's order over connections, so that nothing is
// delivered twice and a resume asks for exactly what is missing.
type order struct {
	resume parley.Position // everything up to here was received
	floor  uint64          // what is not above was received before
	joined bool
	began  parley.Position // where the room's own stream starts
	live   uint64          // what is not above happened before we first came: history
	told   uint64          // presence up to here is in the newest welcome
}

// after is where to resume, or nil where there was no connection yet.
func (o *order) after() *parley.Position {
	if !o.joined {
		return nil
	}
	at := o.resume
	return &at
}

// join starts a connection that asked for everything after a position, or for
// history. It returns what is missing, or nil.
func (o *order) join(after *parley.Position, history int, w *Welcome) *Gap {
	first := !o.joined
	o.joined, o.told = true, w.History.Last
	if first {
		o.live = w.History.Last
	}
	gap := o.place(after, history, w)
	if first {
		o.began = o.resume
	}
	return gap
}

func (o *order) place(after *parley.Position, history int, w *Welcome) *Gap {
	h := w.History
	if after == nil {
		o.start(history, w)
		return nil
	}
	switch {
	case after.Epoch != h.Epoch || h.Last < after.Seq: // positions of ours mean nothing here
		o.floor, o.live = 0, h.Last
		o.resume = parley.Position{Epoch: h.Epoch, Seq: h.Last}
	default: // also with a gap: what is left of it is sent
		o.floor, o.resume = after.Seq, *after
		if !h.Gap {
			return nil
		}
	}
	return &Gap{After: *after, Next: parley.Position{Epoch: h.Epoch, Seq: h.Last}}
}

// start is the first connection of all. Should it break before the history has
// arrived, resuming has to bring it.
func (o *order) start(history int, w *Welcome) {
	h := w.History
	if most := w.Space.Limits.History; most > 0 {
		history = min(history, most)
	}
	from := h.Last - min(h.Last, uint64(history))
	o.floor = 0
	o.resume = parley.Position{Epoch: h.Epoch, Seq: from}
}

// accept reports whether an envelope is new, and takes its place. One without
// a place in the order is always new.
func (o *order) accept(seq uint64) bool {
	if seq == 0 {
		return true
	}
	if seq <= o.floor {
		return false
	}
	o.floor, o.resume.Seq = seq, seq
	if o.began.Epoch == o.resume.Epoch { // history under a filter reaches further back
		o.began.Seq = min(o.began.Seq, seq-1)
	}
	return true
}

// isHistory reports whether an envelope is older than our first welcome, so
// that nobody here knows what became of it.
func (o *order) isHistory(seq uint64) bool { return seq > 0 && seq <= o.live }
