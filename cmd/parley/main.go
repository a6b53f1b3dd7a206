// Command parley is the whole of Parley in one program: the gateway with its
// journal and bridges, and the verbs that talk to it. "parley help" lists them.
//
// Each verb is a function that returns its command, in a file of its own, and
// this is the only package where everything meets.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C kills at once
	return execute(ctx, os.Args[1:], systemTerminal())
}
