package tool

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// A run that has failed has the same end again, whatever it failed with.
func TestFailuresAreKept(t *testing.T) {
	gold := Errorf(UpgradeRequired, "only for more").WithHint("deep", Pro, "more le\xffvels")
	for name, fail := range map[string]func() error{
		"an error":     func() error { return Errorf(NotFound, "no tea") },
		"with details": func() error { return Errorf(NotFound, "no tea").WithDetails([]string{"tea"}) },
		"with data":    func() error { return Errorf(NotFound, "no tea").WithData(map[string]int{"left": 0}) },
		"with what is not UTF-8": func() error {
			return Errorf(NotFound, "no t\xff").WithDetails("t\xff").WithData(map[string]string{"t\xff": "a"})
		},
		"with hints":         func() error { return gold },
		"of what is no JSON": func() error { return Errorf(NotFound, "no tea").WithDetails(func() {}) },
		"a fault":            func() error { return errors.New("the disk is on fire") },
		"that took too long": func() error { return context.DeadlineExceeded },
		"a panic":            func() error { panic("out of tea") },
		"of a question":      func() error { return &AskError{Reason: Declined, Method: methodSample, Message: "no"} },
	} {
		for _, at := range []string{"Before", "Client", "After"} {
			t.Run(name+"/"+at, func(t *testing.T) {
				s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				failing := func(phase string) error {
					if phase == at {
						return fail()
					}
					return nil
				}
				AddHandoff(s, Tool{Name: "ask"}, Handoff[none, none, none, none]{
					Before: func(context.Context, *Call, none) (none, error) { return none{}, failing("Before") },
					Client: func(context.Context, *Call, none) (none, error) { return none{}, failing("Client") },
					After:  func(context.Context, *Call, none, none, none) (none, error) { return none{}, failing("After") },
				})
				var ends [2]jsontext.Value
				for i := range ends {
					if ends[i], err = s.Do(t.Context(), Request{Tool: "ask", Meta: jsontext.Value(`{"request_id":"1"}`), Run: "r"}); err != nil {
						t.Fatal(err)
					}
				}
				if string(ends[0]) != string(ends[1]) {
					t.Errorf("first %s\nthen  %s", ends[0], ends[1])
				}
			})
		}
	}
}

// An answer that is none is one in a run that is kept as well, and nobody is asked
// again because of it.
func TestGarbledAnswersAreKept(t *testing.T) {
	for name, answer := range map[string]string{
		"twice the same member": `{"action":"accept","content":{"cell":4,"cell":5}}`,
		"what is not UTF-8":     "{\"action\":\"accept\",\"content\":{\"cell\":\"\xff\"}}",
		"no JSON":               `{"action":`,
		"nothing":               ``,
		"an odd error":          "error -32000 no t\xffea {\"a\":1,\"a\":2}",
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewServer(quiet(Options{NoUsage: true, Runs: t.TempDir()}))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			want := Garbled
			if name == "an odd error" {
				want = Failed
			}
			var told []string
			AddHandoff(s, asks, Handoff[none, none, none, string]{
				Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
				Client: func(ctx context.Context, c *Call, _ none) (none, error) {
					_, err := Elicit[move](ctx, c, sampling.Elicitation[none]{Key: "move", Message: "Where?"})
					if !errors.Is(err, want) {
						t.Errorf("got %v", err)
					}
					told = append(told, err.Error())
					_, err = c.Sample(ctx, prompt("?"))
					return none{}, err
				},
				After: func(context.Context, *Call, none, none, none) (string, error) { return "done", nil },
			})
			ctx, stop := context.WithCancel(t.Context())
			a := &actor{human: []string{answer}}
			if _, err := s.Do(ctx, Request{Tool: "ask", Run: "r", Peer: &leaving{a, stop}}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			again := &actor{model: []string{text("yes")}}
			raw, err := s.Do(t.Context(), Request{Tool: "ask", Run: "r", Peer: again})
			if err != nil || !strings.Contains(string(raw), `{"data":"done"}`) || len(again.asked) != 1 || told[0] != told[1] {
				t.Errorf("asked %d times: %s, %v; it was told %q", len(again.asked), raw, err, told)
			}
		})
	}
}
