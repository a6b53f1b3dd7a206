package journal

import (
	"context"
	"iter"
	"maps"
	"slices"
)

// Ancestry finds out what is above contexts. It asks a log about many of them at
// once, level by level, and about each only once:
//
//	above := journal.NewAncestry(log, 64)
//	err := above.Learn(ctx, "c7", "c8")
//	path := above.Path("c7") // c7, its parent, and so on
//
// It remembers all that it was told, so it is for one reading: what was not
// there stays unknown to it, even where somebody opens it meanwhile.
//
// # Concurrency
//
// An Ancestry is used by one goroutine at a time.
type Ancestry struct {
	log   Reader
	most  int
	known map[string]*Context // nil for what is not there
}

// NewAncestry is one that follows a path for at most so many contexts, the one
// where it begins included.
func NewAncestry(log Reader, most int) *Ancestry {
	return &Ancestry{log: log, most: most, known: make(map[string]*Context)}
}

// Add tells of contexts, so that the log need not be asked for them.
func (a *Ancestry) Add(list ...*Context) {
	for _, c := range list {
		a.known[c.ID] = c
	}
}

// Learn asks the log for contexts and for what is above them, as far as that is
// not known. The error is the log's.
func (a *Ancestry) Learn(ctx context.Context, ids ...string) error {
	for level := 0; level < a.most && len(ids) > 0; level++ {
		if err := a.ask(ctx, ids); err != nil {
			return err
		}
		ids = a.parents(ids)
	}
	return nil
}

func (a *Ancestry) ask(ctx context.Context, ids []string) error {
	missing := make(map[string]struct{})
	for _, id := range ids {
		if _, known := a.known[id]; !known && id != "" {
			missing[id] = struct{}{}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	for c, err := range a.log.Contexts(ctx, ContextQuery{IDs: slices.Sorted(maps.Keys(missing))}) {
		if err != nil {
			return err
		}
		a.known[c.ID] = c
		delete(missing, c.ID)
	}
	for id := range missing {
		a.known[id] = nil
	}
	return nil
}

// parents are those of contexts that are known, each once.
func (a *Ancestry) parents(ids []string) []string {
	found := make(map[string]struct{})
	for _, id := range ids {
		if c := a.known[id]; c != nil && c.Parent != "" {
			found[c.Parent] = struct{}{}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// Deepen sets the depth of contexts to what it is now: they lie deeper than when
// they were opened where what is above them came later. It is never less than it
// was, since retention may have taken what was above.
func (a *Ancestry) Deepen(ctx context.Context, list ...*Context) error {
	ids := make([]string, len(list))
	for i, c := range list {
		ids[i] = c.ID
	}
	a.Add(list...)
	if err := a.Learn(ctx, ids...); err != nil {
		return err
	}
	for _, c := range list {
		c.Depth = max(c.Depth, len(a.Path(c.ID)))
	}
	return nil
}

// deepenAtOnce are contexts of a long list.
const deepenAtOnce = 256

// Contexts are those of the log that a query selects, each as deep as it lies
// now.
func (a *Ancestry) Contexts(ctx context.Context, q ContextQuery) iter.Seq2[*Context, error] {
	return func(yield func(*Context, error) bool) {
		var list []*Context
		pass := func() (more bool) {
			if err := a.Deepen(ctx, list...); err != nil {
				yield(nil, err)
				return false
			}
			for _, c := range list {
				if !yield(c, nil) {
					return false
				}
			}
			list = list[:0]
			return true
		}
		for c, err := range a.log.Contexts(ctx, q) {
			if err != nil {
				yield(nil, err)
				return
			}
			if list = append(list, c); len(list) == deepenAtOnce && !pass() {
				return
			}
		}
		pass()
	}
}

// Get is a context that was learnt of; nil where there is none.
func (a *Ancestry) Get(id string) *Context { return a.known[id] }

// Path is a context's id, its parent's, and so on, as far as they were learnt.
// A parent that nobody has opened ends it. Parents may form a circle, which is
// followed once.
func (a *Ancestry) Path(id string) []string {
	var path []string
	for id != "" && len(path) < a.most && !slices.Contains(path, id) {
		path = append(path, id)
		c := a.known[id]
		if c == nil {
			break
		}
		id = c.Parent
	}
	return path
}
