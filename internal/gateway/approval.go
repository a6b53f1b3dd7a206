package gateway

import (
	"cmp"
	"crypto/sha256"
	"sync"
	"time"
)

// An approval link lets one participant decide on one proposal, once, in whatever
// browser it is opened: it is made to lie in an e-mail or a chat. It gives no
// session and no other right. The decision is sent in the decider's name and judged
// as if they had sent it, by what they may at that moment.

const (
	approvalBytes   = 24             // of randomness in a code
	approvalDefault = 24 * time.Hour // how long a link lasts unless somebody says otherwise
	approvalLeast   = time.Minute
	approvalMost    = 7 * 24 * time.Hour
	approvalAfter   = 7 * 24 * time.Hour // for so long after its end a link can say what became of it
	mostApprovals   = 4_096
	mostPerDecider  = 128 // in one space that still work
)

// approvalEnd says why a link works no more.
type approvalEnd string

const (
	approvalOpen      approvalEnd = ""
	approvalUsed      approvalEnd = "used"
	approvalExpired   approvalEnd = "expired"
	approvalSignedOut approvalEnd = "signed_out" // everywhere
	approvalWithdrawn approvalEnd = "withdrawn"  // the decider's token has left the configuration
	approvalCrowded   approvalEnd = "crowded"    // by newer ones of the same decider
	approvalUnknown   approvalEnd = "unknown"
)

// approval is a link. Only how it ended changes.
type approval struct {
	code     [sha256.Size]byte // hashed
	space    string
	proposal string
	seq      uint64 // of the proposal: in time its id may be another's
	proposer string // "" of a link that an earlier version kept
	decider  string
	tokens   []TokenHash // while one of them is the decider's, it works
	made     time.Time
	expires  time.Time

	ended   approvalEnd
	endedAt time.Time
	verdict string // of one that was used: fulfil or reject

	turn chan struct{} // held while it is decided with
}

// state is what the link is at that time.
func (l *approval) state(now time.Time) approvalEnd {
	if l.ended == approvalOpen && !now.Before(l.expires) {
		return approvalExpired
	}
	return l.ended
}

// forgotten says that nobody need be told any more what became of it.
func (l *approval) forgotten(now time.Time) bool {
	end := l.expires
	if l.ended != approvalOpen {
		end = l.endedAt
	}
	return !now.Before(end.Add(approvalAfter))
}

// approvals are the links that were made, oldest first, also ended ones for a
// while.
type approvals struct {
	mu     sync.Mutex
	byCode map[[sha256.Size]byte]*approval
	order  []*approval
	change uint64 // counts what happened to them
}

func newApprovals() *approvals {
	return &approvals{byCode: make(map[[sha256.Size]byte]*approval)}
}

// add takes a link in. Of too many those are forgotten first that made room for others,
// then those that ended otherwise, and of those that work one of the decider's ends.
func (a *approvals) add(l approval, now time.Time, open map[string]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.forget(func(old *approval) bool { return old.forgotten(now) })
	a.crowd(&l, now, open)
	if len(a.order) >= mostApprovals {
		crowded := func(old *approval) bool { return old.state(now) == approvalCrowded }
		ended := func(old *approval) bool { return old.state(now) != approvalOpen }
		a.drop(cmp.Or(a.ofMost(&l, crowded), a.ofMost(&l, ended), a.ofMost(&l, func(*approval) bool { return true })))
	}
	l.turn = make(chan struct{}, 1)
	a.byCode[l.code] = &l
	a.order = append(a.order, &l)
	a.change++
}

// crowd ends a link of the decider, if that is needed so that there is room for
// another: the oldest of those whose proposal is not open, if there is one.
func (a *approvals) crowd(l *approval, now time.Time, open map[string]bool) {
	working := func(old *approval) bool {
		return old.space == l.space && old.decider == l.decider && old.state(now) == approvalOpen
	}
	n := 0
	for _, old := range a.order {
		if working(old) {
			n++
		}
	}
	if n < mostPerDecider {
		return
	}
	one := cmp.Or(a.oldest(func(old *approval) bool { return working(old) && !open[old.proposal] }), a.ofMost(l, working))
	one.ended, one.endedAt = approvalCrowded, now
}

// ofMost is the link that makes room for l: of those that is selects, the oldest of
// whichever proposer has most of them, with l counted. So whoever proposes a great
// deal pushes out no others. nil where none is selected.
func (a *approvals) ofMost(l *approval, is func(*approval) bool) *approval {
	type proposer struct{ space, id string }
	type share struct {
		oldest *approval
		n      int
	}
	most := &share{n: 1}
	shares := map[proposer]*share{{l.space, l.proposer}: most}
	order := []*share{most}
	for _, old := range a.order {
		if !is(old) {
			continue
		}
		one := shares[proposer{old.space, old.proposer}]
		if one == nil {
			one = &share{}
			shares[proposer{old.space, old.proposer}] = one
			order = append(order, one)
		}
		one.oldest = cmp.Or(one.oldest, old)
		one.n++
	}
	for _, one := range order {
		if most.oldest == nil || one.n > most.n {
			most = one
		}
	}
	return most.oldest
}

func (a *approvals) oldest(is func(*approval) bool) *approval {
	for _, l := range a.order {
		if is(l) {
			return l
		}
	}
	return nil
}

func (a *approvals) drop(one *approval) { a.forget(func(l *approval) bool { return l == one }) }

func (a *approvals) forget(is func(*approval) bool) {
	kept := a.order[:0]
	for _, l := range a.order {
		if is(l) {
			delete(a.byCode, l.code)
		} else {
			kept = append(kept, l)
		}
	}
	clear(a.order[len(kept):])
	a.order = kept
}

// find is the link that a code opens, as it is now.
func (a *approvals) find(code string) (approval, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	l := a.byCode[sha256.Sum256([]byte(code))]
	if l == nil {
		return approval{}, false
	}
	return *l, true
}

// about are the proposals that a decider has links to which still work, or did.
func (a *approvals) about(space, decider string) (proposals []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.order {
		if l.space == space && l.decider == decider && l.ended == approvalOpen {
			proposals = append(proposals, l.proposal)
		}
	}
	return proposals
}

// use notes that a decision was made with a link.
func (a *approvals) use(code [sha256.Size]byte, verdict string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.byCode[code]; l != nil {
		l.ended, l.endedAt, l.verdict = approvalUsed, now, verdict
		a.change++
	}
}

// end ends all links that still work and that is selects.
func (a *approvals) end(why approvalEnd, now time.Time, is func(*approval) bool) (ended int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.order {
		if l.state(now) == approvalOpen && is(l) {
			l.ended, l.endedAt = why, now
			a.change++
			ended++
		}
	}
	return ended
}

// all is a copy of them, and which change was the last.
func (a *approvals) all() (list []approval, change uint64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.order {
		list = append(list, *l)
	}
	return list, a.change
}
