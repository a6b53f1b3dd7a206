package gateway

import (
	"slices"
	"strings"
)

// anything is what a name looks like of which that is not known here.
const anything = "\x80"

// couldBe are those of all whose name could be taken for another one that is shown.
// Whoever has a link is told no others: it may have come to somebody who is not to
// know who is in the room.
func couldBe(all, shown []string) []string {
	looks := make(map[string]string, len(shown)) // like what, and who does: "" for several
	for _, name := range shown {
		like := roughly(name)
		if other, known := looks[like]; known && other != name {
			name = ""
		}
		looks[like] = name
	}
	_, odd := looks[anything]
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		like := roughly(name)
		other, known := looks[like]
		return like != anything && !odd && (!known || other == name)
	})
}

// roughly is the same for names that look alike: what internal/lookalike makes of
// ASCII, of which the names of participants are. The page looks closer, with the table
// of all characters, which the gateway does without.
func roughly(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r >= 0x80 }) {
		return anything
	}
	return pairsAlike.Replace(charsAlike.Replace(strings.ToLower(name)))
}

var (
	charsAlike = strings.NewReplacer("0", "o", "1", "l", "i", "l", "|", "l", ".", "-", "_", "-", " ", "-", "`", "'")
	pairsAlike = strings.NewReplacer("rn", "m", "vv", "w")
)
