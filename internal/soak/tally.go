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
	often  map[string]int // how often each of them was found
	more   int            // faults that are not kept
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
	if t.often == nil {
		t.often = make(map[string]int)
	}
	text := fmt.Sprintf(format, args...)
	switch {
	case t.often[text] > 0:
		t.often[text]++
	case len(t.faults) == mostFaults:
		t.more++
	default:
		t.often[text] = 1
		t.faults = append(t.faults, text)
	}
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
	for i, f := range list {
		if n := t.often[f]; n > 1 {
			list[i] = fmt.Sprintf("%s (%d times)", f, n)
		}
	}
	if t.more > 0 {
		list = append(list, fmt.Sprintf("and %d more", t.more))
	}
	return list
}
