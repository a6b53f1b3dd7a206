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
// comes back by [State.RecallFor].
//
// A context is open until its type's idle time has passed since it was touched.
// Nothing happens at that moment: whether it has come is asked when it matters.
type contextBook struct {
	size   int
	byID   map[string]*list.Element // of *contextEntry
	recent *list.List               // touched last at the front
	held   map[holding]map[*contextEntry]struct{}
	above  map[string]*children // by the context that they name as their parent, opened or not
	opened uint64               // so many, ever: lineages that were found before may have grown
	forgot bool                 // some were forgotten
}

// holding is whose limit an open context counts against: that of who opened it,
// or opened it again but by an answer to what was asked in it. Types with a limit of
// their own are counted apart.
type holding struct{ participant, pool string }

type contextEntry struct {
	KnownContext
	holding holding
	kept    time.Time // when who it counts for touched it
	lineage *Lineage
	asOf    uint64 // contextBook.opened when lineage was found
}

// MostContexts is how many contexts are in memory.
const MostContexts = 1 << 14

// ContextsRemembered is how many contexts are in memory.
func (s *State) ContextsRemembered() int { return s.contexts.recent.Len() }

func newContextBook() *contextBook {
	return &contextBook{
		size: MostContexts, byID: make(map[string]*list.Element), recent: list.New(),
		held: make(map[holding]map[*contextEntry]struct{}), above: make(map[string]*children),
	}
}

func (b *contextBook) get(id string) *contextEntry {
	if at := b.byID[id]; at != nil {
		return at.Value.(*contextEntry)
	}
	return nil
}

// children are the contexts in memory that name another as their parent.
type children struct {
	count  int
	height int // at most so many levels are below the parent
}

// depth is that of a context with a parent. One that nobody has opened counts as
// well.
func (b *contextBook) depth(parent string) int {
	if parent == "" {
		return 1
	}
	if p := b.get(parent); p != nil {
		return b.depthOf(p) + 1
	}
	return 2
}

// depthOf is how deep a context lies now: deeper than when it was opened where
// its parent came later.
func (b *contextBook) depthOf(c *contextEntry) int {
	return max(c.Depth, len(b.lineageOf(c).Path))
}

// height is how many levels are below a context. Before it is opened there may
// be some, of contexts that came before their parents.
func (b *contextBook) height(id string) int {
	if below := b.above[id]; below != nil {
		return below.height
	}
	return 0
}

// add takes in a context that is not there, and forgets the one that was touched
// longest ago where there are too many.
func (b *contextBook) add(c *contextEntry) {
	b.byID[c.ID] = b.recent.PushFront(c)
	b.opened++
	b.hold(c, c.holding, c.kept)
	b.raise(c)
	if b.recent.Len() <= b.size {
		return
	}
	last := b.recent.Back()
	old := b.recent.Remove(last).(*contextEntry)
	delete(b.byID, old.ID)
	b.release(old)
	b.lower(old)
	b.forgot = true
}

// raise tells those above a context that it is there.
func (b *contextBook) raise(c *contextEntry) {
	if c.Parent == "" {
		return
	}
	if b.above[c.Parent] == nil {
		b.above[c.Parent] = new(children)
	}
	b.above[c.Parent].count++
	height := b.height(c.ID) + 1
	for at := c; at != nil && height < LongestPath; at = b.get(at.Parent) {
		below := b.above[at.Parent]
		if below == nil || below.height >= height {
			return
		}
		below.height = height
		height++
	}
}

// lower counts out a context that is forgotten. How high the others are is not
// asked again: it is too much rather than too little.
func (b *contextBook) lower(c *contextEntry) {
	if below := b.above[c.Parent]; below != nil {
		if below.count--; below.count == 0 {
			delete(b.above, c.Parent)
		}
	}
}

// touch notes that an envelope belongs to a context. Those above it are
// remembered for as long as it is, since its place in the tree is theirs.
func (b *contextBook) touch(c *contextEntry, at time.Time) {
	c.Touched = at
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
	if c.lineage != nil && (c.Parent == "" || c.asOf == b.opened) {
		return c.lineage
	}
	path := append(make([]string, 0, max(c.Depth, 1)), c.ID)
	for at := c; at != nil && at.Parent != "" && !slices.Contains(path, at.Parent) && len(path) < LongestPath; at = b.get(at.Parent) {
		path = append(path, at.Parent)
	}
	c.asOf = b.opened
	if c.lineage == nil || !slices.Equal(c.lineage.Path, path) {
		c.lineage = &Lineage{Type: c.Type, Path: path}
	}
	return c.lineage
}

// LongestPath bounds what is looked at of those above a context, beyond any depth
// that makes sense.
const LongestPath = 64

