package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// event is one line of "go test -json"; see "go doc test2json".
type event struct {
	Action  string
	Package string
	Test    string // empty where the event is about the package
	Output  string
}

// name is how a test, or with an empty Test its package, is spoken of.
type name struct{ Package, Test string }

func (n name) String() string { return strings.TrimRight(n.Package+" "+n.Test, " ") }

type skip struct {
	name   name
	reason string
}

type tally struct {
	w       io.Writer
	verbose bool
	noSkip  bool // say that a skip is a failure

	output  map[name][]string // what was said by whatever has not ended yet
	passed  int
	failed  []name
	skipped []skip
}

func newTally(w io.Writer) *tally {
	return &tally{w: w, output: map[name][]string{}}
}

// read takes in all events until the end of r. Lines that are no events, such
// as a test binary's last words, are printed as they are.
func (t *tally) read(r io.Reader) error {
	in := bufio.NewReader(r)
	for {
		line, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(line)) > 0 {
			t.line(line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading events: %w", err)
		}
	}
}

func (t *tally) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil {
		fmt.Fprintf(t.w, "%s\n", bytes.TrimRight(line, "\r\n"))
		return
	}
	t.add(e)
}

func (t *tally) add(e event) {
	n := name{e.Package, e.Test}
	switch e.Action {
	case "build-output":
		io.WriteString(t.w, e.Output)
	case "run":
		t.output[n] = []string{}
	case "output", "bench":
		t.print(n, e.Output)
	case "pass", "fail", "skip":
		if e.Test == "" {
			t.endPackage(n, e.Action)
		} else {
			t.endTest(n, e.Action)
		}
	}
}

// print shows a line at once where its reader waits for it, and otherwise
// keeps it until it is known whether the line is of interest.
func (t *tally) print(n name, line string) {
	if t.verbose || n.Test == "" && isVerdict(line) {
		io.WriteString(t.w, line)
	}
	t.output[n] = append(t.output[n], line)
}

// isVerdict tells the lines in which "go test" sums up a package.
func isVerdict(line string) bool {
	for _, prefix := range []string{"ok  \t", "FAIL\t", "?   \t"} {
		if strings.HasPrefix(line, prefix) {
			return true
		}
	}
	return false
}

func (t *tally) endTest(n name, action string) {
	switch action {
	case "pass":
		t.passed++
		if slices.ContainsFunc(t.output[n], isRace) {
			t.dump(n)
		}
	case "skip":
		t.skipped = append(t.skipped, skip{n, reason(t.output[n])})
	case "fail":
		t.failed = append(t.failed, n)
		t.dump(n)
	}
	delete(t.output, n)
}

// isRace tells the first line of what the race detector has to say. It fails a
// package, and not always the test that was running.
func isRace(line string) bool { return strings.Contains(line, "WARNING: DATA RACE") }

// endPackage counts the package itself where it failed and none of its tests
// says why: it did not build, its process ended early, or its TestMain found
// something after all tests had passed.
func (t *tally) endPackage(n name, action string) {
	if action == "fail" {
		before := len(t.failed)
		for _, open := range t.unfinished(n.Package) {
			t.endTest(open, "fail")
		}
		inPackage := func(f name) bool { return f.Package == n.Package }
		if before == len(t.failed) && !slices.ContainsFunc(t.failed, inPackage) {
			t.failed = append(t.failed, n)
			t.dump(n)
		}
	}
	delete(t.output, n)
}

// unfinished are the tests of pkg that began and never ended, in order.
func (t *tally) unfinished(pkg string) []name {
	var open []name
	for n := range t.output {
		if n.Package == pkg && n.Test != "" {
			open = append(open, n)
		}
	}
	slices.SortFunc(open, func(a, b name) int { return strings.Compare(a.Test, b.Test) })
	return open
}

// dump prints what was kept back of n's output.
func (t *tally) dump(n name) {
	if t.verbose {
		return
	}
	for _, line := range t.output[n] {
		if n.Test != "" || !isVerdict(line) {
			io.WriteString(t.w, line)
		}
	}
}

var logLine = regexp.MustCompile(`^\s*[\w.-]+\.go:\d+: (.*)`)

// reason is the last thing that a skipped test logged: what it gave to t.Skip.
func reason(output []string) string {
	var said []string
	for _, line := range output {
		text := strings.TrimSpace(line)
		if m := logLine.FindStringSubmatch(line); m != nil {
			said = []string{strings.TrimSpace(m[1])}
		} else if text != "" && len(said) > 0 && !isFrame(text) {
			said = append(said, text)
		}
	}
	if len(said) == 0 {
		return "no reason given"
	}
	return strings.Join(said, " ")
}

// isFrame tells the lines that the testing package writes around a test.
func isFrame(text string) bool {
	return strings.HasPrefix(text, "=== ") || strings.HasPrefix(text, "--- ")
}

// summarize prints what was skipped and why, what failed, and the count.
func (t *tally) summarize() {
	skipped := "skipped"
	if t.noSkip {
		skipped = "skipped, which is a failure here"
	}
	for _, s := range t.skipped {
		fmt.Fprintf(t.w, "%s: %s: %s\n", skipped, s.name, s.reason)
	}
	for _, n := range t.failed {
		fmt.Fprintf(t.w, "failed: %s\n", n)
	}
	fmt.Fprintf(t.w, "%d passed, %d failed, %d skipped\n", t.passed, len(t.failed), len(t.skipped))
}
