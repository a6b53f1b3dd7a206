package gateway

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
			for b.Loop() {
				benchGet(b, h, "proposals?state=open")
			}
		})
	}
}

// BenchmarkAlikeProposals lists the newest five that were decided of a call that is
// rare among many envelopes.
func BenchmarkAlikeProposals(b *testing.B) {
	const envelopes, alike = 200_000, 20
	j, err := sqlite.Open(b.Context(), sqlite.Options{Path: filepath.Join(b.TempDir(), "parley.db"), Sync: sqlite.Off})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { j.Close() })
	all := []parley.Capability{parley.MustCapability("mcp/*"), parley.MustCapability("chat")}
	s := Space{Rules: space.Rules{
		Name: "demo", Limits: space.Limits{Rate: 1e9, Burst: 1e9},
		Participants: map[string]parley.Capabilities{"ann": all, "bob": all},
	}, Participants: map[string]Participant{
		"ann": {Tokens: []TokenHash{sha256.Sum256([]byte("token-ann"))}},
		"bob": {Tokens: []TokenHash{sha256.Sum256([]byte("token-bob"))}},
	}}
	h := start(b, Options{Journal: j, Spaces: []Space{s}, Logger: textLog(io.Discard)})
	for i := range envelopes {
		if i%(envelopes/alike) == 0 {
			got, err := h.g.Submit(b.Context(), "demo", "ann", []byte(`{"kind":"mcp/proposal:tools/call:rare","payload":{"method":"tools/call","params":{"name":"rare"}}}`))
			if err == nil {
				_, err = h.g.Submit(b.Context(), "demo", "bob", fmt.Appendf(nil, `{"kind":"mcp/reject:tools/call:rare","correlation_id":%q,"payload":{"reason":"busy"}}`, got.ID))
			}
			if err != nil {
				b.Fatal(err)
			}
		}
		h.g.rooms["demo"].submit(h.g.rooms["demo"].parse("ann", &waiter{outcome: make(chan outcome, 1)}, []byte(`{"kind":"mcp/request:tools/call:common","payload":{"id":1,"method":"tools/call","params":{"name":"common"}}}`)))
	}
	if _, err := h.g.Submit(b.Context(), "demo", "ann", []byte(chat("the last"))); err != nil {
		b.Fatal(err)
	}
	for { // what the index has not read yet is looked through
		bounds, err := h.g.rooms["demo"].record.Bounds(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if bounds.Indexed == bounds.Last {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	for b.Loop() {
		benchGet(b, h, "proposals?state=ended&order=desc&limit=5&kind=mcp/proposal:tools/call:rare")
	}
}

// BenchmarkToken finds out who a request comes from, by a token that is long and by
// one that could be guessed, also while somebody else guesses.
func BenchmarkToken(b *testing.B) {
	for _, bc := range []struct {
		name, token string
		guesses     int
	}{
		{"long", strings.Repeat("token-ann", 4), 0}, {"short", "token-ann", 0},
		{"long,guessed", strings.Repeat("token-ann", 4), guessBurst}, {"short,guessed", "token-ann", guessBurst},
	} {
		b.Run(bc.name, func(b *testing.B) {
			s := demo("ann")
			s.Participants["ann"] = Participant{Tokens: []TokenHash{sha256.Sum256([]byte(bc.token))}}
			h := start(b, Options{Spaces: []Space{s}, Logger: textLog(io.Discard)})
			req := httptest.NewRequest("GET", "/v1/spaces", nil)
			for range bc.guesses {
				req.RemoteAddr = "192.0.2.99:1"
				req.Header.Set("Authorization", "Bearer wrong")
				_, _ = h.g.api.identify(req) // is refused
			}
			req.RemoteAddr = "192.0.2.1:1"
			req.Header.Set("Authorization", "Bearer "+bc.token)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.g.api.identify(req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchGet(b *testing.B, h *harness, path string) {
	req := httptest.NewRequest("GET", "/v1/spaces/demo/"+path, nil)
	req.Host = "localhost:7717"
	req.Header.Set("Authorization", "Bearer token-ann")
	rec := httptest.NewRecorder()
	if h.g.Handler().ServeHTTP(rec, req); rec.Code != 200 {
		b.Fatal(rec.Body)
	}
}
