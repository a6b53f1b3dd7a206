package space

import (
	"strings"
	"testing"

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
