package space

import (
	"cmp"
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

// OfTypes lets contexts of some types through, and no others; without any it is
// none. A type that is not 1 to [parley.MaxID] visible ASCII characters can be
// named by no filter, and more than 64 are more than a connection may ask for:
// ParseContexts then refuses what String writes.
func OfTypes(types ...string) ContextFilter {
	return filterOf("type", types)
}

// OfTrees lets contexts and their descendants through, and no others; the same
// holds for their ids as for the types of OfTypes.
func OfTrees(ids ...string) ContextFilter { return filterOf("tree", ids) }

func filterOf(how string, names []string) ContextFilter {
	if len(names) == 0 {
		return ContextFilter{how: "none"}
	}
	names = slices.Clone(names)
	slices.Sort(names)
	return ContextFilter{how: how, names: slices.Compact(names)}
}

var (
	unescapeName = strings.NewReplacer("%2C", ",", "%2c", ",", "%25", "%")
	escapeName   = strings.NewReplacer("%", "%25", ",", "%2C")
)

// String is the filter as ParseContexts reads it. Filters that mean the same are
// written the same.
func (f ContextFilter) String() string {
	if len(f.names) == 0 {
		return f.How()
	}
	names := make([]string, len(f.names))
	for i, name := range f.names {
		names[i] = escapeName.Replace(name)
	}
	return f.how + ":" + strings.Join(names, ",")
}

// How is what the filter goes by: all, none, type, id or tree.
func (f ContextFilter) How() string { return cmp.Or(f.how, "all") }

// Names are the types or contexts that it names, in order, each once and as they
// are, without escapes; none of all and none. They are not to be changed.
func (f ContextFilter) Names() []string { return f.names }

// All reports whether the filter lets everything through.
func (f ContextFilter) All() bool { return f.how == "" }

// Reach is of how many contexts, from an envelope's own upwards, it needs to know
// more than their ids: of none, of one for its type, or of [LongestPath].
func (f ContextFilter) Reach() int {
	switch f.how {
	case "type":
		return 1
	case "tree":
		return LongestPath
	}
	return 0
}

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
