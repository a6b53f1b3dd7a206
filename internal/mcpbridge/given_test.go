package mcpbridge

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

// A server's own requestState is on record for all to read, and is of use to
// nobody but whom it was given, before and after the bridge was started again.
func TestSomebodyElsesState(t *testing.T) {
	b := bridge(t, anyEra(testServer(t, "sdk")), Join{})
	you, boss, agent := b.dial("you"), b.dial("boss"), b.dial("agent")
	params := capable("inputs", "", `{"elicitation":{},"sampling":{}}`)
	asked, err := you.Request(t.Context(), "files", "tools/call", params)
	if err != nil {
		t.Fatal(err)
	}
	state := parley.Member(asked.Result, "requestState")
	if strings.HasPrefix(string(state), `"`+sealMark) {
		t.Fatalf("it is sealed: %s", state)
	}
	retry := mcpwords.SetMember(params, "inputResponses", jsontext.Value(`{"form":{"action":"accept","content":{"who":"you"}},"model":{"role":"assistant","model":"m","content":{"type":"text","text":"mine"}}}`))
	retry = mcpwords.SetMember(retry, "requestState", state)

	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "not one of this call") {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = boss.Request(t.Context(), "files", "tools/call", retry)
	refused("another caller", err)
	_, err = boss.Request(t.Context(), "files", "tools/call", retry, client.Correlate(asked.Envelope.Correlation.IDs...))
	refused("another caller who names the call", err)
	p, err := agent.Propose(t.Context(), "files", "tools/call", retry)
	if err != nil {
		t.Fatal(err)
	}
	_, err = you.FulfilID(t.Context(), p.ID)
	refused("somebody who proposes it", err)
	_, err = you.Request(t.Context(), "files", "tools/call", mcpwords.SetMember(retry, "requestState", jsontext.Value(`{"a":1}`)))
	refused("no text", err)

	for _, from := range []string{"memory", "the record"} {
		r, err := you.Request(t.Context(), "files", "tools/call", retry)
		if got := text(t, r, err); got != "theirs accept mine" {
			t.Errorf("from %s: got %q", from, got)
		}
		b.gave.mu.Lock()
		clear(b.gave.byKey) // as if the bridge had been started again
		b.gave.mu.Unlock()
	}
	_, err = boss.Request(t.Context(), "files", "tools/call", retry)
	refused("another caller, by the record", err)
}

// In the room an error may be any JSON. A server that is sent what is none of
// JSON-RPC ends, and with it the calls of all others.
func TestErrorsThatAreNone(t *testing.T) {
	legacySDK(t, func(t *testing.T, s Server) {
		b := bridge(t, s, Join{Serves: map[string][]string{"elicitation": {"boss"}}})
		you := b.dial("you")
		var failure atomic.Pointer[string]
		boss, err := client.Dial(t.Context(), b.URL, &client.Options{Token: b.Token("boss"), Space: b.Space,
			Handler: func(context.Context, *client.Request) (any, error) {
				return nil, &client.RPCError{Raw: jsontext.Value(*failure.Load())}
			}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(boss.Close)
		for _, c := range []struct{ failure, want string }{
			{`{"code":-1,"message":"no"}`, "no"},
			{`{"code":1e30,"message":"no"}`, "boss answered with what is no error of JSON-RPC: no"},
			{`{"code":99999999999999999999,"message":"no"}`, "boss answered with what is no error of JSON-RPC: no"},
			{`{"code":1.5,"message":"no"}`, "boss answered with what is no error of JSON-RPC: no"},
			{`{"code":"-1","message":["no"]}`, `boss answered with what is no error of JSON-RPC: {"code":"-1","message":["no"]}`},
			{`{}`, "boss answered with what is no error of JSON-RPC: {}"},
		} {
			failure.Store(&c.failure)
			r, err := you.Request(t.Context(), "files", "tools/call", toolCall("elicit", ""))
			if got := text(t, r, err); !strings.Contains(got, c.want) {
				t.Errorf("%s: got %q", c.failure, got)
			}
		}
	})
}
