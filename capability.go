package parley

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// MaxPattern is the longest pattern that a capability may hold, in bytes; the
// "!" of a denial comes on top.
const MaxPattern = 4 << 10

// Action is what a capability is held against: one envelope that somebody
// wants to send, by its effective kind.
type Action struct {
	Kind        Kind           // the effective kind (section 3)
	To          []string       // addressees; empty is a broadcast
	ContextType string         // the type of the envelope's context, empty without one
	Params      jsontext.Value // payload.params, decoded strictly before; nil where there is none or the space is lazy
}

// Capability is a pattern over envelopes: it allows what it matches or, with a
// leading "!", denies it (section 4 of the contract). It comes as a string,
//
//	mcp/request:tools/call:read_*
//
// or as an object that narrows one:
//
//	{"kind": "mcp/request:tools/call:write_file",
//	 "params": {"arguments": {"path": "/w/*"}},
//	 "context": {"type": "reasoning"},
//	 "to": ["files"]}
//
// A grant and a denial read the same pattern with opposite caution. Where it
// cannot be told whether an action is meant, because a member is absent, of
// another type, or a path that two programs may resolve differently, a grant
// does not match and a denial does. In detail:
//
//   - A part of a kind that is not there is an empty one: "*" matches it.
//   - A denial of some SUBJECTs also matches an MCP kind whose SUBJECT was left
//     out, which only a lazy space lets through.
//   - On MCP methods without a SUBJECT of their own a grant does not look at
//     what stands in its place, since anybody can write anything there.
//   - A denial looks at SUBJECTs and strings as written and once more with
//     percent-encoding undone, backslashes turned and doubled slashes joined.
//   - An array in params matches a grant if it has elements and all of them
//     match, and a denial if any of them may. An array inside an array is of
//     another type.
//   - Addressees match a grant if there are any and all of them match, and a
//     denial if any of them does; a broadcast goes to those as well.
//   - An envelope without a context, or whose context has no type, matches no
//     context pattern: that much is certain.
//
// Denials of paths are a second line all the same, since a file may have
// several names: prefer grants of what is allowed.
//
// A Capability is compiled once and does not change. The zero value matches
// nothing and cannot be marshalled.
type Capability struct{ r *rule }

// rule is a compiled capability.
type rule struct {
	text   string         // as it was written; an object form is compact JSON
	object jsontext.Value // the object form, nil for a string
	kind   string         // the kind's pattern, without "!"
	deny   bool

	typ, method, subject glob

	params  *node // nil where it narrows nothing
	context *glob
	to      []glob
}

// ParseCapability compiles the string form of a capability. A text that starts
// with a brace is read as the object form, so that what [Capability.String]
// returns can be read again. Errors are invalid_argument and say what is wrong.
func ParseCapability(s string) (Capability, error) {
	if strings.HasPrefix(strings.TrimSpace(s), "{") {
		return parseCapabilityJSON([]byte(s))
	}
	r := &rule{text: s}
	if err := r.setKind(s); err != nil {
		return Capability{}, err
	}
	return Capability{r}, nil
}

// MustCapability is [ParseCapability] for patterns that stand in the program.
// It panics on an error.
func MustCapability(s string) Capability {
	c, err := ParseCapability(s)
	if err != nil {
		panic(err)
	}
	return c
}

// String is the capability as it was written; an object form without the blanks
// around its members.
func (c Capability) String() string {
	if c.r == nil {
		return ""
	}
	return c.r.text
}

// IsZero reports whether c was never parsed.
func (c Capability) IsZero() bool { return c.r == nil }

// Deny reports whether c takes away instead of giving.
func (c Capability) Deny() bool { return c.r != nil && c.r.deny }

// NeedsStrict reports whether c looks at params, which a lazy space does not
// read: there such a grant matches nothing, and such a denial all of its kind.
func (c Capability) NeedsStrict() bool { return c.r != nil && c.r.params != nil }

// GrantsSystem reports whether c is a grant that could match nothing but
// system/*, which is the gateway's own and cannot be granted.
func (c Capability) GrantsSystem() bool {
	return c.r != nil && !c.r.deny && strings.HasPrefix(c.r.typ.pieces[0], systemPrefix)
}

const systemPrefix = "system/"

// CheckGrant refuses, with capability_violation, what cannot be given in a
// capability/grant whoever gives it: denials and system/*.
func (c Capability) CheckGrant() error {
	switch {
	case c.r == nil:
		return Errorf(InvalidArgument, "the capability is empty")
	case c.r.deny:
		return Errorf(CapabilityViolation, "a grant holds no denials, but %s is one", clip(c.r.text, 80)).
			WithHint("take it away with %s", KindRevoke)
	case c.GrantsSystem():
		return Errorf(CapabilityViolation, "%s cannot be granted: system/* is the gateway's own", clip(c.r.text, 80))
	}
	return nil
}

// Matches reports whether the pattern matches: what a grant then allows, or a
// denial denies. Whether an action may be sent, only a whole set can say:
// [Capabilities.Allow].
func (c Capability) Matches(a *Action) bool {
	if c.r == nil {
		return false
	}
	doubtful := hasDotSubject(a.Kind)
	if c.r.deny {
		return c.r.denies(a, doubtful)
	}
	return !doubtful && c.r.grants(a, meantSubject(a.Kind))
}

