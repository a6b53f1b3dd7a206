package space

import (
	"container/list"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/parleyhq/parley"
)

// contextBook is the contexts that rules and filters need (section 8 of the
// contract): what the first envelope of each said, and who keeps it open. It
// holds those that were touched last. What it forgets is still on record, and
// comes back by [State.Recall].
//
// A context is open until its type's idle time has passed since it was touched.
// Nothing happens at that moment: whether it has come is asked when it matters.
type contextBook struct {
	size   int
	byID   map[string]*list.Element // of *contextEntry
	recent *list.List               // touched last at the front
	held   map[holding]map[*contextEntry]struct{}
	opened uint64 // so many, ever: lineages that were found before may have grown
	forgot bool   // some were forgotten
}

// holding is whose limit an open context counts against: that of who opened it,
// or opened it again. Types with a limit of their own are counted apart.
type holding struct{ participant, pool string }

type contextEntry struct {
	id, typ, parent, opener string
	depth                   int
	touched                 time.Time

	holding holding
	kept    time.Time // when who it counts for touched it
	lineage *Lineage
	asOf    uint64 // contextBook.opened when lineage was found
}

// MostContexts is how many contexts are in memory.
const MostContexts = 1 << 14

func newContextBook() *contextBook {
	return &contextBook{
		size: MostContexts, byID: make(map[string]*list.Element), recent: list.New(),
		held: make(map[holding]map[*contextEntry]struct{}),
	}
}

func (b *contextBook) get(id string) *contextEntry {
	if at := b.byID[id]; at != nil {
		return at.Value.(*contextEntry)
	}
	return nil
}

// depth is that of a context with a parent. One that nobody has opened counts as
// well.
func (b *contextBook) depth(parent string) int {
	if parent == "" {
		return 1
	}
	if p := b.get(parent); p != nil {
		return p.depth + 1
	}
	return 2
}

// add takes in a context that is not there, and forgets the one that was touched
// longest ago where there are too many.
func (b *contextBook) add(c *contextEntry) {
	b.byID[c.id] = b.recent.PushFront(c)
	b.opened++
	b.hold(c, c.holding, c.kept)
	if b.recent.Len() <= b.size {
		return
	}
	last := b.recent.Back()
	old := b.recent.Remove(last).(*contextEntry)
	delete(b.byID, old.id)
	b.release(old)
	b.forgot = true
}

// touch notes that an envelope belongs to a context. Those above it are
// remembered for as long as it is, since its place in the tree is theirs.
func (b *contextBook) touch(c *contextEntry, at time.Time) {
	c.touched = at
	for _, id := range b.lineageOf(c).Path {
		if known := b.byID[id]; known != nil {
			b.recent.MoveToFront(known)
		}
	}
}

// hold counts a context for somebody, and for nobody else.
func (b *contextBook) hold(c *contextEntry, by holding, at time.Time) {
	b.release(c)
	c.holding, c.kept = by, at
	if by.participant == "" {
		return
	}
	if b.held[by] == nil {
		b.held[by] = make(map[*contextEntry]struct{})
	}
	b.held[by][c] = struct{}{}
}

func (b *contextBook) release(c *contextEntry) {
	delete(b.held[c.holding], c)
	if len(b.held[c.holding]) == 0 {
		delete(b.held, c.holding)
	}
	c.holding = holding{}
}

// isFull reports whether somebody holds that many open contexts. Only then it is
// looked which of them have been concluded.
func (b *contextBook) isFull(by holding, most int, concluded func(*contextEntry) bool) bool {
	if len(b.held[by]) < most {
		return false
	}
	for c := range b.held[by] {
		if concluded(c) {
			b.release(c)
		}
	}
	return len(b.held[by]) >= most
}

// lineageOf is where a context stands. Parents may form a circle, which is
// followed once.
func (b *contextBook) lineageOf(c *contextEntry) *Lineage {
	if c.lineage != nil && (c.parent == "" || c.asOf == b.opened) {
		return c.lineage
	}
	path := []string{c.id}
	for at := c; at != nil && at.parent != "" && !slices.Contains(path, at.parent) && len(path) < longestPath; at = b.get(at.parent) {
		path = append(path, at.parent)
	}
	c.asOf = b.opened
	if c.lineage == nil || !slices.Equal(c.lineage.Path, path) {
		c.lineage = &Lineage{Type: c.typ, Path: path}
	}
	return c.lineage
}

