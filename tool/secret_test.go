package tool

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// broken is a peer whose questions end in what is nobody's business.
type broken struct{ ask func() error }

func (broken) Can(Ability) bool { return true }
func (p broken) Ask(context.Context, Question) (jsontext.Value, error) {
	return jsontext.Value(text("hi")), p.ask()
}
func (broken) Notify(context.Context, string, jsontext.Value) error { return nil }

// Why a question did not get through, or a run cannot be kept, stands in the log,
// and callers hear nothing of addresses and folders.
func TestCausesAreNotTold(t *testing.T) {
	for name, c := range map[string]struct {
		ask          func(s *Server) error
		secret, told string
	}{
		"the way to the peer": {func(*Server) error { return errors.New("dial tcp 10.1.2.3: refused") }, "10.1.2.3",
			`{"error":{"error":"sampling/createMessage: the question did not get through","error_code":"dependency_unavailable","error_details":{"method":"sampling/createMessage","reason":"failed"}}}`},
		"the disk": {func(s *Server) error { return s.kept.Close() }, "keeping a run in",
			`{"error":{"error":"internal error","error_code":"internal_error"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			o := quiet(Options{NoUsage: true, Runs: t.TempDir()})
			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			s, err := NewServer(o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			AddHandoff(s, asks, Handoff[none, none, none, none]{
				Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
				Client: func(ctx context.Context, c *Call, _ none) (none, error) {
					_, err := c.Sample(ctx, prompt("?"))
					return none{}, err
				},
				After: func(context.Context, *Call, none, none, none) (none, error) { return none{}, nil },
			})
			raw, err := s.Do(t.Context(), Request{Tool: "ask", Run: "r", Peer: broken{func() error { return c.ask(s) }}})
			if err != nil || !strings.Contains(string(raw), c.told) || strings.Contains(string(raw), c.secret) {
				t.Errorf("told %s, %v", raw, err)
			}
			if !strings.Contains(log.String(), c.secret) {
				t.Errorf("the log has %q", log.String())
			}
		})
	}
}
