package participant

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/parleyhq/parley"
)

// grace is how long an asker may be gone from the room before its requests are
// given up: connections that are lost come back.
const grace = 10 * time.Second

// here knows whose requests are under way, and gives up those of askers who
// have left.
type here struct {
	log *slog.Logger

	mu     sync.Mutex
	asking map[string]map[*asked]struct{}
	gone   map[string]*time.Timer
}

// asked is a request that is under way.
type asked struct{ giveUp context.CancelCauseFunc }

func newHere(log *slog.Logger) *here {
	return &here{log: log, asking: map[string]map[*asked]struct{}{}, gone: map[string]*time.Timer{}}
}

// enter takes in a request, until done is called.
func (h *here) enter(who string, giveUp context.CancelCauseFunc) (done func()) {
	one := &asked{giveUp}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.asking[who] == nil {
		h.asking[who] = map[*asked]struct{}{}
	}
	h.asking[who][one] = struct{}{}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		delete(h.asking[who], one)
		if len(h.asking[who]) == 0 {
			delete(h.asking, who)
		}
	}
}

// arrived looks for those who leave, and come back. It does not wait.
func (h *here) arrived(e *parley.Envelope) {
	if e.Kind != parley.KindPresence {
		return
	}
	event, _ := parley.MemberString(e.Payload, "event")
	who, _ := parley.MemberString(parley.Member(e.Payload, "participant"), "id")
	h.mu.Lock()
	defer h.mu.Unlock()
	if timer := h.gone[who]; timer != nil {
		timer.Stop()
		delete(h.gone, who)
	}
	if event == "leave" && len(h.asking[who]) > 0 {
		h.left(who)
	}
}

// left gives up what is asked now, and not what comes meanwhile: over HTTP one
// can ask without being in the room.
func (h *here) left(who string) {
	var open []*asked
	for one := range h.asking[who] {
		open = append(open, one)
	}
	h.log.Debug("an asker has left; what it asked is given up unless it comes back", "from", who, "within", grace)
	h.gone[who] = time.AfterFunc(grace, func() {
		h.mu.Lock()
		delete(h.gone, who)
		h.mu.Unlock()
		for _, one := range open {
			one.giveUp(errLeft)
		}
	})
}

// close stops the clocks.
func (h *here) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for who, timer := range h.gone {
		timer.Stop()
		delete(h.gone, who)
	}
}
