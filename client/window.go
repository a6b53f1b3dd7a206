package client

// window remembers the newest entries by id, and forgets the oldest.
type window[V any] struct {
	size    int
	entries map[string]V
	ring    []string
	next    int
}

func newWindow[V any](size int) window[V] {
	return window[V]{size: size, entries: make(map[string]V)}
}

func (w *window[V]) get(id string) (V, bool) {
	v, ok := w.entries[id]
	return v, ok
}

// add remembers id, and reports whether it was new.
func (w *window[V]) add(id string, v V) bool {
	if _, ok := w.entries[id]; ok {
		return false
	}
	w.entries[id] = v
	if len(w.ring) < w.size {
		w.ring = append(w.ring, id)
		return true
	}
	delete(w.entries, w.ring[w.next])
	w.ring[w.next] = id
	w.next = (w.next + 1) % w.size
	return true
}
