package gateway

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
)

// A browser sends a cookie, or reaches a gateway that lets somebody in without
// a token, on behalf of whatever page it shows. So each request by cookie or
// without a token has to pass two questions (section 6 of the contract):
//
//   - Host: was it us whom the page meant? A name that an attacker points at
//     this machine after the page was loaded is none of ours.
//   - Origin: was it our page that asked? Where something could change, and
//     where a WebSocket is asked for, the answer has to be yes.
//
// A token in the Authorization header answers both: no page can put one there
// without our consent, which we never give.

// originGuard asks these questions.
type originGuard struct {
	hosts   map[string]bool // names, in lower case, beside those of loopback
	origins map[string]bool // whose pages may do what ours may
	cross   *http.CrossOriginProtection
}

// newOriginGuard makes one for a gateway that is reached under hosts, besides
// the names of loopback, and that pages of the given origins may use as its own
// do. The error, invalid_config, names what is no origin.
func newOriginGuard(hosts, origins []string) (*originGuard, error) {
	g := &originGuard{
		hosts:   make(map[string]bool),
		origins: make(map[string]bool),
		cross:   http.NewCrossOriginProtection(),
	}
	for _, h := range hosts {
		if name := hostname(h); name != "" {
			g.hosts[name] = true
		}
	}
	for _, o := range origins {
		if err := g.cross.AddTrustedOrigin(o); err != nil {
			return nil, parley.Errorf(parley.InvalidConfig, "%v", err).
				WithHint("write an origin like https://example.org")
		}
		g.origins[o] = true
	}
	return g, nil
}

// hostsOf is the name in a URL, as a list.
func hostsOf(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host}
}

// check refuses, with unauthorized, a request that brings no token of its own
// and that a foreign page may have caused.
func (g *originGuard) check(r *http.Request) error {
	if scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " "); strings.EqualFold(scheme, "Bearer") {
		return nil // Basic, for one, is what any link with a name in it makes a browser send
	}
	if !g.known(hostname(r.Host), r) {
		return forbidden(parley.Errorf(parley.Unauthorized, "this gateway is not known as %.80q", r.Host).
			WithHint("use http://localhost or the address that it listens on, or add the name to its hosts"))
	}
	if !g.sameOrigin(r) {
		return forbidden(parley.Errorf(parley.Unauthorized, "another origin may not act here without a token").
			WithHint("send the token in the Authorization header"))
	}
	return nil
}

// forbidden is unauthorized, with the status that tells a browser that another
// cookie would not help.
func forbidden(err *parley.Error) error { return withStatus(http.StatusForbidden, err) }

// known reports whether name is one of ours. An address that is none of
// loopback is one where the request came from outside: what is in danger from
// names that change their address is what listens on loopback, and pages are
// not served by names that are addresses.
func (g *originGuard) known(name string, r *http.Request) bool {
	if isLoopback(name) || g.hosts[name] {
		return true
	}
	_, err := netip.ParseAddr(name)
	return err == nil && !onLoopback(r)
}

// isLoopback reports whether a host's name is one of this machine to itself.
func isLoopback(name string) bool {
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// FromHere reports whether somebody on this machine asks, for nobody else. A proxy
// that hides that it is one cannot be told from them.
func FromHere(r *http.Request) bool {
	for _, name := range [...]string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip", "Via"} {
		if len(r.Header.Values(name)) > 0 {
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

// onLoopback reports whether the request arrived at an address of loopback. One
// that says nothing of how it arrived counts as one that did.
func onLoopback(r *http.Request) bool {
	addr, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return true
	}
	at, err := netip.ParseAddrPort(addr.String())
	return err != nil || at.Addr().Unmap().IsLoopback()
}

// sameOrigin reports whether the request is of a page of ours or of no browser,
// where that matters.
func (g *originGuard) sameOrigin(r *http.Request) bool {
	upgrade := len(r.Header.Values("Upgrade")) > 0 // also where the first one is empty
	if !upgrade && (r.Method == http.MethodGet || r.Method == http.MethodHead || r.Method == http.MethodOptions) {
		return true
	}
	if origin := r.Header.Get("Origin"); origin != "" && !g.friendly(origin, r) {
		return false
	}
	if upgrade {
		// A WebSocket begins as a GET, which the standard check takes for
		// harmless; by this one it is judged as what it leads to.
		r = &http.Request{Method: http.MethodPost, Host: r.Host, Header: r.Header, URL: r.URL}
	}
	return g.cross.Check(r) == nil
}

// friendly reports whether pages of an origin may do what ours may.
func (g *originGuard) friendly(origin string, r *http.Request) bool {
	if g.origins[origin] {
		return true
	}
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && g.known(hostname(u.Host), r)
}

// hostname is the name in host or host:port, in lower case and without the
// brackets of an address or the dot of a full name; empty where there is none.
func hostname(host string) string {
	if name, port, err := net.SplitHostPort(host); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return ""
		}
		host = name
	} else {
		host = strings.TrimSuffix(strings.TrimPrefix(host, "["), "]")
	}
	return strings.TrimSuffix(strings.ToLower(host), ".")
}
