package space

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

// order sends a grant or revocation of tools by name; it returns what the
// gateway answers first.
func (p *play) order(from, kind, recipient string, tools ...string) string {
	p.start()
	for i, tool := range tools {
		tools[i] = `"mcp/request:tools/call:` + tool + `"`
	}
	return p.send(from, fmt.Sprintf(`{"kind":%q,"payload":{"recipient":%q,"capabilities":[%s]}}`,
		kind, recipient, strings.Join(tools, ",")))[0]
}

func names(prefix string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprint(prefix, i))
	}
	return list
}

// TestRevokedPartsDoNotShield takes as many parts from oneself as there can be:
// others still take what is wider.
func TestRevokedPartsDoNotShield(t *testing.T) {
	p := newPlay(t, t.Name())
	if got := p.order("you", parley.KindRevoke, "you", names("junk", maxTaken)...); !strings.HasPrefix(got, "#") {
		t.Fatal(got)
	}
	if got := p.order("boss", parley.KindRevoke, "you", "delete_file"); !strings.HasPrefix(got, "refused limit_reached") {
		t.Error(got)
	}
	if got := p.send("boss", `{"kind":"capability/revoke","payload":{"recipient":"you","capabilities":["chat"]}}`)[0]; !strings.HasPrefix(got, "#") {
		t.Error("what is taken whole needs no room:", got)
	}
	if got := p.order("boss", parley.KindRevoke, "you", "junk*", "delete_file"); !strings.HasPrefix(got, "#") {
		t.Error(got)
	}
	if got, want := describe(p.state.Capabilities("you")), "mcp/*, capability/*, space/*, !mcp/request:tools/call:junk*, !mcp/request:tools/call:delete_file"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	p.finish(t)
}

func TestRoomForGrants(t *testing.T) {
	full := func(p *play) string {
		for range maxGranted / maxCapabilities {
			if got := p.order("you", parley.KindGrant, "agent", names("a", maxCapabilities)...); !strings.HasPrefix(got, "#") {
				return got
			}
		}
		return p.order("boss", parley.KindGrant, "agent", "one more")
	}
	long := func(p *play) string {
		p.order("you", parley.KindGrant, "agent", names(strings.Repeat("x", 1_000), 60)...)
		return p.order("boss", parley.KindGrant, "agent", names(strings.Repeat("x", 1_000), 6)...)
	}
	many := func(p *play) string {
		for i := range maxGrantsFrom {
			to := []string{"agent", "files", "boss"}[i%3]
			if got := p.order("you", parley.KindGrant, to, "x"); !strings.HasPrefix(got, "#") {
				return got
			}
		}
		if got := p.order("boss", parley.KindGrant, "files", "x"); !strings.HasPrefix(got, "#") {
			return got
		}
		return p.order("you", parley.KindGrant, "files", "x")
	}
	atOnce := func(p *play) string {
		return p.order("you", parley.KindGrant, "agent", names("a", maxCapabilities+1)...)
	}
	inAll := func(p *play) string {
		for i := range maxGrants / maxGrantsFrom {
			lead := fmt.Sprint("lead", i)
			p.rules.Participants[lead] = caps("mcp/*, capability/*")
			for j := range 2 {
				p.rules.Participants[fmt.Sprint(lead, "-", j)] = nil
			}
		}
		for i := range maxGrants / maxGrantsFrom {
			lead := fmt.Sprint("lead", i)
			for j := range maxGrantsFrom {
				if got := p.order(lead, parley.KindGrant, fmt.Sprint(lead, "-", j%2), "x"); !strings.HasPrefix(got, "#") {
					return got
				}
			}
		}
		return p.order("you", parley.KindGrant, "agent", "x")
	}
	for _, c := range []struct {
		name string
		play func(*play) string
		want string
	}{
		{"at once", atOnce, "kind_mismatch: more than 256 capabilities at once"},
		{"to one", full, `limit_reached: grants: "agent" has as many`},
		{"to one, long ones", long, `limit_reached: grants: "agent" has as many`},
		{"of one", many, "limit_reached: grants: 1024 of yours"},
		{"in all", inAll, "limit_reached: grants: 4096 are in force"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t, t.Name())
			p.rules.Limits.Burst = 10_000
			if got := c.play(p); !strings.HasPrefix(got, "refused "+c.want) {
				t.Error(got)
			}
			p.finish(t)
		})
	}
}
