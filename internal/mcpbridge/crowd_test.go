package mcpbridge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// Who declares something else with each call has no more processes for it.
func TestSessionsThatEndSlowlyCount(t *testing.T) {
	b := bridge(t, testServer(t, "stubborn"), Join{Connect: &Options{Grace: time.Second}})
	you := b.dial("you")
	most, refused := 0, false
	for i := 0; i < 4*maxOwnSessions && !refused; i++ {
		_, err := you.Request(t.Context(), "files", "test/echo", capable("x", "", fmt.Sprintf(`{"elicitation":{"n":%d}}`, i)))
		if err != nil && !strings.Contains(err.Error(), "being made and ended") {
			t.Fatal(err)
		}
		refused = err != nil
		a := b.now.Load()
		a.mu.Lock()
		most = max(most, a.living["you"])
		a.mu.Unlock()
	}
	if !refused || most > 2*maxOwnSessions {
		t.Errorf("refused %v, and %d sessions lived", refused, most)
	}
}

// A participant whose calls all wait keeps nobody else out.
func TestCallsOfOneKeepNobodyOut(t *testing.T) {
	b := bridge(t, testServer(t, "sdk"), Join{})
	you, boss := b.dial("you"), b.dial("boss")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var all sync.WaitGroup
	refused := make(chan error, 2*maxOwnCalls)
	for range maxOwnCalls + 1 {
		all.Go(func() {
			_, err := you.Request(ctx, "files", "tools/call", toolCall("block", ""))
			refused <- err
		})
	}
	err := <-refused
	if rpc, ok := errors.AsType[*client.RPCError](err); !ok || rpc.Code != client.CodeBusy {
		t.Errorf("got %v", err)
	}
	r, err := boss.Request(t.Context(), "files", "tools/call", toolCall("echo", "hello"))
	if got := text(t, r, err); got != "hello" {
		t.Errorf("got %q", got)
	}
	cancel()
	all.Wait()
	eventually(t, func() bool {
		a := b.now.Load()
		a.mu.Lock()
		defer a.mu.Unlock()
		return len(a.calls) == 0
	})
}

// A server that takes no notifications does not keep the bridge from hearing
// the room.
func TestRootsThatNobodyTakes(t *testing.T) {
	taken := make(chan struct{}, 10)
	s := &script{}
	s.call = func(w http.ResponseWriter, id, _ string, _ *http.Request) { reply(w, id, `"result":{}`) }
	_, at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "roots/list_changed") {
			taken <- struct{}{}
			<-r.Context().Done()
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.ServeHTTP(w, r)
	}))
	at.Roots = true
	b := bridge(t, at, Join{})
	you, boss := b.dial("you"), b.dial("boss")
	if _, err := you.Request(t.Context(), "files", "test/echo", capable("x", "", `{"roots":{}}`)); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := you.Notify(t.Context(), "files", "roots/list_changed", nil); err != nil {
			t.Fatal(err)
		}
	}
	<-taken
	if _, err := boss.Send(t.Context(), &parley.Envelope{Kind: parley.KindRestartBridge, To: []string{"files"}, Payload: []byte(`{"participant":"files"}`)}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-b.joins:
	case <-time.After(10 * time.Second):
		t.Error("the server was not started again")
	}
	if len(taken) > 0 {
		t.Error("the server was told while it took nothing")
	}
}
