package webhook

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley/internal/journal"
)

// proposals are those of which it was told that they were made.
func proposals(got []received) (list []string) {
	for _, r := range got {
		if r.typ == ProposalOpened {
			list = append(list, r.data.Proposal.ID)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// What happens while nobody serves is sent afterwards; a webhook that is new begins
// with what happens next, also beside one that is not.
func TestRestart(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		room.propose("before")
		d := room.serve(through, plain("old"))
		room.propose("p1")
		synctest.Wait()
		d.Close(t.Context())
		for i := range 3_000 { // what is said between is more than is read at a time
			room.send("you", "chat", fmt.Sprint("c", i), "", `{"text":"hello"}`)
		}
		room.propose("p2")
		room.reject("r2", "p2")
		d = room.serve(through, plain("old"), plain("new"))
		synctest.Wait()
		if got := told(r.all()); got != "proposal.opened p1\nproposal.opened p2\nproposal.rejected p2\n" {
			t.Errorf("got %s", got)
		}
		room.propose("p3")
		synctest.Wait()
		got := r.all()
		if len(got) != 5 || got[3].id != got[4].id || got[3].data.Proposal.ID != "p3" {
			t.Errorf("got %s", told(got))
		}
		d.Close(t.Context())
	})
}

// A crash at any moment loses nothing: whatever the file was at some time, a desk
// that begins with it sends what is missing, and repeats have the id of the first.
func TestCrashes(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		var failing atomic.Bool
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if failing.Load() && n%3 == 0 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		file := filepath.Join(room.dir, demo, "all.json")
		var want, states []string
		ids := map[string]string{} // of events, by proposal
		for round := range 20 {
			failing.Store(round%2 == 0)
			d := room.serve(through, plain("all"))
			for i := range 10 {
				id := fmt.Sprintf("p%d-%d", round, i)
				want = append(want, id)
				room.propose(id)
				if i%3 == 0 {
					time.Sleep(400 * time.Millisecond) // the file is written now and then
				}
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				states = append(states, string(data))
			}
			d.Close(cancelled())
			// Killed, it would have left one of the files that there were in its time.
			if err := os.WriteFile(file, []byte(states[len(states)-1-(round*7)%10]), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		room.serve(through, plain("all"))
		failing.Store(false)
		time.Sleep(100 * time.Hour)
		slices.Sort(want)
		got := r.all()
		if told := proposals(got); !slices.Equal(told, want) {
			t.Errorf("%d of %d came", len(told), len(want))
		}
		for _, one := range got {
			if first, ok := ids[one.data.Proposal.ID]; ok && first != one.id {
				t.Errorf("%s came as %s and as %s", one.data.Proposal.ID, first, one.id)
			}
			ids[one.data.Proposal.ID] = one.id
		}
	})
}

// What became of an event is kept soon, whatever else is to be kept later; what is
// only said moves the place now and then.
func TestKeptSoon(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		room.serve(through, plain("all"))
		kept := func() uint64 {
			t.Helper()
			data, err := os.ReadFile(filepath.Join(room.dir, demo, "all.json"))
			if err != nil {
				t.Fatal(err)
			}
			h := plain("all")
			s, err := decode(data, &h)
			if err != nil || len(s.pending) > 0 {
				t.Fatalf("%s: %v", data, err)
			}
			return s.at.index
		}
		said := room.send("you", "chat", "c1", "", `{"text":"hello"}`)
		time.Sleep(lookEvery + time.Second) // it is seen that there is something to keep
		event := room.propose("p1")
		time.Sleep(time.Second)
		if at := kept(); at != event.Index {
			t.Errorf("%d is kept, and the event was taken at %d", at, event.Index)
		}
		last := room.send("you", "chat", "c2", "", `{"text":"hello"}`)
		time.Sleep(3 * lookEvery)
		if at := kept(); at != last.Index || said.Index >= at {
			t.Errorf("%d is kept, and the last is %d", at, last.Index)
		}
	})
}

// Where the record is another one than was read, the webhook begins at its end, and
// says so; one that only lost its tail is followed on.
func TestAnotherRecord(t *testing.T) {
	bubble(t, func(t *testing.T, first *room, r *receiver, through func(*Desk)) {
		d := first.serve(through, plain("all"))
		first.propose("p1")
		synctest.Wait()
		d.Close(t.Context())
		for _, records := range []int{0, 1, 30} { // shorter, as long, and longer
			other := newRoom(t)
			other.dir = first.dir
			for i := range records {
				other.propose(fmt.Sprint("other", i))
			}
			d = other.serve(through, plain("all"))
			other.propose(fmt.Sprint("new", records))
			synctest.Wait()
			d.Close(t.Context())
		}
		if got := proposals(r.all()); !slices.Equal(got, []string{"new0", "new1", "new30", "p1"}) {
			t.Errorf("got %q", got)
		}
	})
}

