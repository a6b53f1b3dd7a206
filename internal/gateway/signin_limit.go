package gateway

import (
	"container/list"
	"log/slog"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	guessBurst    = 20              // wrong tokens or codes that an address may bring at once
	guessEvery    = 3 * time.Second // and one more in this time
	mostAddresses = 4_096           // that are remembered
	unguessable   = 32              // characters of a token or code that nobody finds by trying
	warnEvery     = time.Minute
)

// guessable reports whether a token or code is so short that it could be found by
// trying. What is not is let in also where others at the same address try: behind a
// proxy that is everybody.
func guessable(secret string) bool { return len(secret) < unguessable }

// attempts counts who brings wrong tokens and codes, by address; those who did so
// last are remembered. What is right costs nothing.
type attempts struct {
	log    *slog.Logger
	anyone atomic.Bool // somebody has ever had to wait

	mu     sync.Mutex
	byFrom map[netip.Prefix]*list.Element // of *guesser
	last   *list.List                     // who failed longest ago first
	warned time.Time                      // when the log was last told
}

// guesser is an address. Each failure moves clear on by guessEvery; how far it may
// lie ahead is the burst.
type guesser struct {
	from  netip.Prefix
	clear time.Time // when all its failures are forgotten
}

func newAttempts(log *slog.Logger) *attempts {
	return &attempts{log: log, byFrom: make(map[netip.Prefix]*list.Element), last: list.New()}
}

// quiet reports whether nobody has had to wait yet, which is cheaper to ask than
// whether somebody has to.
func (a *attempts) quiet() bool { return !a.anyone.Load() }

// wait is how long an address has to wait before it may try again; 0 for not.
func (a *attempts) wait(from netip.Prefix, now time.Time) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.byFrom[from]
	if e == nil {
		return 0
	}
	return e.Value.(*guesser).wait(now)
}

func (g *guesser) wait(now time.Time) time.Duration {
	return max(0, g.clear.Sub(now)-(guessBurst-1)*guessEvery)
}

// failed notes that an address brought something wrong.
func (a *attempts) failed(from netip.Prefix, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	e := a.byFrom[from]
	if e == nil {
		if len(a.byFrom) >= mostAddresses {
			a.remove(a.last.Front())
		}
		e = a.last.PushBack(&guesser{from: from})
		a.byFrom[from] = e
	}
	g := e.Value.(*guesser)
	if g.clear.Before(now) {
		g.clear = now
	}
	g.clear = g.clear.Add(guessEvery)
	a.last.MoveToBack(e)
	if g.wait(now) > 0 {
		a.anyone.Store(true)
		a.warn(from, now)
	}
}

// warn tells the log that somebody guesses, once in a while.
func (a *attempts) warn(from netip.Prefix, now time.Time) {
	if !a.warned.IsZero() && now.Sub(a.warned) < warnEvery {
		return
	}
	a.warned = now
	a.log.Warn("somebody tries wrong tokens or codes; more from there have to wait", "from", from.String())
}

func (a *attempts) remove(e *list.Element) {
	delete(a.byFrom, e.Value.(*guesser).from)
	a.last.Remove(e)
}

// addressOf is where a request comes from: an address or, with IPv6, the network
// of 64 bits that one household has. Whoever's is not known shares one.
func addressOf(r *http.Request) netip.Prefix {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Prefix{}
	}
	addr, bits := at.Addr().Unmap().WithZone(""), 64
	if addr.Is4() {
		bits = 32
	}
	prefix, err := addr.Prefix(bits)
	if err != nil {
		return netip.Prefix{}
	}
	return prefix
}
