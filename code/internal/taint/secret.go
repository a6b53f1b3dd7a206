package taint

import (
	"math"
	"slices"
	"strings"
	"unicode"
)

// secrets looks for credentials among the literals of a file: those with a
// known shape wherever they stand, and those that are given to a name that
// speaks of a secret.
func secrets(p *program, found *collector) {
	s := &secretSearch{found: found}
	visit(p.body, s.stmt, s.expr)
}

type secretSearch struct {
	found *collector
}

func (s *secretSearch) tell(x *expr, name string, level Level) {
	s.found.add(hit{is: HardcodedSecret, cwe: "CWE-798", severity: High, confidence: level, at: x.at, sink: name})
}

func (s *secretSearch) stmt(st *stmt) {
	if st.kind != doAssign || st.adds {
		return
	}
	for i, t := range st.targets {
		v := st.value
		if v != nil && v.kind == aList && len(st.targets) > 1 && i < len(v.parts) && v.name(i) == "" {
			v = v.parts[i]
		}
		s.given(nameOf(t), v)
	}
}

func (s *secretSearch) expr(x *expr) {
	switch x.kind {
	case aLiteral:
		if knownSecret(x.text) {
			s.tell(x, "", High)
		}
	case aList:
		for i, p := range x.parts {
			s.given(x.name(i), p)
		}
	case aCall:
		for i, p := range x.parts[1:] {
			s.given(x.name(i), p)
		}
	case aComparison:
		if x.text == "==" || x.text == "!=" {
			s.given(nameOf(x.parts[0]), x.parts[1])
			s.given(nameOf(x.parts[1]), x.parts[0])
		}
	case anAssignment:
		s.given(nameOf(x.parts[0]), x.parts[1])
	case aFunction:
		// Defaults of parameters are assignments in its body.
	}
}

// given is for a value that a name gets, also where it is the last of several
// choices.
func (s *secretSearch) given(name string, x *expr) {
	if x == nil || name == "" {
		return
	}
	switch x.kind {
	case aChoice, anOr:
		for _, p := range x.parts {
			s.given(name, p)
		}
	case aLiteral:
		if level := secretFor(name, x.text); level > 0 {
			s.tell(x, name, level)
		}
	}
}

// prefixes are how credentials of known makers begin, and how long they are at
// least.
var prefixes = []struct {
	text string
	size int
}{
	{"AKIA", 20}, {"ASIA", 20}, {"ghp_", 36}, {"gho_", 36}, {"ghs_", 36}, {"ghu_", 36}, {"github_pat_", 40},
	{"glpat-", 20}, {"xoxb-", 24}, {"xoxp-", 24}, {"xoxa-", 24}, {"sk_live_", 24}, {"rk_live_", 24}, {"AIza", 39},
	{"sk-ant-", 30}, {"sk-proj-", 30}, {"SG.", 60}, {"npm_", 36}, {"pypi-", 60}, {"dop_v1_", 60}, {"hf_", 34}, {"ya29.", 30},
	{"EAACEdEose0cBA", 30}, {"shpat_", 32}, {"eyJhbGciOi", 60},
}

// knownSecret says whether a text has the shape of a known credential in it.
func knownSecret(text string) bool {
	if strings.Contains(text, "-----BEGIN ") && strings.Contains(text, "PRIVATE KEY-----") {
		return len(text) > 60
	}
	for _, p := range prefixes {
		i := strings.Index(text, p.text)
		if i < 0 || i > 0 && isTokenByte(text[i-1]) {
			continue
		}
		word := tokenAt(text[i:])
		if len(word) >= p.size && !placeholder(word) && entropy(word[len(p.text):]) > 2.5 {
			return true
		}
	}
	return passwordInURL(text)
}