// grants judges a grant; subject is what the kind's SUBJECT means.
func (r *rule) grants(a *Action, subject string) bool { return r.grant(a, subject, false) == Always }

// grant says for how many params a grant matches; where they are known it is
// Never or Always.
func (r *rule) grant(a *Action, subject string, unknown bool) Extent {
	but := r.typ.match(a.Kind.Type) &&
		r.method.match(a.Kind.Method) &&
		r.subject.match(subject) &&
		(r.context == nil || r.contextMatches(a)) &&
		(r.to == nil || r.grantsAddressees(a.To))
	return r.extent(a, but, unknown, yes)
}

// denies judges a denial; doubtful says that the SUBJECT could mean anything.
func (r *rule) denies(a *Action, doubtful bool) bool { return r.denial(a, doubtful, false) == Always }

// denial is grant for a denial.
func (r *rule) denial(a *Action, doubtful, unknown bool) Extent {
	but := r.typ.match(a.Kind.Type) &&
		r.method.match(a.Kind.Method) &&
		(doubtful || r.deniesSubject(a.Kind)) &&
		(r.context == nil || r.contextMatches(a)) &&
		(r.to == nil || r.deniesAddressees(a.To))
	return r.extent(a, but, unknown, doubt)
}

// extent adds what the params say, of which least is enough, to what all the
// rest said.
func (r *rule) extent(a *Action, rest, unknown bool, least verdict) Extent {
	switch {
	case !rest:
		return Never
	case r.params == nil:
		return Always
	case unknown:
		return Sometimes
	case r.judgeParams(a.Params) >= least:
		return Always
	}
	return Never
}

func (r *rule) deniesSubject(k Kind) bool {
	if k.Subject == "" && isMCP(k.Type) && HasSubject(k.Method) {
		return true // the short form: it could be any of them
	}
	return r.subject.matchLoosely(k.Subject)
}

func (r *rule) contextMatches(a *Action) bool {
	return a.ContextType != "" && r.context.match(a.ContextType)
}

func (r *rule) grantsAddressees(to []string) bool {
	for _, id := range to {
		if !matchesAny(r.to, id) {
			return false
		}
	}
	return len(to) > 0
}

func (r *rule) deniesAddressees(to []string) bool {
	for _, id := range to {
		if matchesAny(r.to, id) {
			return true
		}
	}
	return len(to) == 0
}

func matchesAny(patterns []glob, s string) bool {
	for i := range patterns {
		if patterns[i].match(s) {
			return true
		}
	}
	return false
}

func isMCP(typ string) bool { return strings.HasPrefix(typ, "mcp/") }

// meantSubject is the SUBJECT that a grant may rely on. Section 3: on a METHOD
// without a SUBJECT of its own, one is a label without meaning. A pattern such
// as mcp/request:*:read_* must not let anybody send any such METHOD under a
// label of its choice.
func meantSubject(k Kind) string {
	if k.Subject != "" && isMCP(k.Type) && !HasSubject(k.Method) {
		return ""
	}
	return k.Subject
}

// setKind compiles the pattern of the kind, "!" included.
func (r *rule) setKind(s string) error {
	r.kind, r.deny = strings.CutPrefix(s, "!")
	if err := checkPattern(s); err != nil {
		return err
	}
	parts := strings.SplitN(r.kind, ":", 3)
	for i, part := range parts {
		if err := checkPart(s, i, part); err != nil {
			return err
		}
	}
	for len(parts) < 3 {
		parts = append(parts, "*") // a part that it does not have matches anything
	}
	r.typ, r.method, r.subject = compileGlob(parts[0]), compileGlob(parts[1]), compileGlob(parts[2])
	return nil
}

func checkPattern(s string) error {
	switch {
	case s == "":
		return Errorf(InvalidArgument, "the pattern is empty").
			WithHint("write a kind, for example chat or mcp/request:tools/call:read_*")
	case len(strings.TrimPrefix(s, "!")) > MaxPattern:
		return Errorf(InvalidArgument, "the pattern is longer than %d bytes: %s", MaxPattern, clip(s, 80))
	case !utf8.ValidString(s):
		return Errorf(InvalidArgument, "the pattern is not valid UTF-8")
	case strings.HasPrefix(s, "!!"):
		return Errorf(InvalidArgument, "the pattern %q denies twice", clip(s, 80))
	}
	return nil
}

// checkPart refuses parts that no kind has: somebody meant something else.
func checkPart(s string, i int, part string) error {
	if part == "" {
		err := Errorf(InvalidArgument, "%s is empty in the pattern %q", partNames[i], clip(s, 80))
		if i > 0 {
			err = err.WithHint("leave the colon out to match any %s", partNames[i])
		}
		return err
	}
	if i < 2 && strings.IndexFunc(part, notVisibleASCII) >= 0 {
		return Errorf(InvalidArgument, "%s has a blank or another character that no kind has, in the pattern %q", partNames[i], clip(s, 80))
	}
	if strings.IndexFunc(part, unicode.IsControl) >= 0 {
		return Errorf(InvalidArgument, "%s has a control character in the pattern %q", partNames[i], clip(s, 80))
	}
	return nil
}
