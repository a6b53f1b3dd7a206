package provider

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/parleyhq/parley/tool/sampling"
)

// Alias is the name itself where it consists of at most longest of the letters
// A to Z and a to z, digits, _ and -, which is what endpoints take for the names
// of tools and the ids of calls. Any other gets a name that does, always the
// same, and not that of another: as much of it as can stay, and a digest.
// longest is at least 16.
func Alias(name string, longest int) string {
	if name != "" && len(name) <= longest && countTaken(name) == len(name) {
		return name
	}
	digest := sha256.Sum256([]byte(name))
	tail := "_" + hex.EncodeToString(digest[:6])
	kept := []byte(name[:min(len(name), longest-len(tail))])
	for i, c := range kept {
		if !taken(c) {
			kept[i] = '_'
		}
	}
	return string(kept) + tail
}

func countTaken(name string) (n int) {
	for _, c := range []byte(name) {
		if taken(c) {
			n++
		}
	}
	return n
}

func taken(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '_' || c == '-'
}

// Names are the names of a request's tools by their [Alias].
type Names map[string]string

// NamesOf are the names of tools.
func NamesOf(tools []sampling.Tool, longest int) Names {
	names := make(Names, len(tools))
	for _, t := range tools {
		names[Alias(t.Name, longest)] = t.Name
	}
	return names
}

// Original is the name whose alias is given: of a tool that was not offered the
// alias itself, which is what the model has made up.
func (n Names) Original(alias string) string {
	if name, ok := n[alias]; ok {
		return name
	}
	return alias
}
