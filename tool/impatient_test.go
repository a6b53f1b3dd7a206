package tool

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// An impatient client sends everything several times at once, also to a server that
// has just begun to go on with its run.
func TestImpatient(t *testing.T) {
	dir := t.TempDir()
	began := 0 // of Before and After
	start := func() (*Server, *lines, func()) {
		s, err := NewServer(quiet(Options{Runs: dir, NoUsage: true}))
		if err != nil {
			t.Fatal(err)
		}
		AddHandoff(s, Tool{Name: "held", Needs: []Ability{Elicitation}}, Handoff[none, none, none, string]{
			Before: func(context.Context, *Call, none) (none, error) { began++; return none{}, nil },
			Client: func(ctx context.Context, c *Call, _ none) (none, error) {
				for range 3 {
					if err := askConsent(ctx, c); err != nil {
						return none{}, err
					}
				}
				return none{}, nil
			},
			After: func(context.Context, *Call, none, none, none) (string, error) { began++; return "done", nil },
		})
		ctx, stop := context.WithCancel(t.Context())
		l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
			defer out.Close()
			return s.Serve(ctx, &mcp.IOTransport{Reader: in, Writer: out})
		})
		return s, l, stop
	}
	s, l, stop := start()
	l.callModern("a", "held", "{}", "")
	state, asked := l.required()
	rounds := 0
	for done := false; !done && rounds < 10; rounds++ {
		stop()
		s.Close()
		s, l, stop = start()
		for _, id := range []string{"x", "y", "z"} {
			l.callModern(id, "held", "{}", state, allAnswered(asked, consented)...)
		}
		for range 3 {
			m := l.next()
			switch {
			case strings.Contains(string(m.Result), "input_required"):
				state, asked = requiredBy(t, m.Result)
			case strings.Contains(string(m.Result), `{"data":"done"}`):
				done = true
			default:
				t.Fatalf("%s %s", m.Result, m.Error)
			}
		}
	}
	stop()
	s.Close()
	if began != 2 || rounds != 3 {
		t.Errorf("%d phases have begun in %d rounds", began, rounds)
	}
}
