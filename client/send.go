package client

import (
	"context"
	"fmt"

	"github.com/parleyhq/parley"
)

// Receipt says where an admitted envelope stands.
type Receipt struct {
	ID    string
	Seq   uint64
	Epoch string
}

// Send sends an envelope as it is, but for a missing id, and returns when the
// gateway has admitted it. If the connection is lost meanwhile, it is sent
// again on the next one, under the same id.
//
// A refusal is a [*parley.Error]; with [ErrUnacknowledged] where it only says
// that the envelope was not looked at when it was sent again, so that the first
// attempt may have been admitted. Where ctx ends first the error holds its
// cause, and [ErrUnacknowledged] if the envelope may have been admitted. Once
// the room has ended the error is that of [Room.Err].
func (r *Room) Send(ctx context.Context, e *parley.Envelope) (Receipt, error) {
	if e.ID == "" {
		named := *e
		named.ID = NewID()
		e = &named
	}
	s, err := r.enqueue(e, true)
	if err != nil {
		return Receipt{}, err
	}
	select {
	case res := <-s.done:
		return res.receipt, res.err
	case <-ctx.Done():
	}
	wrote := r.outbox.abandon(s)
	if res := <-s.done; res.err != nil || res.receipt.ID != "" {
		return res.receipt, res.err // it came at the last moment
	}
	if wrote {
		return Receipt{}, fmt.Errorf("%w (id %s): %w", ErrUnacknowledged, e.ID, context.Cause(ctx))
	}
	return Receipt{}, fmt.Errorf("client: not sent: %w", context.Cause(ctx))
}

// detach sends an envelope that nobody waits for.
func (r *Room) detach(e *parley.Envelope) {
	if _, err := r.enqueue(e, false); err != nil {
		r.log.Warn("an envelope of the room's own was not sent", "kind", e.Kind, "error", err)
	}
}

// enqueue checks what would cost us the connection, or be refused without
// naming it, and hands the envelope to the writer.
func (r *Room) enqueue(e *parley.Envelope, waited bool) (*sending, error) {
	frame := e.AppendBody(nil)
	if most := r.envelopeBytes(); int64(len(frame)) > most {
		return nil, parley.Errorf(parley.EnvelopeTooLarge, "the envelope takes %d bytes, the limit is %d", len(frame), most)
	}
	if _, err := parley.Decode(frame, r.nesting()); err != nil {
		return nil, err
	}
	return r.outbox.add(e.ID, frame, waited)
}

const defaultEnvelopeBytes = 1 << 20

func (r *Room) envelopeBytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if told := r.welcome.Space.Limits.EnvelopeBytes; told > 0 {
		return told
	}
	return defaultEnvelopeBytes
}

// nesting is how deep the JSON of an envelope may go.
func (r *Room) nesting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if told := r.welcome.Space.Limits.Nesting; told > 0 {
		return min(told, maxNesting)
	}
	return maxNesting
}

// Chat says something to everybody, or by [To] to some; [Markdown] says how it
// is written. Errors are those of [Room.Send].
func (r *Room) Chat(ctx context.Context, message string, opts ...SendOption) (Receipt, error) {
	return r.Send(ctx, NewChat(message, opts...))
}

// NewChat composes the envelope of [Room.Chat].
func NewChat(message string, opts ...SendOption) *parley.Envelope {
	o := collect(opts)
	b := appendString([]byte(`{"text":`), message)
	if o.markdown {
		b = append(b, `,"format":"markdown"`...)
	}
	return o.apply(&parley.Envelope{Kind: parley.KindChat, Payload: append(b, '}')})
}

// Notify sends an MCP notification: to one participant, or, where to is empty,
// to all. A method without the prefix "notifications/" gets it. Errors are
// those of [NewRequest] and [Room.Send].
func (r *Room) Notify(ctx context.Context, to, method string, params any, opts ...SendOption) (Receipt, error) {
	if !isNotification(method) {
		method = notifications + method
	}
	e, err := NewRequest(to, method, params, opts...)
	if err != nil {
		return Receipt{}, err
	}
	return r.Send(ctx, e)
}