// A file that cannot be read is put aside, and is no reason not to start.
func TestBrokenFile(t *testing.T) {
	room, r := newRoom(t), newReceiver(t)
	file := filepath.Join(room.dir, demo, "all.json")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(`{"version":1`), 0o600); err != nil {
		t.Fatal(err)
	}
	room.propose("before")
	room.serve(nil, hook("all", r.listen()))
	room.propose("p1")
	if got := r.first(1); got[0].data.Proposal.ID != "p1" {
		t.Errorf("got %+v", got)
	}
	if data, err := os.ReadFile(file + ".bad"); err != nil || string(data) != `{"version":1` {
		t.Errorf("%q, %v", data, err)
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if data, err := os.ReadFile(file); err != nil || strings.Contains(string(data), r.t.Name()) || strings.Contains(string(data), "secret") || strings.Contains(string(data), "whsec") {
		t.Errorf("%s, %v", data, err)
	}
}

// The file of another webhook says nothing of this one.
func TestFileOfAnother(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		d := room.serve(through, plain("one"))
		d.Close(t.Context())
		room.propose("p1")
		file := filepath.Join(room.dir, demo, "one.json")
		if err := os.Rename(file, filepath.Join(room.dir, demo, "two.json")); err != nil {
			t.Fatal(err)
		}
		room.serve(through, plain("two"))
		room.propose("p2")
		synctest.Wait()
		if got := told(r.all()); got != "proposal.opened p2\n" {
			t.Errorf("got %s", got)
		}
	})
}

// What is under way when the desk closes is taken in: what was taken is not sent
// again, and an attempt that was broken off is none.
func TestClosing(t *testing.T) {
	for name, c := range map[string]struct {
		ctx            context.Context
		pending, total int // attempts in the end
	}{
		"waiting":      {context.Background(), 0, 1},
		"breaking off": {cancelled(), 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
				r.answer = func(n int, _ received, _ http.ResponseWriter, _ *http.Request) {
					if n == 1 {
						time.Sleep(time.Second)
					}
				}
				h := plain("all")
				d := room.serve(through, h)
				room.propose("p1")
				synctest.Wait()
				d.Close(c.ctx)
				data, err := os.ReadFile(filepath.Join(room.dir, demo, "all.json"))
				if err != nil {
					t.Fatal(err)
				}
				if s, err := decode(data, &h); err != nil || len(s.pending) != c.pending || c.pending > 0 && s.pending[0].Attempts > 0 {
					t.Errorf("%v: %s", err, data)
				}
				room.serve(through, h)
				time.Sleep(time.Hour)
				if len(r.all()) != c.total {
					t.Errorf("got %s", told(r.all()))
				}
			})
		})
	}
}

// What retention drops before it was looked at is lost, and nothing else is.
func TestOvertaken(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		d := room.serve(through, plain("all"))
		room.propose("p1")
		synctest.Wait()
		d.Close(t.Context())
		room.propose("p2")
		last := room.propose("p3")
		drop(t, room, last)
		room.fulfil("f3", "p3") // of which nobody knows any more that it was a proposal
		room.send("system:gateway", "system/notice", "x2", "p2", `{"event":"proposal_expired","proposal":"p2"}`)
		room.propose("p4")
		room.serve(through, plain("all"))
		synctest.Wait()
		got := r.all()
		slices.SortFunc(got, func(a, b received) int { return strings.Compare(a.data.Proposal.ID, b.data.Proposal.ID) })
		if told(got) != "proposal.opened p1\nproposal.expired p2\nproposal.opened p4\n" {
			t.Errorf("got %s", told(got))
		}
	})
}

// A dead letter whose record is gone cannot be sent again.
func TestLost(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
		h := plain("all")
		h.Retries = 0
		d := room.serve(through, h)
		last := room.propose("p1")
		synctest.Wait()
		drop(t, room, last)
		if n, err := d.Retry(t.Context(), demo, "all", ""); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		synctest.Wait()
		if list, err := d.List(t.Context(), demo); err != nil || list[0].Lost != 1 || list[0].Dead+list[0].Pending != 0 || len(r.all()) != 1 {
			t.Errorf("%+v, %v, %d attempts", list, err, len(r.all()))
		}
	})
}

