package gateway

import (
	"fmt"
	"testing"

	"github.com/parleyhq/parley/internal/journal"
)

// A replay ends where it began to be read, and with an error where retention has
// dropped what was to come.
func TestReplayOvertakenByRetention(t *testing.T) {
	k := keep(t, Options{})
	for i := range 2 * chunkOfLog {
		k.send([]string{"ann", "bob", "cy"}[i%3], fmt.Sprintf(`{"kind":"chat","context":{"id":"c%d"},"payload":{"text":"%d"}}`, i%8, i))
	}
	k.save()
	c := caller{identity: identity{room: k.room()}, reads: newTurns(apiReads)}
	whole := replaying{caller: c, ids: []string{"c0"}}
	if err := whole.begin(t.Context(), "c0", false); err != nil {
		t.Fatal(err)
	}
	k.send("ann", `{"kind":"chat","context":{"id":"c0"}}`)
	piece, err := whole.piece(t.Context())
	if err != nil || len(piece) != 2*chunkOfLog/8 {
		t.Fatalf("%d envelopes, %v", len(piece), err)
	}
	k.drop(1 << 10)
	if piece, err := whole.piece(t.Context()); err != nil || len(piece) != 0 {
		t.Errorf("after the last: %d envelopes, %v", len(piece), err)
	}

	late := replaying{caller: c, ids: []string{"c0"}, first: whole.first, last: whole.last, after: piece[0].Seq}
	if _, err := late.piece(t.Context()); !journal.IsOvertaken(err) {
		t.Errorf("what was dropped is missed with %v", err)
	}
}
