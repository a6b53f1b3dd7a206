// Command parley-code serves the source code below a folder as an MCP server
// over standard input and output. "parley-code --help" says how.
//
// It is a program of its own since its parsers are written in C: parley itself
// does not need a C compiler.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// The second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
