package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// checkContext finds a --context that says nothing sensible.
func (f *tailFlags) checkContext() error {
	const how = "write the id of a context, or id:ID,…, tree:ID,…, type:TYPE,… or all"
	switch {
	case f.context == "" && f.withMain:
		return usagef("--with-main says more about --context, which is missing")
	case f.context == "":
		return nil
	case f.context == "none":
		return usagef("--context none would show nothing").hint(how)
	}
	if _, err := space.ParseContexts(cmp.Or(f.filter(), treeOf(f.context))); err != nil {
		e := asError(err)
		return usagef("--context: %s", e.Message).hint("%s", cmp.Or(e.Hint, how))
	}
	return nil
}

// filter is a --context that is a filter of contexts already (section 6 of the
// contract); "" is one that names a context. Ids may hold colons, too.
func (f *tailFlags) filter() string {
	if f.context == "all" || isFilter(f.context) {
		return f.context
	}
	return ""
}

// isFilter reports whether a text reads as a filter that names contexts or types.
func isFilter(text string) bool {
	how, _, isList := strings.Cut(text, ":")
	return isList && slices.Contains([]string{"id", "tree", "type"}, how)
}

// treeOf is the filter for a context and what is nested in it.
func treeOf(id string) string { return space.OfTrees(id).String() }

// contexts is what to ask the gateway for; "" is whatever it sends by itself.
func (f *tailFlags) contexts(ctx context.Context, t *terminal, rec record) (string, error) {
	if f.context == "" || f.filter() != "" {
		return f.filter(), nil
	}
	id, err := findContext(ctx, rec, f.context)
	if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		if strings.Contains(f.context, ":") { // what send takes would be waited for in vain
			return "", usagef("--context: %s", asError(err).Message).
				hint("ID:TYPE is for sending; to read, the id is enough. One with a colon in it can be waited for as id:ID")
		}
		t.say("%s", t.errPalette().dim("nobody has opened the context "+clean(f.context)+" yet; waiting for it"))
		return treeOf(f.context), nil
	}
	return treeOf(id), err
}

// shows says what to show of what arrives. The gateway sends the main context
// whatever was asked for, since that is where everybody meets; who follows a line
// of reasoning wants that alone.
func (f *tailFlags) shows(me string) func(*parley.Envelope) bool {
	return func(e *parley.Envelope) bool {
		if f.directed && len(e.To) > 0 && !slices.Contains(e.To, me) {
			return false
		}
		return f.context == "" || f.withMain || e.Context != nil || slices.Contains(e.To, me)
	}
}
