package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// bad is a server that does with each tool what its name says, in the legacy
// era or, with "modern" in its environment, in the modern one.
func bad(in io.Reader, out io.Writer) {
	var mu sync.Mutex
	say := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(out, format+"\n", args...)
	}
	lines := newScanner(in)
	answers, at := 0, ""
	for lines.Scan() {
		line := jsontext.Value(lines.Text())
		method, _ := parley.MemberString(line, "method")
		id := string(parley.Member(line, "id"))
		params := parley.Member(line, "params")
		switch method {
		case "initialize":
			say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"0"}}}`, id)
		case "server/discover":
			if os.Getenv("BAD_ERA") == "modern" {
				say(`{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}`, id)
			} else {
				say(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"?"}}`, id)
			}
		case "tools/list":
			say(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, badTools())
		case "tools/call":
			tool, _ := parley.MemberString(params, "name")
			at = id
			switch tool {
			case "garbage":
				say("\x00\x1b[2J{{{\n[]\nnull")
				say(`{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`, id)
			case "long line":
				say(`{"jsonrpc":"2.0","id":%s,"result":"%s"}`, id, strings.Repeat("x", 2<<20))
			case "die":
				os.Exit(7)
			case "never":
			case "song":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"song"}}`, id)
			case "poem":
				say(`{"jsonrpc":"2.0","id":%s,"result":{"resultType":"input_required","inputRequests":{"x":{"method":"poem/write"}}}}`, id)
			case "flood":
				for i := range 1_000 {
					say(`{"jsonrpc":"2.0","id":"f%d","method":"sampling/createMessage","params":{}}`, i)
				}
			case "withdraw":
				say(`{"jsonrpc":"2.0","id":"w","method":"sampling/createMessage","params":{}}`)
			case "withdraw now":
				say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"w"}}`)
				say(`{"jsonrpc":"2.0","id":%s,"result":{}}`, id)
			case "bore":
				say(`{"jsonrpc":"2.0","id":"b0","method":"sampling/createMessage","params":{}}`)
			}
		case "":
			refused := parley.Member(line, "error") != nil
			bored := strings.HasPrefix(string(parley.Member(line, "id")), `"b`)
			if !refused {
				answers++
			}
			switch {
			case bored && !refused:
				say(`{"jsonrpc":"2.0","id":"b%d","method":"sampling/createMessage","params":{}}`, answers)
			case bored, !refused && answers == maxIncoming:
				say(`{"jsonrpc":"2.0","id":%s,"result":{"answers":%d}}`, at, answers)
			}
		}
	}
}

// badTools are 5,000, and odd ones.
func badTools() string {
	var b strings.Builder
	b.WriteString(`{"tools":[{"name":"twice","n":1},{"name":"twice","n":2},{"name":"with blanks and 🦜"},{"name":"` + strings.Repeat("n", 300) + `"},`)
	b.WriteString(`{"name":"cycle","inputSchema":{"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}},"$ref":"#/$defs/a"}},`)
	b.WriteString(`{"name":"deep","inputSchema":` + strings.Repeat(`{"properties":{"a":`, 2_000) + `{}` + strings.Repeat(`}}`, 2_000) + `},`)
	b.WriteString(`{"name":"fat","description":"` + strings.Repeat("x", maxEntry) + `"}`)
	for i := range 5_000 {
		fmt.Fprintf(&b, `,{"name":"t%d","inputSchema":{"type":"object"}}`, i)
	}
	return b.String() + `]}`
}

// records keeps what is logged.
type records struct {
	mu    sync.Mutex
	lines []string
}

func (r *records) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lines = append(r.lines, string(p))
	return len(p), nil
}

func (r *records) has(text string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Contains(strings.Join(r.lines, ""), text)
}

