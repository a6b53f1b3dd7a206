// Command tictactoe is an MCP server with one tool, a game between a language
// model and a human: an example of a tool that asks while it runs.
//
//	go run ./examples/tictactoe                        on standard input and output
//	go run ./examples/tictactoe -http 127.0.0.1:9000   over Streamable HTTP, at /mcp
//
// The model is asked by sampling/createMessage, the human by
// elicitation/create, both by way of whoever calls the tool: an MCP client, or a
// Parley room with participants who serve them. docs/tictactoe.md shows both.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/parleyhq/parley/tool"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "tictactoe:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("tictactoe", flag.ContinueOnError)
	address := flags.String("http", "", "serve over Streamable HTTP at `ADDRESS`, such as 127.0.0.1:9000, and not on standard input and output")
	runs := flags.String("runs", "", "keep games in `FOLDER`, so that they go on where they were after a restart")
	tries := flags.Int("tries", 3, "ask `N` times for one move before a side forfeits the game")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *tries < 1 {
		return fmt.Errorf("there are no arguments but flags, and -tries is 1 or more; see tictactoe -h")
	}
	// Standard output is the protocol's.
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server, err := tool.NewServer(tool.Options{Name: "tictactoe", Title: "Tic-tac-toe", Runs: *runs, Log: log})
	if err != nil {
		return err
	}
	tool.AddHandoff(server, declaration, newTable(*tries).handoff())
	if *address != "" {
		err = serveHTTP(ctx, server, *address, log)
	} else {
		err = server.Run(ctx)
	}
	return errors.Join(err, server.Close())
}
