package response

import (
	"strings"
	"sync"

	"github.com/parleyhq/parley/internal/tokens"
)

// Saved is how many tokens an answer took, and how many more the debug profile
// with data as a whole would have taken. Sent is what Append made of a.
//
// Data is counted. Of what stands around it the difference between two profiles
// is counted once for each kind of answer and remembered, so saved may be
// a few tokens off, as random ids are.
func (s *Shape) Saved(a *Answer, sent []byte) (taken, saved int) {
	taken = tokens.Count(string(sent))
	saved = s.costs.of(kindOf(a), func() int { return s.overhead(a) })
	if s.filters(a) {
		saved += tokens.Count(string(a.Data)) - tokens.Count(string(s.dataOf(a)))
	}
	return taken, saved
}

// Estimate is Saved for whoever has no time to count data, which takes longer
// than many tools do: what was sent, and what a filter took from data, are bytes
// by four.
func (s *Shape) Estimate(a *Answer, sent []byte) (taken, saved int) {
	saved = s.costs.of(kindOf(a), func() int { return s.overhead(a) })
	if s.filters(a) {
		saved += tokens.OfBytes(max(0, len(a.Data)-len(s.dataOf(a))))
	}
	return tokens.OfBytes(len(sent)), saved
}

// filters says whether data may lose something.
func (s *Shape) filters(a *Answer) bool { return len(a.Data) > 0 && s.filter(a) != nil }

// dataOf is data as it is sent.
func (s *Shape) dataOf(a *Answer) []byte {
	o := object{}
	if !s.filtered(&o, a, 0) {
		return a.Data
	}
	return o.dst
}

// whole is how answers are compared: all of it.
var whole = Shape{profile: Debug, fields: everyField, debug: true}

// overhead is what the debug profile takes more for all but data.
func (s *Shape) overhead(a *Answer) int {
	small := *a
	if len(a.Data) > 0 {
		small.Data = []byte(`[0]`) // no filter speaks of it
	}
	count := func(s *Shape) int { return tokens.Count(string(s.Append(nil, &small))) }
	return count(&whole) - count(s)
}

// answerKind is what the overhead of an answer depends on.
type answerKind struct {
	tool, version, capabilities string
	tier                        Tier
	requestID                   int // its length
	asked, data, hints          bool
	code                        Code // empty on success
	details                     bool
}

func kindOf(a *Answer) answerKind {
	k := answerKind{
		tool: a.Tool, version: a.Version, tier: a.Tier, capabilities: strings.Join(a.Capabilities, "\x00"),
		requestID: len(a.RequestID), asked: a.Asked, data: len(a.Data) > 0, hints: len(a.Hints) > 0,
	}
	if a.Error != nil {
		k.code, k.details = a.Error.Code, len(a.Error.Details) > 0
		if !k.code.Known() {
			k.code = InternalError
		}
	}
	return k
}

// maxCosts bounds what is remembered; names of tools come from others.
const maxCosts = 1024

// costs remembers what was counted.
type costs struct {
	mu    sync.Mutex
	known map[answerKind]int // guarded by mu
}

// of is the cost of a kind, by count where it is not known.
func (c *costs) of(k answerKind, count func() int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if n, ok := c.known[k]; ok {
		return n
	}
	if c.known == nil || len(c.known) >= maxCosts {
		c.known = map[answerKind]int{}
	}
	n := count()
	c.known[k] = n
	return n
}
