package config

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

func (r *reader) participant(v value, tokens map[TokenHash]string, in *Space) *Participant {
	m := r.keys(v, participantKeys)
	p := &Participant{
		TokenHashes:  r.tokens(m["token"], v, tokens),
		Capabilities: r.capabilities(m["capabilities"], in.Enforcement),
		Routing:      choose(r, m["routing"], RoutingAll, RoutingDirected),
		Contexts:     r.contexts(m["contexts"]),
		Kinds:        r.kinds(m["kinds"]),
		History:      r.history(m["history"], in.Limits.History),
		Echo:         r.flag(m["echo"], true),
		Serves:       r.serves(m["serves"]),
		ResultBudget: r.resultBudget(m[resultBudgetKey]),
	}
	if v.written() && v.kind != mapNode {
		return p // told already
	}
	r.serviceable(v.name, m["serves"], p)
	if !m["token"].written() && v.name != in.MCP.Anonymous {
		w := v
		w.node = nil
		r.warn(w, "write token:, with what parley token prints", "%q has no token, so nobody can connect as it", v.name)
	}
	return p
}

// contexts is which sub-contexts a participant receives, in the form of the
// query parameter.
func (r *reader) contexts(v value) space.ContextFilter {
	text, ok := r.text(v)
	if !ok {
		return space.ContextFilter{}
	}
	f, err := space.ParseContexts(text)
	if e, ok := errors.AsType[*parley.Error](err); ok {
		r.fail(v, e.Hint, "contexts: %s", e.Message)
	}
	return f
}

// kinds is a list of patterns, or patterns with commas between them, as in the
// query parameter.
func (r *reader) kinds(v value) parley.Capabilities {
	var patterns parley.Capabilities
	if v.written() && v.kind == listNode {
		for _, item := range r.items(v) {
			if text, ok := r.pattern(item); ok {
				patterns = r.filter(patterns, item, text)
			}
		}
		return patterns
	}
	text, ok := r.text(v)
	if !ok {
		return nil
	}
	for part := range strings.SplitSeq(text, ",") {
		patterns = r.filter(patterns, v, part)
	}
	return patterns
}

// filter adds a pattern that only selects.
func (r *reader) filter(patterns parley.Capabilities, v value, text string) parley.Capabilities {
	if strings.HasPrefix(text, "!") || strings.HasPrefix(text, "{") {
		r.fail(v, `write patterns of what is meant, as "chat"`, "kinds takes no denials and no objects")
		return patterns
	}
	c, err := parley.ParseCapability(text)
	if !r.admit(v, err) {
		return patterns
	}
	return append(patterns, c)
}

func (r *reader) history(v value, most int) int {
	n := 0
	if v.written() {
		r.count(v, &n, 0, most)
	}
	return n
}

// serves is a list of services.
func (r *reader) serves(v value) []Service {
	var services []Service
	for _, item := range r.items(v) {
		before := len(r.problems)
		s := choose(r, item, ServesSampling, ServesElicitation, ServesTools)
		switch {
		case !item.written():
			r.fail(item, "", "%s has no value", item.title())
		case len(r.problems) > before: // told
		case slices.Contains(services, s):
			r.fail(item, "", "%s is in the list already", s)
		default:
			services = append(services, s)
		}
	}
	return services
}

// answers are the kinds that those who serve answer with.
var answers = map[Service]string{
	ServesSampling: "mcp/response:sampling/createMessage", ServesElicitation: "mcp/response:elicitation/create", ServesTools: "mcp/response:tools/call",
}

// serviceable warns where somebody serves and may not answer: it would show only
// when a form has been filled in.
func (r *reader) serviceable(name string, v value, p *Participant) {
	for _, s := range p.Serves {
		kind, err := parley.ParseKind(answers[s])
		if err == nil && p.Capabilities.Extent(&parley.Action{Kind: kind}) == parley.Never {
			r.warn(v, `add "mcp/response:*" to its capabilities`, "%q serves %s and may not answer: it may never send %s", name, s, answers[s])
		}
	}
}

// flag is a truth value: true, false, on or off.
func (r *reader) flag(v value, def bool) bool {
	text, ok := r.text(v)
	if !ok {
		return def
	}
	switch text {
	case "on":
		return true
	case "off":
		return false
	}
	b, err := strconv.ParseBool(text)
	if err != nil || len(text) < 4 {
		r.fail(v, "", "%s is not on or off", v.title())
		return def
	}
	return b
}
