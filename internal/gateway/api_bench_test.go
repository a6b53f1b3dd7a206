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

// BenchmarkOpenProposals lists a page of a hundred, which stand side by side or
// each behind a thousand envelopes of others.
func BenchmarkOpenProposals(b *testing.B) {
	for _, between := range []int{0, 1000} {
		b.Run(fmt.Sprintf("between=%d", between), func(b *testing.B) {
			j, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "parley.db")})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { j.Close() })
			s := Space{Rules: space.Rules{
				Name: "demo", Limits: space.Limits{Rate: 1e9, Burst: 1e9},
				Participants: map[string]parley.Capabilities{"ann": {parley.MustCapability("mcp/*"), parley.MustCapability("chat")}},
			}, Participants: map[string]Participant{"ann": {Tokens: []TokenHash{sha256.Sum256([]byte("token-ann"))}}}}
			h := start(b, Options{Journal: j, Spaces: []Space{s}, Logger: textLog(io.Discard)})
			for range 100 {
				for range between {
					h.g.rooms["demo"].submit(h.g.rooms["demo"].parse("ann", &waiter{outcome: make(chan outcome, 1)}, []byte(chat("between"))))
				}
				if _, err := h.g.Submit(b.Context(), "demo", "ann", []byte(`{"kind":"mcp/proposal:tools/list","payload":{"method":"tools/list"}}`)); err != nil {
					b.Fatal(err)
				}
			}
			handler := h.g.Handler()
			for b.Loop() {
				req := httptest.NewRequest("GET", "/v1/spaces/demo/proposals?state=open", nil)
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
