package gateway

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal/sqlite"
	"github.com/parleyhq/parley/internal/space"
)

// BenchmarkContexts asks about a context of ten thousand envelopes, in a space
// with two hundred others.
func BenchmarkContexts(b *testing.B) {
	j, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "parley.db")})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	s := Space{Rules: space.Rules{
		Name: "demo", Limits: space.Limits{Rate: 1e9, Burst: 1e9, ContextRate: 1e9, OpenContexts: 1000},
		Participants: map[string]parley.Capabilities{"ann": {parley.MustCapability("mcp/*"), parley.MustCapability("chat")}},
	}, Participants: map[string]Participant{"ann": {Tokens: []TokenHash{sha256.Sum256([]byte("token-ann"))}}}}
	h := start(b, Options{Journal: j, Spaces: []Space{s}, Logger: textLog(io.Discard)})
	room := h.g.rooms["demo"]
	say := func(context string, i int) {
		room.submit(room.parse("ann", &waiter{outcome: make(chan outcome, 1)}, fmt.Appendf(nil,
			`{"kind":"chat","context":%s,"payload":{"text":"this is number %d of what is said about it, and it is not very long"}}`, context, i)))
	}
	for i := range 10_000 {
		say(fmt.Sprintf(`{"id":"big","metadata":{"n":%d}}`, i), i)
		if i%50 == 0 {
			say(fmt.Sprintf(`{"id":"c%d","parent":"big","metadata":{"n":1}}`, i), i)
		}
	}
	if _, err := h.g.Submit(b.Context(), "demo", "ann", []byte(`{"kind":"mcp/proposal:tools/list","context":{"id":"big"},"payload":{"method":"tools/list"}}`)); err != nil {
		b.Fatal(err)
	}
	handler := h.g.Handler()
	for _, path := range []string{
		"contexts", "contexts?state=open&limit=1000", "contexts/big", "contexts/big/digest", "contexts/big/digest?tokens=100000", "envelopes?context=big&subtree=true",
	} {
		b.Run(path, func(b *testing.B) {
			for b.Loop() {
				req := httptest.NewRequest("GET", "/v1/spaces/demo/"+path, nil)
				req.Host = "localhost:7717"
				req.Header.Set("Authorization", "Bearer token-ann")
				rec := httptest.NewRecorder()
				if handler.ServeHTTP(rec, req); rec.Code != 200 {
					b.Fatal(rec.Body)
				}
			}
		})
	}
}
