package sqlite

import (
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// A search index that is far behind does not make what retention dropped before
// look like something that is dropped meanwhile.
func TestIndexFarBehindTheFloor(t *testing.T) {
	j, l, sink := openBench(t, Options{})
	const n = 6_000
	records := benchRecords(n)
	sink.want = n + 2
	for _, r := range records[:1_000] {
		l.Append(r)
	}
	if err := j.WaitIndexed(t.Context(), "bench", 1_000); err != nil {
		t.Fatal(err)
	}
	j.index.stop()
	for _, r := range records[1_000:] {
		l.Append(r)
	}
	l.Append(journal.NewCheckpoint(time.Unix(0, 0).UTC(), []byte(`{}`), [16]byte{1}))
	cut, err := l.Cut(t.Context(), journal.Retention{Bytes: 64 << 10})
	for ; err == nil && cut.Through.Seq < 2_000; cut, err = l.Cut(t.Context(), journal.Retention{Bytes: 64 << 10}) {
	}
	if err != nil {
		t.Fatal(err)
	}
	l.Append(journal.NewMarker(time.Unix(0, 0).UTC(), cut, [16]byte{2}))
	<-sink.done
	found := 0
	for r, err := range l.Read(t.Context(), journal.Query{ID: records[n-1].ID}) {
		if err != nil || r.Seq != n {
			t.Fatalf("%v: %v", r, err)
		}
		found++
	}
	if found != 1 {
		t.Errorf("found %d", found)
	}
}
