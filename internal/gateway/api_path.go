package gateway

import (
	"net/http"
	"net/url"
	"strings"
)

// slashID stands for the id "/" while a request finds its way: an
// [http.ServeMux] takes a part of a path that is nothing but %2F for the path's
// end. Nothing is called so, since no id holds a space.
const slashID = " / "

// nameSlash is a request that is routed as others are, also where the id in its
// path is "/".
func nameSlash(r *http.Request) *http.Request {
	parts := strings.SplitN(r.URL.EscapedPath(), "/", 7) // "", v1, spaces, NAME, contexts, ID, and what follows
	if len(parts) < 6 || parts[1] != "v1" || parts[2] != "spaces" || !strings.EqualFold(parts[5], "%2F") {
		return r
	}
	parts[5] = url.PathEscape(slashID)
	named, at := *r, *r.URL
	at.RawPath = strings.Join(parts, "/")
	at.Path, _ = url.PathUnescape(at.RawPath) // which was a path before
	named.URL = &at
	return &named
}

// readSlash undoes nameSlash once a request is where it belongs.
func readSlash(r *http.Request) {
	if r.PathValue("id") == slashID {
		r.SetPathValue("id", "/")
	}
}
