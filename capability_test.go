package parley

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestCapabilities runs the examples of testdata/capabilities; 01_table.txt
// says how they are written.
func TestCapabilities(t *testing.T) {
	rows := 0
	for _, file := range exampleFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			rows += runExamples(t, file, func(x *examples, verb, rest string) error {
				return x.row(verb, rest)
			})
		})
	}
	if rows < 500 {
		t.Errorf("only %d rows were run", rows)
	}
}

// TestCapabilityRowsCanFail runs the same examples with each claim turned into
// its contrary, which must fail: a row that holds either way says nothing.
func TestCapabilityRowsCanFail(t *testing.T) {
	contrary := map[string]string{
		"may": "may not", "may not": "may", "covers": "lacks", "lacks": "covers",
		"plain": "crooked", "crooked": "plain", "clear": "unclear", "unclear": "clear",
	}
	for _, file := range exampleFiles(t) {
		runExamples(t, file, func(x *examples, verb, rest string) error {
			other, ok := contrary[verb]
			if !ok {
				return x.row(verb, rest)
			}
			if x.row(other, rest) == nil {
				return fmt.Errorf("%s and %s both hold", verb, other)
			}
			return nil
		})
	}
}

func exampleFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/capabilities/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	return files
}

func runExamples(t *testing.T, file string, row func(x *examples, verb, rest string) error) (rows int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var x examples
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		rows++
		verb, rest := cutVerb(line)
		err := errors.Join(x.before(verb), row(&x, verb, rest))
		if err != nil {
			t.Errorf("%s:%d: %s\n\t%v", file, i+1, line, err)
		}
	}
	if err := x.before(""); err != nil {
		t.Errorf("%s: at the end: %v", file, err)
	}
	return rows
}

func cutVerb(line string) (verb, rest string) {
	for _, two := range []string{"may not", "leaves nothing"} {
		if line == two || strings.HasPrefix(line, two+" ") {
			return two, strings.TrimSpace(line[len(two):])
		}
	}
	verb, rest, _ = strings.Cut(line, " ")
	return verb, strings.TrimSpace(rest)
}

// examples is the state between the lines of a file.
type examples struct {
	set    Capabilities
	last   string   // the verb before
	leaves []string // what a loses should leave; checked by the line after
}

// before ends what the line before it began.
func (x *examples) before(verb string) error {
	last := x.last
	x.last = verb
	if verb == "holds" && last != "holds" {
		defer func() { x.set = nil }()
	}
	if !strings.HasPrefix(last, "leaves") || strings.HasPrefix(verb, "leaves") {
		return nil
	}
	var left []string
	for _, c := range x.set {
		left = append(left, c.String())
	}
	want := x.leaves
	x.leaves = nil
	if !slices.Equal(left, want) {
		return fmt.Errorf("left is %q, want %q", left, want)
	}
	return nil
}

func (x *examples) row(verb, rest string) error {
	switch verb {
	case "holds", "loses", "covers", "lacks", "ungivable":
		c, err := exampleCapability(rest)
		if err != nil {
			return err
		}
		return x.capabilityRow(verb, c)
	case "leaves":
		x.leaves = append(x.leaves, rest)
		return nil
	case "leaves nothing":
		return nil
	case "plain", "crooked":
		return want(verb == "plain", InvalidSubject, CheckSubject(SplitKind(rest)))
	case "wrong":
		data, says, ok := strings.Cut(rest, " -- ")
		if !ok {
			return errors.New("nothing is said of the error")
		}
		return wrongRow(data, says)
	case "may", "may not":
		a, err := exampleAction(rest)
		if err != nil {
			return err
		}
		if got := x.set.Allow(a); got != (verb == "may") {
			return fmt.Errorf("Allow is %v", got)
		}
		return checkExtent(x.set, a)
	case "clear", "unclear":
		a, err := exampleAction(rest)
		if err != nil {
			return err
		}
		return want(verb == "clear", KindMismatch, x.set.CheckParams(a))
	}
	return fmt.Errorf("there is no row %q", verb)
}

func (x *examples) capabilityRow(verb string, c Capability) error {
	switch verb {
	case "holds":
		x.set = append(x.set, c)
	case "loses":
		before := slices.Clone(x.set)
		x.set = x.set.Without(c)
		if len(before) > 0 && x.set.Covers(c) {
			return errors.New("what was taken is still covered")
		}
	case "ungivable":
		return want(false, CapabilityViolation, c.CheckGrant())
	default:
		if got := x.set.Covers(c); got != (verb == "covers") {
			return fmt.Errorf("Covers is %v", got)
		}
		if err := c.CheckGrant(); verb == "covers" && err != nil {
			return err
		}
	}
	return nil
}

