package webhook

import (
	"slices"
	"strings"
	"sync"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// mostCandidates is how many indexes a feed remembers. Who is further behind reads
// the journal through.
const mostCandidates = 4_096

// feed is where a space's chain ends, and which of its newest records may be
// events, so that nobody reads a conversation to find none.
type feed struct {
	mu         sync.Mutex
	end        place    // of what is on record
	from       uint64   // candidates are complete after this index
	candidates []uint64 // in their order
	wake       []func() // of the space's webhooks; complete before the first note
}

// place is how far a chain has been read, and the hash of what stands there.
type place struct {
	index uint64
	hash  journal.Hash
}

func placeOf(r *journal.Record) place { return place{r.Index, r.Hash} }

// note takes in what has become durable. It is called by the journal for whatever
// is said in the space, and waits for nothing.
func (f *feed) note(records []*journal.Record) {
	found := false
	f.mu.Lock()
	for _, r := range records {
		if mayBeEvent(r) {
			f.candidates = append(f.candidates, r.Index)
			found = true
		}
	}
	if over := len(f.candidates) - mostCandidates; over > 0 {
		over = max(over, mostCandidates/2) // not with every record from now on
		f.from = f.candidates[over-1]
		f.candidates = slices.Delete(f.candidates, 0, over)
	}
	f.end = placeOf(records[len(records)-1])
	f.mu.Unlock()
	if found {
		for _, wake := range f.wake {
			wake()
		}
	}
}

// next is the first candidate after an index, 0 for none. It is not known where
// the index is too long ago. All that is on record up to end has been looked at.
func (f *feed) next(after uint64) (index uint64, end place, known bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if after < f.from {
		return 0, f.end, false
	}
	i, _ := slices.BinarySearch(f.candidates, after+1)
	if i == len(f.candidates) {
		return 0, f.end, true
	}
	return f.candidates[i], f.end, true
}

// mayBeEvent tells records that can be none from those that have to be looked at,
// by what is at hand.
func mayBeEvent(r *journal.Record) bool {
	switch r.Type {
	case journal.Refused, journal.Flood:
		return true
	case journal.Admitted:
	default:
		return false
	}
	switch typ, _, _ := strings.Cut(r.Effective, ":"); typ {
	case parley.TypeProposal, parley.TypeReject, parley.TypeWithdraw, parley.KindNotice:
		return true
	case parley.TypeRequest:
		return len(r.Correlations) > 0
	}
	return false
}
