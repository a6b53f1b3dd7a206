package sqlite

import (
	"errors"
	"runtime"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/parleyhq/parley/internal/journal"
)

const (
	seqBits = 40
	maxSeq  = 1<<seqBits - 1
)

// key is the rowid of one of a space's rows.
func key(space int64, n uint64) int64 { return space<<seqBits | int64(min(n, maxSeq)) }

const (
	columns = `key, place, type, flags, ts, hash, rest, salt, id, sender, addressees,
		kind, effective, correlations, context, parent, body`

	insertEnvelope = `INSERT INTO envelopes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	insertNote     = `INSERT INTO notes VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
)

const (
	flagAmends     = 1
	flagRedacted   = 2
	flagSuperseded = 4
)

// insert writes a record that has its place. before is the seq of the last
// envelope before a note.
func insert(stmt *sqlite3.Stmt, space int64, r *journal.Record, before uint64) error {
	n, place := r.Seq, r.Index
	if r.Type != journal.Admitted {
		n, place = r.Index, before
	}
	effective := r.Effective
	if effective == r.Kind {
		effective = ""
	}
	flags := 0
	if r.Amends {
		flags |= flagAmends
	}
	if r.Redacted {
		flags |= flagRedacted
	}
	b := binder{stmt: stmt}
	b.number(key(space, n))
	b.number(int64(place))
	b.number(int64(r.Type))
	b.number(int64(flags))
	b.number(r.TS.UnixMilli())
	b.blob(r.Hash[:])
	b.blob(r.Rest[:])
	b.blob(r.Salt[:])
	b.text(r.ID)
	b.text(r.From)
	b.list(r.To)
	b.text(r.Kind)
	b.text(effective)
	b.list(r.Correlations)
	b.text(r.Context)
	b.text(r.Parent)
	b.blob(r.Body)
	if b.err != nil {
		return b.err
	}
	err := stmt.Exec()
	if len(r.Body) > largeBody {
		err = errors.Join(err, stmt.ClearBindings()) // or SQLite keeps it until the next
	}
	return err
}

// largeBody is one that SQLite's memory, which is bounded, does not hold many of.
const largeBody = 1 << 20

// guarded runs what uses SQLite, which panics where its memory is used up, and
// makes an error of that.
func guarded(f func() error) (err error) {
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case runtime.Error:
			panic(fault)
		case error:
			err = fault
		default:
			panic(fault)
		}
	}()
	return f()
}

// binder binds one parameter after the other and keeps the first error.
type binder struct {
	stmt *sqlite3.Stmt
	n    int
	err  error
}

func (b *binder) keep(err error) {
	if b.err == nil {
		b.err = err
	}
}

func (b *binder) number(n int64) { b.n++; b.keep(b.stmt.BindInt64(b.n, n)) }
func (b *binder) text(s string)  { b.n++; b.keep(b.stmt.BindText(b.n, s)) }

func (b *binder) blob(p []byte) {
	b.n++
	if p == nil {
		p = []byte{} // nil would be NULL
	}
	b.keep(b.stmt.BindBlob(b.n, p))
}

// list binds ids, which hold no blanks.
func (b *binder) list(l []string) {
	if len(l) == 1 {
		b.text(l[0])
		return
	}
	b.text(strings.Join(l, " "))
}

// scanHeader reads a row but for its body.
func scanHeader(stmt *sqlite3.Stmt, r *journal.Record) {
	n := uint64(stmt.ColumnInt64(0)) & maxSeq
	place := uint64(stmt.ColumnInt64(1))
	r.Type = journal.Type(stmt.ColumnInt64(2))
	r.Index = n
	if r.Type == journal.Admitted {
		r.Seq, r.Index = n, place
	}
	flags := stmt.ColumnInt64(3)
	r.Amends, r.Redacted, r.Superseded = flags&flagAmends != 0, flags&flagRedacted != 0, flags&flagSuperseded != 0
	r.TS = time.UnixMilli(stmt.ColumnInt64(4)).UTC()
	copy(r.Hash[:], stmt.ColumnRawBlob(5))
	copy(r.Rest[:], stmt.ColumnRawBlob(6))
	copy(r.Salt[:], stmt.ColumnRawBlob(7))
	r.ID = stmt.ColumnText(8)
	r.From = stmt.ColumnText(9)
	r.To = list(stmt.ColumnText(10))
	r.Kind = stmt.ColumnText(11)
	if r.Effective = stmt.ColumnText(12); r.Effective == "" {
		r.Effective = r.Kind
	}
	r.Correlations = list(stmt.ColumnText(13))
	r.Context = stmt.ColumnText(14)
	r.Parent = stmt.ColumnText(15)
}

func scanBody(stmt *sqlite3.Stmt, r *journal.Record) {
	if !r.Superseded {
		r.Body = stmt.ColumnBlob(16, nil)
	}
}

func list(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(s, " ")
}
