package load

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/ncruces/go-sqlite3"
)

// BareResult is what inserting rows came to, without a gateway.
type BareResult struct {
	Rows          int     `json:"rows"`
	Batch         int     `json:"rows_per_transaction"`
	Seconds       float64 `json:"seconds"`
	RowsPerSecond float64 `json:"rows_per_second"`

	// CPU seconds of this process for a million rows; absent where nobody can
	// tell.
	CPUSecondsPerMillion *float64 `json:"cpu_seconds_per_million_rows,omitempty"`
}

// mostBareRows bounds the memory that Bare takes.
const mostBareRows = 100_000

// Bare takes the envelopes out of a closed journal and inserts them into a table
// like theirs in a database of its own, in the same folder, so many in one
// transaction, as often as fits into d: what SQLite alone can do with these rows.
// Sync is full, normal or off, as in journal.sync.
func Bare(ctx context.Context, journal, sync string, batch int, d time.Duration) (*BareResult, error) {
	rows, schema, err := readRows(journal)
	if err != nil {
		return nil, fmt.Errorf("reading rows from %s: %w", journal, err)
	}
	if len(rows) == 0 || batch < 1 {
		return nil, errors.New("there are no rows to insert")
	}
	dir, err := os.MkdirTemp(filepath.Dir(journal), "bare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	res := &BareResult{Batch: batch}
	used := startMeter(os.Getpid())
	for n := 0; res.Seconds < d.Seconds(); n++ {
		took, inserted, err := insertRows(ctx, filepath.Join(dir, fmt.Sprintf("%d.db", n)), schema, sync, rows, batch, d-time.Duration(res.Seconds*1e9))
		if err != nil {
			return nil, err
		}
		res.Rows += inserted
		res.Seconds += took.Seconds()
	}
	res.RowsPerSecond = float64(res.Rows) / res.Seconds
	res.CPUSecondsPerMillion = used.usage().perMillion(uint64(res.Rows))
	return res, nil
}

// row is what columns hold: int64, []byte as text or blob.
type row []any

type text []byte

func readRows(path string) (rows []row, schema string, err error) {
	c, err := sqlite3.OpenFlags((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), sqlite3.OPEN_READONLY|sqlite3.OPEN_URI)
	if err != nil {
		return nil, "", err
	}
	defer c.Close()
	named, _, err := c.Prepare(`SELECT sql FROM sqlite_schema WHERE name = 'envelopes'`)
	if err != nil {
		return nil, "", err
	}
	defer named.Close()
	if named.Step() {
		schema = named.ColumnText(0)
	}
	stmt, _, err := c.Prepare(fmt.Sprintf(`SELECT * FROM envelopes LIMIT %d`, mostBareRows))
	if err != nil {
		return nil, "", err
	}
	defer stmt.Close()
	for stmt.Step() {
		r := make(row, stmt.ColumnCount())
		for i := range r {
			switch stmt.ColumnType(i) {
			case sqlite3.INTEGER:
				r[i] = stmt.ColumnInt64(i)
			case sqlite3.TEXT:
				r[i] = text(bytes.Clone(stmt.ColumnRawText(i)))
			case sqlite3.BLOB:
				r[i] = bytes.Clone(stmt.ColumnRawBlob(i))
			}
		}
		rows = append(rows, r)
	}
	return rows, schema, stmt.Err()
}

// insertRows inserts all rows, or those that fit into the time.
func insertRows(ctx context.Context, path, schema, sync string, rows []row, batch int, d time.Duration) (took time.Duration, n int, err error) {
	c, err := sqlite3.Open(path)
	if err != nil {
		return 0, 0, err
	}
	defer c.Close()
	if err := c.Exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ` + sync + `; ` + schema); err != nil {
		return 0, 0, err
	}
	insert, _, err := c.Prepare(`INSERT INTO envelopes VALUES (?` + string(bytes.Repeat([]byte(", ?"), len(rows[0])-1)) + `)`)
	if err != nil {
		return 0, 0, err
	}
	defer insert.Close()
	start := time.Now()
	for n < len(rows) && time.Since(start) < d {
		if ctx.Err() != nil {
			return 0, 0, context.Cause(ctx)
		}
		part := rows[n:min(n+batch, len(rows))]
		if err := insertBatch(c, insert, part); err != nil {
			return 0, 0, err
		}
		n += len(part)
	}
	return time.Since(start), n, nil
}

func insertBatch(c *sqlite3.Conn, insert *sqlite3.Stmt, rows []row) error {
	if err := c.Exec(`BEGIN IMMEDIATE`); err != nil {
		return err
	}
	for _, r := range rows {
		for i, v := range r {
			var err error
			switch v := v.(type) {
			case int64:
				err = insert.BindInt64(i+1, v)
			case text:
				err = insert.BindRawText(i+1, v)
			case []byte:
				err = insert.BindBlob(i+1, v)
			}
			if err != nil {
				return err
			}
		}
		if err := insert.Exec(); err != nil {
			return err
		}
	}
	return c.Exec(`COMMIT`)
}
