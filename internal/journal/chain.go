package journal

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"

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
// where hash(0) is that of the space's name, so that the chain of one space
// does not pass for another's, the form is the protocol's name and whether the
// correlation was an array, and the header is every other field. Redaction drops
// salt and body and keeps rest(n), so the chain still verifies, and nobody can
// find out by guessing what was dropped. Every part is preceded by its length.

// Origin is the head of a space's empty chain: where its first record links to.
func Origin(space string) Head {
	p := make(parts, 0, 64+len(space))
	p.text("parley: the chain of a space")
	p.text(space)
	return Head{Hash: p.sum()}
}

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
	p := make(parts, 0, 128+len(e.Payload)+e.Context.Size()+len(e.Extra))
	p.bytes(salt[:])
	p.bytes(e.Payload)
	p.bytes(e.Context.Raw())
	p.bytes(e.Extra)
	// What the header does not hold of the body is covered here as well, so
	// that no byte of it can change unseen.
	p.text(e.Protocol)
	p.flag(e.Correlation.Array)
	return p.sum()
}

// bodyRest covers the whole body of a record that is not an envelope.
func bodyRest(salt [16]byte, body []byte) Hash {
	p := make(parts, 0, 32+len(body))
	p.bytes(salt[:])
	p.bytes(body)
	return p.sum()
}

func (r *Record) chainHash(prev Hash) Hash {
	p := make(parts, 0, 512)
	p.bytes(prev[:])
	p.number(uint64(r.Type))
	p.number(r.Index)
	p.number(r.Seq)
	p.text(r.Epoch)
	p.number(uint64(r.TS.UnixMilli()))
	p.text(r.ID)
	p.text(r.From)
	p.list(r.To)
	p.text(r.Kind)
	p.text(r.Effective)
	p.list(r.Correlations)
	p.text(r.Context)
	p.text(r.Parent)
	p.flag(r.Amends)
	p.bytes(r.Rest[:])
	return p.sum()
}

// parts is what a hash covers, each part behind its length.
type parts []byte

func (p parts) sum() Hash { return sha256.Sum256(p) }

func (p *parts) number(n uint64) { *p = binary.BigEndian.AppendUint64(*p, n) }

func (p *parts) bytes(b []byte) {
	p.number(uint64(len(b)))
	*p = append(*p, b...)
}

func (p *parts) text(s string) {
	p.number(uint64(len(s)))
	*p = append(*p, s...)
}

func (p *parts) flag(set bool) {
	if set {
		p.number(1)
	} else {
		p.number(0)
	}
}

func (p *parts) list(l []string) {
	p.number(uint64(len(l)))
	for _, s := range l {
		p.text(s)
	}
}
