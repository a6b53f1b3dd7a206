package providertest

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/parleyhq/parley/model/internal/provider"
)

// Key is what the endpoints want to see, and nobody else is to.
const Key = "sk-test-0123456789-abcdef"

// A Check holds a request against what an endpoint takes. Its error is what the
// endpoint would not.
type Check func(r *http.Request, body []byte) error

// An Endpoint is a local server that answers by a script.
type Endpoint struct {
	*httptest.Server
	t         testing.TB
	check     Check
	responses func(n int) (Response, bool) // to the request n
	hung      func()

	mu   sync.Mutex
	sent [][]byte
}

// Serve answers each request with the next response, and fails the test where one
// is not as it has to be, or one too many. hung is told when nothing more comes.
func Serve(t testing.TB, check Check, responses func(n int) (Response, bool), hung func()) *Endpoint {
	e := &Endpoint{t: t, check: check, responses: responses, hung: hung}
	e.Server = httptest.NewServer(e)
	t.Cleanup(e.Close)
	return e
}

// Config is one for this endpoint.
func (e *Endpoint) Config() provider.Config {
	return provider.Config{Name: "test", Model: "model-1", URL: e.URL, Key: Key, HTTPClient: e.Client()}
}

// Sent are the bodies of the requests so far.
func (e *Endpoint) Sent() [][]byte {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.sent
}

func (e *Endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.t.Errorf("the request: %v", err)
	}
	e.mu.Lock()
	n := len(e.sent)
	e.sent = append(e.sent, body)
	e.mu.Unlock()
	if err := e.check(r, body); err != nil {
		e.t.Errorf("the endpoint does not take request %d: %v\n%s", n, err, body)
		http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		return
	}
	response, ok := e.responses(n)
	if !ok {
		e.t.Errorf("request %d is one too many:\n%s", n, body)
		http.Error(w, "one too many", http.StatusTeapot)
		return
	}
	e.answer(w, r, response)
}

func (e *Endpoint) answer(w http.ResponseWriter, r *http.Request, response Response) {
	maps.Copy(w.Header(), response.Header)
	w.WriteHeader(response.Status)
	// A client that has read enough hangs up.
	_, _ = w.Write(response.Body)
	_ = http.NewResponseController(w).Flush()
	switch response.After {
	case "cut":
		panic(http.ErrAbortHandler)
	case "hang":
		e.hung()
		<-r.Context().Done()
	}
}
