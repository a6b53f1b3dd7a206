package config

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// Bounds of what is said of context types. Each newcomer is told all of it.
const (
	mostContextTypes = 32
	mostTypeKinds    = 16
	maxTypeKind      = 256 // bytes of a pattern
	maxDescription   = 200 // characters
)

// BuiltinContextTypes are those that every space has unless its configuration says
// otherwise. Work waits for people longer than thought does.
func BuiltinContextTypes() map[string]space.ContextType {
	return map[string]space.ContextType{
		"reasoning": {
			Description: "how a participant comes to a conclusion, step by step",
			Kinds:       []string{"reflection", "conclusion", "mcp/proposal:*"},
		},
		"workflow": {
			Description: "a task of several steps, perhaps by several participants",
			Kinds:       []string{"chat", "mcp/*"},
			Idle:        time.Hour,
		},
		"delegation": {
			Description: "work that one participant hands to another",
			Kinds:       []string{"mcp/*", "conclusion"},
			Idle:        time.Hour,
		},
	}
}

// contextTypes reads the types of a space's contexts. What is written of a built-in
// one changes it, and what the space's own limits say wins over what is built in.
func (r *reader) contextTypes(v, limits value) map[string]space.ContextType {
	types := BuiltinContextTypes()
	if wrote(limits, "context_idle") {
		for name, t := range types {
			t.Idle = 0
			types[name] = t
		}
	}
	for _, entry := range r.all(v) {
		if !parley.ValidID(entry.name) {
			r.failKey(entry, "a type is 1 to 128 visible ASCII characters, as reasoning",
				"%q cannot be the type of a context", showKey(entry.name))
			continue
		}
		types[entry.name] = r.contextType(entry, types[entry.name])
	}
	if n := len(types); n > mostContextTypes {
		r.failKey(v, "", "there are %d context types with those that are built in, and there can be %d", n, mostContextTypes)
	}
	return types
}

func wrote(v value, key string) bool {
	return v.written() && slices.ContainsFunc(v.entries, func(e entry) bool {
		return e.key == key && e.value.kind != nullNode
	})
}

// contextType is a type as it was, with what is written of it.
func (r *reader) contextType(v value, t space.ContextType) space.ContextType {
	m := r.keys(v, contextTypeKeys)
	r.description(m["description"], &t.Description)
	if m["kinds"].written() {
		t.Kinds = r.typeKinds(m["kinds"])
	}
	t.Summarize = r.flag(m["summarize"], t.Summarize)
	r.contextLimits(r.keys(m["limits"], typeLimitKeys), &t.Rate, &t.Depth, &t.Open, &t.MetadataBytes, &t.Idle)
	return t
}

func (r *reader) description(v value, into *string) {
	text, ok := r.text(v)
	switch {
	case !ok:
	case utf8.RuneCountInString(text) > maxDescription:
		r.fail(v, "", "%s is longer than %d characters", v.title(), maxDescription)
	case strings.ContainsFunc(text, unicode.IsControl):
		r.fail(v, "write it on one line", "%s holds a line break or another control character", v.title())
	default:
		*into = text
	}
}

// typeKinds is the patterns of what is expected in a context.
func (r *reader) typeKinds(v value) []string {
	var kinds []string
	for _, pattern := range r.kinds(v) {
		text := pattern.String()
		if len(text) > maxTypeKind {
			r.fail(v, "", "a pattern of %s is longer than %d bytes", v.title(), maxTypeKind)
			return nil
		}
		kinds = append(kinds, text)
	}
	if len(kinds) > mostTypeKinds {
		r.fail(v, "", "%s has %d patterns, and there can be %d", v.title(), len(kinds), mostTypeKinds)
	}
	return kinds
}

// Summarizer is the participant that sums up contexts of types of which a space
// says summarize.
const Summarizer = "summarizer"

// Summarized are the types of contexts that get a summary, sorted.
func (s *Space) Summarized() []string {
	var types []string
	for name, t := range Sorted(s.ContextTypes) {
		if t.Summarize {
			types = append(types, name)
		}
	}
	return types
}

// checkSummarizer finds who has the summarizer's name, and types that nobody could
// sum up.
func (r *reader) checkSummarizer(s *Space, types value) {
	if len(s.Summarized()) == 0 {
		return
	}
	_, participant := s.Participants[Summarizer]
	_, server := s.MCPServers[Summarizer]
	if _, model := s.Models[Summarizer]; participant || server || model {
		r.fail(types, "rename it", "%q is who sums up contexts, and cannot be another participant", Summarizer)
	}
	for _, p := range s.Participants {
		if slices.Contains(p.Serves, ServesSampling) {
			return
		}
	}
	if len(s.Models) > 0 {
		return
	}
	r.warn(types, "write serves: [sampling] at the participant that does, or a model into models", "contexts are to be summed up, and nobody serves sampling")
}
