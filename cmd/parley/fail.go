package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/journal"
)

// Codes of the command line's own.
const (
	brokenChain parley.Code = "broken_chain"
	interrupted parley.Code = "interrupted"
	timedOut    parley.Code = "timeout"
	callFailed  parley.Code = "call_failed"
	removed     parley.Code = "removed"
	replaced    parley.Code = "replaced"
)

// errSaid ends a verb with exit code 1 that has said everything itself.
var errSaid = errors.New("said already")

// fail prints what went wrong, if anything did, and returns the exit code.
func (t *terminal) fail(err error) int {
	if err == nil {
		return 0
	}
	if u, ok := errors.AsType[usageError](err); ok {
		t.printError(u.said)
		return 2
	}
	if c, ok := errors.AsType[*config.Error](err); ok {
		t.printProblems(c)
		return 1
	}
	if !errors.Is(err, errSaid) {
		t.printError(asError(err))
	}
	return 1
}

// asError gives whatever went wrong a code.
func asError(err error) *parley.Error {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return e
	}
	if b, ok := errors.AsType[*journal.Break](err); ok {
		return parley.Errorf(brokenChain, "%s", b.Error()).
			WithHint("compare with a backup or an export from before; parley log verify --journal PATH checks that as well")
	}
	if end, ok := errors.AsType[*client.EndError](err); ok {
		return ended(end)
	}
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, client.ErrClosed):
		return parley.Errorf(interrupted, "stopped before it was done")
	case errors.Is(err, context.DeadlineExceeded):
		return parley.Errorf(timedOut, "no answer came in time")
	}
	return parley.Errorf(parley.Internal, "%s", err)
}

// ended says why the gateway closed a connection for good.
func ended(end *client.EndError) *parley.Error {
	var e *parley.Error
	switch {
	case errors.Is(end, client.ErrRemoved):
		e = parley.Errorf(removed, "you were removed from the space").WithHint("parley log shows by whom; who still has a token may join again")
	case errors.Is(end, client.ErrReplaced):
		e = parley.Errorf(replaced, "another program took over").WithHint("it uses the same token, and wants to be the only one that does")
	default:
		e = parley.Errorf(parley.Unauthorized, "the token is no longer taken").WithHint("the gateway's configuration has changed")
	}
	if _, reason, _ := strings.Cut(end.Reason, ": "); reason != "" { // "removed: WHY"
		e.Message += ": " + reason
	}
	return e
}

// printError writes "code: message", and the hint on the next line. What it
// says may quote participants, so it is cleaned.
func (t *terminal) printError(e *parley.Error) {
	p := t.errPalette()
	fmt.Fprintf(t.err, "%s %s\n", p.bad(string(e.Code)+":"), clean(e.Message))
	if e.Hint != "" {
		fmt.Fprintf(t.err, "%s %s\n", p.dim("hint:"), clean(e.Hint))
	}
}

// printProblems writes everything that is wrong with a configuration.
func (t *terminal) printProblems(c *config.Error) {
	for _, p := range c.Problems {
		writeProblem(t.err, p, c.Name)
	}
	mistakes := fmt.Sprintf("%d mistakes", len(c.Problems))
	if len(c.Problems) == 1 {
		mistakes = "one mistake"
	}
	t.printError(parley.Errorf(parley.InvalidConfig, "%s has %s", c.Name, mistakes))
}

func writeProblem(w io.Writer, p config.Problem, name string) {
	for line := range strings.Lines(p.Format(name)) {
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		fmt.Fprintln(w, indent+clean(strings.TrimSpace(line)))
	}
}
