package providertest

import (
	"context"
	"fmt"
	"runtime"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// What is asked of real endpoints can be answered.
func TestLive(t *testing.T) { Live(t, obedient{}) }

// obedient is a model that does as it is told.
type obedient struct{}

func (obedient) Ask(_ context.Context, q *sampling.Request, progress func(provider.Progress)) (*sampling.Result, error) {
	r := &sampling.Result{Role: sampling.Assistant, Model: "obedient", StopReason: sampling.EndTurn}
	last := q.Messages[len(q.Messages)-1]
	switch {
	case q.MaxTokens == 20:
		r.StopReason = sampling.MaxTokens
	case len(last.ToolResults()) > 0:
		r.Content = []sampling.Block{sampling.Text{Text: "It has 31 degrees."}}
	case len(q.Tools) > 0:
		r.StopReason = sampling.ToolUseWanted
		r.Content = []sampling.Block{sampling.ToolUse{ID: "1", Name: q.Tools[0].Name, Input: jsontext.Value(`{"cell":4}`)}}
	default:
		progress(provider.Progress{Pieces: 1, Bytes: 5})
		r.Content = []sampling.Block{sampling.Text{Text: "Blue."}}
	}
	return r, q.Check()
}

// Whoever wants real endpoints is told what is missing; nobody else is.
func TestWanted(t *testing.T) {
	for _, c := range []struct{ live, key, value, failure string }{
		{"", "", "", ""},
		{"", "k", "", ""},
		{"0", "k", "", ""},
		{"1", "k", "k", ""},
		{"1", "", "", "PARLEY_LIVE_TESTS=1 asks the real endpoint, for which A_KEY is not set"},
	} {
		t.Setenv("PARLEY_LIVE_TESTS", c.live)
		t.Setenv("A_KEY", c.key)
		value, ok, failure := wanted(t, "A_KEY")
		if value != c.value || ok != (c.value != "") || failure != c.failure {
			t.Errorf("%+v: %q, %t, %q", c, value, ok, failure)
		}
	}
}

// wanted calls Wanted in a test that may fail.
func wanted(t *testing.T, variable string) (value string, ok bool, failure string) {
	inner, ended := &failing{TB: t}, make(chan struct{})
	go func() {
		defer close(ended)
		value, ok = Wanted(inner, variable)
	}()
	<-ended
	return value, ok, inner.failure
}

// failing is a test whose failure is no failure of the test around it.
type failing struct {
	testing.TB
	failure string
}

func (f *failing) Fatalf(format string, args ...any) {
	f.failure = fmt.Sprintf(format, args...)
	runtime.Goexit()
}
