package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

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
