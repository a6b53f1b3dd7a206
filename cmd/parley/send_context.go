package main

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
)

// contextFlags say which context something is sent in.
type contextFlags struct {
	in, typ, parent string
	flags           *pflag.FlagSet
}

func (f *contextFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.flags = flags
	flags.StringVar(&f.in, "context", "", "in the context `ID[:TYPE]`, which is opened where there is none")
	flags.StringVar(&f.typ, "context-type", "", "the `TYPE` of the context, where a colon belongs to its id")
	flags.StringVar(&f.parent, "context-parent", "", "the `ID` of the context that it is nested in; without it, a/b/c is nested in a/b")
}

// context is nil for the main one. Without a parent, slashes in an id mean what they
// do in the string form of a context (section 8 of the contract).
func (f *contextFlags) context() (*parley.Context, error) {
	if f.in == "" {
		if f.flags.Changed("context") {
			return nil, usagef("--context is empty").hint("leave it out for the main context")
		}
		if f.typ != "" || f.parent != "" {
			return nil, usagef("--context-type and --context-parent say more about --context, which is missing")
		}
		return nil, nil
	}
	id, typ := f.in, f.typ
	if typ == "" {
		id, typ, _ = strings.Cut(f.in, ":")
		if isFilter(f.in) {
			return nil, usagef("--context %.60q: it takes ID or ID:TYPE here, and no filter", f.in).
				hint("for an id with a colon in it, say the type with --context-type")
		}
	}
	parent := f.parent
	if i := strings.LastIndexByte(id, '/'); i > 0 && !f.flags.Changed("context-parent") {
		parent = id[:i]
	}
	return &parley.Context{ID: id, Type: typ, Parent: parent}, nil
}
