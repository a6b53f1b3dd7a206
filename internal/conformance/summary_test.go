package conformance

import "testing"

const legacyRun = `
=== Running scenario: ping ===
✓ ping: 9 passed, 0 failed

=== SUMMARY ===
✓ server-initialize: 3 passed, 0 failed
✗ tools-call-sampling: 1 passed, 1 failed
✗ tasks-lifecycle: 1 passed, 8 failed
✓ json-schema-2020-12: 8 passed, 0 failed
✗ server-sse-polling: 0 passed, 1 failed

Total: 13 passed, 10 failed

Not scored for 2025-11-25: 3 scenario(s) run, 2 failing. These do not affect conformance.
  ✗ tasks-lifecycle (extension)
  ✓ json-schema-2020-12 (pending)
  ✗ server-sse-polling (added-after-release)
`

func TestReadSummary(t *testing.T) {
	list, err := readSummary(legacyRun)
	if err != nil {
		t.Fatal(err)
	}
	if want := (scenario{"tools-call-sampling", 1, 1, ""}); len(list) != 5 || list[1] != want {
		t.Errorf("got %+v", list)
	}
	scored, others := count(list)
	if scored.String() != "1/2" || others.String() != "1/2" {
		t.Errorf("scored %v, others %v", scored, others)
	}
}

func TestReadBrokenSummary(t *testing.T) {
	for _, out := range []string{
		"",
		"✓ ping: 9 passed, 0 failed\n",
		"=== SUMMARY ===\n  ✓ ping (pending)\n",
	} {
		if list, err := readSummary(out); err == nil {
			t.Errorf("%q is read as %+v", out, list)
		}
	}
}
