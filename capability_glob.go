package parley

import "strings"

// glob is a compiled pattern: the literal pieces between its stars, so one more
// than it has stars. The first and last piece are anchored.
type glob struct {
	pieces []string
	loose  []string // the canonical pieces; the same slice where they do not differ
	path   pathCare
}

// pathCare is how a pattern that is held against a parameter treats values
// that programs may resolve to another path than it says.
type pathCare uint8

const (
	anyText   pathCare = iota
	anyPath            // the pattern has a backslash: no dot segments, no encoded separators
	slashPath          // the pattern has a slash: no backslashes either
)

func compileGlob(pattern string) glob {
	g := glob{pieces: splitStars(pattern)}
	g.loose = canonicalPieces(g.pieces)
	for _, p := range g.pieces {
		if strings.Contains(p, "/") {
			g.path = slashPath
		} else if strings.Contains(p, `\`) {
			g.path = max(g.path, anyPath)
		}
	}
	return g
}

// splitStars cuts a pattern at its stars. An escaped star is literal, and any
// other backslash is itself.
func splitStars(pattern string) []string {
	if !strings.Contains(pattern, "*") {
		return []string{pattern}
	}
	var pieces []string
	var piece strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch {
		case strings.HasPrefix(pattern[i:], `\*`):
			piece.WriteByte('*')
			i++
		case pattern[i] != '*':
			piece.WriteByte(pattern[i])
		default:
			pieces = append(pieces, piece.String())
			piece.Reset()
		}
	}
	return append(pieces, piece.String())
}

func canonicalPieces(pieces []string) []string {
	differs := false
	loose := make([]string, len(pieces))
	for i, p := range pieces {
		loose[i] = canonicalPath(p)
		differs = differs || loose[i] != p
	}
	if !differs {
		return pieces
	}
	return loose
}

func (g *glob) match(s string) bool { return matchPieces(g.pieces, s) }

// matchLoosely matches s as it is written or in its canonical form.
func (g *glob) matchLoosely(s string) bool {
	return matchPieces(g.pieces, s) || matchPieces(g.loose, canonicalPath(s))
}

// matchPieces takes time linear in s: the leftmost place of a piece leaves the
// most for those after it, so nothing is ever tried twice.
func matchPieces(pieces []string, s string) bool {
	first := pieces[0]
	if len(pieces) == 1 {
		return s == first
	}
	last := pieces[len(pieces)-1]
	if len(s) < len(first)+len(last) || !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) {
		return false
	}
	s = s[len(first) : len(s)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		i := strings.Index(s, piece)
		if i < 0 {
			return false
		}
		s = s[i+len(piece):]
	}
	return true
}
