package space

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// BenchmarkAdmit is what one envelope of 600 bytes costs on its way through the
// rules: decoded, judged, stamped, applied and encoded.
func BenchmarkAdmit(b *testing.B) {
	id := 0
	s := New(Rules{
		Name: "demo",
		Participants: map[string]parley.Capabilities{
			"you": caps("mcp/proposal:*, mcp/request:*/list, mcp/request:tools/call:read_*, mcp/request:tools/call:write_*, chat"),
		},
		Limits: Limits{Rate: 1e12, Burst: 1 << 40},
		NewID:  func() string { id++; return "x" },
	})
	const head = `{"id":"00000000-0000-7000-8000-000000000000","to":["files"],"kind":"mcp/request:tools/call:write_file",` +
		`"payload":{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"write_file","arguments":{"path":"/w/today.md","content":"`
	frame := []byte(head + strings.Repeat("all work and no play ", 40)[:600-len(head)-4] + `"}}}}`)
	now := time.Now()
	buf := make([]byte, 0, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		for at, n := 7+35, i; at > 7+24; at, n = at-1, n/16 {
			frame[at] = "0123456789abcdef"[n%16]
		}
		e, err := parley.Decode(frame, 0)
		if err != nil {
			b.Fatal(err)
		}
		v, err := s.Judge("you", e, now)
		if err != nil {
			b.Fatal(err)
		}
		v.Envelope.Seq = s.Seq() + 1
		s.Apply(v.Envelope, v.Kind)
		buf = v.Envelope.AppendBody(buf[:0])
	}
}

// What an envelope costs the tree of contexts: one that goes on in a nested
// context, and one that opens another, with as many in memory as there can be.
func BenchmarkContextUpdate(b *testing.B) {
	book := func() *State {
		s := New(Rules{Name: "demo", NewID: func() string { return "x" }})
		for i := range MostContexts {
			parent := ""
			if i%8 > 0 {
				parent = fmt.Sprint("c", i-1)
			}
			s.applyContext(&parley.Envelope{From: "you", TS: time.Now(), Context: &parley.Context{ID: fmt.Sprint("c", i), Parent: parent}})
		}
		return s
	}
	b.Run("touch", func(b *testing.B) {
		s, e := book(), &parley.Envelope{From: "you", TS: time.Now(), Context: &parley.Context{ID: "c807"}}
		b.ReportAllocs()
		for b.Loop() {
			s.applyContext(e)
		}
	})
	b.Run("open", func(b *testing.B) {
		s := book()
		ids := make([]string, 1<<16)
		for i := range ids {
			ids[i] = fmt.Sprint("n", i)
		}
		e := &parley.Envelope{From: "you", TS: time.Now(), Context: &parley.Context{Parent: "c807"}}
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			e.Context.ID = ids[i%len(ids)]
			s.applyContext(e)
		}
	})
}
