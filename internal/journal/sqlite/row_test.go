package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/ncruces/go-sqlite3"
)

// What SQLite has no memory for is an error, not the end of the process.
func TestInsertWithoutMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.db")
	must(t, open(t, Options{Path: path}).Close())
	c, err := sqlite3.OpenContext(sqlite3.WithMaxMemory(t.Context(), 8<<20), path)
	must(t, err)
	defer closeConn(c)
	stmt, _, err := c.Prepare(insertEnvelope)
	must(t, err)
	r := message(1, "x")
	r.Body = make([]byte, 16<<20)
	if err := insert(stmt, 1, r, 0); err == nil {
		t.Error("16 MB go into 8 MB")
	}
	r = message(1, "x")
	r.Index, r.Seq = 1, 1
	must(t, insert(stmt, 1, r, 0))
}
