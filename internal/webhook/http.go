package webhook

import (
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
)

// Capability is what a participant has to be allowed to send, as section 4 of the
// contract has it, to look after the webhooks of a space. No envelope is of this
// kind: who may order what concerns the space may do this as well.
const Capability = "space/webhook"

// Routes are the calls of the HTTP API by which webhooks are looked after, by the
// pattern of an [http.ServeMux]. Whoever serves them sees before that the caller
// may; an error is told to the client.
func (d *Desk) Routes() map[string]func(w http.ResponseWriter, r *http.Request) error {
	const base = "/v1/spaces/{space}/webhooks"
	return map[string]func(w http.ResponseWriter, r *http.Request) error{
		"GET " + base:                              d.serveList,
		"GET " + base + "/{name}/dead":             d.serveDead,
		"POST " + base + "/{name}/dead/retry":      d.serveRetry,
		"POST " + base + "/{name}/dead/{id}/retry": d.serveRetry,
		"DELETE " + base + "/{name}/dead":          d.serveDrop,
		"DELETE " + base + "/{name}/dead/{id}":     d.serveDrop,
		"POST " + base + "/{name}/test":            d.serveTest,
		"POST " + base + "/{name}/enable":          d.serveEnable,
	}
}

func (d *Desk) serveList(w http.ResponseWriter, r *http.Request) error {
	list, err := d.List(r.Context(), r.PathValue("space"))
	if err != nil {
		return err
	}
	return write(w, map[string]any{"items": list})
}

func (d *Desk) serveDead(w http.ResponseWriter, r *http.Request) error {
	list, err := d.Dead(r.Context(), r.PathValue("space"), r.PathValue("name"))
	if err != nil {
		return err
	}
	return write(w, map[string]any{"items": list})
}

func (d *Desk) serveRetry(w http.ResponseWriter, r *http.Request) error {
	n, err := d.Retry(r.Context(), r.PathValue("space"), r.PathValue("name"), r.PathValue("id"))
	if err != nil {
		return err
	}
	return write(w, map[string]any{"retried": n})
}

func (d *Desk) serveDrop(w http.ResponseWriter, r *http.Request) error {
	n, err := d.Drop(r.Context(), r.PathValue("space"), r.PathValue("name"), r.PathValue("id"))
	if err != nil {
		return err
	}
	return write(w, map[string]any{"dropped": n})
}

func (d *Desk) serveTest(w http.ResponseWriter, r *http.Request) error {
	a, err := d.Test(r.Context(), r.PathValue("space"), r.PathValue("name"))
	if err != nil {
		return err
	}
	return write(w, a)
}

func (d *Desk) serveEnable(w http.ResponseWriter, r *http.Request) error {
	if err := d.Enable(r.Context(), r.PathValue("space"), r.PathValue("name")); err != nil {
		return err
	}
	return write(w, map[string]any{"enabled": true})
}

func write(w http.ResponseWriter, v any) error {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	_, _ = w.Write(append(body, '\n')) // where the client is gone there is nobody to tell
	return nil
}
