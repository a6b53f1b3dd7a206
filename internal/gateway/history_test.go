package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

// Who looks for history under a filter does so in turn, gives the turn up
// between two pieces, and looks only so far.
func TestHistoryUnderAFilterIsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, Options{Logger: textLog(io.Discard)})
		r := h.g.rooms["demo"]
		var batch []entry
		for seq := uint64(1); seq <= 2*lookBack; seq++ {
			k := parley.SplitKind("note")
			batch = append(batch, entry{space.Header{Seq: seq, From: "ann", Kind: k, Effective: k}, []byte("{}")})
		}
		r.frames.publish(batch)
		c := r.newConn("bob", join{settings: space.Settings{Kinds: parley.Capabilities{parley.MustCapability("chat")}}})
		var release []func()
		for i := range bulkTurns() {
			done, _ := h.g.turns.acquire(t.Context(), fmt.Sprint("p", i))
			release = append(release, done)
		}
		found := make(chan uint64, 1)
		go func() {
			start, err := c.historyStart(2*lookBack+1, 10)
			if err != nil {
				t.Error(err)
			}
			found <- start
		}()
		synctest.Wait()
		select {
		case <-found:
			t.Fatal("it did not wait for its turn")
		default:
		}
		for pieces := 1; ; pieces++ { // another one asks, and so has the turn after each piece
			next := make(chan func(), 1)
			go func() { done, _ := h.g.turns.acquire(t.Context(), "cy"); next <- done }()
			synctest.Wait()
			release[0]()
			release[0] = <-next
			synctest.Wait()
			select {
			case start := <-found:
				if start != lookBack+1 || pieces != lookBack/lookAtOnce {
					t.Errorf("from %d, after %d pieces", start, pieces)
				}
			default:
				continue
			}
			break
		}
		for _, done := range release {
			done()
		}
	})
}

// stuck is a log that answers nothing before it is told to end.
type stuck struct{ journal.Log }

func (stuck) Read(ctx context.Context, _ journal.Query) iter.Seq2[*journal.Record, error] {
	return func(yield func(*journal.Record, error) bool) {
		<-ctx.Done()
		yield(nil, ctx.Err())
	}
}

// Where the journal is stuck the turn goes on to others, as which counts who has
// the same id in another space.
func TestStuckJournal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := demo("bob")
		other.Rules.Name = "other"
		h := start(t, Options{Logger: textLog(io.Discard), Spaces: []Space{demo("ann", "bob"), other}})
		r := h.g.rooms["demo"]
		c := &conn{room: &room{g: h.g, name: "demo", frames: newFrameLog(100, 1), record: stuck{r.record}}, id: "bob", cur: newCursor("bob", space.Settings{})}
		began := time.Now()
		for range 2 {
			if _, err := c.historyStart(100, 10); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("history: %v", err)
			}
		}
		if took := time.Since(began); took > 2*turnTime || c.held != nil {
			t.Errorf("it took %v, and has its turn: %v", took, c.held != nil)
		}
		if c.party() == h.g.rooms["other"].newConn("bob", join{}).party() {
			t.Error("bob has one turn for two spaces")
		}
	})
}
