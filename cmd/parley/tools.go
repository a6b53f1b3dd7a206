package main

import (
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley/internal/filetool"
)

func newTools(t *terminal) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "tools VERB",
		Short: "Tools that Parley brings along, and those of servers: files, list, accept",
		Example: `  parley tools files ./workspace
  parley join files -- parley tools files ./workspace
  parley tools accept files write_file`,
		Args: group(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("which tool?").hint("parley tools files DIR serves the files of a folder; list and accept are about tools of servers")
		},
	}
	cmd.AddCommand(newToolsFiles(), newToolsList(t), newToolsAccept(t))
	return cmd
}

func newToolsFiles() *cobra.Command {
	return &cobra.Command{
		Use:   "files DIR",
		Short: "Serve the files below a folder over stdio",
		Long: `Serve the files below DIR as an MCP server over standard input and output: read,
write, list, search, move, delete, describe a file, create a folder, and nothing
outside of DIR. Any MCP client can run it, and "parley join" takes it into a space.`,
		Example: `  parley tools files ./workspace
  parley join files -- parley tools files ./workspace`,
		Args: arguments(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return filetool.Run(cmd.Context(), args[0], &filetool.Options{Version: readVersion().Version})
		},
	}
}
