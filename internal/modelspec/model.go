package modelspec

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Kind is how an endpoint is spoken to.
type Kind string

// The kinds.
const (
	OpenAI     Kind = "openai"      // OpenAI's responses
	OpenAIChat Kind = "openai-chat" // chat completions, of OpenAI and of all that are compatible
	Anthropic  Kind = "anthropic"   // Anthropic's messages
	Ollama     Kind = "ollama"      // Ollama's chat
)

// Kinds are all of them.
func Kinds() []Kind { return []Kind{OpenAI, OpenAIChat, Anthropic, Ollama} }

// KeyVariable is the environment variable that usually holds a key for the
// endpoint of the kind's maker; "" where none is needed.
func (k Kind) KeyVariable() string {
	switch k {
	case OpenAI, OpenAIChat:
		return "OPENAI_API_KEY"
	case Anthropic:
		return "ANTHROPIC_API_KEY"
	}
	return ""
}

// Model is one model of one endpoint.
type Model struct {
	Name      string    `json:"name"`                // as the room sees it
	Kind      Kind      `json:"kind"`                //
	Model     string    `json:"model"`               // as the endpoint calls it
	URL       string    `json:"url,omitzero"`        // of the endpoint; "": the maker's own, of Ollama the one on this machine
	Key       Secret    `json:"key,omitzero"`        // that the endpoint wants
	KeyFrom   Reference `json:"key_from,omitzero"`   // where it is, in place of Key
	MaxTokens int64     `json:"max_tokens,omitzero"` // most that a reply may have; 0: as many as are asked for

	// What the choice among models goes by, from 0 to 1. Nil: 0.5.
	Cost         *float64 `json:"cost,omitzero"` // 1 is the dearest
	Speed        *float64 `json:"speed,omitzero"`
	Intelligence *float64 `json:"intelligence,omitzero"`
}

// Bounds of what is said of models.
const (
	MostModels   = 64
	MaxName      = 128 // bytes of Name, and of Model
	MaxMaxTokens = 1_000_000_000
)

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/+-]*$`)

// NameRule is what ValidName wants, for people.
const NameRule = "a name is 1 to 128 letters, digits and . _ : / + -, and starts with a letter or digit"

// ValidName reports whether the room may see a model by that name.
func ValidName(name string) bool { return len(name) <= MaxName && validName.MatchString(name) }

// ValidModel reports whether an endpoint may call a model that: at most 128
// bytes of text without control characters, and without blanks at its ends.
func ValidModel(model string) bool {
	odd := func(c rune) bool { return c < ' ' || c >= 0x7f && c < 0xa0 }
	return model != "" && len(model) <= MaxName && utf8.ValidString(model) && strings.TrimSpace(model) == model && strings.IndexFunc(model, odd) < 0
}

// CheckURL refuses what is not the address of an HTTP endpoint, and what holds
// a secret.
func CheckURL(address string) error {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return fmt.Errorf("the url is not the address of an HTTP endpoint: write http://HOST/PATH or https://HOST/PATH")
	case u.User != nil:
		return fmt.Errorf("the url holds a user name or password, and shows in logs: write a key")
	case u.Fragment != "" || u.RawQuery != "":
		return fmt.Errorf("the url has a part after ? or #, which requests do not have")
	}
	return nil
}

// InTheClear reports whether what is sent to the address can be read on the
// way: plain HTTP to another machine.
func InTheClear(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Hostname() == "localhost" {
		return false
	}
	ip, err := netip.ParseAddr(u.Hostname())
	return err != nil || !ip.Unmap().IsLoopback()
}

// NeedsKey reports whether the endpoint takes no request without a key. At
// another address than the maker's it may.
func (m Model) NeedsKey() bool { return m.URL == "" && m.Kind.KeyVariable() != "" }

// problems are what is wrong with the model.
func (m Model) problems(yield func(string)) {
	if !ValidName(m.Name) {
		yield("name: " + NameRule)
	}
	if !slices.Contains(Kinds(), m.Kind) {
		yield(fmt.Sprintf("kind: %s", kindRule()))
	}
	if !ValidModel(m.Model) {
		yield("model: write what the endpoint calls it, at most 128 characters")
	}
	if m.URL != "" {
		if err := CheckURL(m.URL); err != nil {
			yield(err.Error())
		}
	}
	m.keyProblems(yield)
	if m.MaxTokens < 0 || m.MaxTokens > MaxMaxTokens {
		yield(fmt.Sprintf("max_tokens: it can be 1 to %d", MaxMaxTokens))
	}
	for name, n := range map[string]*float64{"cost": m.Cost, "speed": m.Speed, "intelligence": m.Intelligence} {
		if n != nil && !Fraction(*n) {
			yield(name + ": it can be 0 to 1")
		}
	}
}

func (m Model) keyProblems(yield func(string)) {
	switch {
	case m.Key != "" && m.KeyFrom != "":
		yield("key, key_from: one of them")
	case m.Key != "" && !m.Key.Sendable():
		yield("key: it is 1 to 4,096 visible ASCII characters without blanks")
	case m.KeyFrom != "" && m.KeyFrom.Check() != nil:
		yield("key_from: " + m.KeyFrom.Check().Error())
	case m.Key == "" && m.KeyFrom == "" && m.NeedsKey():
		yield("key: the endpoint takes no request without one; " + m.Kind.KeyVariable() + " usually holds it")
	}
}

// Fraction reports whether n is from 0 to 1.
func Fraction(n float64) bool { return !math.IsNaN(n) && n >= 0 && n <= 1 }

func kindRule() string {
	words := make([]string, 0, len(Kinds()))
	for _, k := range Kinds() {
		words = append(words, string(k))
	}
	return "it is " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}

// ParseModel reads KIND:MODEL or KIND:MODEL@URL, as a command line has it. The
// room sees the model by the endpoint's name of it.
func ParseModel(text string) (Model, error) {
	kind, rest, ok := strings.Cut(text, ":")
	if !ok || rest == "" {
		return Model{}, fmt.Errorf("%.80q is not KIND:MODEL, as anthropic:claude-sonnet-4", text)
	}
	m := Model{Kind: Kind(kind), Model: rest}
	for _, scheme := range []string{"@http://", "@https://"} {
		if i := strings.LastIndex(rest, scheme); i >= 0 {
			m.Model, m.URL = rest[:i], rest[i+1:]
		}
	}
	m.Name = m.Model
	switch {
	case !slices.Contains(Kinds(), m.Kind):
		return m, fmt.Errorf("%.80q is not a kind of endpoint: %s", kind, kindRule())
	case !ValidModel(m.Model) || !ValidName(m.Name):
		return m, fmt.Errorf("%.80q cannot be the name of a model: %s", m.Model, NameRule)
	case m.URL != "":
		return m, CheckURL(m.URL)
	}
	return m, nil
}
