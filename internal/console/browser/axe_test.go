package browser

import (
	"os"
	"testing"
)

// Of the rules of WCAG 2.2 AA axe-core leaves out one unless it is asked for.
const axeOptions = `{ resultTypes: ["violations"], rules: { "target-size": { enabled: true } } }`

// axe skips a test where there is no browser or no axe-core, and otherwise returns what
// fails where axe-core finds fault with what a page shows.
func axe(t *testing.T) (check func(p *page, what string)) {
	t.Helper()
	needBrowser(t)
	script, err := os.ReadFile("../../../.cache/npm-console/node_modules/axe-core/axe.min.js")
	if err != nil {
		t.Skip("axe-core is not there: scripts/fetch-test-deps fetches it")
	}
	return func(p *page, what string) {
		t.Helper()
		evaluate[bool](p, string(script)+"; true")
		for _, found := range evaluate[[]string](p, `axe.run(document, `+axeOptions+`).then((r) =>
			r.violations.flatMap((v) => v.nodes.map((n) => v.id + ": " + n.html.slice(0, 160) + " " + n.failureSummary)))`) {
			t.Errorf("%s: %s", what, found)
		}
	}
}