// longestPath bounds what is looked at of those above, beyond any depth that
// makes sense.
const longestPath = 64

// contextType is the type that the context's first envelope gave it: a later
// one cannot change under which rules it is judged.
func (s *State) contextType(c *parley.Context) string {
	if first := s.contexts.get(c.ID); first != nil {
		return first.typ
	}
	return c.Type
}

// context holds the field against its syntax and the limits.
func (j *judgement) context() error {
	c := j.e.Context
	if c == nil {
		return nil
	}
	if err := c.Check(); err != nil {
		return err
	}
	typ := j.contextType(c)
	limits := j.rules.ContextType(typ)
	if len(c.Metadata) > limits.MetadataBytes {
		return parley.Errorf(parley.ContextLimit, "context metadata takes %d bytes, the limit is %d", len(c.Metadata), limits.MetadataBytes)
	}
	if err := j.opensContext(c, typ, limits); err != nil {
		return err
	}
	if j.free {
		return nil
	}
	return j.chargeContext(c.ID, limits.Rate)
}

// opensContext refuses a context that lies too deep, or is one too many.
func (j *judgement) opensContext(c *parley.Context, typ string, limits ContextType) error {
	known := j.contexts.get(c.ID)
	if known != nil && !j.concluded(known) {
		return nil
	}
	if known == nil {
		if depth := j.contexts.depth(c.Parent); depth > limits.Depth {
			return parley.Errorf(parley.ContextLimit, "context %q would be %d deep, the limit is %d", c.ID, depth, limits.Depth).
				WithHint("go on in its parent, or open one without a parent")
		}
	}
	if j.contexts.isFull(j.rules.holding(j.from, typ), limits.Open, j.concluded) {
		return parley.Errorf(parley.ContextLimit, "%d contexts%s are kept open by you, the limit", limits.Open, ofType(&j.rules, typ)).
			WithHint("go on in one of them; one that nobody refers to for %v is concluded", limits.Idle)
	}
	return nil
}

func ofType(r *Rules, typ string) string {
	if r.ContextTypes[typ].Open == 0 {
		return ""
	}
	return " of type " + typ
}

func (j *judgement) concluded(c *contextEntry) bool {
	return j.rules.Concluded(c.typ, c.touched, j.now)
}

// holding is what a context of a type counts for that a participant opens.
func (r *Rules) holding(participant, typ string) holding {
	if r.ContextTypes[typ].Open == 0 {
		typ = ""
	}
	return holding{participant, typ}
}

// applyContext takes in that an envelope belongs to a context.
func (s *State) applyContext(e *parley.Envelope) {
	if e.Context == nil {
		return
	}
	c := s.contexts.get(e.Context.ID)
	switch {
	case c == nil:
		c = &contextEntry{
			id: strings.Clone(e.Context.ID), typ: strings.Clone(e.Context.Type), parent: strings.Clone(e.Context.Parent),
			opener: strings.Clone(e.From), depth: s.contexts.depth(e.Context.Parent), touched: e.TS, kept: e.TS,
		}
		c.holding = s.rules.holding(c.opener, c.typ)
		s.contexts.add(c)
	case c.holding.participant == e.From:
		c.kept = e.TS
	case s.rules.Concluded(c.typ, c.kept, e.TS):
		// Who has left it alone for so long need not answer for others.
		s.contexts.hold(c, s.rules.holding(strings.Clone(e.From), c.typ), e.TS)
	}
	s.contexts.touch(c, e.TS)
}

// Lineage is where a context stands in the tree, as far as that is in memory; nil
// for none.
func (s *State) Lineage(id string) *Lineage {
	if c := s.contexts.get(id); c != nil {
		return s.contexts.lineageOf(c)
	}
	return nil
}

// KnownContext is what the record says of a context.
type KnownContext struct {
	ID, Type, Parent, Opener string
	Depth                    int
	Touched                  time.Time
}

// Remember says where the record is asked for contexts that were forgotten: find
// returns nil for one that is not there. It is called while an envelope is judged;
// its error refuses the envelope.
func (s *State) Remember(find func(id string) (*KnownContext, error)) { s.find = find }

// remember brings back what the envelope needs. A context that cannot be asked for
// is not taken for a new one, whose sender could say what it is.
func (j *judgement) remember() error {
	if j.find == nil {
		return nil
	}
	return j.RecallFor(j.e, j.find)
}

