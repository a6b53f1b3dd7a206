package crash

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// player is a participant of the load.
type player struct {
	View
	capabilities string // YAML
}

// The players. Each receives, with another filter, whatever else it does.
var players = []player{
	{View{Me: "teller"}, `[chat, "acme/*", reflection]`},
	{View{Me: "quiet", EchoOff: true, PresenceOff: true}, `[chat, "acme/*", reflection]`}, // is told by system/ack
	{View{Me: "poster", EchoOff: true, Directed: true}, `[chat, "acme/*", reflection]`},   // by HTTP
	{View{Me: "all"}, `[]`},
	{View{Me: "notes", Types: []string{"acme/", "mcp/"}}, `[]`},
	{View{Me: "named", Directed: true, PresenceOff: true}, `[]`},
	{View{Me: "proposer"}, `["mcp/proposal:*"]`},
	{View{Me: "ann", Types: []string{"mcp/"}}, `["mcp/request:*", "mcp/reject:*"]`},
	{View{Me: "bob", Types: []string{"mcp/"}, PresenceOff: true}, `["mcp/request:*", "mcp/reject:*"]`},
	{View{Me: server, Directed: true}, `["mcp/response:*"]`},
	{View{Me: "boss", Directed: true, EchoOff: true}, `[chat, "acme/*", "capability/*", "space/redact"]`},
	{View{Me: "novice", Directed: true, PresenceOff: true}, `[]`},        // is given acme/* once
	{View{Me: "thief", Directed: true, PresenceOff: true}, `["acme/*"]`}, // of whom it is taken once
}

const (
	spaceName = "crash"
	server    = "server"
)

// kept is how much of the record is. It is dropped at a start alone in so short a
// life, and has to be more than one life makes, which is checked after that.
const kept = "3MiB"

func token(who string) string { return "the-token-of-" + who }

// configuration is what the gateway is started with.
func configuration(journal string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: 127.0.0.1:0\njournal: {path: %q, sync: normal}\nspaces:\n  %s:\n", journal, spaceName)
	b.WriteString("    limits: {rate: 1000000, burst: 1000000}\n")
	fmt.Fprintf(&b, "    retention: {size: %s}\n    participants:\n", kept)
	for _, p := range players {
		fmt.Fprintf(&b, "      %s: {token: %q, capabilities: %s}\n", p.Me, token(p.Me), p.capabilities)
	}
	return b.String()
}

// load is everybody who takes part. Its senders send until enough, its
// receivers receive until close.
type load struct {
	house  *house
	ledger *Ledger
	seed   uint64
	rooms  map[string]*client.Room

	enough   chan struct{} // closed when nothing new is to be sent
	sending  sync.WaitGroup
	decided  chan struct{} // closed when there is nothing to decide any more
	deciding sync.WaitGroup

	leave     context.CancelFunc
	receiving sync.WaitGroup

	offers map[string]chan *parley.Envelope // to each who approves

	mu       sync.Mutex
	received map[string]uint64
	moved    chan struct{} // closed when received changes; nil where nobody waits
}

// join lets everybody into the room, in the order of players, and starts those
// who send.
func join(ctx context.Context, h *house, ledger *Ledger, seed uint64) (*load, error) {
	l := &load{
		house: h, ledger: ledger, seed: seed,
		rooms:    make(map[string]*client.Room),
		enough:   make(chan struct{}),
		decided:  make(chan struct{}),
		offers:   map[string]chan *parley.Envelope{"ann": make(chan *parley.Envelope, 256), "bob": make(chan *parley.Envelope, 256)},
		received: make(map[string]uint64),
	}
	var life context.Context
	life, l.leave = context.WithCancel(context.WithoutCancel(ctx))
	for _, p := range players {
		if err := l.enter(ctx, life, p.View); err != nil {
			l.close()
			return nil, fmt.Errorf("%s cannot join: %w", p.Me, err)
		}
	}
	if err := l.rights(ctx); err != nil {
		l.close()
		return nil, err
	}
	l.begin(life)
	return l, nil
}

func (l *load) enter(ctx, life context.Context, v View) error {
	first := make(chan struct{})
	var room *client.Room // may be used once first is closed
	opts := &client.Options{
		Token: token(v.Me), Space: spaceName, Kinds: v.kinds(), PresenceOff: v.PresenceOff, EchoOff: v.EchoOff,
		RetryDial: true, BackoffMin: 2 * time.Millisecond, BackoffMax: 40 * time.Millisecond,
		HTTPClient: l.house.http,
		OnState: func(s client.State) {
			if s.Phase != client.Connected {
				return
			}
			l.house.welcomed()
			select {
			case <-first:
				h := room.Welcome().History
				l.ledger.Add(Promise{Type: Welcomed, Who: v.Me, Seq: h.Last, Epoch: h.Epoch})
			default:
			}
		},
	}
	if v.Directed {
		opts.Routing = client.RoutingDirected
	}
	if v.Me == server {
		opts.Handler = l.act
	}
	room, err := client.Dial(ctx, url, opts)
	if err != nil {
		return err
	}
	h := room.Welcome().History
	l.ledger.Add(Promise{Type: Joined, Who: v.Me, Seq: h.Last, Epoch: h.Epoch})
	close(first)
	l.rooms[v.Me] = room
	l.receiving.Go(func() { l.receive(life, v.Me, room) })
	return nil
}

