package gateway

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/parleyhq/parley"
)

// readyTime is how long a space may take to say that it takes envelopes.
const readyTime = 5 * time.Second

// healthy answers that the process does.
func (a *api) healthy(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ok\"}\n"))
}

// ready answers whether envelopes are taken: 503 with the name of a space whose
// journal cannot be written, or where the gateway is going away.
func (a *api) ready(w http.ResponseWriter, r *http.Request) error {
	ctx, cancel := context.WithTimeout(r.Context(), readyTime)
	defer cancel()
	if err := a.g.Ready(ctx); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, []byte("{\"status\":\"ready\"}\n"))
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
	if r.Header.Get("Authorization") == "" && fromLoopback(r) {
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

// fromLoopback reports whether somebody on this machine asks, for nobody else.
func fromLoopback(r *http.Request) bool {
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "Via"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return false
	}
	from, err := netip.ParseAddr(host)
	return err == nil && from.Unmap().IsLoopback() && isLoopback(hostname(r.Host))
}
