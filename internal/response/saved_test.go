package response

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/tokens"
)

// What is said to be saved is what counting both envelopes says, give or take
// the tokens that depend on their neighbours.
func TestSaved(t *testing.T) {
	configs := map[string]*Config{
		"minimal":  Default(),
		"verbose":  parsed(t, `{"global":{"profile":"verbose"}}`),
		"debug":    Default().inDebug(),
		"filtered": parsed(t, `{"global":{"exclude_null_values":true},"tool_overrides":{"security_scan":{"exclude_fields":["raw"]}}}`),
	}
	answers := map[string]Answer{
		"success": {Data: jsontext.Value(`{"risk_level":"high","vulnerabilities":[{"type":"sql","cwe":null}],"raw":{"lines":[1,2,3,4,5,6,7,8,9]}}`)},
		"error":   {Error: &Error{Message: "File not found: /missing.py", Code: NotFound}},
		"asked":   {Asked: true, Data: jsontext.Value(`[1,2,3]`)},
		"hints":   {Data: jsontext.Value(`null`), Hints: []Hint{{"depth", Pro, "clamped to 1"}}},
	}
	for name, c := range configs {
		for kind, a := range answers {
			t.Run(name+" "+kind, func(t *testing.T) {
				a.Tool, a.Version, a.Tier, a.RequestID, a.Duration = "security_scan", "3.3.0", Pro, "8b3e5f6c0a2f4ed4a3fb9e0b2f8f8d3a", 27*time.Millisecond
				s := c.Shape(a.Tool, a.Tier)
				sent := s.Append(nil, &a)
				taken, saved := s.Saved(&a, sent)
				if want := tokens.Count(string(sent)); taken != want {
					t.Errorf("%d tokens are taken, want %d", taken, want)
				}
				want := tokens.Count(string(whole.Append(nil, &a))) - taken
				if off := saved - want; off < -3 || off > 3 {
					t.Errorf("%d tokens are saved, counted %d", saved, want)
				}
				if estimated, about := s.Estimate(&a, sent); estimated != tokens.Approximate(string(sent)) || about < saved/2 || about > saved*2 {
					t.Errorf("estimated %d tokens and %d saved, for %d and %d", estimated, about, taken, saved)
				}
				if name == "debug" && saved != 0 {
					t.Errorf("debug saves %d tokens", saved)
				}
			})
		}
	}
}

// Tools' names come from others; what is remembered of them is bounded.
func TestCostsAreBounded(t *testing.T) {
	s := Default().Shape("t", Pro)
	for i := range 3 * maxCosts {
		s.costs.of(kindOf(&Answer{Tool: fmt.Sprint("tool", i)}), func() int { return i })
	}
	if n := len(s.costs.known); n > maxCosts {
		t.Errorf("%d are remembered", n)
	}
}

// The metadata is counted once for each kind of answer.
func TestCostsAreCountedOnce(t *testing.T) {
	s, counted := Default().Shape("t", Pro), 0
	for i := range 10 {
		a := &Answer{Tool: "t", RequestID: strings.Repeat(fmt.Sprint(i), 32), Duration: time.Duration(i) * time.Hour, Data: jsontext.Value(fmt.Sprint(i))}
		s.costs.of(kindOf(a), func() int { counted++; return 0 })
	}
	if counted != 1 {
		t.Errorf("counted %d times", counted)
	}
}
