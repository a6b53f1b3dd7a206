package gateway

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
)

// Whoever wants to know is told all that is on record, refusals included, once and in
// its order.
func TestRecorded(t *testing.T) {
	var mu sync.Mutex
	told := map[string][]*journal.Record{}
	h := newHouse(t, func(o *Options) {
		o.Recorded = func(space string, records []*journal.Record) {
			mu.Lock()
			defer mu.Unlock()
			told[space] = append(told[space], records...)
		}
	})
	for i := range 20 {
		h.chat("human", fmt.Sprint("c", i))
	}
	h.ask("hasty", "POST", "/v1/spaces/demo/envelopes", `{"id":"no","kind":"note"}`).refused(403, parley.CapabilityViolation)
	h.ask("both", "POST", "/v1/spaces/lazy/envelopes", `{"id":"elsewhere","kind":"mcp/request:tools/call","payload":{}}`).ok(202)
	of := func(space, last string) []*journal.Record {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			mu.Lock()
			list := told[space]
			mu.Unlock()
			if n := len(list); n > 0 && list[n-1].ID == last {
				return list
			}
			if time.Now().After(deadline) {
				t.Fatalf("told of %s are %d, and the last is not %s", space, len(list), last)
			}
		}
	}
	admitted := 0
	list := of("demo", "no")
	for i, rec := range list {
		if want := list[0].Index + uint64(i); rec.Index != want {
			t.Errorf("the record %d is told of where %d should be", rec.Index, want)
		}
		if rec.Type == journal.Admitted {
			admitted++
		}
	}
	if admitted != 20 {
		t.Errorf("%d envelopes", admitted)
	}
	of("lazy", "elsewhere")
}
