package sqlite

import (
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// Retention looks at blocks of records, not at records: what they take and how
// young the youngest is. A block's row is written with its last record. Where
// the gateway did not see the block from its beginning there is none, and it is
// measured when somebody asks.

const (
	blockBits = 12
	blockSize = 1 << blockBits // records
)

// block is what retention asks of one, as far as it is filled.
type block struct {
	bytes  int64
	newest int64 // ts
	whole  bool  // it was seen from its beginning
}

// beginBlock is the block of what comes after an index.
func beginBlock(index uint64) block { return block{whole: index%blockSize == 0} }

// blockOf is the number of the block that a record is in.
func blockOf(index uint64) uint64 { return (index - 1) >> blockBits }

// add counts a record, and reports whether it is the block's last.
func (b *block) add(r *journal.Record) bool {
	b.bytes += int64(r.Size())
	b.newest = max(b.newest, r.TS.UnixMilli())
	return r.Index%blockSize == 0
}

// closeBlock ends the block that the log's end is in.
func (w *writer) closeBlock(s *space, t *tail) error {
	b := t.block
	t.block = beginBlock(t.head.Index)
	if !b.whole {
		return nil
	}
	return w.storeBlock(s, blockOf(t.head.Index), b)
}

func (w *writer) storeBlock(s *space, n uint64, b block) error {
	return exec(w.conn, `REPLACE INTO blocks VALUES (?, ?, ?)`, key(s.id, n), b.bytes, b.newest)
}

// line is a record as retention sees it.
type line struct {
	index uint64
	bytes int64
	ts    int64
}

// lineColumns add up as [journal.Record.Size] does.
const lineColumns = ` ts, octet_length(id) + octet_length(sender) + octet_length(kind) + octet_length(context) + octet_length(parent)
	+ octet_length(addressees) + (addressees <> '') + octet_length(correlations) + (correlations <> '')`

// lines are the records of a block behind a floor, in their order. Of long
// bodies only the length is looked up.
func (r *reader) lines(s *space, floor journal.Head, n uint64) ([]line, error) {
	after, last := max(n<<blockBits, floor.Index), (n+1)<<blockBits
	afterSeq, err := r.seqAt(s, floor, after)
	if err != nil {
		return nil, err
	}
	lastSeq, err := r.seqAt(s, floor, last)
	if err != nil {
		return nil, err
	}
	var lines []line
	read := func(query string, after, last uint64) error {
		stmt, err := r.query(query, key(s.id, after), key(s.id, last))
		if err != nil {
			return err
		}
		defer stmt.Reset()
		for stmt.Step() {
			lines = append(lines, line{
				index: uint64(stmt.ColumnInt64(0)) & maxSeq,
				ts:    stmt.ColumnInt64(1),
				bytes: stmt.ColumnInt64(2) + journal.SizeOverhead,
			})
		}
		return stmt.Err()
	}
	if err := read(`SELECT place,`+lineColumns+` + octet_length(body) FROM envelopes WHERE key > ? AND key <= ? ORDER BY key`, afterSeq, lastSeq); err != nil {
		return nil, err
	}
	envelopes := len(lines)
	if err := read(`SELECT key,`+lineColumns+` + iif(type = 5, 0, octet_length(body)) FROM notes WHERE key > ? AND key <= ? ORDER BY key`, after, last); err != nil {
		return nil, err
	}
	return mergeLines(lines[:envelopes], lines[envelopes:]), nil
}

// mergeLines puts two lists that are in order into one.
func mergeLines(a, b []line) []line {
	if len(b) == 0 {
		return a
	}
	all := make([]line, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].index < b[0].index {
			all, a = append(all, a[0]), a[1:]
		} else {
			all, b = append(all, b[0]), b[1:]
		}
	}
	return append(append(all, a...), b...)
}

// measure is the block that lines make up.
func measure(lines []line) block {
	b := block{whole: true}
	for _, l := range lines {
		b.bytes += l.bytes
		b.newest = max(b.newest, l.ts)
	}
	return b
}

// older reports whether a block has nothing as young as t.
func (b *block) older(t time.Time) bool { return b.newest < t.UnixMilli() }
