package parley

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The generators use a small alphabet in which patterns often meet: letters
// that are hexadecimal digits and one that is not, slashes, stars, and what
// percent-encoding is made of.
var (
	drawType    = rapid.SampledFrom([]string{"mcp/request", "mcp/*", "*", "a", "a*", "*t"})
	drawMethod  = rapid.SampledFrom([]string{"tools/call", "tools/*", "*", "tools/list", "resources/read", "*l*"})
	drawPiece   = rapid.SampledFrom([]string{"a", "b", "x", "/", "//", "*", "*", "%", "2", "5", "f", "%2f", "%61", `\`, `\*`, ".", "5/x"})
	drawAddress = rapid.SampledFrom([]string{"a", "a*", "b", "*", "*b", "ab"})
)

func drawText(t *rapid.T, label string, least int) string {
	return strings.Join(rapid.SliceOfN(drawPiece, least, 6).Draw(t, label), "")
}

// drawCapability draws a grant.
func drawCapability(t *rapid.T) Capability {
	kind := drawType.Draw(t, "type")
	if rapid.Bool().Draw(t, "has method") {
		kind += ":" + drawMethod.Draw(t, "method")
		if rapid.Bool().Draw(t, "has subject") {
			kind += ":" + drawText(t, "subject", 1)
		}
	}
	if rapid.Bool().Draw(t, "is plain") {
		return MustCapability(kind)
	}
	object := appendString([]byte(`{"kind":`), kind)
	if rapid.Bool().Draw(t, "has params") {
		object = drawObject(t, append(object, `,"params":`...), 2, true)
	}
	if rapid.Bool().Draw(t, "has to") {
		object = appendStrings(append(object, `,"to":`...), rapid.SliceOfN(drawAddress, 1, 2).Draw(t, "to"))
	}
	if rapid.Bool().Draw(t, "has context") {
		object = append(appendString(append(object, `,"context":{"type":`...), drawAddress.Draw(t, "context")), '}')
	}
	return MustCapability(string(append(object, '}')))
}

// drawObject draws an object of params, or a pattern over one.
func drawObject(t *rapid.T, dst []byte, depth int, pattern bool) []byte {
	dst = append(dst, '{')
	for i, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"p", "q"}), 0, 2, rapid.ID[string]).Draw(t, "members") {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = drawValue(t, append(appendString(dst, name), ':'), depth-1, pattern, true)
	}
	return append(dst, '}')
}

func drawValue(t *rapid.T, dst []byte, depth int, pattern, list bool) []byte {
	switch n := rapid.IntRange(0, 9).Draw(t, "form"); {
	case n == 0:
		return append(dst, rapid.SampledFrom([]string{"1", "1.0", "2", "1e99999999999999999999999999999999999999999999999999999999999999999999"}).Draw(t, "number")...)
	case n == 1:
		return append(dst, rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "literal")...)
	case n == 2 && depth > 0:
		return drawObject(t, dst, depth, pattern)
	case n <= 4 && list:
		least := 0
		if pattern {
			least = 1
		}
		dst = append(dst, '[')
		for i := range rapid.IntRange(least, 2).Draw(t, "length") {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = drawValue(t, dst, depth, pattern, !pattern)
		}
		return append(dst, ']')
	default:
		s := drawText(t, "text", 0)
		if !pattern {
			s = strings.ReplaceAll(s, "*", "a")
		}
		return appendString(dst, s)
	}
}

// drawSet draws grants and denials.
func drawSet(t *rapid.T) Capabilities {
	var set Capabilities
	for range rapid.IntRange(1, 4).Draw(t, "size") {
		c := drawCapability(t)
		if rapid.IntRange(0, 2).Draw(t, "denies") == 0 {
			c = c.Denial()
		}
		set = append(set, c)
	}
	return set
}

// drawMatch draws an action that c matches, more often than chance would.
func drawMatch(t *rapid.T, c Capability) *Action {
	fill := func(g *glob, label string) string {
		if g == nil {
			return rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, label)
		}
		var s strings.Builder
		for i, piece := range g.pieces {
			if i > 0 {
				s.WriteString(strings.ReplaceAll(drawText(t, label, 0), "*", ""))
			}
			s.WriteString(piece)
		}
		return s.String()
	}
	a := &Action{
		Kind:        Kind{Type: fill(&c.r.typ, "type"), Method: fill(&c.r.method, "method"), Subject: fill(&c.r.subject, "subject")},
		ContextType: fill(c.r.context, "context"),
	}
	if len(c.r.method.pieces) > 1 {
		a.Kind.Method = strings.NewReplacer("*", "tools/call").Replace(drawMethod.Draw(t, "method"))
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "addressees") {
		if i < len(c.r.to) {
			a.To = append(a.To, fill(&c.r.to[i], "to"))
		} else {
			a.To = append(a.To, "ab")
		}
	}
	switch {
	case c.r.params != nil:
		a.Params = fillNode(t, nil, c.r.params, fill)
	case rapid.Bool().Draw(t, "has params"):
		a.Params = drawObject(t, nil, 3, false)
	}
	return a
}

// fillNode writes a value that mostly satisfies n.
func fillNode(t *rapid.T, dst []byte, n *node, fill func(*glob, string) string) []byte {
	switch n.form {
	case formString:
		return appendString(dst, fill(&n.text, "value"))
	case formNumber:
		return append(dst, rapid.SampledFrom([]string{"1", "2"}).Draw(t, "number")...)
	case formBool:
		return append(dst, map[bool]string{true: "true", false: "false"}[n.truth]...)
	case formNull:
		return append(dst, "null"...)
	case formAny:
		one := n.any[rapid.IntRange(0, len(n.any)-1).Draw(t, "alternative")]
		if rapid.Bool().Draw(t, "as a list") {
			dst = append(fillNode(t, append(dst, '['), one, fill), ',')
			return append(fillNode(t, dst, n.any[0], fill), ']')
		}
		return fillNode(t, dst, one, fill)
	}
	dst = append(dst, '{')
	for i, m := range n.members {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = fillNode(t, append(appendString(dst, m.name), ':'), m.node, fill)
	}
	for _, extra := range []string{"p", "q"} {
		if !n.has(extra) && rapid.Bool().Draw(t, "extra") {
			if dst[len(dst)-1] != '{' {
				dst = append(dst, ',')
			}
			dst = drawValue(t, append(appendString(dst, extra), ':'), 1, false, true)
		}
	}
	return append(dst, '}')
}

// TestCoversIsSound: what is covered is allowed, whatever the action.
func TestCoversIsSound(t *testing.T) {
	covered, matched := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		set, c := drawSet(t), drawCapability(t)
		if rapid.Bool().Draw(t, "near") {
			set = append(set, MustCapability("*"))
		}
		if !set.Covers(c) {
			return
		}
		covered++
		for range 8 {
			a := drawMatch(t, c)
			if !(Capabilities{c}).Allow(a) {
				continue
			}
			matched++
			if !set.Allow(a) {
				t.Fatalf("%s covers %s, and yet does not allow %+v, params %s", set, c, a, a.Params)
			}
		}
	})
	if covered < 20 || matched < 100 {
		t.Errorf("only %d patterns were covered and %d actions allowed: the test tests little", covered, matched)
	}
}

// TestWithoutTakesAway: what is taken is gone, nothing is given, and what has
// nothing to do with it stays.
func TestWithoutTakesAway(t *testing.T) {
	gone, stayed := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		set, taken := drawSet(t), drawCapability(t)
		left := set.Without(taken)
		again := left.Without(taken)
		if len(again) != len(left) {
			t.Fatalf("taking %s twice from %s leaves %s, then %s", taken, set, left, again)
		}
		if left.Covers(taken) {
			t.Fatalf("%s without %s is %s, which covers it", set, taken, left)
		}
		for _, c := range append(Capabilities{taken}, set...) {
			for range 3 {
				a := drawMatch(t, c)
				before, after := set.Allow(a), left.Allow(a)
				switch {
				case after && (!before || taken.Matches(a)):
					t.Fatalf("%s without %s is %s, which allows %+v, params %s", set, taken, left, a, a.Params)
				case before && !after && !taken.Denial().Matches(a):
					t.Fatalf("%s without %s is %s, which no longer allows %+v, params %s", set, taken, left, a, a.Params)
				case before && after:
					stayed++
				case before:
					gone++
				}
			}
		}
	})
	if gone < 20 || stayed < 20 {
		t.Errorf("%d actions were taken away and %d left: the test tests little", gone, stayed)
	}
}

// TestOverlapIsExact compares with a search for a common text.
func TestOverlapIsExact(t *testing.T) {
	patterns := []string{""}
	for range 4 {
		for _, p := range patterns {
			for _, c := range "ab*" {
				patterns = append(patterns, p+string(c))
			}
		}
	}
	texts := []string{""}
	for i := 0; len(texts[i]) < 6; i++ {
		texts = append(texts, texts[i]+"a", texts[i]+"b")
	}
	seen := map[string]bool{}
	for _, p := range patterns {
		for _, q := range patterns {
			if len(p) > 3 || len(q) > 3 || seen[p+" "+q] {
				continue
			}
			seen[p+" "+q] = true
			g, h := compileGlob(p), compileGlob(q)
			common, missing := false, false
			for _, s := range texts {
				common = common || g.match(s) && h.match(s)
				missing = missing || !g.match(s) && h.match(s)
			}
			if got := g.overlaps(&h); got != common {
				t.Errorf("%q and %q overlap: got %v, want %v", p, q, got, common)
			}
			if got := g.includes(&h); got && missing {
				t.Errorf("%q includes %q", p, q)
			} else if !got && !missing && !strings.Contains(q, "*") {
				t.Errorf("%q does not include %q", p, q)
			}
		}
	}
}
