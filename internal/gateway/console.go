package gateway

import (
	"net/http"
	"strings"
)

// consolePath is where the web console begins.
const consolePath = "/console/"

// serveConsole answers with a page of the console, or what it is made of. They
// are for everybody who may reach us: they hold nothing.
func (a *api) serveConsole(w http.ResponseWriter, r *http.Request) error {
	return a.pages.Serve(w, r, "/"+strings.TrimPrefix(r.URL.Path, consolePath))
}

// toConsole leads who asks for nothing in particular, as a person does who types
// the gateway's address.
func (a *api) toConsole(w http.ResponseWriter, r *http.Request) error {
	http.Redirect(w, r, consolePath, http.StatusSeeOther)
	return nil
}
