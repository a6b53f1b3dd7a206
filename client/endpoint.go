package client

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
)

// endpoint is where a gateway is.
type endpoint struct {
	base  *url.URL // http or https, without /ws and without a slash at the end
	space string   // may be empty: the gateway's choice
}

// parseEndpoint accepts a gateway's address in the forms that people have at
// hand.
func parseEndpoint(raw, space string) (endpoint, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return endpoint{}, parley.Errorf(parley.InvalidArgument, "the address %q is no URL", raw)
	}
	switch u.Scheme {
	case "ws":
		u.Scheme = "http"
	case "wss":
		u.Scheme = "https"
	case "http", "https":
	default:
		return endpoint{}, parley.Errorf(parley.InvalidArgument, "the address %q is not one of http, https, ws, wss", raw).
			WithHint("write http://127.0.0.1:7717")
	}
	if u.Host == "" {
		return endpoint{}, parley.Errorf(parley.InvalidArgument, "the address %q names no host", raw)
	}
	q := u.Query()
	space = cmp.Or(space, q.Get("space"), q.Get("topic"))
	path := strings.TrimSuffix(strings.TrimRight(u.Path, "/"), "/ws")
	return endpoint{&url.URL{Scheme: u.Scheme, Host: u.Host, Path: path}, space}, nil
}

func (e endpoint) name() string   { return e.space }
func (e endpoint) String() string { return e.base.String() }

// websocket is the address to join at. A position wins over history, and is
// all that is asked for once the room was joined.
func (e endpoint) websocket(o *Options, at *parley.Position) string {
	q := parameters{}
	q.set("space", e.space)
	q.set("routing", string(o.Routing))
	q.set("contexts", o.Contexts)
	q.set("kinds", strings.Join(o.Kinds, ","))
	q.on("presence", "off", o.PresenceOff)
	q.on("echo", "off", o.EchoOff)
	q.on("exclusive", "on", o.Exclusive)
	switch {
	case at != nil:
		q.set("after", strconv.FormatUint(at.Seq, 10))
		q.set("epoch", at.Epoch)
	case o.History > 0:
		q.set("history", strconv.Itoa(o.History))
	}
	u := e.base.JoinPath("ws")
	u.RawQuery = url.Values(q).Encode()
	return u.String()
}

// call is the address of something under /v1/spaces/{space}.
func (e endpoint) call(space string, parts ...string) *url.URL {
	escaped := []string{"v1", "spaces", escapePart(space)}
	for _, p := range parts {
		escaped = append(escaped, escapePart(p))
	}
	return e.base.JoinPath(escaped...)
}

// escapePart makes one part of a path of any id: also of "." and "..", which
// participants may choose, and which would lead elsewhere as they are.
func escapePart(id string) string {
	if id == "." || id == ".." {
		return strings.ReplaceAll(id, ".", "%2E")
	}
	return url.PathEscape(id)
}
