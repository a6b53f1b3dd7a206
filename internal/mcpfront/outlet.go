package mcpfront

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// outlet is a series of messages to a client: what goes back for one request,
// or what a session is told outside of any. HTTP responses that carry it come and
// go; in 2025-11-25 a client whose connection broke goes on behind the last event
// that it has.
type outlet struct {
	id string // names it in event ids; "" where it cannot be resumed

	mu      sync.Mutex
	events  []event
	last    int // number of the newest event, from 1
	sent    int // number of the newest that was written to a response
	bytes   int
	over    bool          // nothing comes any more
	follows int           // counts who follows: the newest alone gets events
	changed chan struct{} // closed, and made anew, with every change
	ended   time.Time     // when it was over
	taken   func()        // to be done once the last message was written; nil afterwards
}

type event struct {
	n    int
	msg  []byte
	keep bool // a request or an answer; others go first where there is no room
}

// What one outlet keeps.
const (
	maxEvents     = 1_024
	maxEventBytes = 2 << 20
)

func newOutlet(id string) *outlet { return &outlet{id: id, changed: make(chan struct{})} }

// put adds a message. Where there is no room the oldest goes that is no request
// and no answer.
func (o *outlet) put(msg []byte, keep bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	o.add(msg, keep)
	o.change()
}

// finish adds the last message, nil for none. Whoever writes it, be it to a
// response that resumes, calls taken, which may be nil.
func (o *outlet) finish(msg []byte, taken func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.over {
		return
	}
	if msg != nil {
		o.add(msg, true)
	}
	o.over, o.ended, o.taken = true, time.Now(), taken
	o.change()
}

func (o *outlet) add(msg []byte, keep bool) {
	o.last++
	o.events = append(o.events, event{o.last, msg, keep})
	o.bytes += len(msg)
	for len(o.events) > 1 && (len(o.events) > maxEvents || o.bytes > maxEventBytes) {
		o.drop()
	}
}

func (o *outlet) drop() {
	at := 0
	for i := range o.events[:len(o.events)-1] {
		if !o.events[i].keep {
			at = i
			break
		}
	}
	o.bytes -= len(o.events[at].msg)
	o.events = append(o.events[:at], o.events[at+1:]...)
}

func (o *outlet) change() {
	close(o.changed)
	o.changed = make(chan struct{})
}

// claim makes the caller the one who follows.
func (o *outlet) claim() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.follows++
	o.change()
	return o.follows
}

// after are the events behind number n, and what to wait for where there are
// none. mine is false where somebody else follows.
func (o *outlet) after(n, claim int) (list []event, over, mine bool, changed <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := range o.events {
		if o.events[i].n > n {
			list = append(list, o.events[i:]...)
			break
		}
	}
	return list, o.over, o.follows == claim, o.changed
}

const (
	keepAlive    = 20 * time.Second // a comment, so that what stands between does not hang up
	writeTimeout = 30 * time.Second
)

// follow writes the events behind number n as a response of server-sent events,
// until the last one or until the response breaks, which is an error.
func (o *outlet) follow(ctx context.Context, w http.ResponseWriter, n, claim int) error {
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache, no-transform")
	h.Set("X-Accel-Buffering", "no")
	rc := http.NewResponseController(w)
	idle := time.NewTicker(keepAlive)
	defer idle.Stop()
	n = min(n, o.newest()) // whatever a client says that it has
	b := o.prime(nil, n)
	for {
		list, over, mine, changed := o.after(n, claim)
		for _, e := range list {
			b = o.encode(b, e)
			n = e.n
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if len(b) > 0 || len(list) > 0 {
			if err := o.write(rc, w, b); err != nil {
				return err
			}
			b = b[:0]
			if taken := o.wrote(n); taken != nil {
				taken()
			}
			idle.Reset(keepAlive)
		}
		if over || !mine {
			return nil
		}
		select {
		case <-changed:
		case <-idle.C:
			b = append(b, ": waiting\n\n"...)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// wrote notes how far a response has got, and returns what is to be done at the
// end.
func (o *outlet) wrote(n int) (taken func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = max(o.sent, n)
	if o.over && o.sent == o.last {
		taken, o.taken = o.taken, nil
	}
	return taken
}

func (o *outlet) newest() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// size is how much is kept, and whether and when it was over.
func (o *outlet) size() (bytes int, over bool, ended time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.bytes, o.over, o.ended
}

// sentUpTo is where a stream goes on for a client that does not say.
func (o *outlet) sentUpTo() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sent
}

func (o *outlet) write(rc *http.ResponseController, w http.ResponseWriter, b []byte) error {
	_ = rc.SetWriteDeadline(time.Now().Add(writeTimeout)) // where it is not supported there is none
	if _, err := w.Write(b); err != nil {
		return err
	}
	return rc.Flush()
}

// prime is an event without a message: with it a client can resume a stream that
// breaks before anything came (2025-11-25, SEP-1699). Otherwise a comment makes
// proxies send the head of the response.
func (o *outlet) prime(b []byte, n int) []byte {
	if o.id == "" || n > 0 {
		return append(b, ": begin\n\n"...)
	}
	return append(append(append(b, "id: "...), o.eventID(0)...), "\nretry: 1000\ndata:\n\n"...)
}

func (o *outlet) encode(b []byte, e event) []byte {
	if o.id != "" {
		b = append(append(append(b, "id: "...), o.eventID(e.n)...), '\n')
	}
	return append(append(append(b, "event: message\ndata: "...), e.msg...), "\n\n"...)
}

func (o *outlet) eventID(n int) string { return o.id + "-" + strconv.Itoa(n) }

// readEventID takes an event's id apart.
func readEventID(id string) (outlet string, n int, ok bool) {
	name, number, found := strings.Cut(id, "-")
	n, err := strconv.Atoi(number)
	return name, n, found && err == nil && n >= 0
}