// Nor one of another record, in whose place something else happened.
func TestLetterOfAnotherRecord(t *testing.T) {
	bubble(t, func(t *testing.T, first *room, r *receiver, through func(*Desk)) {
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }
		h := plain("all")
		h.Retries = 0
		d := first.serve(through, h)
		first.propose("p1")
		synctest.Wait()
		d.Close(t.Context())
		other := newRoom(t)
		other.dir = first.dir
		other.propose("another")
		d = other.serve(through, h)
		if n, err := d.Retry(t.Context(), demo, "all", ""); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		synctest.Wait()
		if list, err := d.List(t.Context(), demo); err != nil || list[0].Lost != 1 || list[0].Dead+list[0].Pending != 0 || len(r.all()) != 1 {
			t.Errorf("%+v, %v, %s", list, err, told(r.all()))
		}
		d.Close(t.Context())
	})
}

// drop drops all records up to one.
func drop(t *testing.T, room *room, through *journal.Record) {
	t.Helper()
	room.send("you", "chat", "after-"+through.ID, "", `{"text":"the newest stays"}`)
	room.append(journal.NewCheckpoint(room.now, []byte(`{}`), [16]byte{}))
	head := journal.Head{Index: through.Index, Seq: through.Seq, Hash: through.Hash}
	room.append(journal.NewMarker(room.now, journal.Dropped{Through: head, Records: through.Index, Envelopes: through.Seq}, [16]byte{}))
	for r, err := range room.log.Read(t.Context(), journal.Query{Chain: true, Limit: 1}) {
		if err != nil || r.Index <= through.Index {
			t.Fatalf("nothing was dropped: %+v, %v", r, err)
		}
	}
}

// Far behind, a webhook reads the record through; the feed remembers little.
func TestFeed(t *testing.T) {
	f := &feed{}
	wakes := 0
	f.wake = append(f.wake, func() { wakes++ })
	note := func(index uint64, effective string) {
		r := &journal.Record{Type: journal.Admitted, Index: index, Effective: effective, Correlations: []string{"x"}}
		if effective == "refused" {
			r.Type = journal.Refused
		}
		f.note([]*journal.Record{r})
	}
	check := func(after, want uint64, known bool) {
		t.Helper()
		if index, end, ok := f.next(after); index != want || ok != known || end.index < after {
			t.Errorf("after %d: %d, %+v, %t", after, index, end, ok)
		}
	}
	check(0, 0, true)
	for i, kind := range []string{"chat", "mcp/proposal:tools/call:x", "mcp/response:tools/call:x", "mcp/request:tools/call:x", "capability/grant", "refused", "system/notice", "system/presence", "mcp/proposals"} {
		note(uint64(i+1), kind)
	}
	if wakes != 4 {
		t.Errorf("%d wakes", wakes)
	}
	check(0, 2, true)
	check(1, 2, true)
	check(2, 4, true)
	check(4, 6, true)
	check(6, 7, true)
	check(7, 0, true)
	check(9, 0, true)
	for i := uint64(10); i < 10+2*mostCandidates; i++ {
		note(i, "mcp/reject:tools/call:x")
		if len(f.candidates) > mostCandidates {
			t.Fatalf("%d are remembered", len(f.candidates))
		}
	}
	check(9, 0, false)
	check(9+mostCandidates/2, 0, false)
	check(9+mostCandidates*2, 0, true)
	check(8+mostCandidates*2, 9+mostCandidates*2, true)
}

// Far behind and near, all of it comes.
func TestCatchingUp(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		var once sync.Once
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) {
			once.Do(func() {
				w.Header().Set("Retry-After", "3600")
				w.WriteHeader(http.StatusServiceUnavailable)
			})
		}
		d := room.serveWith(Options{Hooks: []Hook{plain("all")}, Log: slog.New(slog.DiscardHandler)}, through)
		const many = mostPending + mostCandidates + 100
		for i := range many {
			room.propose(fmt.Sprint("p", i))
		}
		time.Sleep(2 * time.Hour)
		if list, err := d.List(t.Context(), demo); err != nil || list[0].Delivered != many || list[0].Pending != 0 || list[0].Dead != 0 {
			t.Errorf("%+v, %v", list, err)
		}
		if n := len(proposals(r.all())); n != many {
			t.Errorf("%d of %d came", n, many)
		}
	})
}

