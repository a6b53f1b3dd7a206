package main

import (
	"github.com/spf13/cobra"
)

func newLogChain(t *terminal, from *recordFlags) *cobra.Command {
	var full bool
	cmd := &cobra.Command{
		Use:   "chain ID",
		Short: "Show all that one envelope led to, and what led to it",
		Long: `Follow correlations from one envelope both ways, from the reasoning to the
proposal, the decision, the call and its result. ID is an envelope's or a context's
id, the unique beginning of a recent one, or its seq.`,
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
			list, err := findThread(ctx, rec, args[0])
			if err != nil {
				return err
			}
			p := newPrinter(t, full)
			for _, wire := range list {
				if err := p.raw(wire); err != nil {
					return err
				}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&full, "full", false, "cut nothing")
	return cmd
}
