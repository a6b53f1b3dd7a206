package tool

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

var tiered = Tool{
	Name: "tiered",
	Features: []Feature{
		{"base", Community, ""}, {"deep", Pro, "follows calls"}, {"wide", Enterprise, ""},
	},
	Limits: []Limit{
		{"files", 10, 100, 0}, {"depth", 3, 3, 9}, {"flat", 5, 5, 5}, {"free", 0, 0, 0},
	},
}

func TestFeatures(t *testing.T) {
	for tier, want := range map[Tier]string{Community: "base", Pro: "base deep", Enterprise: "base deep wide"} {
		c := NewCall(tiered, tier, "")
		var has, missing []string
		for _, f := range []string{"base", "deep", "wide"} {
			if c.Has(f) {
				has = append(has, f)
				if err := c.Require(f); err != nil {
					t.Errorf("%s has %s, which is refused: %v", tier, f, err)
				}
			} else {
				missing = append(missing, f)
			}
		}
		if got := strings.Join(has, " "); got != want {
			t.Errorf("%s has %s, want %s", tier, got, want)
		}
		e, _ := errors.AsType[*Error](c.Require("base", "deep", "wide"))
		if len(missing) == 0 {
			if e != nil {
				t.Errorf("%s: %v", tier, e)
			}
			continue
		}
		if e.Code != UpgradeRequired || len(e.Hints) != len(missing) {
			t.Errorf("%s: %+v", tier, e)
		}
		c.Hint("base", "deep", "wide")
		c.Hint("wide") // told once
		if !slices.Equal(c.Hints(), e.Hints) {
			t.Errorf("%s: hints %v, want %v", tier, c.Hints(), e.Hints)
		}
	}
	if err := NewCall(tiered, Pro, "").Require(); err != nil {
		t.Error(err)
	}
}

func TestClamp(t *testing.T) {
	for _, c := range []struct {
		limit  string
		tier   Tier
		asked  int
		want   int
		hinted Tier // empty: nothing was clamped
	}{
		{"files", Community, 5, 5, ""},
		{"files", Community, 10, 10, ""},
		{"files", Community, 11, 10, Pro},
		{"files", Community, 100, 10, Pro},
		{"files", Community, 101, 10, Enterprise},
		{"files", Community, 0, 10, ""},
		{"files", Community, -1, 10, ""},
		{"files", Pro, 101, 100, Enterprise},
		{"files", Enterprise, 1 << 40, 1 << 40, ""},
		{"files", Enterprise, 0, 0, ""},
		{"files", Enterprise, -7, 0, ""},
		{"depth", Community, 4, 3, Enterprise},
		{"depth", Pro, 100, 3, Enterprise}, // which has more, though not enough
		{"flat", Community, 6, 5, Community},
		{"flat", Enterprise, 6, 5, Enterprise},
		{"free", Community, 1 << 40, 1 << 40, ""},
	} {
		call := NewCall(tiered, c.tier, "")
		got := call.Clamp(c.limit, c.asked)
		var hinted Tier
		for _, h := range call.Hints() {
			hinted = h.Tier
			if h.Feature != c.limit || !strings.Contains(h.Reason, "clamped") {
				t.Errorf("%+v: hint %+v", c, h)
			}
		}
		if got != c.want || hinted != c.hinted {
			t.Errorf("%+v: got %d, hint for %q", c, got, hinted)
		}
	}
}