// contextType is the type that the context's first envelope gave it: a later
// one cannot change under which rules it is judged.
func (s *State) contextType(c *parley.Context) string {
	if first := s.contexts.get(c.ID); first != nil {
		return first.Type
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

// opensContext refuses a context that lies too deep, or is one too many. An
// answer always gets through to the context of its request, where that was
// concluded meanwhile: its sender can neither choose another nor wait for room.
func (j *judgement) opensContext(c *parley.Context, typ string, limits ContextType) error {
	known := j.contexts.get(c.ID)
	if known != nil && (j.answered.askedIn(c.ID) || !j.concluded(known)) {
		return nil
	}
	if known == nil {
		if err := j.tooDeep(c, limits.Depth); err != nil {
			return err
		}
	}
	if j.contexts.isFull(j.rules.holding(j.from, typ), limits.Open, j.concluded) {
		return parley.Errorf(parley.ContextLimit, "%d contexts%s are kept open by you, the limit", limits.Open, ofType(&j.rules, typ)).
			WithHint("go on in one of them; one that nobody sends anything in for %v is concluded", limits.Idle)
	}
	return nil
}

// tooDeep refuses a context that would lie too deep, or push those too deep that
// were opened before it and named it as their parent.
func (j *judgement) tooDeep(c *parley.Context, most int) error {
	depth, below := j.contexts.depth(c.Parent), j.contexts.height(c.ID)
	switch {
	case depth > most:
		return parley.Errorf(parley.ContextLimit, "context %q would be %d deep, the limit is %d", c.ID, depth, most).
			WithHint("go on in its parent, or open one without a parent")
	case depth+below > most:
		return parley.Errorf(parley.ContextLimit, "context %q would be %d deep, and those that are below it already %d; the limit is %d", c.ID, depth, depth+below, most).
			WithHint("open it without a parent, or under one that is less deep")
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
	return j.rules.Concluded(c.Type, c.Touched, j.now)
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
		c = s.recall(KnownContext{
			ID: strings.Clone(e.Context.ID), Type: strings.Clone(e.Context.Type), Parent: strings.Clone(e.Context.Parent),
			Opener: strings.Clone(e.From), Depth: s.contexts.depth(e.Context.Parent), Touched: e.TS,
		})
	case s.rules.Concluded(c.Type, c.kept, e.TS):
		// Who has left it alone for so long need not answer for others. That goes
		// first: whether it was released meanwhile, isFull knows and no record.
		s.contexts.hold(c, s.goesOn(e, c.Type), e.TS)
	case c.holding.participant == e.From:
		c.kept = e.TS
	}
	s.contexts.touch(c, e.TS)
}

// goesOn is what a context counts for that was left alone before an envelope. An
// answer to what was asked in it counts for nobody: whoever is asked must not lack
// room for it later.
func (s *State) goesOn(e *parley.Envelope, typ string) holding {
	if s.answers(e.From, e).askedIn(e.Context.ID) {
		return holding{}
	}
	return s.rules.holding(strings.Clone(e.From), typ)
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
	ID      string    `json:"id"`
	Type    string    `json:"type,omitempty"`   // as its first envelope said
	Parent  string    `json:"parent,omitempty"` // "" is the main one
	Opener  string    `json:"opener,omitempty"`
	Depth   int       `json:"depth,omitzero"` // when it was opened; 1 without a parent
	Touched time.Time `json:"touched,omitzero"`
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
	missing := s.missing(e)
	for asked := 0; asked < len(missing) && asked < LongestPath; asked++ {
		c, err := find(missing[asked])
		if err != nil {
			return err
		}
		if c == nil {
			continue
		}
		if s.contexts.get(c.ID) == nil {
			s.recall(*c)
		}
		if c.Parent != "" && s.contexts.get(c.Parent) == nil {
			missing = append(missing, c.Parent)
		}
	}
	return nil
}

// mostMissing bounds what is looked up for one envelope.
const mostMissing = 8

// missing are the contexts that an envelope may mean and the state may have
// forgotten. As long as nothing was forgotten there are none.
func (s *State) missing(e *parley.Envelope) (ids []string) {
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

// recall takes in a context that is not there, for which its opener answers.
func (s *State) recall(known KnownContext) *contextEntry {
	c := &contextEntry{KnownContext: known, kept: known.Touched, holding: s.rules.holding(known.Opener, known.Type)}
	s.contexts.add(c)
	return c
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

// saved are the contexts as they are now, those touched last at the end.
func (b *contextBook) saved() []savedContext {
	list := make([]savedContext, 0, b.recent.Len())
	for at := b.recent.Back(); at != nil; at = at.Prev() {
		c := at.Value.(*contextEntry)
		list = append(list, savedContext{c.KnownContext, c.holding.participant, c.kept})
	}
	return list
}

func (s *State) restoreContexts(n *Snapshot) {
	for _, c := range n.Contexts {
		c.Depth = max(c.Depth, 1) // earlier versions did not write it
		s.contexts.add(&contextEntry{KnownContext: c.KnownContext, kept: c.Kept, holding: s.rules.holding(c.Holder, c.Type)})
	}
	s.contexts.forgot = s.contexts.forgot || n.Forgot
}
