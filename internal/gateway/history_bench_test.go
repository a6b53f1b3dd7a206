package gateway

import (
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/space"
)

// BenchmarkResume reads ten thousand envelopes from the journal, each in a
// context of its own, up to eight deep, for a connection that resumes with a
// filter.
func BenchmarkResume(b *testing.B) {
	const contexts = 10_000
	j, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "parley.db"), Sync: sqlite.Off})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	s := demo("ann", "bob")
	s.Rules.Limits = space.Limits{Rate: 1e9, Burst: 1 << 30, OpenContexts: 1 << 20}
	h := start(b, Options{Journal: j, Spaces: []Space{s}, RetainBytes: 1, Logger: textLog(io.Discard)})
	for i := range contexts {
		parent := ""
		if i%8 > 0 {
			parent = fmt.Sprintf(`,"parent":"c%d"`, i-1)
		}
		h.submit("ann", fmt.Sprintf(`{"kind":"chat","context":{"id":"c%d","type":"t%d"%s},"payload":{"text":"this is what is said in it"}}`, i, i%3, parent))
	}
	if err := j.WaitIndexed(b.Context(), "demo", contexts); err != nil {
		b.Fatal(err)
	}
	for _, filter := range []string{"all", "id:c7", "type:t1", "tree:c0"} {
		b.Run(filter, func(b *testing.B) {
			wants, err := space.ParseContexts(filter)
			if err != nil {
				b.Fatal(err)
			}
			c := h.g.rooms["demo"].newConn("bob", join{settings: space.Settings{Contexts: wants}})
			for b.Loop() {
				c.room.frames.seek(c.cur, 1)
				for next := uint64(1); next <= contexts; {
					ch, err := c.readChunk(nil, contexts)
					if err != nil || ch.hole {
						b.Fatal(err, ch.hole)
					}
					next = ch.next
					c.room.frames.passed(c.cur, next, ch.bytes)
				}
			}
		})
	}
}
