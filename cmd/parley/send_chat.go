package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func newSendChat(s *sender) *cobra.Command {
	var to, on []string
	var where contextFlags
	cmd := &cobra.Command{
		Use:   "chat TEXT…",
		Short: "Say something",
		Long:  `Say something, to everybody or to those named with --to. "-" reads the text from standard input.`,
		Example: `  parley send chat "good morning"
  parley send chat --to agent propose again`,
		Args: arguments(1, -1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to") && len(to) == 0 { // it would be said to everybody
				return usagef("--to names nobody").hint("leave it out to speak to everybody")
			}
			text := strings.Join(args, " ")
			if text == "-" {
				var err error
				if text, err = s.readText("-"); err != nil {
					return err
				}
			}
			in, err := where.context()
			if err != nil {
				return err
			}
			return s.post(cmd.Context(), &parley.Envelope{
				ID: client.NewID(), To: to, Kind: parley.KindChat, Context: in,
				Correlation: parley.CorrelateWith(on...),
				Payload:     members{{"text", quote(text)}}.object(),
			})
		},
	}
	cmd.Flags().StringSliceVar(&to, "to", nil, "only for these `IDS`")
	cmd.Flags().StringSliceVar(&on, "on", nil, "about the envelopes or contexts with these `IDS`")
	where.add(cmd)
	return cmd
}
