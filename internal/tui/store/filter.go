package store

import (
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// A Filter says which rows are shown. What is empty asks for nothing.
type Filter struct {
	From    string // sends, decides or is addressed
	Kind    string // TYPE or TYPE:METHOD
	Context string
	State   State
	Words   string // all of them
}

// ReadFilter reads one as people write it, "from:agent state:open hello".
func ReadFilter(line string) (Filter, error) {
	var f Filter
	var words []string
	for word := range strings.FieldsSeq(line) {
		name, value, ok := strings.Cut(word, ":")
		switch {
		case !ok:
			words = append(words, word)
		case name == "from":
			f.From = value
		case name == "kind":
			f.Kind = value
		case name == "in":
			f.Context = value
		case name == "state" && value == "waiting": // as rows say
			f.State = Open
		case name == "state":
			if !isState(value) {
				return f, parley.Errorf(parley.InvalidArgument, "there is no state %q", value).WithHint("one of %s", strings.Join(States(), ", "))
			}
			f.State = State(value)
		default:
			words = append(words, word)
		}
	}
	f.Words = strings.Join(words, " ")
	return f, nil
}

func isState(s string) bool {
	return slices.Contains(States(), s)
}

// String is the filter as [ReadFilter] reads it.
func (f Filter) String() string {
	var parts []string
	for _, p := range [][2]string{{"from:", f.From}, {"kind:", f.Kind}, {"in:", f.Context}, {"state:", string(f.State)}, {"", f.Words}} {
		if p[1] != "" {
			parts = append(parts, p[0]+p[1])
		}
	}
	return strings.Join(parts, " ")
}

// Empty reports whether everything passes.
func (f Filter) Empty() bool { return f == Filter{} }

// Match reports whether a row passes. What the console itself says always does.
func (f Filter) Match(r *Row) bool {
	switch {
	case r.Type == Told:
		return true
	case f.From != "" && r.From != f.From && r.By != f.From && !contains(r.To, f.From),
		f.Kind != "" && r.Kind != f.Kind && !strings.HasPrefix(r.Kind, f.Kind+":"),
		f.Context != "" && r.Context != f.Context,
		f.State != "" && r.State != f.State:
		return false
	}
	return f.Words == "" || f.holds(r)
}

func contains(list []string, s string) bool {
	return slices.Contains(list, s)
}

// holds reports whether all words are there. An id is found by a good part of it: one
// digit stands in every other id.
func (f Filter) holds(r *Row) bool {
	hay := strings.ToLower(strings.Join([]string{r.From, r.Kind, r.Title, r.Text, r.Reason, r.Answer, r.Why}, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(f.Words)) {
		if !strings.Contains(hay, word) && (len(word) < 8 || !inAny(r.ids, word)) {
			return false
		}
	}
	return true
}

func inAny(ids []string, part string) bool {
	for _, id := range ids {
		if strings.Contains(strings.ToLower(id), part) {
			return true
		}
	}
	return false
}
