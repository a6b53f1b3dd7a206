package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// dial NAME PROGRAM ARGS… starts a program that the script talks to.
func dial(ts *testscript.TestScript, neg bool, args []string) {
	launch(ts, neg, args, func(p *process) {
		var err error
		p.in, err = p.cmd.StdinPipe()
		ts.Check(err)
	})
}

// say NAME LINE writes a line to a program that was dialled.
func say(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 || running(ts)[args[0]] == nil || running(ts)[args[0]].in == nil {
		ts.Fatalf("usage: say NAME LINE, of what was dialled")
	}
	_, err := io.WriteString(running(ts)[args[0]].in, args[1]+"\n")
	ts.Check(err)
}

// hangup NAME ends the input of a program, and wants that it ends with exit code 0.
func hangUp(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || running(ts)[args[0]] == nil || running(ts)[args[0]].in == nil {
		ts.Fatalf("usage: hangup NAME, of what was dialled")
	}
	p := running(ts)[args[0]]
	ts.Check(p.in.Close())
	select {
	case <-p.done:
	case <-time.After(patience):
		ts.Fatalf("%s does not end", args[0])
	}
	if !p.cmd.ProcessState.Success() {
		ts.Fatalf("%s ended with %v", args[0], p.cmd.ProcessState)
	}
}

// free-port VARIABLE sets a variable to a port that nobody uses, and that no client
// is given by chance.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	for range 100 {
		port := 20_000 + rand.IntN(12_000)
		if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil {
			ts.Check(l.Close())
			ts.Setenv(args[0], fmt.Sprint(port))
			return
		}
	}
	ts.Fatalf("no port is free")
}
