package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"

	"github.com/parleyhq/parley"
)

// Hash is a SHA-256 hash.
type Hash [sha256.Size]byte

// String is the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads what String wrote.
func ParseHash(s string) (h Hash, err error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != len(h) {
		return h, parley.Errorf(parley.InvalidArgument, "%.80q is not a SHA-256 hash in hexadecimal", s)
	}
	return Hash(b), nil
}

// The chain (section 9 of the contract):
//
//	rest(n) = SHA-256( salt, payload, context as sent, unknown fields, form )
//	hash(n) = SHA-256( hash(n-1), header(n), rest(n) )
//
// where hash(0) is zero, the form is the protocol's name and whether the
// correlation was an array, and the header is every other field. Redaction drops
// salt and body and keeps rest(n), so the chain still verifies, and nobody can
// find out by guessing what was dropped. Every part is preceded by its length.

// Link sets Hash from the hash of the record before. Index, Seq and Epoch must
// have been set.
func (r *Record) Link(prev Hash) { r.Hash = r.chainHash(prev) }

// Place gives a record the place after prev, and its Hash; Epoch must have been
// set. It returns where the chain ends then. Only journals call it.
func (r *Record) Place(prev Head) Head {
	r.Index, r.Seq = prev.Index+1, 0
	next := Head{Index: r.Index, Seq: prev.Seq}
	if r.Type == Admitted {
		next.Seq++
		r.Seq = next.Seq
	}
	r.Link(prev.Hash)
	next.Hash = r.Hash
	return next
}

// envelopeRest covers what redaction may take away of an envelope.
func envelopeRest(salt [16]byte, e *parley.Envelope) Hash {
	w := partWriter{sha256.New()}
	w.bytes(salt[:])
	w.bytes(e.Payload)
	w.bytes(e.Context.Raw())
	w.bytes(e.Extra)
	// What the header does not hold of the body is covered here as well, so
	// that no byte of it can change unseen.
	w.text(e.Protocol)
	w.flag(e.Correlation.Array)
	return w.sum()
}

// bodyRest covers the whole body of a record that is not an envelope.
func bodyRest(salt [16]byte, body []byte) Hash {
	w := partWriter{sha256.New()}
	w.bytes(salt[:])
	w.bytes(body)
	return w.sum()
}

func (r *Record) chainHash(prev Hash) Hash {
	w := partWriter{sha256.New()}
	w.bytes(prev[:])
	w.number(uint64(r.Type))
	w.number(r.Index)
	w.number(r.Seq)
	w.text(r.Epoch)
	w.number(uint64(r.TS.UnixMilli()))
	w.text(r.ID)
	w.text(r.From)
	w.list(r.To)
	w.text(r.Kind)
	w.text(r.Effective)
	w.list(r.Correlations)
	w.text(r.Context)
	w.text(r.Parent)
	w.flag(r.Amends)
	w.bytes(r.Rest[:])
	return w.sum()
}

type partWriter struct{ h hash.Hash }

func (w partWriter) sum() (h Hash) {
	w.h.Sum(h[:0])
	return h
}

func (w partWriter) number(n uint64) {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], n)
	w.h.Write(b[:])
}

func (w partWriter) bytes(b []byte) {
	w.number(uint64(len(b)))
	w.h.Write(b)
}

func (w partWriter) flag(set bool) {
	if set {
		w.number(1)
	} else {
		w.number(0)
	}
}

func (w partWriter) text(s string) { w.bytes([]byte(s)) }

func (w partWriter) list(l []string) {
	w.number(uint64(len(l)))
	for _, s := range l {
		w.text(s)
	}
}
