package space

import (
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

// What changed since somebody accepted a definition stays to be read, however little
// changes afterwards.
func TestChangesSinceAccepted(t *testing.T) {
	b := newToolBook()
	see := func(definition byte, change string) string {
		b.see("files", Listed{"pay", parley.Digest{definition}}, change, uint64(definition))
		tool := b.get("files", "pay")
		if len(tool.Change) > MaxToolChange {
			t.Errorf("%d bytes are kept of what changed", len(tool.Change))
		}
		return tool.Change
	}
	see(1, "")
	if got := see(2, "sends money abroad"); got != "sends money abroad" {
		t.Errorf("after one change: %q", got)
	}
	if got, want := see(3, "a full stop"), "sends money abroad; then a full stop"; got != want {
		t.Errorf("after two changes: %q, want %q", got, want)
	}
	got := see(4, strings.Repeat("x", MaxToolChange))
	if !strings.HasPrefix(got, "sends money abroad; then a full stop; then xxx") {
		t.Errorf("a long change hides the others: %q", got)
	}
	if got := see(5, "the last one"); !strings.HasPrefix(got, "sends money abroad") || !strings.HasSuffix(got, "; then the last one") {
		t.Errorf("after a long change: %q", got)
	}
	see(1, "as it was")
	if got := see(6, "another time"); got != "another time" {
		t.Errorf("after it had come back: %q", got)
	}
}
