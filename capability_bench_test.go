package parley

import (
	"strings"
	"testing"
	"time"
)

var benchSet = Capabilities{
	MustCapability("mcp/proposal:*"),
	MustCapability("mcp/request:*/list"),
	MustCapability("chat"),
	MustCapability("!mcp/request:tools/call:delete_*"),
	MustCapability("mcp/request:tools/call:read_*"),
}

func BenchmarkAllow(b *testing.B) {
	params := []byte(`{"name":"write_file","arguments":{"path":"/w/notes.txt","content":"` + strings.Repeat("hello ", 100) + `"}}`)
	narrowed := append(Capabilities{MustCapability(`{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*"}}}`)}, benchSet...)
	tests := []struct {
		name string
		set  Capabilities
		a    *Action
		want bool
	}{
		{"one", benchSet[4:], &Action{Kind: SplitKind("mcp/request:tools/call:read_file")}, true},
		{"five", benchSet, &Action{Kind: SplitKind("mcp/request:tools/call:read_file")}, true},
		{"refused", benchSet, &Action{Kind: SplitKind("mcp/request:tools/call:delete_file")}, false},
		{"uri", Capabilities{MustCapability("mcp/request:resources/read:file:///w/*")}, &Action{Kind: SplitKind("mcp/request:resources/read:file:///w/notes/today.txt")}, true},
		{"params", narrowed, &Action{Kind: SplitKind("mcp/request:tools/call:write_file"), Params: params}, true},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if tt.set.Allow(tt.a) != tt.want {
					b.Fatal("wrong")
				}
			}
		})
	}
}

func BenchmarkCovers(b *testing.B) {
	c := MustCapability("mcp/request:tools/call:read_*_file")
	b.ReportAllocs()
	for b.Loop() {
		if !benchSet.Covers(c) {
			b.Fatal("wrong")
		}
	}
}

// TestAllowDoesNotAllocate holds for patterns: only params cost memory.
func TestAllowDoesNotAllocate(t *testing.T) {
	for _, kind := range []string{"chat", "mcp/request:tools/call:read_file", "mcp/request:tools/call:delete_file", "mcp/request:resources/read:file:///w/a.txt"} {
		a := &Action{Kind: SplitKind(kind), To: []string{"files"}}
		if n := testing.AllocsPerRun(100, func() { benchSet.Allow(a) }); n != 0 {
			t.Errorf("%s: %v allocations", kind, n)
		}
	}
}

// TestMatchingIsLinear fails by taking minutes, or much memory, if a pattern
// made for it could slow the matcher down.
func TestMatchingIsLinear(t *testing.T) {
	start := time.Now()
	value := strings.Repeat("a", 1<<20)
	long := "*" + strings.Repeat("a*", MaxPattern/2-1) + "b"
	c := MustCapability(`{"kind":"mcp/request:*","params":{"x":["` + long[1:] + `","*` + strings.Repeat("ab*", 1000) + `"]}}`)
	set := Capabilities{c, c.Denial()}
	for _, v := range []string{value, strings.Repeat("ab", 1<<19), strings.Repeat("%25", 1<<18) + "%", strings.Repeat("/", 1<<20)} {
		set.Allow(&Action{Kind: SplitKind("mcp/request:tools/call:x"), Params: []byte(`{"x":"` + v + `"}`)})
		nested := strings.Repeat("[", 120) + `"` + v + `"` + strings.Repeat("]", 120)
		set.Allow(&Action{Kind: SplitKind("mcp/request:tools/call:x"), Params: []byte(`{"x":` + nested + `}`)})
	}
	set.Covers(MustCapability("mcp/request:tools/call:" + strings.Repeat("*a", 1000)))
	if MustCapability(long).Matches(&Action{Kind: Kind{Type: value}}) {
		t.Error("matches")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
