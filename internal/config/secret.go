package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
)

const (
	redacted  = "[redacted]"
	hashMark  = "sha256:"
	minToken  = 16      // characters, below which a token is warned about
	maxToken  = 4 << 10 // what fits into any server's header limits
	maxSecret = 64 << 10
)

// TokenHash is the SHA-256 of a token, which is all that is kept of it. It does
// not show when it is printed, since the hash of a weak token gives it away;
// see [TokenHash.Reference].
type TokenHash [sha256.Size]byte

// HashToken is the hash of a token as a client presents it.
func HashToken(token string) TokenHash { return sha256.Sum256([]byte(token)) }

// Reference is the form that may stand in parley.yaml in place of the token:
// sha256: and 64 hexadecimal digits.
func (h TokenHash) Reference() string { return hashMark + hex.EncodeToString(h[:]) }

// Format prints the same for every verb, and never the hash.
func (h TokenHash) Format(f fmt.State, _ rune) { io.WriteString(f, hashMark+redacted) }

// MarshalText keeps the hash out of JSON.
func (h TokenHash) MarshalText() ([]byte, error) { return []byte(hashMark + redacted), nil }

// LogValue keeps the hash out of logs.
func (h TokenHash) LogValue() slog.Value { return slog.StringValue(hashMark + redacted) }

// parseTokenHash reads what Reference writes.
func parseTokenHash(s string) (h TokenHash, ok bool) {
	digits, marked := strings.CutPrefix(s, hashMark)
	if !marked || len(digits) != hex.EncodedLen(len(h)) {
		return h, false
	}
	_, err := hex.Decode(h[:], []byte(digits))
	return h, err == nil
}

// Secret is text that does not show when it is printed, logged or marshaled.
// The zero value is empty.
type Secret struct {
	text *string // a pointer: fmt prints the fields of unexported fields itself
}

// NewSecret hides text.
func NewSecret(text string) Secret { return Secret{text: &text} }

// Reveal is the text.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Format prints the same for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// MarshalText keeps the text out of JSON.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue keeps the text out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// tokens reads token: one, or a list while an old one is replaced by a new
// one. taken says which of the space are in use already, and by whom.
func (r *reader) tokens(v, owner value, taken map[TokenHash]string) []TokenHash {
	if !v.written() {
		return nil
	}
	each := []value{v}
	if v.kind == listNode {
		each = r.items(v)
		if len(each) == 0 {
			r.fail(v, "write a token, or leave the key out", "token is an empty list")
		}
	}
	var hashes []TokenHash
	for _, t := range each {
		h, ok := r.token(t)
		if !ok {
			continue
		}
		if other, used := taken[h]; used {
			r.fail(t, "give every participant a token of its own; parley token prints one",
				"%q has a token that %q has already", owner.name, other)
			continue
		}
		taken[h] = owner.name
		hashes = append(hashes, h)
	}
	return hashes
}

func (r *reader) token(v value) (TokenHash, bool) {
	const hint = "parley token prints a good one"
	if !v.written() {
		r.fail(v, hint, "token is empty")
		return TokenHash{}, false
	}
	text, ok := r.secret(v)
	if !ok {
		return TokenHash{}, false
	}
	if strings.HasPrefix(text, hashMark) {
		h, ok := parseTokenHash(text)
		if !ok {
			r.fail(v, "write sha256: and 64 hexadecimal digits, as parley token prints them", "the hash of the token is malformed")
		}
		return h, ok
	}
	switch {
	case text == "":
		r.fail(v, hint, "token is empty")
		return TokenHash{}, false
	case strings.IndexFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }) >= 0:
		r.fail(v, hint, "token has characters that no client can send: it is visible ASCII without blanks")
		return TokenHash{}, false
	case len(text) > maxToken:
		r.fail(v, hint, "token is longer than %s characters", countText(maxToken))
		return TokenHash{}, false
	case len(text) < minToken:
		r.warn(v, hint, "token is shorter than %d characters and can be guessed", minToken)
	}
	if !strings.Contains(v.text, "${") && !r.literal.written() {
		r.literal = v
	}
	return HashToken(text), true
}

