package space

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// ContextFilter says which sub-contexts a connection receives; the main one it
// always does. The zero value is all of them.
type ContextFilter struct {
	how   string // "" all, none, type, id or tree
	names []string
}

// mostNamed bounds the names of a filter.
const mostNamed = 64

// ParseContexts reads all, none, type:T,…, id:ID,… or tree:ID,… (section 6 of the
// contract). In a name a comma is written %2C, and a percent sign %25. The error
// is invalid_argument.
func ParseContexts(text string) (ContextFilter, error) {
	switch text {
	case "all":
		return ContextFilter{}, nil
	case "none":
		return ContextFilter{how: "none"}, nil
	}
	how, list, _ := strings.Cut(text, ":")
	if how != "type" && how != "id" && how != "tree" {
		return ContextFilter{}, parley.Errorf(parley.InvalidArgument, "%.40q is not all, none, type:…, id:… or tree:…", text).
			WithHint("write type:reasoning,workflow for two types, or tree:ID for a context with its descendants")
	}
	f := ContextFilter{how: how}
	for name := range strings.SplitSeq(list, ",") {
		name = unescapeName.Replace(name)
		if !parley.ValidID(name) {
			return ContextFilter{}, parley.Errorf(parley.InvalidArgument, "%.40q names no context: it is not 1 to %d visible ASCII characters", name, parley.MaxID).
				WithHint("separate names with commas alone; a comma within one is written %%2C")
		}
		if !slices.Contains(f.names, name) {
			f.names = append(f.names, name)
		}
	}
	if len(f.names) > mostNamed {
		return ContextFilter{}, parley.Errorf(parley.InvalidArgument, "it names %d contexts, the limit is %d", len(f.names), mostNamed)
	}
	slices.Sort(f.names)
	return f, nil
}

var (
	unescapeName = strings.NewReplacer("%2C", ",", "%2c", ",", "%25", "%")
	escapeName   = strings.NewReplacer("%", "%25", ",", "%2C")
)

// String is the filter as ParseContexts reads it. Filters that mean the same are
// written the same.
func (f ContextFilter) String() string {
	switch f.how {
	case "":
		return "all"
	case "none":
		return f.how
	}
	names := make([]string, len(f.names))
	for i, name := range f.names {
		names[i] = escapeName.Replace(name)
	}
	return f.how + ":" + strings.Join(names, ",")
}

// Names is how many types or contexts it names.
func (f ContextFilter) Names() int { return len(f.names) }

// All reports whether the filter lets everything through.
func (f ContextFilter) All() bool { return f.how == "" }

// NeedsLineage reports whether more than a context's id decides.
func (f ContextFilter) NeedsLineage() bool { return f.how == "type" || f.how == "tree" }

// Match reports whether the filter lets a context through; nil is the main one.
func (f ContextFilter) Match(l *Lineage) bool {
	if l == nil {
		return true
	}
	switch f.how {
	case "":
		return true
	case "type":
		return f.has(l.Type)
	case "id":
		return f.has(l.ID())
	case "tree":
		return slices.ContainsFunc(l.Path, f.has)
	}
	return false
}

func (f ContextFilter) has(name string) bool {
	_, found := slices.BinarySearch(f.names, name)
	return found
}

// Lineage is where a context stands in the tree. It is shared, and never
// changed.
type Lineage struct {
	Type string   // as its first envelope said
	Path []string // its id, its parent's, and so on
}

// ID is the context's.
func (l *Lineage) ID() string { return l.Path[0] }