// receive notes what arrives.
func (l *load) receive(ctx context.Context, who string, room *client.Room) {
	for e, err := range room.Envelopes(ctx) {
		if gap, ok := errors.AsType[*client.Gap](err); ok {
			l.ledger.Add(Promise{Type: Torn, Who: who, Seq: gap.After.Seq})
			continue
		}
		if err != nil {
			return
		}
		l.ledger.Add(delivered(who, e))
		l.offer(who, e)
		l.advance(who, e.Seq)
	}
}

// offer shows proposals to those who approve. Somebody who has too much to do
// leaves one to the other.
func (l *load) offer(who string, e *parley.Envelope) {
	if offers := l.offers[who]; offers != nil && strings.HasPrefix(e.Kind, parley.TypeProposal+":") {
		select {
		case offers <- e:
		default:
		}
	}
}

func (l *load) advance(who string, seq uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.received[who] = seq
	if l.moved != nil {
		close(l.moved)
		l.moved = nil
	}
}

// reached waits until everybody has received up to seq, which all of them see.
func (l *load) reached(ctx context.Context, seq uint64) error {
	for {
		l.mu.Lock()
		behind := ""
		for _, p := range players {
			if l.received[p.Me] < seq {
				behind = fmt.Sprintf("%s, at %d", p.Me, l.received[p.Me])
			}
		}
		if l.moved == nil {
			l.moved = make(chan struct{})
		}
		moved := l.moved
		l.mu.Unlock()
		if behind == "" {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return fmt.Errorf("not everybody received up to %d: %s: %w", seq, behind, context.Cause(ctx))
		}
	}
}

// begin starts the senders.
func (l *load) begin(ctx context.Context) {
	n := uint64(0)
	several := func(count int, all *sync.WaitGroup, do func(context.Context, *rand.Rand)) {
		for range count {
			n++
			rnd := rand.New(rand.NewPCG(l.seed, n))
			all.Go(func() { do(ctx, rnd) })
		}
	}
	several(4, &l.sending, func(ctx context.Context, r *rand.Rand) { l.tell(ctx, r, "teller") })
	several(4, &l.sending, func(ctx context.Context, r *rand.Rand) { l.tell(ctx, r, "quiet") })
	several(3, &l.sending, l.post)
	several(1, &l.sending, l.erase)
	several(1, &l.sending, l.use)
	several(1, &l.sending, l.steal)
	several(3, &l.sending, l.propose)
	several(4, &l.deciding, func(ctx context.Context, r *rand.Rand) { l.approve(ctx, r, "ann") })
	several(4, &l.deciding, func(ctx context.Context, r *rand.Rand) { l.approve(ctx, r, "bob") })
}

// pause waits a moment, so that bursts and lulls alternate. It reports false
// when it is enough.
func (l *load) pause(ctx context.Context, d time.Duration) bool { return sleep(ctx, d, l.enough) }

// sleep reports false where something else came first.
func sleep(ctx context.Context, d time.Duration, other <-chan struct{}) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-other:
	case <-ctx.Done():
	}
	return false
}

// breathe pauses after some of the sends.
func (l *load) breathe(ctx context.Context, rnd *rand.Rand) bool {
	if rnd.IntN(3) > 0 {
		select {
		case <-l.enough:
			return false
		default:
			return ctx.Err() == nil
		}
	}
	return l.pause(ctx, time.Duration(rnd.IntN(int(40*time.Millisecond))))
}

// compose makes an envelope of any kind, to anybody.
func compose(rnd *rand.Rand, from string) *parley.Envelope {
	to := [][]string{nil, nil, {"named"}, {"all", "notes"}, {from}, {"quiet", "server"}}[rnd.IntN(6)]
	e := client.NewChat(strings.Repeat("all work and no play ", rnd.IntN(20)), client.To(to...))
	e.Kind = []string{parley.KindChat, "acme/status", "reflection", "acme/note:a/b"}[rnd.IntN(4)]
	if rnd.IntN(50) == 0 {
		e.Kind = "forbidden/kind" // is refused, on record
	}
	if rnd.IntN(4) == 0 {
		e.Context = &parley.Context{ID: "context-" + from, Type: "reasoning"}
	}
	return e
}

// tell sends over the WebSocket, whose client sends again by itself.
func (l *load) tell(ctx context.Context, rnd *rand.Rand, who string) {
	room := l.rooms[who]
	for l.breathe(ctx, rnd) {
		e := compose(rnd, who)
		at, err := room.Send(ctx, e)
		l.ledger.answered(who, e.ID, at, err)
		if isUnavailable(err) {
			l.pause(ctx, 20*time.Millisecond)
		}
	}
}

