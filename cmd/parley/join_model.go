package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
)

// A model joins in the program parley-model, which gets the flags as they were
// given, and says itself what is wrong with their values.

// modelFlags are those of join that are about models.
var modelFlags = []struct {
	name, usage string
	list        bool
}{
	{"model", "a model that joins in place of a server, as `KIND:MODEL[@URL]`; may be repeated", true},
	{"key", "where the model's key is, as `env:NAME` or file:PATH, or KIND=env:NAME; may be repeated", true},
	{"max-tokens", "most tokens, `N`, that a model's reply may have", false},
	{"requests-per-minute", "requests to models, of each who asks: `N` (60)", false},
	{"tokens-per-hour", "tokens of models in 60 minutes, of each who asks: `N` (no bound)", false},
	{"tokens-per-day", "tokens of models in 24 hours, of each who asks: `N` (no bound)", false},
	{"retries", "how often a model is asked again after an error that passes: `N` (3)", false},
	{"concurrency", "requests to models at a time: `N` (16)", false},
	{"log-level", "what a model logs: `LEVEL` debug, info, warn or error", false},
}

func addModelFlags(f *pflag.FlagSet) {
	for _, m := range modelFlags {
		if m.list {
			f.StringArray(m.name, nil, m.usage)
		} else {
			f.String(m.name, "", m.usage)
		}
	}
	f.Bool("fallback", false, "ask the next model where one fails")
}

// joinsModel reports whether a model is to join.
func joinsModel(cmd *cobra.Command) bool { return cmd.Flags().Changed("model") }

// forModels reports whether a flag of join goes with --model.
func forModels(name string) bool {
	for _, m := range modelFlags {
		if m.name == name {
			return true
		}
	}
	return name == "fallback" || isTarget(name)
}

// isTarget reports whether a flag says where to join, as whom.
func isTarget(name string) bool { return slices.Contains([]string{"url", "space", "token-file"}, name) }

// checkJoinModel refuses what goes with a server only, and the other way round.
func checkJoinModel(cmd *cobra.Command, args []string) (err error) {
	model := joinsModel(cmd)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case err != nil, isTarget(f.Name), f.Name == "json":
		case model && !forModels(f.Name):
			err = usagef("--%s is for a server, and --model joins a model", f.Name).hint("leave one of them out")
		case !model && forModels(f.Name):
			err = usagef("--%s is for a model", f.Name).hint("name one with --model, as --model ollama:llama3.2")
		}
	})
	if model && (len(args) > 1 || cmd.ArgsLenAtDash() >= 0) && err == nil {
		err = usagef("with --model there is at most the gateway's URL to name").hint("parley join --model ollama:llama3.2 %s", defaultURL)
	}
	return err
}

// joinModel becomes parley-model.
func joinModel(cmd *cobra.Command, args []string) error {
	path, err := findModelProgram()
	if err != nil {
		return err
	}
	code, err := become(path, append(modelArguments(cmd.Flags()), args...), os.Environ())
	if err != nil {
		return parley.Errorf(parley.Unavailable, "%s cannot be started: %v", path, err)
	}
	os.Exit(code)
	return nil
}

// modelArguments are the flags that were given.
func modelArguments(flags *pflag.FlagSet) (args []string) {
	flags.Visit(func(f *pflag.Flag) {
		if !forModels(f.Name) {
			return
		}
		values := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			values = list.GetSlice()
		}
		for _, v := range values {
			args = append(args, fmt.Sprintf("--%s=%s", f.Name, v))
		}
	})
	return args
}
