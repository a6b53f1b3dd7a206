package gateway

import (
	"net/http"

	"github.com/parleyhq/parley"
)

// Route is served beside what the gateway serves itself, behind the same
// guards: what it was asked for, by the pattern of an [http.ServeMux], and who
// answers. An error is told to the client as those of the gateway are.
type Route struct {
	Pattern string
	Serve   func(w http.ResponseWriter, r *http.Request) error
}

// Member is who somebody is in one space.
type Member struct{ Space, Participant string }

// Identify finds out who a request comes from, by its token or by the session of
// a browser. The error is unauthorized.
func (g *Gateway) Identify(r *http.Request) ([]Member, error) {
	who, err := g.api.identify(r)
	if err != nil {
		return nil, err
	}
	members := make([]Member, len(who))
	for i, one := range who {
		members[i] = Member{one.room.name, one.id}
	}
	return members, nil
}

// mount is a route's handler. A page of a foreign origin is kept out there also
// where it has a token: programs that people run beside their browsers are not to
// be driven by pages (the MCP specification asks for it).
func (a *api) mount(route Route) http.Handler {
	return a.answer(func(w http.ResponseWriter, r *http.Request) error {
		if origin := r.Header.Get("Origin"); origin != "" && !a.guard.friendly(origin, r) {
			return forbidden(parley.Errorf(parley.Unauthorized, "pages of %.80q may not act here", origin).
				WithHint("add the origin to the gateway's origins"))
		}
		return route.Serve(w, r)
	})
}
