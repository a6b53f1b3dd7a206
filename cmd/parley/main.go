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
	"time"
)

func main() {
	os.Exit(run())
}

func run() int {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	signals := make(chan os.Signal, 2) // both of two that come together
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	defer signal.Stop(signals)
	go obey(signals, stop)
	return execute(ctx, os.Args[1:], systemTerminal())
}

// haste is how long a second signal leaves for removing what is temporary.
const haste = time.Second

// obey stops at the first signal, in order, and ends the process soon after the
// second; a third one kills at once. It ends with the process.
func obey(signals chan os.Signal, stop func()) {
	<-signals
	stop()
	<-signals
	signal.Stop(signals)
	time.AfterFunc(haste, func() { os.Exit(1) })
}
