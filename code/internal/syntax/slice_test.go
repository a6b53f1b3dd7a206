package syntax

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// However often the parser is stopped on its way, it finds the same.
func TestParserStopsOften(t *testing.T) {
	many := strings.Repeat("aaaaaaaa, ", 20_000)
	src := []byte("import {" + many + "} from 'a';\nfunction f(" + many + ") {}\nclass C {" + strings.Repeat("m() {} n() {}\n", 1_000) + "}")
	parse := func(every time.Duration) []node {
		before := slice
		slice = every
		defer func() { slice = before }()
		nodes, err := parseNodes(t.Context(), TypeScript.grammar().language, src, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		return nodes
	}
	whole := parse(time.Minute)
	for _, every := range []time.Duration{50 * time.Microsecond, 200 * time.Microsecond, time.Millisecond, 5 * time.Millisecond} {
		if got := parse(every); !slices.Equal(got, whole) {
			t.Errorf("stopped every %v: %d nodes, not %d", every, len(got), len(whole))
		}
	}
}