func isTokenByte(c byte) bool {
	return c == '_' || c == '-' || c == '.' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func tokenAt(text string) string {
	for i := range len(text) {
		if !isTokenByte(text[i]) {
			return text[:i]
		}
	}
	return text
}

// passwordInURL says whether a text is a URL with a user and a password.
func passwordInURL(text string) bool {
	_, rest, ok := strings.Cut(text, "://")
	if !ok || strings.ContainsAny(text, " \n") {
		return false
	}
	host, _, _ := strings.Cut(rest, "/")
	at := strings.LastIndexByte(host, '@')
	if at < 0 {
		return false
	}
	user, password, ok := strings.Cut(host[:at], ":")
	return ok && user != "" && len(password) >= 4 && !placeholder(password) && !strings.ContainsAny(password, "{}%$<>")
}

// secretFor is how sure it is that a literal given to a name is a secret; 0
// where it is none.
func secretFor(name, text string) Level {
	kind := secretName(name)
	if kind == 0 || len(text) < 6 || len(text) > 500 || strings.ContainsAny(text, " \n\t<>") || placeholder(text) {
		return 0
	}
	if strings.Contains(text, "://") || strings.HasPrefix(text, "/") || strings.HasPrefix(text, "./") {
		return 0
	}
	if strings.HasPrefix(plainWord(text), plainWord(name)) { // "encryptionKey": "encryptionKey1024"
		return 0
	}
	e, mixed := entropy(text), mixture(text)
	switch {
	case kind == 2 && (mixed >= 2 || e >= 3):
		return High
	case kind == 1 && len(text) >= 12 && mixed >= 2 && e >= 3:
		return High
	case kind == 2 && !identifier(text):
		return Medium
	}
	return 0
}

// plainWord is a name or text without what only divides words.
func plainWord(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}

// secretName says whether what a name names is a secret: 2 for passwords, whose
// texts may be plain words, 1 for keys and tokens, whose texts are not.
func secretName(name string) int {
	words := wordsOf(name)
	if len(words) == 0 || strings.ContainsAny(name, ": /<>()") {
		return 0
	}
	last := words[len(words)-1]
	if n := len(words); n > 1 && (last == "hash" || last == "base64" || last == "hex" || last == "default" || last == "value") {
		last, words = words[n-2], words[:n-1]
		if words[len(words)-1] == "hash" {
			return 0
		}
	}
	switch last {
	case "password", "passwd", "pwd", "passphrase", "pass":
		return 2
	case "secret", "token", "apikey", "secretkey", "privatekey", "accesskey", "authtoken", "credential", "credentials", "bearer", "jwt":
		return 1
	case "key", "id":
		for _, w := range words[:len(words)-1] {
			switch w {
			case "secret", "api", "private", "encryption", "signing", "auth", "aes", "hmac", "master", "jwt":
				return 1
			case "access":
				if last == "key" {
					return 1
				}
			}
		}
	}
	return 0
}

// placeholder says whether a text only stands where a secret should.
func placeholder(text string) bool {
	low := strings.ToLower(text)
	for _, w := range []string{"your", "example", "changeme", "change-me", "change_me", "placeholder", "xxxx", "****", "....", "dummy", "fake",
		"redacted", "insert", "todo", "${", "{{", "%s", "test", "sample", "not-a-", "replace"} {
		if strings.Contains(low, w) {
			return true
		}
	}
	switch strings.Trim(low, "_-:") {
	case "password", "passwd", "secret", "token", "apikey", "api_key", "api-key", "none", "null", "undefined", "bearer", "basic", "default", "string", "credentials":
		return true
	}
	return entropy(text) < 1
}

// identifier says whether a text is one word of letters, as names of fields are.
func identifier(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return !(r == '_' || r == '-' || r == '.' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z')
	})
}

// mixture counts the sorts of characters in a text: letters, digits, others.
func mixture(text string) int {
	var sorts [3]int
	for i := range len(text) {
		switch c := text[i]; {
		case '0' <= c && c <= '9':
			sorts[0] = 1
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
			sorts[1] = 1
		case c != '_' && c != '-' && c != '.' && c != ':' && c != '/':
			sorts[2] = 1
		}
	}
	return sorts[0] + sorts[1] + sorts[2]
}

// entropy is how many bits a character of the text carries.
func entropy(text string) float64 {
	if text == "" {
		return 0
	}
	var counts [256]int
	for i := range len(text) {
		counts[text[i]]++
	}
	sum := 0.0
	for _, n := range slices.DeleteFunc(counts[:], func(n int) bool { return n == 0 }) {
		p := float64(n) / float64(len(text))
		sum -= p * math.Log2(p)
	}
	return sum
}