// RecallFor takes in what the record says of contexts that an envelope needs, and
// of those above them.
func (s *State) RecallFor(e *parley.Envelope, find func(id string) (*KnownContext, error)) error {
	missing := s.Missing(e)
	for asked := 0; asked < len(missing) && asked < longestPath; asked++ {
		c, err := find(missing[asked])
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		s.Recall(*c)
		if c.Parent != "" && s.contexts.get(c.Parent) == nil {
			missing = append(missing, c.Parent)
		}
	}
	return nil
}

// mostMissing bounds what is looked up for one envelope.
const mostMissing = 8

// Missing are the contexts that an envelope may mean and the state may have
// forgotten: the record has to be asked, and [State.Recall] told, before it is
// judged or applied. As long as nothing was forgotten there are none.
func (s *State) Missing(e *parley.Envelope) (ids []string) {
	if !s.contexts.forgot {
		return nil
	}
	ask := func(id string) {
		if id != "" && s.contexts.get(id) == nil && len(ids) < mostMissing && parley.ValidID(id) {
			ids = append(ids, id)
		}
	}
	if c := e.Context; c != nil {
		ask(c.Parent)
		ask(c.ID)
	}
	for _, id := range e.Correlation.IDs {
		if _, envelope := s.ids.get(id); !envelope {
			ask(id)
		}
	}
	return ids
}

// Recall takes in what the record says of a context.
func (s *State) Recall(c KnownContext) {
	if s.contexts.get(c.ID) == nil {
		s.contexts.add(&contextEntry{
			id: c.ID, typ: c.Type, parent: c.Parent, opener: c.Opener, depth: c.Depth,
			touched: c.Touched, kept: c.Touched, holding: s.rules.holding(c.Opener, c.Type),
		})
	}
}

// inContext is a sender's bucket in one context.
type inContext struct{ context, from string }

// chargeContext takes one from the sender's bucket in a context. It holds as much
// in proportion as that of all that somebody sends.
func (j *judgement) chargeContext(id string, each float64) error {
	key := inContext{id, j.from}
	b := j.inContexts[key]
	if b == nil {
		j.forgetBuckets(j.now)
		most := max(1, int(each*float64(j.rules.Limits.Burst)/j.rules.Limits.Rate))
		b = rate.NewLimiter(rate.Limit(each), most)
		j.inContexts[inContext{strings.Clone(id), j.from}] = b
	}
	if wait := (bucket{b}).take(j.now, 1); wait > 0 {
		return tooFast(wait, "more than %g envelopes a second of yours in the context %q", each, id)
	}
	return nil
}

// fewBuckets are not worth looking through.
const fewBuckets = 1024

// forgetBuckets drops those that are full again, whenever there are twice as many
// as the last time.
func (s *State) forgetBuckets(now time.Time) {
	if len(s.inContexts) < max(fewBuckets, 2*s.bucketsKept) {
		return
	}
	for key, b := range s.inContexts {
		if b.TokensAt(now) >= float64(b.Burst()) {
			delete(s.inContexts, key)
		}
	}
	s.bucketsKept = len(s.inContexts)
}

// copied are the contexts as they are now, those touched last at the end.
func (b *contextBook) copied() []contextEntry {
	list := make([]contextEntry, 0, b.recent.Len())
	for at := b.recent.Back(); at != nil; at = at.Prev() {
		list = append(list, *at.Value.(*contextEntry))
	}
	return list
}

func saveContexts(list []contextEntry) (saved []savedContext) {
	for i := range list {
		c := &list[i]
		saved = append(saved, savedContext{
			ID: c.id, Type: c.typ, Parent: c.parent, Opener: c.opener, Depth: c.depth,
			Touched: c.touched, Holder: c.holding.participant, Kept: c.kept,
		})
	}
	return saved
}

func (s *State) restoreContexts(n *Snapshot) {
	for _, c := range n.Contexts {
		s.contexts.add(&contextEntry{
			id: c.ID, typ: c.Type, parent: c.Parent, opener: c.Opener, depth: max(c.Depth, 1),
			touched: c.Touched, holding: s.rules.holding(c.Holder, c.Type), kept: c.Kept,
		})
	}
	s.contexts.forgot = s.contexts.forgot || n.Forgot
}
