package filetool

import (
	"path"
	"strings"

	"github.com/parleyhq/parley"
)

// A glob is a pattern for paths: * and ? within one name, [a-z] for a
// character, ** for any number of folders, {a,b} for either. A pattern without
// a slash is about the name alone, in whatever folder.
type glob struct{ ways [][]string }

const (
	maxPattern = 1024 // bytes
	maxWays    = 64   // what the braces of one pattern may stand for
)

func parseGlob(pattern string) (glob, error) {
	if len(pattern) > maxPattern {
		return glob{}, badPattern(pattern, "is longer than %d bytes", maxPattern)
	}
	flat, ok := expand(pattern, maxWays)
	if !ok {
		return glob{}, badPattern(pattern, "has braces that do not match, or that stand for more than %d patterns", maxWays)
	}
	var g glob
	for _, p := range flat {
		p = strings.TrimPrefix(p, "./")
		if !strings.Contains(p, "/") {
			p = "**/" + p
		}
		segments := strings.Split(p, "/")
		for _, s := range segments {
			if _, err := path.Match(s, ""); err != nil {
				return glob{}, badPattern(pattern, "has a bracket that is not closed")
			}
			if s == ".." || s == "" {
				return glob{}, badPattern(pattern, "is absolute, ends in a slash or holds an empty or .. element")
			}
		}
		g.ways = append(g.ways, segments)
	}
	return g, nil
}

func badPattern(pattern, format string, args ...any) error {
	return parley.Errorf(parley.InvalidArgument, "the pattern "+quotePercent(pattern)+" "+format, args...).
		WithHint(`patterns look like "*.md", "docs/**/*.txt" or "*.{go,mod}"`)
}

// quotePercent is quote for use inside a format.
func quotePercent(s string) string { return strings.ReplaceAll(quote(s), "%", "%%") }

// match says whether the clean path p fits.
func (g glob) match(p string) bool {
	names := strings.Split(p, "/")
	for _, w := range g.ways {
		if matchSegments(w, names) {
			return true
		}
	}
	return false
}

// matchSegments keeps, while it walks through the pattern, which starts of the
// path fit so far. That way several ** cost no more than their product.
func matchSegments(pattern, names []string) bool {
	fits := make([]bool, len(names)+1)
	fits[0] = true
	for _, seg := range pattern {
		if seg == "**" {
			for i := range names {
				fits[i+1] = fits[i+1] || fits[i]
			}
			continue
		}
		for i := len(names); i > 0; i-- {
			fits[i] = false
			if fits[i-1] {
				fits[i], _ = path.Match(seg, names[i-1])
			}
		}
		fits[0] = false
	}
	return fits[len(names)]
}

// expand writes out the braces of a pattern, the first pair first; ok is false
// where they do not match or stand for more than the given number of patterns.
func expand(pattern string, most int) (flat []string, ok bool) {
	before, after, braces := strings.Cut(pattern, "{")
	if !braces {
		return []string{pattern}, most > 0 && !strings.ContainsRune(pattern, '}')
	}
	choices, rest, ok := splitBraces(after)
	if !ok || strings.ContainsRune(before, '}') {
		return nil, false
	}
	for _, c := range choices {
		more, ok := expand(before+c+rest, most-len(flat))
		if !ok {
			return nil, false
		}
		flat = append(flat, more...)
	}
	return flat, true
}

// splitBraces cuts what follows an opening brace into its choices and what
// comes after the closing one. Braces inside a choice stay for later.
func splitBraces(s string) (choices []string, rest string, ok bool) {
	depth, from := 0, 0
	for i := range len(s) {
		switch {
		case s[i] == '{':
			depth++
		case s[i] == '}' && depth > 0:
			depth--
		case s[i] == '}':
			return append(choices, s[from:i]), s[i+1:], true
		case s[i] == ',' && depth == 0:
			choices = append(choices, s[from:i])
			from = i + 1
		}
	}
	return nil, "", false
}