func wrongRow(data, says string) error {
	var c Capability
	err := c.UnmarshalJSON([]byte(data))
	if err := want(false, InvalidArgument, err); err != nil {
		return err
	}
	if !strings.Contains(err.Error(), says) {
		return fmt.Errorf("the error is %q", err)
	}
	if !c.IsZero() {
		return fmt.Errorf("and yet there is %s", c)
	}
	return nil
}

// want checks for success, or for an error of the code.
func want(success bool, code Code, err error) error {
	if success || err == nil {
		if success != (err == nil) {
			return fmt.Errorf("error is %v", err)
		}
		return nil
	}
	if !errors.Is(err, &Error{Code: code}) {
		return fmt.Errorf("want %s, got %v", code, err)
	}
	return nil
}

// exampleCapability reads a pattern, and checks on the way that it comes back
// from JSON as it was.
func exampleCapability(s string) (c Capability, err error) {
	if s[0] == '{' || s[0] == '"' {
		err = json.Unmarshal([]byte(s), &c)
	} else {
		c, err = ParseCapability(s)
	}
	if err != nil {
		return c, err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return c, err
	}
	var again Capability
	if err := json.Unmarshal(data, &again); err != nil {
		return c, err
	}
	fromText, err := ParseCapability(c.String())
	if err != nil {
		return c, err
	}
	if !again.Equal(c) || !fromText.Equal(c) || again.Deny() != c.Deny() {
		return c, fmt.Errorf("%s came back as %s and %s", c, again, fromText)
	}
	return c, nil
}

func exampleAction(s string) (*Action, error) {
	a := &Action{}
	s, params, ok := strings.Cut(s, " params=")
	if ok {
		a.Params = []byte(strings.TrimSpace(params))
		if !a.Params.IsValid() {
			return nil, errors.New("params is not strict JSON")
		}
	}
	s, a.ContextType, _ = strings.Cut(s, " context=")
	s, to, ok := strings.Cut(s, " to=")
	if ok {
		a.To = strings.Split(to, ",")
	}
	a.Kind = SplitKind(s)
	if a.Kind.String() != s {
		return nil, fmt.Errorf("%q is not a kind", s)
	}
	return a, nil
}

func TestCapabilityLimits(t *testing.T) {
	long := strings.Repeat("a", MaxPattern)
	deep := func(n int) string {
		return `{"kind":"chat","params":` + strings.Repeat(`{"a":`, n-1) + `{}` + strings.Repeat(`}`, n)
	}
	many := func(n int) string { return strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") }
	tests := []struct {
		name string
		json string
		says string // empty where it is a capability
	}{
		{"longest pattern", `"` + long + `"`, ""},
		{"longest denial", `"!` + long + `"`, ""},
		{"longer pattern", `"` + long + `a"`, "longer than 4096 bytes"},
		{"longer kind", `{"kind":"` + long + `a"}`, "longer than 4096 bytes"},
		{"longer param", `{"kind":"chat","params":{"a":"` + long + `a"}}`, "params.a is longer"},
		{"longer addressee", `{"kind":"chat","to":["` + long + `a"]}`, "to[0] is longer"},
		{"longer context", `{"kind":"chat","context":{"type":"` + long + `a"}}`, "context.type is longer"},
		{"longest object", `{"kind":"chat","params":{"` + strings.Repeat("a", maxObjectForm-len(`{"kind":"chat","params":{"":1}}`)) + `":1}}`, ""},
		{"longer object", `{"kind":"chat","to":["` + long + `","` + long + `","` + long + `","` + long + `"]}`, "longer than 16384 bytes"},
		{"deepest params", deep(32), ""},
		{"deeper params", deep(33), "deeper than 32"},
		{"most alternatives", `{"kind":"chat","params":{"a":[` + many(255) + `]}}`, ""},
		{"more alternatives", `{"kind":"chat","params":{"a":[` + many(256) + `]}}`, "more than 256"},
		{"most addressees", `{"kind":"chat","to":[` + many(256) + `]}`, ""},
		{"more addressees", `{"kind":"chat","to":[` + many(257) + `]}`, "more than 256"},
		{"bad UTF-8", "\"\xff\"", "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var c Capability
			err := c.UnmarshalJSON([]byte(tt.json))
			switch {
			case tt.says == "" && err != nil:
				t.Error(err)
			case tt.says == "" && !c.Deny():
				if err := c.Denial().roundTrip(); err != nil {
					t.Errorf("its denial: %v", err)
				}
			case tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)):
				t.Errorf("got %v, want one that says %q", err, tt.says)
			}
		})
	}
	if _, err := ParseCapability("a\xff"); err == nil {
		t.Error("bad UTF-8 is a pattern")
	}
}

