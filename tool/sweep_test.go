package tool

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Runs that a client did not come back for are cleared away after a week. Those
// that are under way are not, and those of Do are their caller's to forget.
func TestOldRunsAreClearedAway(t *testing.T) {
	s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	late := func() {
		later := s.now().Add(keptFor + time.Hour)
		s.now = func() time.Time { return later }
		s.sweep()
	}
	slow := handoffOf("tea")
	slow.Client = func(context.Context, *Call, none) (none, error) {
		late()
		return none{}, nil
	}
	AddHandoff(s, Tool{Name: "slow"}, slow)
	AddHandoff(s, buy, new(shop).handoff())

	k, err := keep(s.kept, runName("left"), called{Tool: "ask"})
	if err != nil {
		t.Fatal(err)
	}
	k.close()
	l := connectLines(t, s)
	l.callModern("0", "ask", `{"item":"tea"}`, "")
	state, asked := l.required()
	raw, err := s.Do(t.Context(), Request{Tool: "slow", Arguments: jsontext.Value(`{"item":"tea"}`), Run: "r"})
	if err != nil || !strings.Contains(string(raw), `{"data":"tea of tea"}`) {
		t.Errorf("got %s, %v", raw, err)
	}
	late()
	if got := slices.Collect(s.Runs()); !slices.Equal(got, []string{"r"}) {
		t.Errorf("kept are %q", got)
	}
	if k, _, err := reopen(s.kept, runName("left")); k != nil || err != nil {
		t.Errorf("what nobody came back for is still there: %v", err)
	}
	l.callModern("1", "ask", `{"item":"tea"}`, state, allAnswered(asked, `{"action":"decline"}`)...)
	if m := l.next(); !strings.Contains(string(m.Result), `"forbidden"`) {
		t.Errorf("who comes back gets %s %s", m.Result, m.Error)
	}
}
