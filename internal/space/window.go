package space

// window remembers the newest entries by id and forgets the oldest, so that
// what a participant can make grow has a bound.
type window[V any] struct {
	size    int
	entries map[string]V
	order   []string // a ring, once it is full
	next    int
}

func newWindow[V any](size int) *window[V] {
	return &window[V]{size: size, entries: make(map[string]V)}
}

func (w *window[V]) get(id string) (V, bool) {
	v, ok := w.entries[id]
	return v, ok
}

// add remembers id, unless it is remembered already.
func (w *window[V]) add(id string, v V) {
	if _, ok := w.entries[id]; ok {
		return
	}
	w.entries[id] = v
	if len(w.order) < w.size {
		w.order = append(w.order, id)
		return
	}
	delete(w.entries, w.order[w.next])
	w.order[w.next] = id
	w.next = (w.next + 1) % w.size
}