// post sends over HTTP.
func (l *load) post(ctx context.Context, rnd *rand.Rand) {
	for l.breathe(ctx, rnd) {
		_, _ = l.insist(ctx, "poster", compose(rnd, "poster")) // the ledger has it
	}
}

// insist sends over HTTP, again and again until there is an answer, or until it
// is enough.
func (l *load) insist(ctx context.Context, who string, e *parley.Envelope) (at client.Receipt, err error) {
	for {
		at, err = l.rooms[who].API().Post(ctx, e)
		if err == nil || isRefusal(err) {
			l.ledger.answered(who, e.ID, at, err)
			return at, err
		}
		if !l.pause(ctx, 10*time.Millisecond) {
			return at, err
		}
	}
}

// isRefusal reports whether the gateway judged the envelope, so that to send it
// again would change nothing.
func isRefusal(err error) bool {
	refused, ok := errors.AsType[*parley.Error](err)
	return ok && refused.Code != parley.Unavailable && refused.Code != parley.Internal
}

func isUnavailable(err error) bool {
	return errors.Is(err, &parley.Error{Code: parley.Unavailable})
}

// patience is how long a decision may take, with two who decide at once
// whenever there is a gateway.
const patience = 20 * time.Second

// propose proposes, takes back some of it, and waits for what becomes of it.
func (l *load) propose(ctx context.Context, rnd *rand.Rand) {
	room := l.rooms["proposer"]
	for l.breathe(ctx, rnd) {
		p, err := room.Propose(ctx, server, "tools/call", map[string]any{
			"name": "act", "arguments": map[string]any{"n": rnd.Uint32()},
		})
		if err != nil {
			l.pause(ctx, 20*time.Millisecond)
			continue
		}
		l.ledger.answered("proposer", p.ID, p.Receipt, nil)
		if rnd.IntN(5) == 0 {
			_ = p.Withdraw(ctx) // too late, perhaps: the record knows
		}
		wait, cancel := context.WithTimeoutCause(ctx, patience, errors.New("nobody decides"))
		out, err := p.Decided(wait)
		cancel()
		if err != nil {
			p.Forget()
			l.ledger.Add(Promise{Type: Undecided, Who: "proposer", ID: p.ID})
			continue
		}
		l.ledger.Add(Promise{Type: Ended, Who: out.By, ID: p.ID, Ref: out.ID})
	}
}

// approve decides proposals, in a race with the other who does.
func (l *load) approve(ctx context.Context, rnd *rand.Rand, who string) {
	for {
		select {
		case proposal := <-l.offers[who]:
			l.decide(ctx, rnd, who, proposal)
		case <-l.decided:
			return
		case <-ctx.Done():
			return
		}
	}
}

func (l *load) decide(ctx context.Context, rnd *rand.Rand, who string, proposal *parley.Envelope) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	room := l.rooms[who]
	attempt := func() error {
		_, err := room.Fulfil(ctx, proposal)
		return err
	}
	if rnd.IntN(6) == 0 {
		attempt = func() error {
			_, err := room.Reject(ctx, proposal, "busy", "")
			return err
		}
	}
	for {
		// The server may not be back yet, or the disk.
		err := attempt()
		if !isUnavailable(err) && !errors.Is(err, &parley.Error{Code: parley.TargetAbsent}) || !sleep(ctx, 20*time.Millisecond, nil) {
			return
		}
	}
}

// act is the server's tool. That it runs is the deed.
func (l *load) act(_ context.Context, req *client.Request) (any, error) {
	p := Promise{Type: Acted, Who: server, ID: req.Envelope.ID}
	if ids := req.Envelope.Correlation.IDs; len(ids) > 0 {
		p.Ref = ids[0]
	}
	l.ledger.Add(p)
	return map[string]any{"content": []any{map[string]any{"type": "text", "text": "done"}}}, nil
}

// finish stops the senders, waits for what they still wait for, and until
// everybody has received everything. It returns the newest seq.
func (l *load) finish(ctx context.Context) (uint64, error) {
	defer context.AfterFunc(ctx, l.leave)()
	close(l.enough)
	l.sending.Wait()
	close(l.decided)
	l.deciding.Wait()
	to := make([]string, 0, len(players)) // so that no filter keeps it away
	for _, p := range players {
		to = append(to, p.Me)
	}
	e := client.NewChat("that was all", client.To(to...))
	at, err := l.rooms["teller"].Send(ctx, e)
	l.ledger.answered("teller", e.ID, at, err)
	if err != nil {
		return 0, fmt.Errorf("in the end nothing is taken: %w", err)
	}
	return at.Seq, l.reached(ctx, at.Seq)
}

// close lets everybody go.
func (l *load) close() {
	l.leave()
	for _, room := range l.rooms {
		room.Close()
	}
	l.receiving.Wait()
	l.sending.Wait()
	l.deciding.Wait()
}
