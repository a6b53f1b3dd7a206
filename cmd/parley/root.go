package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
)

// execute runs one command line and returns its exit code: 0 done, 1 refused or
// failed, 2 wrong usage.
func execute(ctx context.Context, args []string, t *terminal) int {
	root := newRoot(t)
	root.SetArgs(args)
	root.SetIn(t.in)
	root.SetOut(t.out)
	root.SetErr(t.err)
	return t.fail(root.ExecuteContext(ctx))
}

func newRoot(t *terminal) *cobra.Command {
	root := &cobra.Command{
		Use:   "parley VERB",
		Short: "A room where agents propose, people approve, and everything is on record",
		Long: `Parley is a room where agents, people and tools meet. An agent that may not
act proposes; whoever may act approves by making the request; the journal
shows who did what.

Begin with "parley up": it starts a gateway with a demo room and says what to
do next.`,
		Example: `  parley up                             start a room
  parley tail --token-file .parley/you.token   listen to it`,
		Args:          group(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	root.PersistentFlags().Var(&t.json, "json", "write JSON Lines; --json=false for text when piped")
	root.PersistentFlags().Lookup("json").NoOptDefVal = "true"
	root.AddCommand(
		newUp(t), newJoin(t), newMCP(t), newSend(t), newTail(t), newChat(t), newLog(t), newJournal(t),
		newTools(t), newWebhook(t), newToken(t), newCheck(t), newBench(t), newVersion(t),
	)
	return root
}

// nearby is how many letters may differ between what was written and what is
// suggested.
const nearby = 2

// group refuses what is no verb of a command that has verbs, and names the
// nearest one.
func group() cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		err := usagef("%q is no verb of %s", args[0], cmd.CommandPath())
		cmd.SuggestionsMinimumDistance = nearby
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			return err.hint("did you mean %s %s?", cmd.CommandPath(), near[0])
		}
		return err.hint("%s --help lists the verbs", cmd.CommandPath())
	}
}

// arguments refuses a wrong number of arguments; most < 0 is no bound.
func arguments(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs more arguments", cmd.CommandPath()).hint("usage: %s", cmd.UseLine())
		case most >= 0 && len(args) > most:
			return usagef("%s has no use for %q", cmd.CommandPath(), args[most]).hint("usage: %s", cmd.UseLine())
		}
		return nil
	}
}

// flagError says what is wrong with a flag, and names the nearest one.
func flagError(cmd *cobra.Command, err error) error {
	u := usagef("%s", err)
	if bad, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		if cause, ok := errors.AsType[usageError](err); ok {
			return usagef("--%s: %s", bad.GetFlag().Name, cause.said.Message).hint("%s", cause.said.Hint)
		}
		return usagef("--%s cannot be %q", bad.GetFlag().Name, bad.GetValue()).
			hint("%s --help says what it may be", cmd.CommandPath())
	}
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		u = usagef("%s has no flag --%s", cmd.CommandPath(), unknown.GetSpecifiedName())
		if near := nearestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return u.hint("did you mean --%s?", near)
		}
	}
	return u.hint("%s --help lists the flags", cmd.CommandPath())
}

func nearestFlag(cmd *cobra.Command, name string) string {
	// Cobra knows how to find what is near among commands; flags may stand in.
	guide := &cobra.Command{SuggestionsMinimumDistance: nearby}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		guide.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
	})
	if near := guide.SuggestionsFor(name); len(near) > 0 {
		return near[0]
	}
	return ""
}

// usageError is a command line that makes no sense: exit code 2.
type usageError struct{ said *parley.Error }

func usagef(format string, args ...any) usageError {
	return usageError{parley.Errorf(parley.InvalidArgument, format, args...)}
}

func (u usageError) Error() string { return u.said.Error() }

func (u usageError) hint(format string, args ...any) usageError {
	return usageError{u.said.WithHint(format, args...)}
}
