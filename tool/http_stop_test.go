package tool

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
)

// A run that is kept is gone on with over HTTP, whenever the handlers of its
// servers are closed.
func TestHandlerClosedAnytime(t *testing.T) {
	dir := t.TempDir()
	for range 10 {
		c := &persistent{t: t}
		for try := 0; !c.done; try++ {
			if try == 100 {
				t.Fatal("it does not come to its end")
			}
			c.meet(dir, time.Duration(rand.IntN(3000*(1+try/3)))*time.Microsecond)
		}
	}
}

// persistent is a modern client that goes on with its call at server after server.
type persistent struct {
	t       *testing.T
	state   string
	answers []string
	done    bool
}

// meet goes on with the call at a server whose handler is closed after a while.
func (c *persistent) meet(dir string, after time.Duration) {
	s, err := NewServer(quiet(Options{Runs: dir, NoUsage: true}))
	if err != nil {
		c.t.Fatal(err)
	}
	defer s.Close()
	AddHandoff(s, Tool{Name: "held", Needs: []Ability{Elicitation}}, Handoff[none, none, none, string]{
		Before: func(context.Context, *Call, none) (none, error) { return none{}, nil },
		Client: func(ctx context.Context, c *Call, _ none) (none, error) {
			return none{}, errors.Join(askConsent(ctx, c), askConsent(ctx, c))
		},
		After: func(context.Context, *Call, none, none, none) (string, error) { return "done", nil },
	})
	w := &web{t: c.t, handler: s.Handler(HandlerOptions{})}
	w.listen(w.handler)
	closed := make(chan struct{})
	time.AfterFunc(after, func() { w.handler.Close(); close(closed) })
	for c.request(w.url) {
	}
	<-closed
}

// request makes one request, and says whether another one has a point here.
func (c *persistent) request(url string) (again bool) {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, url, strings.NewReader(modernCall("c", "held", "{}", c.state, c.answers...)))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, h := range append(modernHeaders("tools/call", "held"), "Content-Type: application/json", "Accept: application/json, text/event-stream") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return false // the server is gone
	}
	defer res.Body.Close()
	all, err := io.ReadAll(res.Body)
	text := string(all)
	switch {
	case strings.Contains(text, "there is no run"):
		c.t.Fatalf("the run is lost: %s", text)
	case strings.Contains(text, `{"data":"done"}`):
		c.done = true
		return false
	case err != nil || !strings.Contains(text, "input_required"):
		return false
	}
	for line := range strings.Lines(text) {
		list, err := rpc.Decode([]byte(strings.TrimSpace(strings.TrimPrefix(line, "data:"))))
		if err == nil && len(list) == 1 && list[0].Result != nil {
			var asked []string
			c.state, asked = requiredBy(c.t, list[0].Result)
			c.answers = allAnswered(asked, consented)
		}
	}
	return true
}
