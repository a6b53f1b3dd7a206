package space

import "slices"

// window remembers the newest entries by id and forgets the oldest, so that
// what a participant can make grow has a bound.
type window[V any] struct {
	size int
	at   map[string]int32 // where in ring
	ring []entry[V]
	next int // the oldest, once the ring is full
}

type entry[V any] struct {
	id    string
	value V
}

func newWindow[V any](size int) *window[V] {
	return &window[V]{size: size, at: make(map[string]int32)}
}

func (w *window[V]) get(id string) (v V, ok bool) {
	at, ok := w.at[id]
	if !ok {
		return v, false
	}
	return w.ring[at].value, true
}

// add remembers id, unless it is remembered already.
func (w *window[V]) add(id string, v V) {
	if _, ok := w.at[id]; ok {
		return
	}
	if len(w.ring) < w.size {
		w.at[id] = int32(len(w.ring))
		w.ring = append(w.ring, entry[V]{id, v})
		return
	}
	delete(w.at, w.ring[w.next].id)
	w.at[id] = int32(w.next)
	w.ring[w.next] = entry[V]{id, v}
	w.next = (w.next + 1) % w.size
}

// change replaces what is remembered of id, if it still is.
func (w *window[V]) change(id string, v V) {
	if at, ok := w.at[id]; ok {
		w.ring[at].value = v
	}
}

// entries are a copy of all, the oldest first.
func (w *window[V]) entries() []entry[V] {
	return slices.Concat(w.ring[w.next:], w.ring[:w.next])
}
