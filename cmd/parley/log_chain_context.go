package main

import (
	"fmt"
	"slices"
	"strings"
)

// namedContexts is how many contexts are named below a chain.
const namedContexts = 5

// tellContexts says in which contexts a chain was: what was thought there is
// correlated with what was done only where somebody wrote that.
func (t *terminal) tellContexts(found *thread) error {
	if t.asJSON() {
		return nil // each envelope says it
	}
	ids, err := found.contexts()
	if err != nil || len(ids) == 0 {
		return err
	}
	hint := t.errPalette().dim("hint:")
	if len(ids) == 1 {
		id := shellWord(clean(ids[0]))
		t.say("%s this happened in the context %s; parley log replay %s shows all that was said there", hint, id, id)
		return nil
	}
	var names []string
	for _, id := range ids[:min(len(ids), namedContexts)] {
		names = append(names, shellWord(clean(id)))
	}
	list := strings.Join(names, ", ")
	if more := len(ids) - len(names); more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	t.say("%s this happened in %d contexts; parley log replay CONTEXT shows all that was said in one: %s", hint, len(ids), list)
	return nil
}

// contexts are those that a chain's envelopes are in, in their order. One that is
// named as an envelope is named is left out: the chain has all that was said there.
func (t *thread) contexts() (ids []string, err error) {
	envelopes, named := make(map[string]bool), map[string]bool{t.id: true}
	for _, wire := range t.list {
		e, err := decodeAny(wire)
		if err != nil {
			return nil, err
		}
		envelopes[e.ID] = true
		for _, id := range e.Correlation.IDs {
			named[id] = true
		}
		if e.Context != nil && !slices.Contains(ids, e.Context.ID) {
			ids = append(ids, e.Context.ID)
		}
	}
	whole := func(id string) bool { return !t.cut && named[id] && !envelopes[id] }
	return slices.DeleteFunc(ids, whole), nil
}
