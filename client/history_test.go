package client_test

import (
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// sequence is of envelopes as "KIND CONTEXT TYPE", or "gap".
func sequence(lines ...string) client.Envelopes {
	return func(yield func(*parley.Envelope, error) bool) {
		for i, line := range lines {
			if line == "gap" {
				if !yield(nil, &client.Gap{}) {
					return
				}
				continue
			}
			parts := append(strings.Fields(line), "", "")
			e := &parley.Envelope{Seq: uint64(i + 1), Kind: parts[0]}
			if parts[1] != "" {
				e.Context = &parley.Context{ID: parts[1], Type: parts[2]}
			}
			if !yield(e, nil) {
				return
			}
		}
	}
}

func positions(seq iter.Seq2[*parley.Envelope, error]) string {
	var got []string
	for e, err := range seq {
		if err != nil {
			got = append(got, "gap")
			continue
		}
		got = append(got, fmt.Sprint(e.Seq))
	}
	return strings.Join(got, " ")
}

func TestHistoryFilters(t *testing.T) {
	all := sequence(
		"chat",                   // 1
		"reflection r reasoning", // 2
		"chat w workflow",        // 3
		"conclusion r other",     // 4: r stays reasoning
		"gap",
		"conclusion", // 6: concludes no context
		"reflection r",
		"chat u",
		"conclusion w reasoning", // 9: w stays workflow
	)
	for name, c := range map[string]struct {
		seq  client.Envelopes
		want string
	}{
		"everything":           {all, "1 2 3 4 gap 6 7 8 9"},
		"main only":            {all.MainOnly(), "1 gap 6"},
		"of a type":            {all.OfType("reasoning"), "1 2 4 gap 6 7"},
		"of two types":         {all.OfType("reasoning", "workflow"), "1 2 3 4 gap 6 7 9"},
		"of no type":           {all.OfType(""), "1 gap 6 8"},
		"conclusions":          {all.Conclusions(), "4 gap 9"},
		"in a context":         {all.InContext("r"), "2 4 gap 7"},
		"in two contexts":      {all.InContext("r", "u"), "2 4 gap 7 8"},
		"one after the other":  {all.OfType("reasoning").Conclusions(), "4 gap"},
		"and in another order": {all.Conclusions().OfType("reasoning"), "gap 9"},
		"by a rule of one's own": {all.Where(func(e *parley.Envelope) bool { return e.Kind == "chat" }),
			"1 3 gap 8"},
	} {
		t.Run(name, func(t *testing.T) {
			for range 2 { // a sequence can be gone through again
				if got := positions(iter.Seq2[*parley.Envelope, error](c.seq)); got != c.want {
					t.Errorf("got %s, want %s", got, c.want)
				}
			}
		})
	}
}

// A loop may be left at any place, also with the error.
func TestHistoryFiltersAreLeft(t *testing.T) {
	all := sequence("chat", "gap", "chat", "chat")
	for _, filter := range []func(client.Envelopes) client.Envelopes{
		client.Envelopes.MainOnly,
		func(all client.Envelopes) client.Envelopes { return all.OfType() },
	} {
		for most := 1; most <= 4; most++ {
			n := 0
			for _, err := range filter(all) {
				if n++; err != nil && !errors.As(err, new(*client.Gap)) {
					t.Error(err)
				}
				if n == most {
					break
				}
			}
			if n != most {
				t.Errorf("%d came", n)
			}
		}
	}
}

// Of more contexts than are remembered the newest are still told by their first
// envelopes.
func TestHistoryOfManyContexts(t *testing.T) {
	var lines []string
	for i := range 10_000 {
		lines = append(lines, fmt.Sprintf("chat c%d reasoning", i), fmt.Sprintf("chat c%d workflow", i))
	}
	n := 0
	for range sequence(lines...).OfType("reasoning") {
		n++
	}
	if n != len(lines) {
		t.Errorf("%d of %d are reasoning", n, len(lines))
	}
}

// The five strategies on what a gateway recorded, and on what happens live.
func TestHistoryOfARoom(t *testing.T) {
	agent, you := thinkers(t)
	ctx := t.Context()
	_, reason := agent.Context(ctx, "reasoning", client.ContextID("reason-789"))
	_, work := agent.Context(ctx, "workflow")
	sent := must[client.Receipt](t)
	sent(agent.Chat(ctx, "main"))
	sent(reason.Think(ctx, "thought"))
	sent(work.Chat(ctx, "step"))
	sent(work.Conclude(ctx, "done"))
	sent(reason.Conclude(ctx, "deny"))
	first := onRecord(t, you)[0].Seq
	for name, c := range map[string]struct {
		filter func(client.Envelopes) client.Envelopes
		want   []uint64
	}{
		"everything":   {func(all client.Envelopes) client.Envelopes { return all }, []uint64{0, 1, 2, 3, 4}},
		"main only":    {client.Envelopes.MainOnly, []uint64{0}},
		"of a type":    {func(all client.Envelopes) client.Envelopes { return all.OfType("reasoning") }, []uint64{0, 1, 4}},
		"conclusions":  {client.Envelopes.Conclusions, []uint64{3, 4}},
		"in a context": {func(all client.Envelopes) client.Envelopes { return all.InContext("reason-789") }, []uint64{1, 4}},
	} {
		var want []string
		for _, at := range c.want {
			want = append(want, fmt.Sprint(first+at))
		}
		recorded := c.filter(agent.API().History(ctx, &client.Query{After: first - 1}))
		if got := positions(iter.Seq2[*parley.Envelope, error](recorded)); got != strings.Join(want, " ") {
			t.Errorf("%s: on record %s, want %s", name, got, want)
		}
	}
	var live []string
	for e, err := range client.Envelopes(you.Envelopes(ctx)).Conclusions() {
		if err != nil {
			t.Fatal(err)
		}
		if live = append(live, string(e.Payload)); len(live) == 2 {
			break
		}
	}
	if strings.Join(live, " ") != `"done" "deny"` {
		t.Errorf("live: %s", live)
	}
}