// A journal that cannot be read for a while is asked again.
func TestUnreadable(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		broken := true
		var mu sync.Mutex
		d := room.serve(through, plain("all"))
		d.Close(t.Context())
		d, err := Open(t.Context(), room.journal, Options{Dir: room.dir, Hooks: []Hook{plain("all")}})
		if err != nil {
			t.Fatal(err)
		}
		through(d)
		d.journal = flaky{room.journal, func() bool { mu.Lock(); defer mu.Unlock(); return broken }}
		room.mu.Lock()
		room.desk = d
		room.mu.Unlock()
		if err := d.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		defer d.Close(cancelled())
		room.propose("p1")
		time.Sleep(time.Minute)
		mu.Lock()
		broken = false
		mu.Unlock()
		if len(r.all()) > 0 {
			t.Errorf("got %s", told(r.all()))
		}
		time.Sleep(time.Minute)
		if got := told(r.all()); got != "proposal.opened p1\n" {
			t.Errorf("got %s", got)
		}
	})
}

// Where it cannot be seen whether the record is the one that was read, nothing is
// skipped: there is no start.
func TestUnreadableAtStart(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		d := room.serve(through, plain("all"))
		room.propose("p1")
		synctest.Wait()
		d.Close(t.Context())
		room.propose("p2")
		o := Options{Dir: room.dir, Hooks: []Hook{plain("all")}}
		if _, err := Open(t.Context(), flaky{room.journal, func() bool { return true }}, o); err == nil || !strings.Contains(err.Error(), "the disk is gone") {
			t.Errorf("opened: %v", err)
		}
		room.serve(through, plain("all"))
		synctest.Wait()
		if got := proposals(r.all()); !slices.Equal(got, []string{"p1", "p2"}) {
			t.Errorf("got %q", got)
		}
	})
}

// leave has a run end with p1 not delivered, and changes what it left in its file.
func (r *room) leave(t *testing.T, through func(*Desk), change func(kept string) string) {
	t.Helper()
	d := r.serve(through, plain("all"))
	r.propose("p1")
	synctest.Wait()
	d.Close(t.Context())
	file := filepath.Join(r.dir, demo, "all.json")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	changed := change(string(kept))
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil || changed == string(kept) {
		t.Fatalf("%v: %s", err, changed)
	}
}

// A clock that was set back between two runs holds nothing up.
func TestClockSetBack(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		room.leave(t, through, func(kept string) string {
			return regexp.MustCompile(`"next":"\d+`).ReplaceAllString(kept, `"next":"2222`)
		})
		room.serve(through, plain("all"))
		synctest.Wait()
		if n := len(r.all()); n != 2 {
			t.Errorf("%d attempts", n)
		}
	})
}

// What a crash left waiting at a webhook that was disabled is sent once somebody
// enables it, and not before.
func TestDisabledWithRest(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		room.leave(t, through, func(kept string) string {
			return strings.Replace(kept, `{`, `{"disabled":{"at":"2026-01-02T03:04:05Z","reason":"gone"},`, 1)
		})
		d := room.serve(through, plain("all"))
		room.propose("p2")
		time.Sleep(100 * time.Hour)
		if n := len(r.all()); n != 1 {
			t.Errorf("%d attempts while it was disabled", n)
		}
		if err := d.Enable(t.Context(), demo, "all"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if got := told(r.all()); got != "proposal.opened p1\nproposal.opened p1\n" {
			t.Errorf("got %s", got)
		}
	})
}

// flaky is a journal whose records cannot be read at times.
type flaky struct {
	journal.Journal
	broken func() bool
}

func (f flaky) Reader(ctx context.Context, space string) (journal.Reader, error) {
	r, err := f.Journal.Reader(ctx, space)
	return flakyReader{r, f.broken}, err
}

type flakyReader struct {
	journal.Reader
	broken func() bool
}

func (f flakyReader) Read(ctx context.Context, q journal.Query) iter.Seq2[*journal.Record, error] {
	if f.broken() {
		return func(yield func(*journal.Record, error) bool) { yield(nil, errors.New("the disk is gone")) }
	}
	return f.Reader.Read(ctx, q)
}

// A folder that cannot be written costs repeats, no deliveries.
func TestReadOnly(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		d := room.serve(through, plain("all"))
		file := filepath.Join(room.dir, demo, "all.json")
		if err := errors.Join(os.Remove(file), os.Remove(filepath.Dir(file)), os.WriteFile(filepath.Dir(file), nil, 0o600)); err != nil {
			t.Fatal(err)
		}
		room.propose("p1")
		time.Sleep(time.Minute)
		if got := told(r.all()); got != "proposal.opened p1\n" {
			t.Errorf("got %s", got)
		}
		if err := os.Remove(filepath.Dir(file)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			t.Error("it is not written now that it can be")
		}
		d.Close(t.Context())
	})
}
