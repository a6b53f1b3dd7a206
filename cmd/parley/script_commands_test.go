package main

import (
	"os/exec"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// scriptCommands are what scripts may say besides testscript's own commands.
func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"exits":         exits,
		"for-each-verb": forEachVerb,
	}
}

// exits CODE PROGRAM ARGS… runs a program and wants that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	code := 0
	if e, ok := err.(*exec.ExitError); ok {
		code = e.ExitCode()
	} else {
		ts.Check(err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// for-each-verb wants that every verb has help with two examples.
func forEachVerb(ts *testscript.TestScript, _ bool, _ []string) {
	var check func(cmd *cobra.Command)
	check = func(cmd *cobra.Command) {
		if n := len(strings.Split(cmd.Example, "\n")); n < 2 {
			ts.Logf("%s has %d examples", cmd.CommandPath(), n)
			ts.Fatalf("every verb has two examples")
		}
		if cmd.Short == "" {
			ts.Fatalf("%s does not say what it does", cmd.CommandPath())
		}
		path := append(strings.Fields(cmd.CommandPath())[1:], "--help")
		ts.Check(ts.Exec("parley", path...))
		for _, sub := range cmd.Commands() {
			check(sub)
		}
	}
	check(newRoot(&terminal{}))
}
