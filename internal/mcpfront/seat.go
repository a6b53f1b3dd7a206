package mcpfront

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/jsonrpc"
)

// seat is a participant's place in a room, shared by all of its MCP clients. It
// is there while they are, and a little longer.
type seat struct {
	// static
	front *Front
	place Place
	count *Metrics
	ready chan struct{} // closed once room or failed is set
	room  *client.Room
	err   error

	proposing sync.Mutex // one lookup of a proposal at a time, and what follows from it

	mu        sync.Mutex
	holders   int
	used      time.Time
	calls     int
	listens   int
	flights   map[string]*flight   // by the ids of their requests and fulfilments
	came      chan struct{}        // closed, and made anew, with every call that waits for a proposal
	awaited   map[string]*wait     // by the ids of proposals
	handovers map[string]*handover // by the ids of proposals
	listeners map[listener]bool
	watchers  map[watch]*watching // how many clients subscribed to a resource
	offers    map[string]*Offer   // of servers whose lists nobody keeps but we
	changes   int                 // of any of them
	arrived   chan struct{}       // closed, and made anew, when something came that parley__read waits for
}

// listener hears what servers say outside of calls. It must not wait.
type listener interface {
	hear(server, method string, params jsontext.Value, msg []byte)
}

// watch is a resource that somebody subscribed to.
type watch struct{ server, uri string }

// seat takes a participant's place, which it joins the room for at first.
func (f *Front) seat(ctx context.Context, at Place) (*seat, error) {
	f.mu.Lock()
	s := f.seats[at]
	if s != nil && s.gone() {
		s = nil
	}
	if s != nil {
		s.touch() // it stays while it is being used
	}
	mine := s == nil && !f.closed
	if mine {
		s = &seat{
			front: f, place: at, count: f.opts.Metrics[at.Space], ready: make(chan struct{}), used: time.Now(),
			flights: map[string]*flight{}, came: make(chan struct{}), awaited: map[string]*wait{}, handovers: map[string]*handover{}, listeners: map[listener]bool{}, watchers: map[watch]*watching{}, offers: map[string]*Offer{},
			arrived: make(chan struct{}),
		}
		f.seats[at] = s
	}
	f.mu.Unlock()
	if s == nil {
		return nil, parley.Errorf(parley.Unavailable, "the gateway is going away").WithHint("connect again in a moment")
	}
	if mine {
		s.join()
	}
	select {
	case <-s.ready:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	return s, s.err
}

// join enters the room. Others wait for it, so it does not depend on who came
// first.
func (s *seat) join() {
	defer close(s.ready)
	s.room, s.err = s.front.house.Dial(s.front.ctx, s.place, &client.Options{
		Routing: client.RoutingDirected,
		Kinds:   []string{"mcp/request:notifications/*", parley.KindChat, parley.KindGrant, parley.KindRevoke, parley.KindAcceptTool},
		EchoOff: true, Buffer: 1,
		OnArrival: s.arrive, Handler: s.answer, Concurrency: maxCallsEach,
		Logger: s.front.log,
	})
	if s.err != nil {
		s.front.mu.Lock()
		defer s.front.mu.Unlock()
		if s.front.seats[s.place] == s {
			delete(s.front.seats, s.place)
		}
	}
}

// gone reports whether the room has ended, as after a kick.
func (s *seat) gone() bool {
	select {
	case <-s.ready:
	default:
		return false
	}
	if s.room == nil {
		return true
	}
	select {
	case <-s.room.Done():
		return true
	default:
		return false
	}
}

func (s *seat) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
}

func (s *seat) hold() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders++
}

func (s *seat) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders--
	s.used = time.Now()
}

// unusedSince is how long nobody has held the seat.
func (s *seat) unusedSince(now time.Time) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders > 0 {
		return 0
	}
	return now.Sub(s.used)
}

func (s *seat) close() {
	<-s.ready
	if s.room != nil {
		s.room.Close()
	}
}

func (s *seat) listen(l listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[l] = true
}

func (s *seat) unlisten(l listener) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.listeners, l)
}

// take lets a flight hear of what concerns the envelope with an id.
func (s *seat) take(id string, fl *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if fl.over.Err() == nil {
		s.flights[id] = fl
		fl.ids = append(fl.ids, id)
	}
}

// land ends that.
func (s *seat) land(fl *flight) {
	fl.land()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range fl.ids {
		if s.flights[id] == fl {
			delete(s.flights, id)
		}
	}
	fl.ids = nil
}

// flightOf is the call that an envelope speaks of, the first of several whose
// client is there.
func (s *seat) flightOf(ids []string) (found *flight) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		fl := s.flights[id]
		if fl != nil && !fl.parked.Load() {
			return fl
		}
		if found == nil {
			found = fl
		}
	}
	return found
}

