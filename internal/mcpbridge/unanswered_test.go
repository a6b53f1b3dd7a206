package mcpbridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

// A server over HTTP that waits for an answer is told that nobody gives it any more,
// also where it is the bridge that goes away.
func TestAStopIsTold(t *testing.T) {
	var told atomic.Int32
	_, at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method, _ := parley.MemberString(body, "method")
		params := parley.Member(body, "params")
		result := `{"tools":[{"name":"x","inputSchema":{"type":"object"}}],"ttlMs":0,"cacheScope":"private"}`
		switch {
		case method == "server/discover":
			result = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}`
		case method == "tools/call" && mcpwords.GivesUp(params):
			told.Add(1)
			result = `{"content":[]}`
		case method == "tools/call":
			result = `{"resultType":"input_required","_meta":{"parley/errors":true},"requestState":"s","inputRequests":{"q":{"method":"sampling/createMessage","params":{}}}}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, parley.Member(body, "id"), result)
	}))
	at.Era = Modern
	for range 5 {
		told.Store(0)
		b := bridge(t, at, Join{Serves: map[string][]string{"sampling": {"boss"}}})
		asked := make(chan struct{}, 1)
		boss, err := client.Dial(t.Context(), b.URL, &client.Options{Token: b.Token("boss"), Space: b.Space,
			Handler: func(ctx context.Context, _ *client.Request) (any, error) {
				asked <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}})
		if err != nil {
			t.Fatal(err)
		}
		answered := make(chan error, 1)
		you := b.dial("you")
		go func() {
			_, err := you.Request(t.Context(), "files", "tools/call", jsontext.Value(`{"name":"x"}`))
			answered <- err
		}()
		<-asked
		if err := b.end(); err != nil {
			t.Error(err)
		}
		if err := <-answered; err == nil || told.Load() != 1 {
			t.Errorf("told %d times, answered %v", told.Load(), err)
		}
		boss.Close()
	}
}
