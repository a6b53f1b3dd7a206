package command

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// A Verb is what a command does, by the word that is typed behind the /.
type Verb string

// The verbs. Nothing is what an empty line asks for.
const (
	Nothing   Verb = ""
	Say       Verb = "say"
	To        Verb = "to"
	Call      Verb = "call"
	Propose   Verb = "propose"
	Proposals Verb = "proposals"
	Approve   Verb = "approve"
	Amend     Verb = "amend"
	Reject    Verb = "reject"
	Withdraw  Verb = "withdraw"
	Grant     Verb = "grant"
	Revoke    Verb = "revoke"
	Kick      Verb = "kick"
	Context   Verb = "context"
	Search    Verb = "search"
	Verify    Verb = "verify"
	Who       Verb = "who"
	Form      Verb = "form"
	Decline   Verb = "decline"
	Cancel    Verb = "cancel"
	Back      Verb = "back"
	Skip      Verb = "skip"
	Help      Verb = "help"
	Quit      Verb = "quit"
)

// A Command is what a line asks for. The fields that a verb does not use are zero.
type Command struct {
	Verb Verb

	Text   string   // Say, To: what is said. Search: what for. Help: the verb, or nothing
	People []string // To: to whom
	Who    string   // Grant, Revoke, Kick: whose rights, or place

	Target string // Call, Propose: who is asked, "" for nobody in particular. Approve: who, where the proposal leaves it open
	Method string // Call, Propose: tools/call, or another method
	Tool   string // Call, Propose: of tools/call
	Args   []Arg  // Call, Propose, Amend: the arguments, in the order in which they were typed
	// Object is, in place of Args, all of the arguments; for another method than
	// tools/call the params.
	Object jsontext.Value

	ID string // Approve, Amend, Reject, Withdraw: the proposal; Form: which, or nothing; Revoke: the grant. #12, 12, or how an id begins

	Patterns []string      // Grant, Revoke: capabilities that parse
	For      time.Duration // Grant, Propose: until it ends by itself; 0 is never
	Until    time.Time     // Grant, Propose: when it ends by itself, where For is 0
	Reason   string        // Reject: one of Reasons
	Why      string        // Propose, Reject, Grant, Revoke, Kick: in words; may be empty

	Where   Place           // Context: what is asked
	Context *parley.Context // Context: which, for Enter and Alone; nil with Alone is the one where one is
}

// A Place is what is to be done about contexts.
type Place string

// What can be done about contexts.
const (
	Show  Place = "show"  // say where one is, and what there is
	Enter Place = "name"  // speak in one
	Alone Place = "alone" // show nothing else
	Leave Place = "leave" // back to the main one, and show everything
)

// Reasons are those that proposals are rejected for.
var Reasons = []string{"disagree", "unsafe", "busy", "incapable", "policy", "duplicate", "invalid", "timeout", "other"}

// An Arg is one argument as it was typed.
type Arg struct {
	Name string
	Text string         // what it says, quotes taken off
	JSON jsontext.Value // name:=json; nil for the others
	Bare bool           // name==text: a string, whatever the schema says

	at, column int
}

// An Error says what is wrong with a line, where, and what to do.
type Error struct {
	At      int // the byte of the line
	Column  int // the character of the line, from 1
	Problem string
	Hint    string // may be empty
}

// Error is the problem, and what to do.
func (e *Error) Error() string {
	if e.Hint == "" {
		return e.Problem
	}
	return e.Problem + ": " + e.Hint
}

// Unwrap is the error as every other one of Parley, with the code invalid_argument.
func (e *Error) Unwrap() error {
	return parley.Errorf(parley.InvalidArgument, "%s", e.Problem).WithHint("%s", e.Hint)
}

// MaxLine is how long a line may be, in bytes.
const MaxLine = 1 << 20

// Parse reads a line. The error is an [*Error].
func Parse(line string) (Command, error) {
	s := &scanner{line: line, end: len(strings.TrimRight(line, blanks))}
	if len(line) > MaxLine {
		return Command{}, s.wrong(0, "the line is longer than 1 MiB", "say it in several")
	}
	start := s.skip()
	switch rest := s.rest(); {
	case rest == "":
		return Command{}, nil
	case strings.HasPrefix(rest, "//"):
		return Command{Verb: Say, Text: rest[1:]}, nil
	case rest[0] != '/':
		return Command{Verb: Say, Text: rest}, nil
	}
	name := s.raw()
	v := verbOf(name)
	if v == nil {
		return Command{}, s.unknown(start, name)
	}
	c := Command{Verb: v.Verb}
	if err := v.parse(s, &c); err != nil {
		return Command{}, err
	}
	if at := s.skip(); s.rest() != "" {
		return Command{}, s.wrong(at, "there is more than /"+string(v.Verb)+" takes", "it is written "+v.line()+"; // in front says the line")
	}
	return c, nil
}
