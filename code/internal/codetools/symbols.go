package codetools

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parleyhq/parley/code/internal/syntax"
	"github.com/parleyhq/parley/tool"
)

// maxName bounds a symbol's name in an argument, in bytes.
const maxName = 300

// Symbol is something of a file that has a name.
type Symbol struct {
	Name     string // qualified
	Kind     string // a FunctionKind or ClassKind, or "variable"
	Span     syntax.Span
	Whole    syntax.Span
	Function int // index into File.Functions, or -1
	Class    int // index into File.Classes, or -1
}

// Simple is the last part of the name.
func (s Symbol) Simple() string { return simple(s.Name) }

// An index finds the symbols of a file. It is made once for each file.
type index struct {
	all     []Symbol
	byName  map[string]int // the first of each qualified name
	imports map[string]bool
}

func indexOf(f *syntax.File) *index { return syntax.Derive(f, newIndex) }

func newIndex(f *syntax.File) *index {
	x := &index{all: symbols(f), byName: map[string]int{}, imports: map[string]bool{}}
	for i, s := range x.all {
		if _, taken := x.byName[s.Name]; !taken {
			x.byName[s.Name] = i
		}
	}
	for _, i := range f.Imports {
		for _, name := range i.Locals {
			x.imports[name] = true
		}
	}
	return x
}

// Symbols are a file's functions, classes and variables that have names. The
// list must not be changed.
func Symbols(f *syntax.File) []Symbol { return indexOf(f).all }

func symbols(f *syntax.File) []Symbol {
	all := make([]Symbol, 0, len(f.Functions)+len(f.Classes)+len(f.Variables))
	for i := range f.Classes {
		if c := &f.Classes[i]; c.Name != "" {
			all = append(all, Symbol{c.Qualified, string(c.Kind), c.Span, c.Whole, -1, i})
		}
	}
	for i := range f.Functions {
		if fn := &f.Functions[i]; fn.Name != "" {
			all = append(all, Symbol{fn.Qualified, string(fn.Kind), fn.Span, fn.Whole, i, -1})
		}
	}
	for _, v := range f.Variables {
		all = append(all, Symbol{v.Name, "variable", v.Span, v.Whole, -1, -1})
	}
	return all
}

// Find is the symbol of a name: qualified as analyze_code tells it, in Go also
// "(*T).M", or the last part alone where only one symbol has it. Where several
// have the same qualified name, such as a getter and its setter, it is the
// first.
//
// Errors are a *[tool.Error]: not_found, with similar names as did_you_mean,
// and invalid_argument for a name that several symbols share.
func Find(f *syntax.File, name string) (Symbol, error) {
	if name == "" || len(name) > maxName {
		return Symbol{}, tool.Errorf(tool.InvalidArgument, "the symbol's name has %d bytes: give one of 1 to %d", len(name), maxName)
	}
	wanted := withoutStars(name)
	x := indexOf(f)
	if i, ok := x.byName[wanted]; ok {
		return x.all[i], nil
	}
	all := x.all
	var found []Symbol
	for i := range all {
		s := &all[i]
		if strings.HasSuffix(s.Name, "."+wanted) && !slices.ContainsFunc(found, func(o Symbol) bool { return o.Name == s.Name }) {
			found = append(found, *s)
			if len(found) > maxSuggestions {
				break
			}
		}
	}
	switch len(found) {
	case 0:
		return Symbol{}, notFound(name, wanted, all)
	case 1:
		return found[0], nil
	}
	return Symbol{}, tool.Errorf(tool.InvalidArgument, "several symbols are called %q: give the whole name", name).
		WithDetails(map[string]any{"candidates": namesOf(found[:min(len(found), maxSuggestions)])})
}

// withoutStars is a name without the star and brackets that Go puts around a
// receiver.
func withoutStars(name string) string {
	return strings.NewReplacer("(*", "", "*", "", "(", "", ")", "").Replace(name)
}

const maxSuggestions = 5

func namesOf(symbols []Symbol) []string {
	names := make([]string, len(symbols))
	for i, s := range symbols {
		names[i] = s.Name
	}
	return names
}

func notFound(name, wanted string, all []Symbol) error {
	err := tool.Errorf(tool.NotFound, "there is no function, class or variable %q in the file", name)
	if similar := similarNames(wanted, all); len(similar) > 0 {
		return err.WithDetails(map[string]any{"did_you_mean": similar})
	}
	return err
}

// similarNames are the names that somebody may have meant, the most similar
// first.
func similarNames(wanted string, all []Symbol) []string {
	const enough = 10_000 // symbols that are compared
	type scored struct {
		name string
		far  int
	}
	var near []scored
	for _, s := range all[:min(len(all), enough)] {
		if len(s.Name) > maxName {
			continue
		}
		if far, ok := farFrom(wanted, s); ok {
			near = append(near, scored{s.Name, far})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return cmp.Compare(a.far, b.far) })
	var names []string
	for _, n := range near {
		if !slices.Contains(names, n.name) && len(names) < maxSuggestions {
			names = append(names, n.name)
		}
	}
	return names
}

// simple is the last part of a name.
func simple(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// farFrom compares a name with a symbol's as a whole, and by their last parts:
// where those are the same, what stands before them counts little.
func farFrom(wanted string, s Symbol) (far int, ok bool) {
	far, ok = unlike(wanted, s.Name)
	last, lastOK := unlike(simple(wanted), s.Simple())
	if !lastOK {
		return far, ok
	}
	before, same := unlike(wanted[:len(wanted)-len(simple(wanted))], s.Name[:len(s.Name)-len(s.Simple())])
	if !same {
		before = 5 * mistake
	}
	if last += mistake/2 + min(before/5, mistake-1); !ok || last < far {
		far = last
	}
	return far, true
}

// mistake is how far apart one mistake in typing makes two names.
const mistake = 10

// unlike is how far apart two names are, and whether they are similar at all. It
// counts insertions, deletions and exchanges of a letter or of two neighbours;
// case counts as little as there is. A name that contains the other one is
// similar, the less so the more else it has.
func unlike(a, b string) (far int, similar bool) {
	if a == b {
		return 0, true
	}
	a, b = strings.ToLower(a), strings.ToLower(b)
	if n := mistakes(a, b); n <= max(2, len(a)/3) && n < max(len(a), 1) {
		far, similar = max(mistake*n, 1), true
	}
	if len(a) >= 3 && strings.Contains(b, a) {
		if within := mistake + len(b) - len(a); !similar || within < far {
			far, similar = within, true
		}
	}
	return far, similar
}

// mistakes is more than any name has where two are too different in length.
func mistakes(a, b string) int {
	if apart := len(a) - len(b); max(apart, -apart) > max(2, len(a)/3) {
		return maxName
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
