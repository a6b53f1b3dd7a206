package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

// notices are the notifications that somebody got of the server.
type notices struct {
	*client.Room
	heard chan string
}

func (b *bridged) notices(who string) *notices {
	b.t.Helper()
	room, err := client.Dial(b.t.Context(), b.URL, &client.Options{Token: b.Token(who), Space: b.Space, Routing: client.RoutingDirected})
	if err != nil {
		b.t.Fatal(err)
	}
	n := &notices{Room: room, heard: make(chan string, 100)}
	envelopes := n.Envelopes(b.t.Context())
	done := make(chan struct{})
	b.t.Cleanup(func() { n.Close(); <-done })
	go func() {
		defer close(done)
		for e, err := range envelopes {
			if err != nil {
				return
			}
			if method, ok := strings.CutPrefix(e.Kind, "mcp/request:notifications/"); ok && e.From == "files" {
				n.heard <- fmt.Sprintf("%s to %v about %d: %s", method, e.To, len(e.Correlation.IDs), parley.Member(e.Payload, "params"))
			}
		}
	}()
	return n
}

func (n *notices) next(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-n.heard:
		if !strings.HasPrefix(got, want) {
			t.Errorf("heard %q, want %q", got, want)
		}
	case <-time.After(10 * time.Second):
		t.Errorf("not heard: %q", want)
	}
}

func (n *notices) nothing(t *testing.T) {
	t.Helper()
	select {
	case got := <-n.heard:
		t.Errorf("heard %q", got)
	default:
	}
}

func TestSubscriptions(t *testing.T) {
	t.Run("legacy", func(t *testing.T) { testSubscriptions(t, testServer(t, "sdk"), `{}`) })
	t.Run("legacy, sessions of their own", func(t *testing.T) { testSubscriptions(t, testServer(t, "sdk"), elicits) })
	t.Run("modern", func(t *testing.T) { testSubscriptions(t, anyEra(testServer(t, "sdk")), `{}`) })
	t.Run("modern over http", func(t *testing.T) {
		_, at := serveHTTP(t, newSDKHandler(&mcp.StreamableHTTPOptions{Stateless: true}))
		testSubscriptions(t, anyEra(at), `{}`)
	})
}

func testSubscriptions(t *testing.T, s Server, capabilities string) {
	b := bridge(t, s, Join{})
	you, boss := b.notices("you"), b.notices("boss")
	ask := func(who *notices, method, uri string) {
		t.Helper()
		params := mcpwords.SetMeta(uriParams(uri), mcpwords.MetaClientCapabilities, jsontext.Value(capabilities))
		if _, err := who.Request(t.Context(), "files", method, params); err != nil {
			t.Fatal(err)
		}
	}
	touch := func(who *notices, uri string) {
		t.Helper()
		if _, err := who.Request(t.Context(), "files", "tools/call", capable("touch", uri, capabilities)); err != nil {
			t.Fatal(err)
		}
	}
	const updated = "resources/updated to "
	ask(you, "resources/subscribe", "test://a")
	ask(you, "resources/subscribe", "test://a")
	ask(boss, "resources/subscribe", "test://b")
	touch(you, "test://a")
	you.next(t, updated+`[you] about 0: {"uri":"test://a"}`)
	touch(boss, "test://b")
	boss.next(t, updated+`[boss] about 0: {"uri":"test://b"}`)
	if capabilities == `{}` { // both hear of one server
		ask(boss, "resources/subscribe", "test://a")
		touch(you, "test://a")
		you.next(t, updated+"[boss you]")
		boss.next(t, updated+"[boss you]")
		ask(you, "resources/unsubscribe", "test://a")
		touch(you, "test://a")
		boss.next(t, updated+"[boss]")
	}
	params := mcpwords.SetMeta(uriParams("test://refused"), mcpwords.MetaClientCapabilities, jsontext.Value(capabilities))
	if _, err := boss.Request(t.Context(), "files", "resources/subscribe", params); err == nil {
		t.Error("a refused subscription stands")
	}
	if _, err := boss.Request(t.Context(), "files", "resources/subscribe", jsontext.Value(`{}`)); err == nil {
		t.Error("a subscription of nothing stands")
	}
	touch(boss, "test://b")
	boss.next(t, updated+"[boss]")
	// Who leaves has subscribed to nothing.
	boss.Close()
	eventually(t, func() bool {
		for _, s := range b.now.Load().all() {
			if len(s.subscriptions.of("boss")) > 0 {
				return false
			}
		}
		return true
	})
	you.nothing(t)
}

func TestLevels(t *testing.T) {
	var l levels
	for _, c := range []struct {
		who, level, tell string
		other            bool
	}{
		{"a", "warning", "warning", true},
		{"a", "warning", "warning", false},
		{"b", "debug", "debug", true},
		{"c", "error", "debug", false},
		{"b", "error", "warning", true},
	} {
		if tell, other := l.want(c.who, c.level); tell != c.tell || other != c.other {
			t.Errorf("%s wants %s: %s, %v", c.who, c.level, tell, other)
		}
	}
}