func (c Capability) roundTrip() error {
	_, err := ParseCapability(c.String())
	return err
}

func TestZeroCapability(t *testing.T) {
	var c Capability
	a := &Action{Kind: Kind{Type: KindChat}}
	if c.Matches(a) || c.Deny() || c.String() != "" || c.NeedsStrict() || c.GrantsSystem() {
		t.Error("the zero capability says something")
	}
	if _, err := c.MarshalJSON(); err == nil {
		t.Error("it marshals")
	}
	if c.CheckGrant() == nil {
		t.Error("it may be granted")
	}
	set := Capabilities{c, MustCapability("chat")}
	if !set.Allow(a) || set.Covers(c) || !set.Covers(set[1]) {
		t.Error("it disturbs a set")
	}
	if got := set.Without(c); len(got) != 2 {
		t.Errorf("without it: %v", got)
	}
}

func TestCapabilityMatches(t *testing.T) {
	dots := &Action{Kind: SplitKind("mcp/request:resources/read:file:///w/../etc/x")}
	if MustCapability("*").Matches(dots) {
		t.Error("a grant matches a SUBJECT with a dot segment")
	}
	if !MustCapability("!mcp/request:resources/read:file:///etc/*").Matches(dots) {
		t.Error("a denial does not match what may be meant")
	}
	if MustCapability("!mcp/request:tools/call:x").Matches(dots) {
		t.Error("a denial matches another METHOD")
	}
	// As a filter of kinds, a pattern may speak of the gateway's envelopes.
	if !MustCapability("system/*").Matches(&Action{Kind: Kind{Type: KindPresence}}) {
		t.Error("a pattern does not match system/presence")
	}
}

func TestMustCapabilityPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	MustCapability("")
}

func TestParseCapabilities(t *testing.T) {
	set, err := ParseCapabilities("chat", `{"kind":"mcp/request:*","params":{}}`)
	if err != nil || len(set) != 2 || set[0].NeedsStrict() || !set[1].NeedsStrict() {
		t.Errorf("got %v, %v", set, err)
	}
	if _, err := ParseCapabilities("chat", ""); err == nil {
		t.Error("an empty pattern is let through")
	}
}

func ExampleCapabilities_Allow() {
	set := Capabilities{
		MustCapability("mcp/request:tools/call:*"),
		MustCapability("!mcp/request:tools/call:delete_*"),
	}
	for _, kind := range []string{"mcp/request:tools/call:read_file", "mcp/request:tools/call:delete_file"} {
		fmt.Println(kind, set.Allow(&Action{Kind: SplitKind(kind)}))
	}
	// Output:
	// mcp/request:tools/call:read_file true
	// mcp/request:tools/call:delete_file false
}

func ExampleCapabilities_Covers() {
	own := Capabilities{MustCapability("mcp/request:tools/call:*"), MustCapability("!mcp/request:tools/call:delete_*")}
	fmt.Println(own.Covers(MustCapability("mcp/request:tools/call:read_*")))
	fmt.Println(own.Covers(MustCapability("mcp/request:tools/call:*")))
	// Output:
	// true
	// false
}

func ExampleCapabilities_Without() {
	set := Capabilities{MustCapability("chat"), MustCapability("mcp/*")}
	fmt.Println(set.Without(MustCapability("mcp/request:tools/call:delete_*")))
	fmt.Println(set.Without(MustCapability("mcp/*")))
	// Output:
	// [chat mcp/* !mcp/request:tools/call:delete_*]
	// [chat]
}

func ExampleParseCapability() {
	_, err := ParseCapability("mcp/request::read_file")
	fmt.Println(err)
	// Output: invalid_argument: METHOD is empty in the pattern "mcp/request::read_file"
}

func ExampleCapability_UnmarshalJSON() {
	var set Capabilities
	err := json.Unmarshal([]byte(`["chat", {"kind": "mcp/request:*", "to": ["files"]}]`), &set)
	fmt.Println(set, err)
	// Output: [chat {"kind":"mcp/request:*","to":["files"]}] <nil>
}

func ExampleCheckSubject() {
	fmt.Println(CheckSubject(SplitKind("mcp/request:resources/read:file:///w/%2e%2e/etc/passwd")))
	// Output: invalid_subject: "file:///w/%2e%2e/etc/passwd" is not a plain path or URI
}
