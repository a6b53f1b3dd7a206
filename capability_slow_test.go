package parley

import (
	"encoding/json"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// slowCapability is section 4 once more, written for being obviously right: it
// shares no code with the real one, keeps grants and denials apart, and spares
// no memory.
type slowCapability struct {
	deny    bool
	kind    [3]string
	params  any // nil where absent
	context string
	to      []string
}

func newSlowCapability(c Capability) slowCapability {
	var s slowCapability
	kind := c.String()
	if strings.HasPrefix(kind, "{") {
		var object struct {
			Kind    string
			Params  any
			Context struct{ Type string }
			To      []string
		}
		decodeSlowly(kind, &object)
		kind, s.params, s.context, s.to = object.Kind, object.Params, object.Context.Type, object.To
	}
	if strings.HasPrefix(kind, "!") {
		s.deny, kind = true, kind[1:]
	}
	s.kind = [3]string{"*", "*", "*"}
	copy(s.kind[:], strings.SplitN(kind, ":", 3))
	return s
}

func decodeSlowly(s string, v any) {
	dec := json.NewDecoder(strings.NewReader(s))
	dec.UseNumber()
	if err := dec.Decode(v); err != nil {
		panic(err)
	}
}

func (s slowCapability) matches(a *Action) bool {
	if !slowGlob(s.kind[0], a.Kind.Type) || !slowGlob(s.kind[1], a.Kind.Method) {
		return false
	}
	var params any
	if a.Params != nil {
		decodeSlowly(string(a.Params), &params)
	}
	if s.context != "" && (a.ContextType == "" || !slowGlob(s.context, a.ContextType)) {
		return false
	}
	if s.deny {
		return s.deniesSubject(a.Kind) && s.deniesTo(a.To) &&
			(s.params == nil || !isObject(params) || possible(s.params, params))
	}
	return s.grantsSubject(a.Kind) && s.grantsTo(a.To) &&
		(s.params == nil || isObject(params) && certain(s.params, params))
}

func (s slowCapability) grantsSubject(k Kind) bool {
	if slowlyCrooked(k) {
		return false
	}
	if strings.HasPrefix(k.Type, "mcp/") && !slowHasSubject.MatchString(k.Method) {
		return slowGlob(s.kind[2], "")
	}
	return slowGlob(s.kind[2], k.Subject)
}

var slowHasSubject = regexp.MustCompile(`^(tools/call|prompts/get|resources/(read|(un)?subscribe)|completion/complete)$`)

func (s slowCapability) deniesSubject(k Kind) bool {
	short := k.Subject == "" && strings.HasPrefix(k.Type, "mcp/") && slowHasSubject.MatchString(k.Method)
	return short || slowlyCrooked(k) || slowGlobLoosely(s.kind[2], k.Subject)
}

func (s slowCapability) grantsTo(to []string) bool {
	if s.to == nil {
		return true
	}
	all := len(to) > 0
	for _, id := range to {
		all = all && possibleAny(s.to, id)
	}
	return all
}

func (s slowCapability) deniesTo(to []string) bool {
	if s.to == nil || len(to) == 0 {
		return true
	}
	some := false
	for _, id := range to {
		some = some || possibleAny(s.to, id)
	}
	return some
}

func possibleAny(patterns []string, s string) bool {
	for _, p := range patterns {
		if slowGlob(p, s) {
			return true
		}
	}
	return false
}

func isObject(v any) bool { _, ok := v.(map[string]any); return ok }

// certain is what a grant asks of a value.
func certain(pattern, value any) bool {
	if list, ok := value.([]any); ok {
		for _, el := range list {
			if _, nested := el.([]any); nested || !certain(pattern, el) {
				return false
			}
		}
		return len(list) > 0
	}
	switch p := pattern.(type) {
	case []any:
		for _, one := range p {
			if certain(one, value) {
				return true
			}
		}
		return false
	case map[string]any:
		v, ok := value.(map[string]any)
		for name, one := range p {
			member, there := v[name]
			ok = ok && there && certain(one, member)
		}
		return ok
	case string:
		v, ok := value.(string)
		return ok && slowGlob(p, v) && !slowlyMisleads(p, v)
	case json.Number:
		v, ok := value.(json.Number)
		return ok && slowRat(p).Cmp(slowRat(v)) == 0
	default: // true, false, null
		return pattern == value
	}
}

// possible is what a denial asks of a value.
func possible(pattern, value any) bool {
	if list, ok := value.([]any); ok {
		for _, el := range list {
			if _, nested := el.([]any); nested || possible(pattern, el) {
				return true
			}
		}
		return len(list) == 0
	}
	switch p := pattern.(type) {
	case []any:
		for _, one := range p {
			if possible(one, value) {
				return true
			}
		}
		return false
	case map[string]any:
		v, ok := value.(map[string]any)
		for name, one := range p {
			if member, there := v[name]; ok && there && !possible(one, member) {
				return false
			}
		}
		return true
	case string:
		v, ok := value.(string)
		return !ok || slowGlobLoosely(p, v) || slowlyMisleads(p, v)
	case json.Number:
		v, ok := value.(json.Number)
		return !ok || slowRat(p).Cmp(slowRat(v)) == 0
	case bool:
		v, ok := value.(bool)
		return !ok || p == v
	default: // null
		return true
	}
}

func slowRat(n json.Number) *big.Rat {
	r, ok := new(big.Rat).SetString(string(n))
	if !ok {
		panic(n)
	}
	return r
}

// slowGlob fills the whole table of which ends of the pattern match which ends
// of the text.
func slowGlob(pattern, s string) bool {
	return slowTokensMatch(slowTokens(pattern), s)
}

// slowTokens has one token for each byte, and -1 for a star.
func slowTokens(pattern string) (tokens []int) {
	for i := 0; i < len(pattern); i++ {
		switch {
		case pattern[i] == '\\' && i+1 < len(pattern) && pattern[i+1] == '*':
			i++
			tokens = append(tokens, '*')
		case pattern[i] == '*':
			tokens = append(tokens, -1)
		default:
			tokens = append(tokens, int(pattern[i]))
		}
	}
	return tokens
}

func slowTokensMatch(tokens []int, s string) bool {
	table := make([][]bool, len(tokens)+1)
	for i := range table {
		table[i] = make([]bool, len(s)+1)
	}
	table[len(tokens)][len(s)] = true
	for i := len(tokens) - 1; i >= 0; i-- {
		for j := len(s); j >= 0; j-- {
			if tokens[i] < 0 {
				table[i][j] = table[i+1][j] || j < len(s) && table[i][j+1]
			} else {
				table[i][j] = j < len(s) && int(s[j]) == tokens[i] && table[i+1][j+1]
			}
		}
	}
	return table[0][0]
}

// slowGlobLoosely compares the canonical forms too. What stands between two
// stars of the pattern is made canonical by itself.
func slowGlobLoosely(pattern, s string) bool {
	if slowGlob(pattern, s) {
		return true
	}
	var loose []int
	var run []byte
	flush := func() {
		for _, c := range []byte(slowCanonical(string(run))) {
			loose = append(loose, int(c))
		}
		run = nil
	}
	for _, token := range slowTokens(pattern) {
		if token < 0 {
			flush()
			loose = append(loose, -1)
		} else {
			run = append(run, byte(token))
		}
	}
	flush()
	return slowTokensMatch(loose, slowCanonical(s))
}

var (
	slowTriplet    = regexp.MustCompile(`%[0-9a-fA-F]{2}`)
	slowSlashes    = regexp.MustCompile(`[/\\]+`)
	slowDots       = regexp.MustCompile(`(^|[/\\:;?#\x00-\x1f\x7f]) *\. *(\. *)?($|[/\\:;?#\x00-\x1f\x7f])`)
	slowSeparators = regexp.MustCompile(`[/\\]`)
)

func slowDecode(s string) string {
	return slowTriplet.ReplaceAllStringFunc(s, func(triplet string) string {
		n, _ := new(big.Int).SetString(triplet[1:], 16)
		return string([]byte{byte(n.Int64())})
	})
}

func slowDecodeFully(s string) (plain string, whole bool) {
	for range 4 {
		s = slowDecode(s)
	}
	return s, slowDecode(s) == s
}

// slowCanonical leaves alone what needs no change: an undoubled text without
// percent signs and backslashes.
func slowCanonical(s string) string {
	s, _ = slowDecodeFully(s)
	return slowSlashes.ReplaceAllString(s, "/")
}

func slowlyCrooked(k Kind) bool {
	plain, whole := slowDecodeFully(k.Subject)
	if !slowSeparators.MatchString(plain) && !strings.HasPrefix(k.Method, "resources/") {
		return false
	}
	return !whole || strings.ContainsAny(latin(plain), "\u00c0\u00c1") || slowDots.MatchString(latin(plain))
}

func slowlyMisleads(pattern, v string) bool {
	tokens := slowTokens(pattern)
	slash := slices.Contains(tokens, '/')
	if !slash && !slices.Contains(tokens, '\\') {
		return false
	}
	plain, whole := slowDecodeFully(v)
	return slash && strings.Contains(v, `\`) ||
		regexp.MustCompile(`[\x00-\x1f\x7f]`).MatchString(v) ||
		!whole || strings.ContainsAny(latin(plain), "\u00c0\u00c1") || slowDots.MatchString(latin(plain)) ||
		len(slowSeparators.FindAllString(plain, -1)) != len(slowSeparators.FindAllString(v, -1))
}

// latin has one character for each byte, so that expressions can speak of bytes.
func latin(s string) string {
	var out strings.Builder
	for _, c := range []byte(s) {
		out.WriteRune(rune(c))
	}
	return out.String()
}
