// Command parley-model joins a space as a model: it answers sampling requests
// out of OpenAI-compatible, Anthropic and Ollama endpoints. "parley-model
// --help" says how.
//
// It is a program of its own since the endpoints' clients weigh more than all of
// parley, and since whoever holds the endpoints' keys is then not the gateway.
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