// secrets reads a mapping of names to secret values.
func (r *reader) secrets(v value, valid func(name string) bool, rule string) map[string]Secret {
	entries := r.all(v)
	if len(entries) == 0 {
		return nil
	}
	secrets := make(map[string]Secret, len(entries))
	for _, e := range entries {
		if !valid(e.name) {
			r.failKey(e, rule, "%q is not a name for %s", showKey(e.name), v.title())
			continue
		}
		if !e.written() {
			r.fail(e, `write "" for an empty value`, "%s has no value", e.title())
			continue
		}
		if text, ok := r.secret(e); ok {
			secrets[e.name] = NewSecret(text)
		}
	}
	return secrets
}

// secret is text with its references to secrets filled in. $${ stands for ${.
func (r *reader) secret(v value) (string, bool) {
	rest, ok := r.text(v)
	if !ok {
		return "", false
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(rest, "${")
		if !found {
			b.WriteString(rest)
			break
		}
		if plain, escaped := strings.CutSuffix(before, "$"); escaped {
			b.WriteString(plain + "${")
			rest = after
			continue
		}
		reference, tail, closed := strings.Cut(after, "}")
		if !closed {
			r.fail(v, "write ${env:NAME} or ${file:PATH}; $${ is a plain ${", "a reference to a secret lacks its }")
			return "", false
		}
		text, found := r.lookup(v, reference)
		ok = ok && found
		b.WriteString(before + text)
		rest = tail
		if b.Len() > maxSecret {
			break
		}
	}
	if b.Len() > maxSecret {
		r.fail(v, "", "%s is longer than %s", v.title(), sizeText(maxSecret))
		return "", false
	}
	if strings.ContainsRune(b.String(), 0) {
		r.fail(v, "", "%s holds a NUL character", v.title())
		return "", false
	}
	return b.String(), ok
}

func (r *reader) lookup(v value, reference string) (string, bool) {
	how, name, ok := strings.Cut(reference, ":")
	switch {
	case ok && how == "env" && name != "":
		text, set := r.env.Lookup(name)
		hint := "set it before the gateway starts"
		if !r.others {
			hint += ", or write ${file:PATH}"
		}
		switch {
		case set:
		case r.told == nil:
			r.fail(v, hint, "the environment variable %s is not set", showKey(name))
		case !r.told[name]:
			r.told[name] = true
			r.warn(v, hint, "the environment variable %s is not set", showKey(name))
		}
		set = set || r.told != nil
		return text, set
	case ok && how == "file" && name != "":
		return r.secretFile(v, r.resolve(name))
	}
	hint := "write ${env:NAME} or ${file:PATH}; $${ is a plain ${"
	if !ok && validEnvName(reference) {
		hint = "write ${env:" + showKey(reference) + "}; $${ is a plain ${"
	}
	r.fail(v, hint, "%s refers to something that is neither env nor file", v.title())
	return "", false
}

// secretFile is what a file holds, without the line break at its end.
func (r *reader) secretFile(v value, path string) (string, bool) {
	data, mode, err := readFile(path, maxSecret)
	switch {
	case os.IsNotExist(err):
		r.fail(v, "a relative path starts from the configuration's folder", "there is no file %s", path)
	case err != nil:
		r.fail(v, "", "the file %s cannot be read: %v", path, cause(err))
	case len(data) > maxSecret:
		r.fail(v, "", "the file %s is longer than %s", path, sizeText(maxSecret))
	case othersCanRead(mode):
		r.fail(v, "chmod 600 "+path, "the file %s can be read by others (mode %04o)", path, mode.Perm())
	default:
		text := strings.TrimSuffix(string(data), "\n")
		return strings.TrimSuffix(text, "\r"), true
	}
	return "", false
}

func validEnvName(name string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && !strings.Contains(name, "${")
}
