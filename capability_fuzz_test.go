package parley

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzMatch holds the matcher against a slow one, and checks that whatever is a
// capability survives being written and read.
func FuzzMatch(f *testing.F) {
	seedMatches(f)
	f.Fuzz(func(t *testing.T, pattern, kind, params, to, context string) {
		if len(pattern)+len(kind)+len(params) > 4<<10 {
			t.Skip("too slow for a table")
		}
		c, err := ParseCapability(pattern)
		if err != nil || !utf8.ValidString(kind) { // the codec lets no such kind through
			return
		}
		a := &Action{Kind: SplitKind(kind), ContextType: context}
		if to != "" {
			a.To = strings.Split(to, ",")
		}
		if params != "" {
			a.Params = jsontext.Value(params)
		}
		if !a.Params.IsValid() && a.Params != nil || hasHugeExponent(params) || hasHugeExponent(pattern) {
			return
		}
		if got, want := c.Matches(a), newSlowCapability(c).matches(a); got != want {
			t.Errorf("%s against %+v (params %s): got %v, slowly %v", c, a, a.Params, got, want)
		}
		if err := c.roundTrip(); err != nil {
			t.Errorf("%s cannot be read again: %v", c, err)
		}
		if c.Matches(a) && !c.Deny() && !c.Denial().Matches(a) {
			t.Errorf("the denial of %s does not match what it matches", c)
		}
		if crooked := CheckSubject(a.Kind) != nil; crooked != slowlyCrooked(a.Kind) {
			t.Errorf("CheckSubject of %q: crooked is %v", kind, crooked)
		}
	})
}

// hasHugeExponent keeps numbers away that the slow matcher would write out.
func hasHugeExponent(s string) bool {
	for i, c := range []byte(s) {
		exponent := s[i+1 : min(len(s), i+6)]
		if (c == 'e' || c == 'E') && len(exponent) == 5 && strings.Trim(exponent, "+-0123456789") == "" {
			return true
		}
	}
	return false
}

// seedMatches takes every pattern and action of the examples together.
func seedMatches(f *testing.F) {
	for _, name := range []string{"01_table", "02_patterns", "03_denials", "04_params", "05_paths", "06_to_and_context"} {
		data, err := os.ReadFile("testdata/capabilities/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		var held []string
		last := ""
		for line := range strings.Lines(string(data)) {
			verb, rest := cutVerb(strings.TrimSpace(line))
			switch verb {
			case "holds":
				if last != "holds" {
					held = nil
				}
				held = append(held, rest)
			case "may", "may not":
				a, err := exampleAction(rest)
				if err != nil {
					f.Fatal(err)
				}
				for _, p := range held {
					f.Add(p, a.Kind.String(), string(a.Params), strings.Join(a.To, ","), a.ContextType)
				}
			}
			last = verb
		}
	}
}