func TestBadServers(t *testing.T) {
	for _, c := range []struct{ tool, modern, legacy string }{
		{"garbage", "", ""},
		{"long line", "too long", "too long"},
		{"die", "exit status 7", "exit status 7"},
		{"never", "did not answer in time", "did not answer in time"},
		{"song", `its resultType is "song"`, ""},
		{"poem", `"poem/write", which nobody knows`, ""},
	} {
		for _, era := range []string{"modern", "legacy"} {
			t.Run(c.tool+", "+era, func(t *testing.T) {
				want := c.modern
				if era == "legacy" {
					want = c.legacy
				}
				s := anyEra(testServer(t, "bad"))
				s.Env["BAD_ERA"] = era
				b := bridgeIn(t, &parleytest.Options{Limits: parleytest.Limits{CallTimeout: 500 * time.Millisecond}}, s, Join{Connect: &Options{MaxMessage: 1 << 20}})
				you := b.dial("you")
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				_, err := you.Request(ctx, "files", "tools/call", toolCall(c.tool, ""))
				rpc, failed := errors.AsType[*client.RPCError](err)
				if want == "" && err != nil || want != "" && (!failed || !strings.Contains(rpc.Message, want)) {
					t.Errorf("got %v", err)
				}
				if err := b.end(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestBadLists(t *testing.T) {
	for _, era := range []string{"modern", "legacy"} {
		t.Run(era, func(t *testing.T) {
			var log records
			offers := make(chan *Offer, 3)
			s := anyEra(testServer(t, "bad"))
			s.Env["BAD_ERA"] = era
			b := bridge(t, s, Join{OnOffer: func(_ string, o *Offer) { offers <- o }, Log: slog.New(slog.NewTextHandler(&log, nil))})
			o := <-offers
			if len(o.Tools) != 5_005 || string(o.Tools[0]) != `{"name":"twice","n":1}` {
				t.Errorf("%d tools, the first is %.100s", len(o.Tools), o.Tools[0])
			}
			if !log.has("twice; the first counts") || !log.has("too long and is left out") {
				t.Errorf("logged: %.500q", log.lines)
			}
			if err := b.end(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestFloods sees that a server which asks too much gets errors, and the room
// a bounded part of it.
func TestFloods(t *testing.T) {
	b := bridge(t, testServer(t, "bad"), Join{Serves: map[string][]string{"sampling": {"boss"}}})
	you := b.dial("you")
	release, asked := make(chan struct{}), make(chan struct{}, 2_000)
	boss, err := client.Dial(t.Context(), b.URL, &client.Options{Token: b.Token("boss"), Space: b.Space, Concurrency: 1_000,
		Handler: func(ctx context.Context, _ *client.Request) (any, error) {
			asked <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
			}
			return jsontext.Value(`{"role":"assistant"}`), nil
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(boss.Close)
	flooded := make(chan error, 1)
	go func() {
		_, err := you.Request(t.Context(), "files", "tools/call", toolCall("flood", ""))
		flooded <- err
	}()
	for range maxIncoming {
		<-asked
	}
	close(release)
	if err := <-flooded; err != nil {
		t.Error(err)
	}
	if n := len(asked); n > maxAsked {
		t.Errorf("%d requests reached the room", n)
	}
	// One at a time, without end.
	before := len(asked)
	reply, err := you.Request(t.Context(), "files", "tools/call", toolCall("bore", ""))
	if err != nil || len(asked)-before > maxAsked {
		t.Errorf("got %+v, %v after %d", reply, err, len(asked)-before)
	}
	if err := b.end(); err != nil {
		t.Error(err)
	}
}

// TestServerWithdraws sees that whoever was asked hears of it.
func TestServerWithdraws(t *testing.T) {
	b := bridge(t, testServer(t, "bad"), Join{Serves: map[string][]string{"sampling": {"boss"}}})
	you := b.dial("you")
	asked, withdrawn := make(chan struct{}), make(chan error, 1)
	boss, err := client.Dial(t.Context(), b.URL, &client.Options{Token: b.Token("boss"), Space: b.Space,
		Handler: func(ctx context.Context, _ *client.Request) (any, error) {
			close(asked)
			<-ctx.Done()
			withdrawn <- context.Cause(ctx)
			return nil, ctx.Err()
		}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(boss.Close)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = you.Request(ctx, "files", "tools/call", toolCall("withdraw", ""))
	}()
	<-asked
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("withdraw now", "")); err != nil {
		t.Error(err)
	}
	if err := <-withdrawn; !errors.Is(err, client.ErrCancelled) {
		t.Errorf("got %v", err)
	}
	cancel()
	<-ended
}