// wait are the calls that wait for one proposal.
type wait struct {
	last  *flight // which hears of the fulfilment
	calls int
}

// await makes a flight one that waits for a proposal, until the function is
// called, which says whether it was the last one.
func (s *seat) await(proposal string, fl *flight) (leave func() (last bool)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.awaited[proposal]
	if w == nil {
		w = &wait{}
		s.awaited[proposal] = w
	}
	w.last = fl
	w.calls++
	close(s.came)
	s.came = make(chan struct{})
	return sync.OnceValue(func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		if w.calls--; w.calls > 0 {
			return false
		}
		delete(s.awaited, proposal)
		return true
	})
}

// fulfilled lets whoever waits for a proposal hear of what concerns its
// fulfilment.
func (s *seat) fulfilled(e *parley.Envelope) {
	for _, id := range e.Correlation.IDs {
		s.mu.Lock()
		var fl *flight
		if w := s.awaited[id]; w != nil {
			fl = w.last
		}
		s.mu.Unlock()
		if fl != nil && len(e.To) == 1 && e.To[0] == fl.server {
			s.take(e.ID, fl)
			return
		}
	}
}

// arrive sorts what comes in the room, before anybody who waits for an answer
// hears of it: so nothing that belongs to a call comes behind its result.
func (s *seat) arrive(e *parley.Envelope) {
	kind := parley.SplitKind(e.Kind)
	switch {
	case kind.Type == parley.KindChat:
		s.mu.Lock()
		close(s.arrived)
		s.arrived = make(chan struct{})
		s.mu.Unlock()
	case kind.Type == parley.KindGrant, kind.Type == parley.KindRevoke:
		if who, _ := parley.MemberString(e.Payload, "recipient"); who == s.place.Participant {
			s.changed("")
		}
	case kind.Type == parley.KindAcceptTool:
		server, _ := parley.MemberString(e.Payload, "participant")
		s.changed(server)
	case kind.Type != parley.TypeRequest:
	case isNotification(kind.Method):
		s.notified(e, kind.Method)
	default:
		s.fulfilled(e) // from then on the call goes by the fulfilment's id
	}
}

// notified passes on what a server tells. Nothing else that participants send
// reaches a client: it would take a cancellation, for one, for ours.
func (s *seat) notified(e *parley.Envelope, method string) {
	params := member(e.Payload, "params")
	switch method {
	case "notifications/progress", "notifications/message", "notifications/elicitation/complete":
		if len(e.Correlation.IDs) > 0 || method == "notifications/progress" {
			s.notifiedOf(e, method, params)
			return
		}
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed", updated:
	default:
		return
	}
	if !slices.Contains(s.front.house.Servers(s.place.Space), e.From) {
		return
	}
	if strings.HasSuffix(method, "/list_changed") {
		s.forgetOffer(e.From)
	}
	s.broadcast(e.From, method, params)
}

// notifiedOf passes on what belongs to a call, unless that is over.
func (s *seat) notifiedOf(e *parley.Envelope, method string, params jsontext.Value) {
	fl := s.flightOf(e.Correlation.IDs)
	if fl == nil || fl.server != e.From {
		return
	}
	if x := s.of(fl); method != "notifications/message" || x.wantsLog() {
		x.say(method, params)
	}
}

// broadcast tells every session and stream what a server says.
func (s *seat) broadcast(server, method string, params jsontext.Value) {
	s.mu.Lock()
	list := make([]listener, 0, len(s.listeners))
	for l := range s.listeners {
		list = append(list, l)
	}
	s.mu.Unlock()
	msg := jsonrpc.EncodeRequest(nil, method, params) // which all of them can share
	for _, l := range list {
		l.hear(server, method, params, msg)
	}
}

// changed tells them that what there is of a server is another than before, or
// with "" of all servers.
func (s *seat) changed(server string) {
	s.forgetOffer(server)
	for _, method := range listChanges {
		s.broadcast(server, method, nil)
	}
}

// Changed says that a server of a space came or went: what is listed there has
// changed for everybody.
func (f *Front) Changed(space, server string) {
	f.mu.Lock()
	var seats []*seat
	for at, s := range f.seats {
		if at.Space == space {
			seats = append(seats, s)
		}
	}
	f.mu.Unlock()
	for _, s := range seats {
		s.changed(server)
	}
}

// news is closed when somebody has said something since.
func (s *seat) news() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.arrived
}

// beginCall bounds the calls of one participant.
func (s *seat) beginCall() (end func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.calls >= maxCallsEach {
		return nil, parley.Errorf(parley.LimitReached, "calls: %d are being made by %s, the limit", s.calls, s.place.Participant).
			WithHint("wait until some have been answered")
	}
	s.calls++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls--
	}, nil
}

// why is the reason for which the room has ended.
func (s *seat) why() error {
	if s.room == nil {
		return s.err
	}
	return s.room.Err()
}