func TestLogging(t *testing.T) {
	for _, c := range []struct {
		name         string
		era          Era
		capabilities string
	}{{"legacy", Legacy, `{}`}, {"legacy, its own session", Legacy, elicits}, {"modern", "", `{}`}} {
		t.Run(c.name, func(t *testing.T) {
			s := testServer(t, "sdk")
			s.Era = c.era
			b := bridge(t, s, Join{})
			you, boss := b.notices("you"), b.notices("boss")
			params := mcpwords.SetMeta(capable("log", "", c.capabilities), mcpwords.MetaLogLevel, jsontext.Value(`"debug"`))
			if _, err := you.Request(t.Context(), "files", "tools/call", params); err != nil {
				t.Fatal(err)
			}
			you.next(t, "message to [you] about 1")
			boss.nothing(t)
			reply, err := you.Request(t.Context(), "files", "logging/setLevel", jsontext.Value(`{"level":"info"}`))
			if c.era == Legacy && (err != nil || string(reply.Result) != `{}`) || c.era == "" && err == nil {
				t.Errorf("got %+v, %v", reply, err)
			}
		})
	}
}

// TestWhatACrashLeft joins as the server without answering, and then with a
// bridge.
func TestWhatACrashLeft(t *testing.T) {
	asked := make(chan string, 1)
	joins := make(chan struct{})
	b := bridge(t, testServer(t, "sdk"), Join{Unanswered: func(ctx context.Context) ([]Unanswered, error) {
		select {
		case id := <-asked:
			joins <- struct{}{}
			return []Unanswered{{ID: id, Seq: 1}, {ID: "nobody-knows", Seq: 1}, {ID: id, Seq: 1 << 60}}, nil
		default:
			return nil, nil
		}
	}})
	if err := b.end(); err != nil {
		t.Fatal(err)
	}
	before, err := client.Dial(t.Context(), b.URL, &client.Options{Token: b.Token("files"), Space: b.Space})
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	you := b.dial("you")
	failed := make(chan error, 1)
	e, err := client.NewRequest("files", "tools/call", toolCall("echo", "lost"))
	if err != nil {
		t.Fatal(err)
	}
	e.ID = client.NewID()
	seen := before.Envelopes(t.Context())
	go func() {
		_, err := you.Call(t.Context(), e)
		failed <- err
	}()
	for got, err := range seen {
		if err != nil {
			t.Fatal(err)
		}
		if got.ID == e.ID {
			break
		}
	}
	asked <- e.ID
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	b.join.OnJoin = nil
	again := NewBridge(testServer(t, "sdk"), b.join)
	go func() { ended <- again.Run(ctx) }()
	<-joins
	err = <-failed
	if rpc, ok := errors.AsType[*client.RPCError](err); !ok || rpc.Code != CodeServerGone || !strings.Contains(string(rpc.Data), OutcomeUnknown) {
		t.Errorf("got %v", err)
	}
	r, err := you.Request(t.Context(), "files", "tools/call", toolCall("echo", "now"))
	if got := text(t, r, err); got != "now" {
		t.Errorf("got %q", got)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestOwnOffers are those that a server makes to callers who can be asked.
func TestOwnOffers(t *testing.T) {
	b := bridge(t, npmServer(t, "mcp-server-everything", "stdio"), Join{})
	you := b.answering("you")
	names := func(o *Offer, err error) []string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, tool := range o.Tools {
			name, _ := parley.MemberString(tool, "name")
			list = append(list, name)
		}
		return list
	}
	const trigger = "trigger-sampling-request"
	all := names(b.OfferFor(t.Context(), "you", nil))
	if len(all) == 0 || slices.Contains(all, trigger) {
		t.Errorf("everybody gets %q", all)
	}
	eventually(t, func() bool {
		return slices.Contains(names(b.OfferFor(t.Context(), "you", jsontext.Value(`{"sampling":{},"elicitation":{}}`))), trigger)
	})
	params := mcpwords.SetMeta(jsontext.Value(`{"name":"`+trigger+`","arguments":{"prompt":"hi","maxTokens":9}}`), mcpwords.MetaClientCapabilities, jsontext.Value(`{"sampling":{},"elicitation":{}}`))
	r, err := you.Request(t.Context(), "files", "tools/call", params)
	if err != nil || !strings.Contains(string(r.Result), "by you") {
		t.Errorf("got %+v, %v", r, err)
	}
	params = mcpwords.SetMeta(jsontext.Value(`{"name":"trigger-elicitation-request","arguments":{}}`), mcpwords.MetaClientCapabilities, jsontext.Value(`{"sampling":{},"elicitation":{}}`))
	if r, err = you.Request(t.Context(), "files", "tools/call", params); err != nil || len(you.heard()) != 2 {
		t.Errorf("got %+v, %v", r, err)
	}
	if got := names(b.OfferFor(t.Context(), "boss", nil)); !slices.Equal(got, all) {
		t.Errorf("others get %q", got)
	}
}
