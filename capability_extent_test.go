package parley

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestExtent(t *testing.T) {
	write := `{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*"}}}`
	deny := `{"kind":"!mcp/request:tools/call:write_file","params":{"arguments":{"force":true}}}`
	for _, c := range []struct {
		holds  []string
		action string
		want   Extent
	}{
		{nil, "mcp/request:tools/call:write_file", Never},
		{[]string{"mcp/*"}, "mcp/request:tools/call:write_file", Always},
		{[]string{"mcp/*"}, "chat", Never},
		{[]string{write}, "mcp/request:tools/call:write_file", Sometimes},
		{[]string{write}, "mcp/request:tools/call:read_file", Never},
		{[]string{write, "mcp/*"}, "mcp/request:tools/call:write_file", Always},
		{[]string{"mcp/*", deny}, "mcp/request:tools/call:write_file", Sometimes},
		{[]string{deny, "mcp/*"}, "mcp/request:tools/call:read_file", Always},
		{[]string{deny}, "mcp/request:tools/call:write_file", Never},
		{[]string{write, deny}, "mcp/request:tools/call:write_file", Sometimes},
		{[]string{write, deny, "!mcp/request:*"}, "mcp/request:tools/call:write_file", Never},
		{[]string{`{"kind":"mcp/request","to":["files"]}`}, "mcp/request:tools/list to=files", Always},
		{[]string{`{"kind":"mcp/request","to":["files"]}`}, "mcp/request:tools/list to=wiki", Never},
		{[]string{`{"kind":"mcp/request","context":{"type":"x"}}`}, "mcp/request:tools/list", Never},
		{[]string{"*"}, "system/notice", Never},
		{[]string{"*"}, "mcp/request:resources/read:file:///a/../b", Never},
	} {
		set, err := ParseCapabilities(c.holds...)
		if err != nil {
			t.Fatal(err)
		}
		a, err := exampleAction(c.action)
		if err != nil {
			t.Fatal(err)
		}
		if got := set.Extent(a); got != c.want {
			t.Errorf("%q, %s: %d, want %d", c.holds, c.action, got, c.want)
		}
	}
}

// checkExtent holds what is said without looking at the params against what is
// said of them.
func checkExtent(set Capabilities, a *Action) error {
	extent, allowed := set.Extent(a), set.Allow(a)
	if extent == Never && allowed || extent == Always && !allowed {
		return fmt.Errorf("%s: the extent of %+v is %d, and with params %s it is %v", set.AppendJSON(nil), a.Kind, extent, a.Params, allowed)
	}
	return nil
}

// TestExtentIsOneDecisionWithAllow draws sets and params.
func TestExtentIsOneDecisionWithAllow(t *testing.T) {
	patterns := []string{
		"*", "mcp/*", "mcp/request:tools/call:w*", "!mcp/request:tools/call:write", "!chat",
		`{"kind":"mcp/request:tools/call","params":{"arguments":{"path":"/w/*"}}}`,
		`{"kind":"!mcp/request:tools/call","params":{"arguments":{"path":"/w/*"}}}`,
		`{"kind":"mcp/request","params":{"name":["write","read"]}}`,
		`{"kind":"!mcp/*","params":{"arguments":{"n":1,"force":true}}}`,
		`{"kind":"mcp/*","params":{}}`, `{"kind":"!mcp/*","params":{}}`,
		`{"kind":"mcp/request","to":["files"]}`, `{"kind":"!mcp/request","context":{"type":"x"}}`,
	}
	params := []string{
		``, `null`, `[]`, `{}`, `{"name":"write"}`, `{"name":"write","arguments":{"path":"/w/a"}}`, `{"arguments":{"path":"/w/../a"}}`,
		`{"name":"write","arguments":{"path":["/w/a","/x"],"n":1.0,"force":true}}`, `{"name":"read","arguments":{"n":2,"force":"true"}}`,
	}
	kinds := []string{"mcp/request:tools/call:write", "mcp/request:tools/call", "mcp/request:tools/list", "mcp/proposal:tools/call:read", "chat"}
	seen := map[Extent]int{}
	rapid.Check(t, func(rt *rapid.T) {
		set, err := ParseCapabilities(rapid.SliceOfN(rapid.SampledFrom(patterns), 0, 4).Draw(rt, "set")...)
		if err != nil {
			rt.Fatal(err)
		}
		a := &Action{Kind: SplitKind(rapid.SampledFrom(kinds).Draw(rt, "kind"))}
		a.To = rapid.SampledFrom([][]string{nil, {"files"}, {"wiki", "files"}}).Draw(rt, "to")
		a.ContextType = rapid.SampledFrom([]string{"", "x"}).Draw(rt, "context")
		if p := rapid.SampledFrom(params).Draw(rt, "params"); p != "" {
			a.Params = jsontext.Value(p)
		}
		if err := checkExtent(set, a); err != nil {
			rt.Fatal(err)
		}
		seen[set.Extent(a)]++
	})
	if len(seen) != 3 {
		t.Errorf("not every extent was drawn: %v", seen)
	}
}

// FuzzExtent does the same with whatever is a capability.
func FuzzExtent(f *testing.F) {
	for _, name := range []string{"03_denials", "04_params", "06_to_and_context"} {
		data, err := os.ReadFile("testdata/capabilities/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		held := ""
		for line := range strings.Lines(string(data)) {
			switch verb, rest := cutVerb(strings.TrimSpace(line)); verb {
			case "holds":
				held = rest
			case "may", "may not":
				if a, err := exampleAction(rest); err == nil {
					f.Add(held, "mcp/*", a.Kind.String(), string(a.Params))
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, one, other, kind, params string) {
		set, err := ParseCapabilities(one, other)
		v := jsontext.Value(params)
		if err != nil || params != "" && !v.IsValid() {
			return
		}
		a := &Action{Kind: SplitKind(kind), To: []string{"files"}}
		if params != "" {
			a.Params = v
		}
		if err := checkExtent(set, a); err != nil {
			t.Error(err)
		}
	})
}
