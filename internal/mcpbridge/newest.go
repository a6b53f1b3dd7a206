package mcpbridge

import "sync"

// keptNewest bounds what a newest holds.
const keptNewest = 4_096

// newest is a map of the newest entries.
type newest[K comparable, V any] struct {
	mu    sync.Mutex
	byKey map[K]V
	ring  []K // their keys
	next  int // the oldest of them, once it is full
}

func (n *newest[K, V]) get(k K) V {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.byKey[k]
}

// add adds an entry, and says whether it was not there.
func (n *newest[K, V]) add(k K, v V) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, known := n.byKey[k]; known {
		return false
	}
	if n.byKey == nil {
		n.byKey = make(map[K]V)
	}
	if len(n.ring) < keptNewest {
		n.ring = append(n.ring, k)
	} else {
		delete(n.byKey, n.ring[n.next])
		n.ring[n.next] = k
		n.next = (n.next + 1) % keptNewest
	}
	n.byKey[k] = v
	return true
}
