package main

import (
	"iter"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/spf13/cobra"
)

func newLog(t *terminal) *cobra.Command {
	var from recordFlags
	cmd := newLogList(t, &from)
	cmd.Use, cmd.Args = "log [VERB]", group()
	cmd.Short = "Read what is on record: list, search, chain, tree, replay, stats, verify, export, head, redact"
	cmd.Long = `Read the record of a space, over HTTP or, with --journal, out of the file, whether a
gateway runs or not. Without a verb: log list.`
	cmd.Example = `  parley log --limit 20
  parley log chain 0199a9f3-c1b2`
	from.add(cmd)
	cmd.AddCommand(
		newLogList(t, &from), newLogSearch(t, &from), newLogChain(t, &from),
		newLogTree(t, &from), newLogReplay(t, &from), newLogStats(t, &from),
		newLogVerify(t, &from), newLogExport(t, &from), newLogHead(t, &from), newLogRedact(t, &from),
	)
	return cmd
}

// listFlags say what to list, and how.
type listFlags struct {
	query
	context string // as somebody named it
	order   string
	full    bool
}

func (f *listFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.IntVarP(&f.limit, "limit", "n", 100, "at most `N` envelopes; 0 is all")
	flags.StringVar(&f.from, "from", "", "only what this `PARTICIPANT` sent")
	flags.StringVar(&f.to, "to", "", "only what is addressed to this `PARTICIPANT`")
	flags.StringSliceVar(&f.kinds, "kind", nil, "only kinds that match a `PATTERN`, as chat or mcp/proposal:*")
	flags.StringVar(&f.context, "context", "", "only what belongs to this `CONTEXT`: its id, or how a recent one's begins")
	flags.BoolVar(&f.subtree, "subtree", false, "with --context: and to what descends from it")
	flags.StringVar(&f.correlation, "correlation", "", "only what answers this `ID`")
	flags.Var(moment{&f.since}, "since", "only from then on: 2026-11-20, 15:04, or 10m for ten minutes ago")
	flags.Var(moment{&f.until}, "until", "only until then")
	flags.Uint64Var(&f.after, "after", 0, "only what comes after `SEQ`")
	flags.Uint64Var(&f.before, "before", 0, "only what comes before `SEQ`")
	flags.StringVar(&f.order, "order", "", "asc begins with the oldest, desc with the newest; else the newest, in their order")
	flags.StringVarP(&f.text, "query", "q", "", "only what has all these `WORDS`")
	flags.BoolVar(&f.full, "full", false, "cut nothing")
	_ = cmd.RegisterFlagCompletionFunc("order", cobra.FixedCompletions([]string{"asc", "desc"}, cobra.ShellCompDirectiveNoFileComp))
}

// check finds flags that make no sense. It says whether the newest are wanted in
// their order, which has to be read backwards.
func (f *listFlags) check() (reversed bool, err error) {
	switch {
	case f.order != "" && f.order != "asc" && f.order != "desc":
		return false, usagef("--order is %q", f.order).hint("write asc or desc")
	case f.limit < 0:
		return false, usagef("--limit is below 0").hint("0 is all")
	case f.subtree && f.context == "":
		return false, usagef("--subtree of which context?").hint("name it with --context")
	case f.before > 0 && f.before <= f.after:
		return false, usagef("nothing lies after %d and before %d", f.after, f.before)
	}
	reversed = f.order == "" && f.after == 0 && f.limit > 0
	f.newest = reversed || f.order == "desc"
	return reversed, nil
}

func newLogList(t *terminal, from *recordFlags) *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List envelopes, the newest 100 unless told otherwise",
		Example: `  parley log list --kind mcp/proposal:* --since 1h
  parley log list --journal .parley/parley.db --from agent --json`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runList(cmd, t, from, flags) },
	}
	flags.add(cmd)
	return cmd
}

func newLogSearch(t *terminal, from *recordFlags) *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "search WORDS…",
		Short: "Find envelopes that have all these words",
		Example: `  parley log search hello.txt
  parley log search budget --kind chat --since 24h`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, word := range args {
				flags.text += " " + word
			}
			return runList(cmd, t, from, flags)
		},
	}
	flags.add(cmd)
	return cmd
}

func runList(cmd *cobra.Command, t *terminal, from *recordFlags, flags listFlags) error {
	reversed, err := flags.check()
	if err == nil {
		err = notEmpty(cmd, "context")
	}
	if err != nil {
		return err
	}
	rec, err := from.open(cmd.Context(), t)
	if err != nil {
		return err
	}
	defer rec.close()
	if flags.context != "" {
		id, err := findToRead(cmd.Context(), rec, flags.context, !flags.subtree)
		if err != nil {
			return err
		}
		flags.contexts = []string{id}
	}
	p := newPrinter(t, flags.full)
	p.goBy(cmd.Context(), rec, mostTypes)
	list := rec.list(cmd.Context(), flags.query)
	if reversed {
		newest, err := listed(cmd.Context(), rec, flags.query)
		if err != nil {
			return err
		}
		list = backward(newest)
	}
	for wire, err := range list {
		if err != nil {
			return err
		}
		if err := p.raw(wire); err != nil {
			return err
		}
	}
	return nil
}

// backward yields a list from its end.
func backward(list []jsontext.Value) iter.Seq2[jsontext.Value, error] {
	return func(yield func(jsontext.Value, error) bool) {
		for _, wire := range slices.Backward(list) {
			if !yield(wire, nil) {
				return
			}
		}
	}
}
