// Command reviewer is an MCP server with one tool, which has a language model
// review a diff or files: an example of a tool that asks in branches, some at a
// time, each with tokens of its own.
//
//	go run ./examples/reviewer -dir .
//
// The model is asked by way of whoever calls the tool: an MCP client, or a
// Parley room with a participant who serves sampling. See docs/reviewer.md.
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
		fmt.Fprintln(os.Stderr, "reviewer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	flags := flag.NewFlagSet("reviewer", flag.ContinueOnError)
	dir := flags.String("dir", "", "read files that callers only name from `FOLDER`; without it they have to send what is in them")
	atOnce := flags.Int("at-once", 4, "review `N` files at the same time")
	tokens := flags.Int64("tokens", 32_000, "let the review of one file take `N` tokens, question and answer")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *atOnce < 1 || *tokens < 1 {
		return errors.New("there are no arguments but flags, and their numbers are 1 or more; see reviewer -h")
	}
	r := &reviewer{atOnce: *atOnce, tokens: *tokens}
	if *dir != "" {
		root, err := os.OpenRoot(*dir)
		if err != nil {
			return err
		}
		defer root.Close()
		r.root = root
	}
	// Standard output is the protocol's.
	log := slog.New(slog.NewTextHandler(os.Stderr, nil))
	server, err := tool.NewServer(tool.Options{Name: "reviewer", Title: "Reviewer", Log: log})
	if err != nil {
		return err
	}
	tool.Add(server, declaration, r.review)
	return server.Run(ctx)
}
