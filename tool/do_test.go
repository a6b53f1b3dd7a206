package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// A run that is kept is that of one call: another one under its name is refused,
// and does not get what the first has.
func TestRunsOfOtherCalls(t *testing.T) {
	s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	AddHandoff(s, Tool{Name: "mine"}, handoffOf("a secret"))
	AddHandoff(s, Tool{Name: "yours"}, handoffOf("no secret"))
	do := func(tool, arguments string) (string, error) {
		raw, err := s.Do(t.Context(), Request{Tool: tool, Arguments: jsontext.Value(arguments), Run: "r"})
		return string(raw), err
	}
	for range 2 {
		if got, err := do("mine", `{"item":"tea"}`); err != nil || !strings.Contains(got, "a secret of tea") {
			t.Fatal(got, err)
		}
	}
	for _, c := range [][2]string{{"yours", `{"item":"tea"}`}, {"mine", `{"item":"milk"}`}} {
		got, err := do(c[0], c[1])
		if e, ok := errors.AsType[*PeerError](err); !ok || e.Code != codeInvalidParams || !strings.Contains(e.Message, "of another call") {
			t.Errorf("%s got %s, %v", c, got, err)
		}
	}
	if got := slices.Collect(s.Runs()); !slices.Equal(got, []string{"r"}) {
		t.Errorf("kept are %q", got)
	}
}

// handoffOf is a handoff that says something of an order.
func handoffOf(what string) Handoff[order, none, none, string] {
	return Handoff[order, none, none, string]{
		Before: func(context.Context, *Call, order) (none, error) { return none{}, nil },
		Client: func(context.Context, *Call, none) (none, error) { return none{}, nil },
		After: func(_ context.Context, _ *Call, _, _ none, o order) (string, error) {
			return what + " of " + o.Item, nil
		},
	}
}

// A run is kept also while it is under way.
func TestRunsUnderWayAreKept(t *testing.T) {
	s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	before := handoffOf("tea")
	before.Before = func(context.Context, *Call, order) (none, error) {
		if !s.Kept("r") || s.Kept("another") {
			t.Error("it is not known what is kept")
		}
		return none{}, nil
	}
	AddHandoff(s, Tool{Name: "mine"}, before)
	if _, err := s.Do(t.Context(), Request{Tool: "mine", Arguments: jsontext.Value(`{"item":"tea"}`), Run: "r"}); err != nil {
		t.Fatal(err)
	}
}

// Arguments that are none are the caller's mistake in a run that is kept, too.
func TestKeptCallsOfGarbage(t *testing.T) {
	s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	AddHandoff(s, Tool{Name: "mine"}, handoffOf("tea"))
	for _, garbage := range []string{`{"item":"a","item":"b"}`, "{\"item\":\"\xff\"}", `{"item":`, `[]`} {
		raw, err := s.Do(t.Context(), Request{Tool: "mine", Arguments: jsontext.Value(garbage), Run: "r"})
		if err != nil || !strings.Contains(string(raw), `"error_code":"invalid_argument"`) {
			t.Errorf("%q: %s, %v", garbage, raw, err)
		}
		if err := s.Forget("r"); err != nil {
			t.Error(err)
		}
	}
}
