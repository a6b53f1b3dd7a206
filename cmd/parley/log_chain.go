package main

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

// thread is what a correlation chain reaches.
type thread struct {
	id   string // of what was asked for
	list []jsontext.Value
	cut  bool // there is more
}

func newLogChain(t *terminal, from *recordFlags) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "chain ID",
		Short: "Show all that one envelope led to, and what led to it",
		Long: `Follow correlations from one envelope both ways, from the reasoning to the
proposal, the decision, the call and its result. ID is an envelope's or a context's
id, the unique beginning of a recent one, or its seq. What was said in the same
context without such a link is not part of it; where envelopes are in one, standard
error says how to read that, unless JSON Lines are written.

Of a very long chain some is left out, what was only said before what acts; standard
error says so, and the last of the JSON Lines, {"truncated":true}.`,
		Example: `  parley log chain 0199a9f3-c1b2
  parley log chain 12 --journal .parley/parley.db`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			rec, err := from.open(ctx, t)
			if err != nil {
				return err
			}
			defer rec.close()
			found, err := findThread(ctx, rec, args[0])
			if err != nil {
				return err
			}
			p := newPrinter(t, full)
			p.goBy(ctx, rec, mostTypes)
			for _, wire := range found.list {
				if err := p.raw(wire); err != nil {
					return err
				}
			}
			if err := t.tellContexts(found); err != nil || !found.cut {
				return err
			}
			return t.tellCut(found)
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "cut nothing")
	return cmd
}

// tellCut says that a chain is not there as a whole, and where the rest is.
func (t *terminal) tellCut(found *thread) error {
	by, of := "--correlation", "names it"
	if !slices.ContainsFunc(found.list, func(wire jsontext.Value) bool { return idOf(wire) == found.id }) {
		by, of = "--context", "belongs to it"
	}
	paint := t.errPalette()
	t.say("%s", paint.bad("the chain is longer: these "+plural(len(found.list), "envelope", "envelopes")+
		" are what acts, as far as there is room, and then what was said"))
	t.say("%s parley log list --limit 0 %s %s shows all that %s; the same goes for each id here", paint.dim("hint:"), by, shellWord(clean(found.id)), of)
	if !t.asJSON() {
		return nil
	}
	return t.writeValue(struct {
		Truncated bool `json:"truncated"`
	}{true})
}
