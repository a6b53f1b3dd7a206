package gateway

import (
	"crypto/rand"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// systemFrame is an envelope of the gateway to one participant alone. It has
// no place in the order.
func (r *room) systemFrame(kind, to string, payload jsontext.Value, correlate ...string) []byte {
	return r.appendSystem(nil, kind, to, payload, correlate...)
}

func (r *room) appendSystem(dst []byte, kind, to string, payload jsontext.Value, correlate ...string) []byte {
	e := parley.Envelope{
		Protocol:    r.rules.Protocol,
		ID:          r.rules.NewID(),
		TS:          r.now().UTC().Truncate(time.Millisecond),
		From:        parley.GatewayID,
		To:          []string{to},
		Kind:        kind,
		Correlation: parley.CorrelateWith(correlate...),
		Payload:     payload,
	}
	body := scratch.get()
	defer scratch.put(body)
	*body = e.AppendBody((*body)[:0])
	return appendFrame(dst, *body, 0)
}

// appendWelcome appends a system/welcome as a frame.
func (r *room) appendWelcome(dst []byte, to string, w *space.Welcome) []byte {
	payload := scratch.get()
	defer scratch.put(payload)
	*payload = w.Payload((*payload)[:0])
	return r.appendSystem(dst, parley.KindWelcome, to, *payload)
}

// errorFrame answers an envelope that was refused; its id may be unknown.
func (r *room) errorFrame(to, id string, err *parley.Error) []byte {
	payload, _ := err.MarshalJSON() // never fails
	if id == "" {
		return r.systemFrame(parley.KindError, to, payload)
	}
	return r.systemFrame(parley.KindError, to, payload, id)
}

// ackFrame tells a sender who does not get its echo that it is on record.
func (r *room) ackFrame(to string, rec *journal.Record) []byte {
	b, _ := jsontext.AppendQuote([]byte(`{"id":`), rec.ID)
	b = strconv.AppendUint(append(b, `,"seq":`...), rec.Seq, 10)
	b, _ = jsontext.AppendQuote(append(b, `,"epoch":`...), rec.Epoch)
	return r.systemFrame(parley.KindAck, to, append(b, '}'), rec.ID)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// salts hands out random salts, which are read from the system in bulk.
type salts struct {
	random [4 << 10]byte
	left   int // bytes of random, at its end, that were not handed out
}

func (s *salts) next() (salt [16]byte) {
	if s.left == 0 {
		rand.Read(s.random[:]) // never fails
		s.left = len(s.random)
	}
	from := s.random[len(s.random)-s.left:]
	copy(salt[:], from)
	clear(from[:len(salt)]) // nobody learns it from this process's memory later
	s.left -= len(salt)
	return salt
}
