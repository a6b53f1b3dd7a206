package space

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
)

// TestFilter says, for each way to listen, what of one conversation me hears.
func TestFilter(t *testing.T) {
	conversation := []struct {
		name string
		Header
	}{
		{"join", Header{From: parley.GatewayID, Kind: parley.Kind{Type: parley.KindPresence}}},
		{"notice", Header{From: parley.GatewayID, Kind: parley.Kind{Type: parley.KindNotice}}},
		{"chat", Header{From: "you", Kind: parley.Kind{Type: parley.KindChat}}},
		{"mine", Header{From: "me", Kind: parley.Kind{Type: parley.KindChat}}},
		{"tome", Header{From: "you", To: []string{"boss", "me"}, Kind: parley.SplitKind("reflection")}},
		{"toboss", Header{From: "you", To: []string{"boss"}, Kind: parley.Kind{Type: parley.KindChat}}},
		{"call", Header{From: "you", To: []string{"files"}, Kind: parley.SplitKind("mcp/request:tools/call"), Effective: parley.SplitKind("mcp/request:tools/call:read")}},
		{"list", Header{From: "you", To: []string{"files"}, Kind: parley.SplitKind("mcp/request:tools/list:all"), Effective: parley.SplitKind("mcp/request:tools/list")}},
	}
	for _, c := range []struct {
		name string
		set  Settings
		want string
	}{
		{"everything", Settings{}, "join notice chat mine tome toboss call list"},
		{"directed", Settings{Directed: true}, "join notice chat mine tome"},
		{"presence off", Settings{PresenceOff: true}, "notice chat mine tome toboss call list"},
		{"echo off", Settings{EchoOff: true}, "join notice chat tome toboss call list"},
		{"kinds=chat", Settings{Kinds: caps("chat")}, "join notice chat mine tome toboss"},
		{"kinds=…:read", Settings{Kinds: caps("mcp/request:tools/call:read")}, "join notice tome call"},
		{"kinds, two", Settings{Kinds: caps("mcp/request:tools/list, x")}, "join notice tome list"},
		{"directed, kinds", Settings{Directed: true, Kinds: caps("x")}, "join notice tome"},
	} {
		f := NewFilter("me", c.set)
		var heard []string
		for _, e := range conversation {
			if e.Effective.Type == "" {
				e.Effective = e.Kind
			}
			if f.Match(&e.Header) {
				heard = append(heard, e.name)
			}
		}
		if got := strings.Join(heard, " "); got != c.want {
			t.Errorf("%s: hears %s, want %s", c.name, got, c.want)
		}
		if all := len(heard) == len(conversation); f.All() != all {
			t.Errorf("%s: All is %v", c.name, f.All())
		}
	}
	// A SUBJECT without meaning can be asked for as it was written, too.
	as := Header{From: "you", Kind: parley.SplitKind("acme/status:x"), Effective: parley.SplitKind("acme/status:y")}
	for _, pattern := range []string{"acme/status:x", "acme/status:y"} {
		if !NewFilter("me", Settings{Kinds: caps(pattern)}).Match(&as) {
			t.Errorf("%s is not heard", pattern)
		}
	}
}

// What OfTypes makes can be written down and read again, whatever the types are
// called.
func TestOfTypes(t *testing.T) {
	for _, c := range []struct {
		types []string
		want  string
	}{
		{nil, "none"},
		{[]string{"workflow", "audit", "workflow"}, "type:audit,workflow"},
		{[]string{"a,b", "100%", "%2C"}, "type:%252C,100%25,a%2Cb"},
	} {
		f := OfTypes(c.types...)
		if f.String() != c.want {
			t.Errorf("%q: %s, want %s", c.types, f, c.want)
		}
		again, err := ParseContexts(f.String())
		if err != nil || again.String() != c.want {
			t.Errorf("%q: read again it is %s, %v", c.types, again, err)
		}
		for _, typ := range c.types {
			if l := (&Lineage{Type: typ, Path: []string{"c"}}); !f.Match(l) || !again.Match(l) {
				t.Errorf("%q does not let %q through", c.types, typ)
			}
		}
		if f.Match(&Lineage{Type: "other", Path: []string{"c"}}) {
			t.Errorf("%q lets another type through", c.types)
		}
	}
}

// What OfTrees makes, too; and once it is read, it says again what it was made of.
func TestOfTrees(t *testing.T) {
	ids := []string{"100%", "a,b", "c"}
	for _, f := range []ContextFilter{OfTrees("c", "a,b", "100%", "c"), OfTrees()} {
		again, err := ParseContexts(f.String())
		if err != nil || again.String() != f.String() || again.How() != f.How() || !slices.Equal(again.Names(), f.Names()) {
			t.Errorf("%s: read again it is %s, %v", f, again, err)
		}
	}
	if f := OfTrees("c", "a,b", "100%", "c"); f.How() != "tree" || !slices.Equal(f.Names(), ids) || f.String() != "tree:100%25,a%2Cb,c" {
		t.Errorf("%s %q: %s", f.How(), f.Names(), f)
	}
	if f := OfTrees(); f.How() != "none" || len(f.Names()) != 0 {
		t.Errorf("%s %q", f.How(), f.Names())
	}
	if f := (ContextFilter{}); f.How() != "all" || f.String() != "all" {
		t.Errorf("%s: %s", f.How(), f)
	}
	f := OfTrees("a,b")
	if !f.Match(&Lineage{Path: []string{"x", "a,b"}}) || f.Match(&Lineage{Path: []string{"x", "a"}}) {
		t.Error("it does not go by the path")
	}
}

// Rules say the same of a type before and after they were filled in.
func TestContextTypeOfFilledRules(t *testing.T) {
	rules := Rules{Limits: Limits{ContextDepth: 4}, ContextTypes: map[string]ContextType{
		"audit": {Depth: 1, Idle: time.Hour}, "plain": {},
	}}
	filled := rules.WithDefaults()
	for _, name := range []string{"audit", "plain", "other", ""} {
		if was, is := rules.ContextType(name), filled.ContextType(name); !reflect.DeepEqual(was, is) {
			t.Errorf("%q: %+v, and filled in %+v", name, was, is)
		}
	}
	if got := filled.ContextType("audit"); got.Depth != 1 || got.Idle != time.Hour || got.Open != 256 {
		t.Errorf("audit has %+v", got)
	}
}
