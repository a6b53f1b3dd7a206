package response

import (
	"errors"
	"testing"

	"github.com/parleyhq/parley"
)

func TestCovers(t *testing.T) {
	for _, c := range []struct {
		has, needed Tier
		want        bool
	}{
		{Community, Community, true}, {Community, Pro, false}, {Community, Enterprise, false},
		{Pro, Community, true}, {Pro, Pro, true}, {Pro, Enterprise, false},
		{Enterprise, Community, true}, {Enterprise, Pro, true}, {Enterprise, Enterprise, true},
		{"", Community, true}, {"", Pro, false}, {Community, "", true},
		{"root", Community, true}, {"root", Pro, false}, {Enterprise, "root", false}, {"root", "root", false},
	} {
		if got := c.has.Covers(c.needed); got != c.want {
			t.Errorf("%q covers %q: %v", c.has, c.needed, got)
		}
	}
}

func TestParseTier(t *testing.T) {
	for _, tier := range tiers {
		if got, err := ParseTier(string(tier)); got != tier || err != nil {
			t.Errorf("%s: %s, %v", tier, got, err)
		}
	}
	for name, hint := range map[string]string{
		"enterprize": `did you mean "enterprise"?`, "Pro": `did you mean "pro"?`, "": "one of community, pro, enterprise", "gold": "one of community, pro, enterprise",
	} {
		_, err := ParseTier(name)
		if e, ok := errors.AsType[*parley.Error](err); !ok || e.Code != parley.InvalidArgument || e.Hint != hint {
			t.Errorf("%q: %+v", name, e)
		}
	}
}

func TestCodes(t *testing.T) {
	if len(Codes()) != 11 {
		t.Errorf("section 12 has 11 codes, here are %d", len(Codes()))
	}
	for _, c := range Codes() {
		if !c.Known() {
			t.Errorf("%s is not known", c)
		}
	}
	if Code("").Known() || Code("Timeout").Known() {
		t.Error("codes are known that are none")
	}
}
