package client

import (
	"context"
	"fmt"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
)

// maxNesting is beyond what any space allows: how deep JSON may nest is the
// gateway's to judge.
const maxNesting = 1_024

// read takes in frame after frame until the connection is lost. What it has
// taken it delivers, whatever becomes of the connection meanwhile.
func (r *Room) read(ctx context.Context, conn *websocket.Conn) error {
	for {
		// Whoever ends the connection closes it, which ends this call.
		typ, data, err := conn.Read(context.Background())
		if err != nil {
			return err
		}
		r.frames.Add(1)
		if typ != websocket.MessageText {
			return fmt.Errorf("client: the gateway sent a binary frame")
		}
		r.take(ctx, data)
		if ctx.Err() != nil {
			return ErrClosed
		}
	}
}

// take is the way of one frame through the room.
func (r *Room) take(ctx context.Context, data []byte) {
	e, err := parley.Decode(data, maxNesting)
	if err != nil {
		r.reject("an envelope cannot be read", e, err)
		return
	}
	kind, err := parley.ParseKind(e.Kind)
	if err != nil {
		kind = parley.SplitKind(e.Kind) // a later protocol may have more
	}
	system := isSystem(kind)
	if system && e.From != parley.GatewayID {
		r.reject("an envelope pretends to be the gateway's", e, nil)
		return
	}
	if system && r.private(e) {
		return
	}
	if !r.isNew(e) {
		return
	}
	if r.opts.OnArrival != nil {
		r.opts.OnArrival(e)
	}
	r.arrive(e, kind, system)
	if r.serve(e, kind) {
		r.deliver(ctx, item{env: e})
	}
}

func (r *Room) reject(why string, e *parley.Envelope, err error) {
	r.mu.Lock()
	r.stats.Rejected++
	r.mu.Unlock()
	r.log.Warn(why+" and was left out", "id", e.ID, "from", e.From, "error", err)
}

func isSystem(k parley.Kind) bool {
	return len(k.Type) >= 7 && k.Type[:7] == "system/" || k.Type == "system"
}

// private takes what the gateway tells us alone, and reports whether e was
// that.
func (r *Room) private(e *parley.Envelope) bool {
	switch e.Kind {
	case parley.KindWelcome:
		r.freshWelcome(e)
	case parley.KindAck:
		r.acknowledged(text(e.Payload, "id"), Receipt{
			ID:    text(e.Payload, "id"),
			Seq:   sequence(e.Payload, "seq"),
			Epoch: text(e.Payload, "epoch"),
		})
	case parley.KindError:
		r.refused(e)
	default:
		return false
	}
	return true
}

// isNew gives an envelope its place, and reports whether it had none before.
func (r *Room) isNew(e *parley.Envelope) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.order.accept(e.Seq) {
		r.stats.Repeated++
		return false
	}
	r.stats.Received++
	return true
}

// arrive hands an envelope to whoever waits for it.
func (r *Room) arrive(e *parley.Envelope, kind parley.Kind, system bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case e.Kind == parley.KindPresence:
		r.presence(e)
	case system:
		r.offers.notice(e)
	default:
		r.echo(e)
		r.answer(e, kind)
		r.offers.arrive(e, kind, r.welcome.You.ID)
	}
}

// echo takes what we sent ourselves as its acknowledgement.
func (r *Room) echo(e *parley.Envelope) {
	if e.From == r.welcome.You.ID {
		r.outbox.settle(e.ID, sendResult{receipt: Receipt{ID: e.ID, Seq: e.Seq, Epoch: r.order.resume.Epoch}})
	}
}

func (r *Room) acknowledged(id string, receipt Receipt) {
	r.outbox.settle(id, sendResult{receipt: receipt})
}

// refused ends the sending that the gateway refused. An id that it knows
// already, with the same content, is one that it had admitted.
func (r *Room) refused(e *parley.Envelope) {
	problem := parley.DecodeError(e.Payload)
	for _, id := range e.Correlation.IDs {
		res := sendResult{err: problem}
		if problem.Code == parley.DuplicateID && problem.Seq > 0 {
			res = sendResult{receipt: Receipt{ID: id, Seq: problem.Seq, Epoch: r.Position().Epoch}}
		}
		r.outbox.settle(id, res)
	}
	if len(e.Correlation.IDs) == 0 {
		r.log.Warn("the gateway refused something that it did not name", "error", problem)
	}
}

// welcomed takes in the welcome of a new connection.
func (r *Room) welcomed(at *parley.Position, e *parley.Envelope) *Gap {
	w := readWelcome(e.Payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.order.joined {
		r.stats.Reconnects++
	}
	gap := r.order.join(at, r.opts.History, &w)
	if gap != nil {
		r.stats.Gaps++
	}
	r.setWelcome(w)
	return gap
}

// freshWelcome takes in one that came because our capabilities changed.
func (r *Room) freshWelcome(e *parley.Envelope) {
	w := readWelcome(e.Payload)
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.History.Epoch == "" {
		w.History = r.welcome.History
	}
	r.order.told = max(r.order.told, w.History.Last)
	r.setWelcome(w)
}

func (r *Room) setWelcome(w Welcome) {
	r.welcome = w
	clear(r.here)
	for _, p := range w.Participants {
		r.here[p.ID] = p
	}
}

// presence keeps the participants current. What the welcome knew already would
// turn them back.
func (r *Room) presence(e *parley.Envelope) {
	if e.Seq > 0 && e.Seq <= r.order.told {
		return
	}
	p := readParticipant(parley.Member(e.Payload, "participant"))
	switch text(e.Payload, "event") {
	case "join":
		p.Present = true
		r.here[p.ID] = p
	case "leave":
		delete(r.here, p.ID)
	}
}
