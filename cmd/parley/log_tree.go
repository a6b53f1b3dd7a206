package main

import (
	"context"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/journal"
)

// treeFlags say which contexts to show.
type treeFlags struct {
	state string
	typ   string
	limit int
	depth int
}

func newLogTree(t *terminal, from *recordFlags) *cobra.Command {
	var flags treeFlags
	cmd := &cobra.Command{
		Use:   "tree [CONTEXT]",
		Short: "Show the contexts, and which is nested in which",
		Long: `Show the lines of reasoning and the workflows of a space as a tree, or one with all
that is nested in it: their ids and types, whether they are open, how much was said,
by whom they were opened and when, and what they concluded. They stand in the order
in which they were opened, and unless told otherwise they are the newest 1,000. What
a filter leaves out is shown all the same where something is nested in it.

A context that others name as their parent, but in which nothing was said, is shown
as "never opened". JSON Lines leave it out. With --journal, contexts count as
concluded after 10 minutes, whatever the configuration says.`,
		Example: `  parley log tree --state open
  parley log tree 0199a9f3-c1b2 --depth 2
  parley log tree --journal .parley/parley.db --type reasoning`,
		Args: arguments(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.check(); err != nil {
				return err
			}
			rec, err := from.open(cmd.Context(), t)
			if err != nil {
				return err
			}
			defer rec.close()
			name := ""
			if len(args) == 1 {
				name = args[0]
			}
			return runTree(cmd.Context(), t, rec, name, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.state, "state", "", "only those that are `STATE`: open or concluded")
	f.StringVar(&flags.typ, "type", "", "only those of this `TYPE`")
	f.IntVarP(&flags.limit, "limit", "n", 1_000, "at most `N` contexts, the newest; 0 is all")
	f.IntVar(&flags.depth, "depth", 0, "at most `N` levels; 0 is all")
	_ = cmd.RegisterFlagCompletionFunc("state", cobra.FixedCompletions([]string{string(client.ContextOpen), string(client.ContextConcluded)}, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (f *treeFlags) check() error {
	switch state := client.ContextState(f.state); {
	case state != "" && state != client.ContextOpen && state != client.ContextConcluded:
		return usagef("--state is %q", f.state).hint("write open or concluded")
	case f.limit < 0:
		return usagef("--limit is below 0").hint("0 is all")
	case f.depth < 0:
		return usagef("--depth is below 0").hint("0 is all")
	}
	return nil
}

// runTree shows the tree below what somebody named, or all of it.
func runTree(ctx context.Context, t *terminal, rec record, name string, flags treeFlags) error {
	var err error
	q := &client.ContextQuery{Descending: true, State: client.ContextState(flags.state), Type: flags.typ}
	if name != "" {
		if q.Tree, err = findContext(ctx, rec, name); err != nil {
			return err
		}
	}
	if flags.limit > 0 {
		q.Limit = flags.limit + 1 // one more says whether there are others
	}
	forest, others, err := readForest(ctx, rec, q, flags.limit)
	if err != nil {
		return err
	}
	p := &treePrinter{t: t, paint: t.palette(), now: time.Now(), depth: flags.depth}
	if !t.asJSON() {
		if p.concluded, err = conclusions(ctx, rec, forest, q.Tree); err != nil {
			return err
		}
	}
	if err := p.print(forest); err != nil {
		return err
	}
	if others {
		t.say("%s", t.errPalette().dim("these are the newest; --limit 0 shows all"))
	}
	return nil
}

// readForest reads contexts, and those that they are nested in.
func readForest(ctx context.Context, rec record, q *client.ContextQuery, most int) (f *forest, others bool, err error) {
	f = newForest(q.Tree)
	n := 0
	for c, err := range rec.contexts(ctx, q) {
		if err != nil {
			return nil, false, err
		}
		if n++; most > 0 && n > most {
			others = true
			break
		}
		f.add(c)
	}
	if err := f.climb(ctx, rec); err != nil {
		return nil, false, err
	}
	f.arrange()
	return f, others, nil
}

// mostConclusions is how many conclusions are looked at, for their first words.
const mostConclusions = 500

// conclusions are the first words of what contexts concluded last, as far as that
// is among the newest of all conclusions. A summary counts where there is nothing else.
func conclusions(ctx context.Context, rec record, f *forest, tree string) (map[string]string, error) {
	said, summed := make(map[string]string), make(map[string]string)
	q := query{kinds: []string{"conclusion"}, newest: true, limit: mostConclusions}
	if tree != "" {
		q.contexts, q.subtree = []string{tree}, true
	}
	if q.after = f.oldest(); q.after == 0 {
		return said, nil
	}
	q.after--
	r := &renderer{}
	for wire, err := range rec.list(ctx, q) {
		if err != nil {
			return nil, err
		}
		e, err := decodeAny(wire)
		if err != nil {
			return nil, err
		}
		if e.Context == nil {
			continue
		}
		into := said
		if journal.IsSummary(e.Context.Metadata, e.Context.ID) {
			into = summed
		}
		if into[e.Context.ID] == "" {
			into[e.Context.ID] = r.gist(e)
		}
	}
	maps.Copy(summed, said)
	return summed, nil
}
