package response

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/nearest"
)

// Tier is what a caller has paid for. The empty Tier counts as Community.
type Tier string

// The tiers, each of which covers those before it.
const (
	Community  Tier = "community"
	Pro        Tier = "pro"
	Enterprise Tier = "enterprise"
)

// tiers are in rising order.
var tiers = [...]Tier{Community, Pro, Enterprise}

// Covers says whether somebody with tier t may use what needs another. A tier
// that is not known covers what Community does, and is covered by none.
func (t Tier) Covers(needed Tier) bool {
	if needed == "" {
		return true
	}
	at := slices.Index(tiers[:], needed)
	return at >= 0 && at <= t.rank()
}

// rank is the place of a tier among all, that of Community where it is not
// known.
func (t Tier) rank() int { return max(0, slices.Index(tiers[:], t)) }

// ParseTier reads the name of a tier. Its error is invalid_argument.
func ParseTier(name string) (Tier, error) {
	if t := Tier(name); slices.Contains(tiers[:], t) {
		return t, nil
	}
	e := parley.Errorf(parley.InvalidArgument, "%.64q is not a tier", name)
	if near := nearest.To(name, tierNames()); near != "" {
		return "", e.WithHint("did you mean %q?", near)
	}
	return "", e.WithHint("one of %s", strings.Join(tierNames(), ", "))
}

func tierNames() []string {
	names := make([]string, len(tiers))
	for i, t := range tiers {
		names[i] = string(t)
	}
	return names
}
