package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/parleyhq/parley"
)

const (
	readyTime  = 5 * time.Second // that a space, or the journal, may take to answer
	probeEvery = time.Second     // at most so often the journal is tried
)

// healthy answers that the process does.
func (a *api) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ok\"}\n"))
}

// ready answers whether envelopes are taken: 503 with the name of a space that
// takes none, where the journal cannot be written, or where the gateway is going
// away.
func (a *api) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := a.g.Ready(ctx); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
}

// Ready reports why envelopes cannot be taken now: unavailable where a journal
// cannot be written or the gateway is shutting down; nil where they can.
func (g *Gateway) Ready(ctx context.Context) error {
	if g.closing.Load() {
		return goingAway()
	}
	for _, name := range g.Spaces() {
		if err := g.rooms[name].taking(ctx); err != nil {
			return parley.Errorf(parley.Unavailable, "space %q: %s", name, asError(err).Message)
		}
	}
	return g.writable(ctx)
}

// prober is a journal that can try whether it takes a write.
type prober interface {
	Probe(ctx context.Context) error
}

// probe is what came of trying the journal. Who asks meanwhile waits for it.
type probe struct {
	turn chan struct{} // holds one: whose turn it is owns the rest
	at   time.Time     // when it was over
	err  error
}

// writable says why the journal cannot be written, nil where it can: so a full
// disk is seen before somebody's envelope is refused. Where nothing was written
// within probeEvery it is tried.
func (g *Gateway) writable(ctx context.Context) error {
	j, ok := g.opts.Journal.(prober)
	if !ok || g.committedSince(time.Now().Add(-probeEvery)) {
		return nil
	}
	select {
	case g.probe.turn <- struct{}{}:
		defer func() { <-g.probe.turn }()
	case <-ctx.Done():
		return silent()
	}
	if time.Since(g.probe.at) >= probeEvery {
		g.probe.err = tryJournal(context.WithoutCancel(ctx), j) // for whoever else waits
		g.probe.at = time.Now()
	}
	return g.probe.err
}

func tryJournal(ctx context.Context, j prober) error {
	ctx, cancel := context.WithTimeout(ctx, readyTime)
	defer cancel()
	err := j.Probe(ctx)
	if err != nil && ctx.Err() != nil {
		return silent()
	}
	return err
}

func silent() error {
	return parley.Errorf(parley.Unavailable, "the journal did not answer within %v", readyTime)
}

// committedSince reports whether something became durable after that.
func (g *Gateway) committedSince(t time.Time) bool {
	for _, r := range g.rooms {
		if r.metrics.committed.Load() > t.UnixNano() {
			return true
		}
	}
	return false
}

// taking says why the space takes no envelopes; nil where it does.
func (r *room) taking(ctx context.Context) error {
	var refused *parley.Error
	if err := r.do(ctx, func() { refused = r.closed() }); err != nil {
		if ctx.Err() != nil {
			return parley.Errorf(parley.Unavailable, "it did not answer within %v", readyTime)
		}
		return err
	}
	if refused != nil {
		return refused
	}
	return nil
}

// serveMetrics shows all figures to who asks on this machine, and otherwise,
// for a token, those of its spaces: names of spaces and how much is said in
// them are nobody else's business.
func (a *api) serveMetrics(w http.ResponseWriter, r *http.Request) error {
	if r.Header.Get("Authorization") == "" && FromHere(r) {
		a.metrics.handler(a.g.Spaces()).ServeHTTP(w, r)
		return nil
	}
	who, err := a.identify(r)
	if err != nil {
		return err
	}
	spaces := make([]string, 0, len(who))
	for _, one := range who {
		spaces = append(spaces, one.room.name)
	}
	a.metrics.handler(spaces).ServeHTTP(w, r)
	return nil
}