// A feature or limit is told once, however often it is asked for: as that which
// takes the highest tier.
func TestOneHintForEachFeature(t *testing.T) {
	c := NewCall(tiered, Community, "")
	e, _ := errors.AsType[*Error](c.Require("deep", "deep", "base", "wide", "deep"))
	if want := "deep, wide: the enterprise tier is needed, this is community"; e.Message != want || len(e.Hints) != 2 {
		t.Errorf("%s, hints %v", e.Message, e.Hints)
	}
	before := c.Clamp("files", 50)
	told := c.Hints()
	c.Clamp("files", 60)
	if !slices.Equal(told, c.Hints()) {
		t.Errorf("a second time makes %v of %v", c.Hints(), told)
	}
	c.Clamp("files", 500)
	c.Clamp("files", 70)
	if got := c.Hints(); before != 10 || len(got) != 1 || got[0].Tier != Enterprise || told[0].Tier != Pro {
		t.Errorf("told %v, then %v", told, got)
	}
	r := failing(t, Options{}, func(context.Context) error {
		return Errorf(Forbidden, "no").WithHint("f", Enterprise, "most").WithHint("f", Pro, "more").WithHint("g", Pro, "more").WithHint("f", Enterprise, "again")
	})
	r.want("fail", nil, `{"error":{"error":"no","error_code":"forbidden"},"upgrade_hints":[{"feature":"f","tier":"enterprise","reason":"most"},{"feature":"g","tier":"pro","reason":"more"}]}`)
}

// To ask for what is not declared is a mistake of the program.
func TestUndeclared(t *testing.T) {
	for name, ask := range map[string]func(*Call){
		"feature": func(c *Call) { c.Has("depe") },
		"limit":   func(c *Call) { c.Clamp("flies", 1) },
	} {
		func() {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, "declares no "+name) {
					t.Errorf("%s: panics with %q", name, p)
				}
			}()
			ask(NewCall(tiered, Pro, ""))
		}()
	}
}

func TestCallOutsideOfAServer(t *testing.T) {
	c := NewCall(tiered, Enterprise, "r-1")
	if c.Tier() != Enterprise || c.RequestID() != "r-1" || len(c.Hints()) != 0 {
		t.Errorf("%v %v %v", c.Tier(), c.RequestID(), c.Hints())
	}
}

func TestServerOptions(t *testing.T) {
	_, public := ed25519Key(t)
	for want, o := range map[string]Options{
		"the server has no name":                     {},
		`"gold" is not a tier`:                       {Name: "s", Tier: "gold"},
		"the tier is fixed, and a licence's key":     {Name: "s", Tier: Pro, Licence: Licence{Key: public, Issuer: "i"}},
		"a licence key without an issuer":            {Name: "s", Licence: Licence{Key: public}},
		"the licence key: it is neither PEM nor a J": {Name: "s", Licence: Licence{Key: []byte("hunter2"), Issuer: "i"}},
	} {
		_, err := NewServer(o)
		if e, ok := errors.AsType[*parley.Error](err); !ok || e.Code != parley.InvalidArgument || !strings.Contains(e.Message, want) || e.Hint == "" {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// The tier that a call gets is that of the licence at that time.
func TestTierByLicence(t *testing.T) {
	private, public := ed25519Key(t)
	file := t.TempDir() + "/licence.jwt"
	o := Options{Licence: Licence{Key: public, Issuer: "acme"}, Getenv: func(name string) string {
		return map[string]string{"PARLEY_LICENCE": file}[name]
	}}
	r := newRoom(t, o, func(s *Server) {
		Add(s, tiered, func(_ context.Context, call *Call, _ struct{}) (Tier, error) { return call.Tier(), nil })
	})
	r.want("tiered", nil, `{"data":"community"}`)
	for _, tier := range []Tier{Pro, Enterprise, Community, Pro} {
		put(t, file, signed(t, private, "acme", "test", tier))
		r.want("tiered", nil, `{"data":"`+string(tier)+`"}`)
	}
	put(t, file, signed(t, private, "acme", "another server", Pro))
	r.want("tiered", nil, `{"data":"community"}`)
	put(t, file, "revoked")
	r.want("tiered", nil, `{"data":"community"}`)
	r.want("tiered", nil, `{"data":"community"}`)
	if log := r.log.String(); strings.Count(log, "another server") != 1 || strings.Count(log, "it is not a signed token") != 1 {
		t.Errorf("the log does not say why, once each:\n%s", log)
	}
}
