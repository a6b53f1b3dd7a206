package sqlite

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley/internal/journal"
)

// What SQLite has no memory for is an error, not the end of the process, and
// leaves the connection as it was.
func TestInsertWithoutMemory(t *testing.T) {
	j := open(t, Options{Path: filepath.Join(t.TempDir(), "parley.db"), QueueBytes: 1 << 30})
	l, sink := openLog(t, j)
	l.Append(message(1, "x"))
	sink.WaitDurable(1)
	must(t, j.onWriter(t.Context(), func() error { return j.writer.conn.Exec(`PRAGMA hard_heap_limit = 16777216`) }))
	large := message(2, "x")
	large.Body = bytes.Repeat([]byte{'x'}, journal.MaxCheckpoint)
	l.Append(large)
	if _, errs := sink.WaitFailed(1); errs[0] == nil {
		t.Error("it fails without an error")
	}
	b, err := l.Recover(t.Context())
	must(t, err)
	if b.Last != 1 {
		t.Errorf("then the last is %d", b.Last)
	}
	l.Append(message(3, "x"))
	sink.WaitDurable(2)
	if got := ids(t, l, journal.Query{}); len(got) != 2 {
		t.Errorf("on record are %q", got)
	}
}
