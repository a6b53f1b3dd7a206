// Package digest puts a context in short, within a budget of tokens: what is
// left to decide and what was concluded last, then how much there is of each
// kind, then as many messages as have room, newest first, each with its
// position, so that whoever reads it can ask for all of one.
//
//	d := digest.New(2_000)
//	d.Conclude(rec)
//	for … && d.Propose(rec) {}
//	d.Count(kinds)
//	whole := d.Describe(metadata)
//	for … && d.Say(rec) {}
//	answer := d.Append(nil, context, total)
//
// The budget covers each entry as it is written, header and text, the counts and
// the context's metadata, and is never exceeded. A long text is cut to a share of the budget and
// says how much is missing, so that one cannot push out all others; so are ids,
// kinds and lists of addressees, which are their sender's as well. An entry that
// has no room is left out alone: smaller ones behind it are tried. The same
// envelopes make the same digest.
//
// # Concurrency
//
// A Digest is used by one goroutine at a time.
package digest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/tokens"
)

// Budgets, in tokens.
const (
	Default = 2_000
	Least   = 100
	Most    = 100_000
)

// What parts of the budget are for. A small one is not divided further than to
// have room for an entry.
const (
	conclusionText = 4   // a quarter, for the text of the conclusion
	entryText      = 8   // an eighth, for that of any other entry
	proposalsPart  = 2   // half, for all proposals
	kindsPart      = 4   // a quarter, for the counts
	metadataPart   = 4   // a quarter, for the context's metadata
	leastPart      = 100 // that is enough for an entry
)

// When a list is full: no entry has fewer tokens than leastEntry. Of one sender so
// many are tried that have no room; of messages no more are looked at after mostPassed
// of them, and no kind is counted after that many that were too long.
const (
	leastEntry   = 28
	mostPassedOf = 8
	mostPassed   = 50
)

// Digest is one in the making. What it is made of has to come in the order of
// its methods, since what comes first is sure of its room.
type Digest struct {
	budget, used int
	proposed     int // of used, by proposals
	conclusion   []byte
	proposals    []byte
	kinds        []byte
	messages     []byte
	listed       map[uint64]bool // positions

	passedProposals, passedMessages passed
}

// New makes an empty digest with a budget.
func New(budget int) *Digest {
	return &Digest{budget: budget, listed: make(map[uint64]bool)}
}

// Conclude takes in the last conclusion.
func (d *Digest) Conclude(rec *journal.Record) {
	e, cost := fit(rec, conclusionHeader, d.budget/conclusionText, d.budget-d.used)
	if e != nil {
		d.conclusion = e
		d.spend(rec, cost)
	}
}

// Propose takes in an open proposal, the newest first, if there is room for it,
// and reports whether there may be room for others.
func (d *Digest) Propose(rec *journal.Record) bool {
	room := min(max(d.budget/proposalsPart, leastPart)-d.proposed, d.budget-d.used)
	e, cost := d.passedProposals.fit(rec, proposalHeader, d.budget/entryText, room)
	if e == nil {
		return room >= leastEntry
	}
	d.proposals = appendItem(d.proposals, e)
	d.proposed += cost
	d.spend(rec, cost)
	return true
}

// Say takes in a message, the newest first, if there is room for it, and reports
// whether there may be room for others. What stands in the digest already does
// not come twice.
func (d *Digest) Say(rec *journal.Record) bool {
	if d.listed[rec.Seq] {
		return true
	}
	room := d.budget - d.used
	e, cost := d.passedMessages.fit(rec, messageHeader, d.budget/entryText, room)
	if e == nil {
		return room >= leastEntry && d.passedMessages.all < mostPassed
	}
	d.messages = appendItem(d.messages, e)
	d.spend(rec, cost)
	return true
}

// passed counts what was tried and had no room in a list: of all, and of each sender.
type passed struct {
	all   int
	tried map[string]int
}

// fit is [fit], unless too many of the sender's had no room before: nobody keeps
// the others from being tried.
func (p *passed) fit(rec *journal.Record, head header, text, room int) (entry []byte, cost int) {
	if p.tried[rec.From] < mostPassedOf {
		if entry, cost = fit(rec, head, text, room); entry != nil {
			return entry, cost
		}
		if p.tried == nil {
			p.tried = make(map[string]int)
		}
		p.tried[rec.From]++
		p.all++
	}
	return nil, 0
}

func (d *Digest) spend(rec *journal.Record, cost int) {
	d.used += cost
	d.listed[rec.Seq] = true
}

// Count takes in how much there is of each kind: the most frequent ones, and the
// others, with those that are too long to be told, together as [journal.OtherKinds].
func (d *Digest) Count(kinds map[string]uint64) {
	room := min(d.budget/kindsPart, d.budget-d.used)
	others, items, long := uint64(0), []byte(nil), 0
	reserve := tokens.Count(string(count(journal.OtherKinds, 1<<63))) + 1
	for _, kind := range byFrequency(kinds) {
		if room <= reserve || len(kind) > mostKind*longToken || long == mostPassed {
			others += kinds[kind] // it has no room, and is not looked at
			continue
		}
		item := count(kind, kinds[kind])
		cost := tokens.Count(string(item)) + 1
		if kind == journal.OtherKinds || cost > min(room-reserve, mostKind) {
			others += kinds[kind]
			long++
			continue
		}
		items = appendItem(items, item)
		room -= cost
		d.used += cost
	}
	if item := count(journal.OtherKinds, others); others > 0 && room >= reserve {
		items = appendItem(items, item)
		d.used += tokens.Count(string(item)) + 1
	}
	d.kinds = items
}

// Describe takes in the context's metadata, which its caller writes, or reports
// that there is no room for them.
func (d *Digest) Describe(metadata []byte) bool {
	room := min(d.budget/metadataPart, d.budget-d.used)
	if len(metadata) > room*longToken {
		return false
	}
	cost := tokens.Count(string(metadata))
	if cost > room {
		return false
	}
	d.used += cost
	return true
}

// longToken is more bytes than a token has on average.
const longToken = 16

func byFrequency(kinds map[string]uint64) []string {
	return slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
}

func count(kind string, n uint64) []byte {
	return strconv.AppendUint(append(appendQuote(nil, kind), ':'), n, 10)
}

// Append writes the digest in JSON (docs/http-api.md): of a
// context that is written already, and of total envelopes.
func (d *Digest) Append(b, context []byte, total uint64) []byte {
	b = append(append(b, `{"context":`...), context...)
	b = strconv.AppendInt(append(b, `,"tokens":{"budget":`...), int64(d.budget), 10)
	b = strconv.AppendInt(append(b, `,"used":`...), int64(d.used), 10)
	b = appendQuote(append(b, `,"tokenizer":`...), tokens.Name)
	b = append(append(b, `},"proposals":[`...), d.proposals...)
	b = append(b, ']')
	if d.conclusion != nil {
		b = append(append(b, `,"conclusion":`...), d.conclusion...)
	}
	b = append(append(b, `,"kinds":{`...), d.kinds...)
	b = append(append(b, `},"messages":[`...), d.messages...)
	omitted := total - min(total, uint64(len(d.listed)))
	b = strconv.AppendUint(append(b, `],"omitted":`...), omitted, 10)
	return append(b, '}')
}

func appendItem(b, item []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	return append(b, item...)
}
