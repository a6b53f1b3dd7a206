// Command testsum reads what "go test -json" writes and says what a reader
// wants to know: one line per package, the whole output of whatever failed,
// the skipped tests with their reasons, and a closing line
//
//	12 passed, 0 failed, 1 skipped
//
// "go test" alone prints nothing about skipped tests unless asked for all the
// output of all tests, and never counts them. Subtests count like tests; a
// package that does not build, or fails outside its tests, counts as one
// failure.
//
//	go test -json ./... | testsum [-v] [-noskip]
//
// The exit code is 1 after any failure and, with -noskip, any skip.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "print the output of tests that pass, too")
	noSkip := flag.Bool("noskip", false, "a skipped test is a failure")
	flag.Parse()

	t := newTally(os.Stdout)
	t.verbose, t.noSkip = *verbose, *noSkip
	if err := t.read(os.Stdin); err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
	t.summarize()
	if len(t.failed) > 0 || *noSkip && len(t.skipped) > 0 {
		os.Exit(1)
	}
}
