package tool

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
)

// Clients of both eras hear what a call logs at the level that they have chosen,
// and how far it is, by the token that they gave. Those who did not ask hear nothing.
func TestClientsAreTold(t *testing.T) {
	const (
		first    = `{"data":{"message":"slow"},"level":"warning","logger":"tell"}`
		progress = `{"progressToken":"p","message":"half","progress":1,"total":2}`
	)
	modern := strings.TrimSuffix(modernMeta, "}")
	for name, c := range map[string]struct {
		level, meta string
		want        []string
	}{
		"2025-11-25":         {"warning", `"_meta":{"progressToken":"p"}`, []string{first, progress}},
		"2025-11-25, nobody": {"error", `"_meta":{}`, nil},
		"2026-07-28":         {"", modern + `,"progressToken":"p","io.modelcontextprotocol/logLevel":"warning"}`, []string{first, progress}},
		"2026-07-28, nobody": {"", modernMeta, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := NewServer(quiet(Options{NoUsage: true}))
			if err != nil {
				t.Fatal(err)
			}
			Add(s, Tool{Name: "tell", Needs: []Ability{Elicitation}}, func(ctx context.Context, c *Call, _ none) (none, error) {
				c.Log(ctx, slog.LevelInfo, "not worth it")
				c.Log(ctx, slog.LevelWarn, "slow")
				c.Progress(ctx, 1, 2, "half")
				return none{}, nil
			})
			l := connectLines(t, s)
			if c.level != "" {
				l.initialize(bothAbilities)
				l.send(`{"jsonrpc":"2.0","id":"l","method":"logging/setLevel","params":{"level":%q}}`, c.level)
				l.answered(`"l"`)
			}
			l.send(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"tell","arguments":{},%s}}`, c.meta)
			var got []string
			m := l.next()
			for ; m.Method != ""; m = l.next() {
				got = append(got, string(m.Params))
			}
			if !slices.Equal(got, c.want) || !strings.Contains(string(m.Result), `{"data":{}}`) {
				t.Errorf("heard %q, and then %s %s", got, m.Result, m.Error)
			}
		})
	}
}
