package tool

import (
	"math"
	"sync"
)

// purse is what a call, or a branch of it, may spend on models, in tokens. What a
// branch spends is its parent's expense, too. A nil purse has no bottom.
type purse struct {
	parent *purse
	limit  int64
	mu     *sync.Mutex // the call's: all of its purses have one

	spent int64 // and what is held for questions under way; guarded by mu
}

// newPurse makes a purse; parent is nil for a call's.
func newPurse(parent *purse, limit int64) *purse {
	if parent == nil {
		return &purse{limit: limit, mu: new(sync.Mutex)}
	}
	return &purse{parent: parent, limit: limit, mu: parent.mu}
}

// left is how much can be spent: the least along the line of parents.
func (p *purse) left() int64 {
	if p == nil {
		return math.MaxInt64
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.least()
}

// least is left for who holds mu.
func (p *purse) least() int64 {
	left := int64(math.MaxInt64)
	for ; p != nil; p = p.parent {
		left = min(left, p.limit-p.spent)
	}
	return left
}

// hold takes input and up to output tokens out before the question is asked, so
// that questions asked at once do not overspend together. It returns how long
// the reply may be, which is 0 where nothing is left for one.
func (p *purse) hold(input, output int64) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	output = min(output, p.least()-input)
	if output <= 0 {
		return 0
	}
	p.count(input + output)
	return output
}

// spend counts tokens; negative ones are given back.
func (p *purse) spend(n int64) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.count(n)
}

// count is spend for who holds mu.
func (p *purse) count(n int64) {
	for ; p != nil; p = p.parent {
		p.spent += n
	}
}
