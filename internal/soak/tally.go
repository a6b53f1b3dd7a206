package soak

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

// tally counts deeds, and keeps what was not as it has to be. The zero value is
// empty.
type tally struct {
	mu     sync.Mutex
	deeds  map[string]int
	faults []string
	more   int // faults that are not kept
}

// mostFaults bounds what is kept of what is wrong: the first explain the rest.
const mostFaults = 30

func (t *tally) did(deed string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.deeds == nil {
		t.deeds = make(map[string]int)
	}
	t.deeds[deed]++
}

func (t *tally) fault(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.faults) == mostFaults {
		t.more++
		return
	}
	t.faults = append(t.faults, fmt.Sprintf(format, args...))
}

// counts is what was done how often.
func (t *tally) counts() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.deeds)
}

// all is everything that was wrong.
func (t *tally) all() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := slices.Clone(t.faults)
	if t.more > 0 {
		list = append(list, fmt.Sprintf("and %d more", t.more))
	}
	return list
}
