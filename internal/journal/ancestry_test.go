package journal

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/parleyhq/parley"
)

// forest is a log that knows nothing but contexts, and counts what it is asked.
type forest struct {
	Reader
	tree  *Tree
	asked [][]string
}

func (f *forest) Contexts(_ context.Context, q ContextQuery) iter.Seq2[*Context, error] {
	f.asked = append(f.asked, q.IDs)
	return func(yield func(*Context, error) bool) {
		for _, c := range f.tree.Select(q) {
			if !yield(c, nil) {
				return
			}
		}
		if slices.Contains(q.IDs, "broken") {
			yield(nil, parley.Errorf(parley.Unavailable, "no disk"))
		}
	}
}

func plant(parents ...string) *forest {
	f := &forest{tree: NewTree()}
	for i := 0; i < len(parents); i += 2 {
		f.tree.Add(&Record{Type: Admitted, Seq: uint64(i + 1), Context: parents[i], Parent: parents[i+1]})
	}
	return f
}

func TestAncestry(t *testing.T) {
	f := plant("root", "", "a", "root", "b", "root", "c", "a", "orphan", "nobody", "x", "y", "y", "x")
	above := NewAncestry(f, 64)
	if err := above.Learn(t.Context(), "c", "b", "orphan", "gone", "", "c"); err != nil {
		t.Fatal(err)
	}
	want := "[[b c gone orphan] [a nobody root]]" // root is above a, too
	if got := fmt.Sprint(f.asked); got != want {
		t.Errorf("the log was asked for %s, want %s", got, want)
	}
	if err := above.Learn(t.Context(), "x", "c", "gone"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.asked[2:]); got != "[[x] [y]]" {
		t.Errorf("then it was asked for %s", got)
	}
	for _, c := range []struct{ id, path string }{
		{"c", "[c a root]"}, {"b", "[b root]"}, {"root", "[root]"}, {"orphan", "[orphan nobody]"}, {"gone", "[gone]"},
		{"x", "[x y]"}, {"y", "[y x]"}, {"", "[]"},
	} {
		if got := fmt.Sprint(above.Path(c.id)); got != c.path {
			t.Errorf("above %q is %s, want %s", c.id, got, c.path)
		}
	}
	if above.Get("gone") != nil || above.Get("a").Parent != "root" {
		t.Errorf("gone is %+v, and a %+v", above.Get("gone"), above.Get("a"))
	}
	if err := above.Learn(t.Context(), "broken"); err == nil {
		t.Error("the log's error is lost")
	}
}

func TestDeepen(t *testing.T) {
	parents := []string{"c", "b", "b", "a", "a", "", "orphan", "nobody"}
	for i := range deepenAtOnce {
		parents = append(parents, fmt.Sprint(i), "c")
	}
	f := plant(parents...)
	f.tree.Get("orphan").Depth = 5 // what was above it is gone
	depth := map[string]int{}
	for c, err := range NewAncestry(f, 64).Contexts(t.Context(), ContextQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		depth[c.ID] = c.Depth
	}
	if len(depth) != 4+deepenAtOnce || depth["a"] != 1 || depth["c"] != 3 || depth["orphan"] != 5 || depth["0"] != 4 || depth[fmt.Sprint(deepenAtOnce-1)] != 4 {
		t.Errorf("they are deep: %v", depth)
	}
	for c := range NewAncestry(f, 64).Contexts(t.Context(), ContextQuery{}) {
		if c.ID == "a" {
			break
		}
	}
	broken := plant("broken", "", "c", "broken")
	for c, err := range NewAncestry(broken, 64).Contexts(t.Context(), ContextQuery{Parent: "broken"}) {
		if err == nil {
			t.Errorf("%s is given although nobody knows how deep it is", c.ID)
		}
	}
}

// No chain is followed without end, and what is known is not asked for.
func TestAncestryIsBounded(t *testing.T) {
	var parents []string
	for i := range 100 {
		parents = append(parents, fmt.Sprint(i), fmt.Sprint(i+1))
	}
	f := plant(parents...)
	above := NewAncestry(f, 8)
	above.Add(f.tree.Get("0"), f.tree.Get("1"))
	if err := above.Learn(t.Context(), "0"); err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(f.asked); got != "[[2] [3] [4] [5] [6] [7]]" {
		t.Errorf("the log was asked for %s", got)
	}
	if got := fmt.Sprint(above.Path("0")); got != "[0 1 2 3 4 5 6 7]" {
		t.Errorf("above 0 is %s", got)
	}
}
