// Package taint finds places in source code where hostile text may do harm.
//
// It follows text from where it enters a function, such as a request or the
// program's arguments, through assignments, concatenations, containers, branches
// and loops to where it must not arrive, such as a database or a shell:
//
//	name = request.args["name"]                  # hostile from here on
//	query = f"SELECT * FROM users WHERE n = '{name}'"
//	cursor.execute(query)                        # sql_injection, CWE-89
//
// What makes it harmless on the way ends the matter: a parameter of the query
// instead of the concatenation, an escape, a number made of it, a check against
// known values where the other branch ends. Which functions are sources, sinks
// and cleaners stands in the tables under rules, one for each language. Besides
// flows it finds literal secrets and cryptography that is broken.
//
// A language's file ([syntax.File]) is first brought into a small program of
// statements and expressions (program.go; python.go, javascript.go and golang.go
// do it), and one engine (flow.go, eval.go, call.go) follows the values through
// it. Each function is looked at by itself: what its parameters hold is not
// known, which is why flows from there have a lower confidence.
//
// # Guarantees
//
// A scan ends: loops are followed until nothing new comes of them, at most four
// times, values remember at most so much, and what is still too much is refused
// with too_large. A finding names identifiers and lines, never what a literal
// holds. The same text gives the same findings in the same order.
//
// # Concurrency
//
// Nothing is shared between scans but the tables, which never change.
package taint

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// A Finding is one place where harm may be done.
type Finding struct {
	Type       Type
	CWE        string // "CWE-89"
	Severity   Level
	Confidence Level   // at most High
	Line       int     // of the sink, from 1
	Column     int     // of the sink, from 1, in bytes
	Sink       string  // a dotted name of what is reached; for a secret the name that it is given to
	Source     *Source // nil for what is no flow
	Steps      []int   // lines from the source to the sink, each named once in a row, at most 20
	Function   string  // "" at the top of the file and for functions without a name
}

// A Source is where hostile text enters.
type Source struct {
	Kind string // request, arguments, environment, input or parameter
	Name string // a dotted name, or the parameter's
	Line int
}

// Report is what a scan found.
type Report struct {
	Findings []Finding // by line
	// Full says that there were more than are kept of one file.
	Full bool
}

// Scan looks through a file. Where the file has syntax errors it does what it
// can with the rest.
//
// Errors are *[tool.Error]: not_implemented for a language without a
// table, too_large for code that would take too long. A context that ends
// gives its own error.
func Scan(ctx context.Context, f *syntax.File) (*Report, error) {
	prog, table, err := lower(f)
	if err != nil {
		return nil, err
	}
	found := &collector{hits: map[hitKey]*hit{}}
	secrets(prog, found)
	e := &flow{ctx: ctx, rules: table, prog: prog, found: found}
	if err := e.run(); err != nil {
		return nil, err
	}
	report := &Report{Full: found.full}
	for _, h := range found.sorted() {
		report.Findings = append(report.Findings, h.finding(f))
	}
	return report, nil
}

func lower(f *syntax.File) (*program, *rules, error) {
	switch f.Language {
	case syntax.Python:
		return lowerPython(f), pythonRules(), nil
	case syntax.JavaScript, syntax.TypeScript, syntax.TSX:
		return lowerJavaScript(f), javascriptRules(), nil
	case syntax.Go:
		return lowerGo(f), goRules(), nil
	}
	return nil, nil, tool.Errorf(tool.NotImplemented, "code in this language cannot be scanned")
}

const maxShownSteps = 20

func (h *hit) finding(f *syntax.File) Finding {
	out := Finding{Type: h.is, CWE: h.cwe, Severity: h.severity, Confidence: h.confidence, Sink: told(h.sink), Function: told(h.function)}
	out.Line, out.Column = f.Position(int(h.at))
	if h.taint == nil {
		return out
	}
	from := h.taint.from
	line, _ := f.Position(int(from.at))
	out.Source = &Source{Kind: string(from.kind), Name: told(from.name), Line: line}
	for s := h.taint.step; s != nil && len(out.Steps) < maxShownSteps; s = s.before {
		if line, _ := f.Position(int(s.at)); len(out.Steps) == 0 || out.Steps[len(out.Steps)-1] != line {
			out.Steps = append(out.Steps, line)
		}
	}
	slices.Reverse(out.Steps)
	return out
}

// told is a dotted name as a finding may tell it. Parts of such names come from
// literals, keys and paths of modules, and what looks like anything else than a
// name is kept back.
func told(name string) string {
	const most = 120
	if len(name) > most || strings.ContainsFunc(name, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_$.-/@()[]?:", r)
	}) {
		return ""
	}
	return name
}
