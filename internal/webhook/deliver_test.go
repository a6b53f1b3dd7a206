package webhook

import (
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/inproc"
)

// bubble runs f where time passes as soon as everybody waits for it. The receiver is
// reached without a socket.
func bubble(t *testing.T, f func(t *testing.T, room *room, r *receiver, through func(*Desk))) {
	synctest.Test(t, func(t *testing.T) {
		r, within := newReceiver(t), inproc.Listen()
		srv := gateway.Server(r)
		done := make(chan struct{})
		go func() { defer close(done); srv.Serve(within) }()
		t.Cleanup(func() { srv.Close(); <-done })
		f(t, newRoom(t), r, func(d *Desk) {
			d.dial = within.DialContext
			for _, c := range d.couriers {
				c.client = newClient(d, c.hook)
			}
		})
	})
}

// plain is a webhook that is reached without a socket.
func plain(name string) Hook {
	h := hook(name, "http://receiver.example/hooks")
	h.AllowHTTP = true
	return h
}

// An event that nobody takes is sent again as the document recommends, with the same
// id and another timestamp, until it is given up; and once more when somebody asks.
func TestSchedule(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n <= MostRetries+1 {
				http.Error(w, "not\x1b[31m now\u202e", http.StatusInternalServerError)
			}
		}
		d := room.serve(through, plain("all"))
		since := time.Now()
		room.propose("p1")
		time.Sleep(100 * time.Hour)
		got := r.all()
		if len(got) != MostRetries+1 {
			t.Fatalf("%d attempts", len(got))
		}
		at := since
		for i, one := range got {
			if i > 0 {
				least := delays[i-1]
				if gap := one.at.Sub(at); gap < least || gap > least+least/5+time.Second {
					t.Errorf("attempt %d came after %v, and %v is the rule", i+1, gap, least)
				}
			}
			if at = one.at; one.id != got[0].id || one.body != got[0].body {
				t.Errorf("attempt %d is another event: %+v", i+1, one)
			}
		}
		dead, err := d.Dead(t.Context(), demo, "all")
		if err != nil || len(dead) != 1 {
			t.Fatalf("%+v, %v", dead, err)
		}
		one := dead[0]
		if one.ID != got[0].id || one.Event != ProposalOpened || one.Proposal != "p1" || one.Attempts != MostRetries+1 || one.Status != 500 ||
			one.Problem != "it answered 500 Internal Server Error: not [31m now" || !one.Tried.Equal(at) || !one.At.Equal(began.Add(time.Second)) {
			t.Errorf("%+v", one)
		}
		if _, err := d.Retry(t.Context(), demo, "all", "msg_other"); err == nil {
			t.Error("a letter was sent that there is not")
		}
		if n, err := d.Retry(t.Context(), demo, "all", one.ID); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		synctest.Wait()
		if got = r.all(); len(got) != MostRetries+2 || got[len(got)-1].id != one.ID {
			t.Errorf("%d attempts, the last is %+v", len(got), got[len(got)-1])
		}
		if list, err := d.List(t.Context(), demo); err != nil || list[0].Dead != 0 || list[0].Pending != 0 || list[0].Delivered != 1 || list[0].Lost != 0 {
			t.Errorf("%+v, %v", list, err)
		}
	})
}

// The events of one proposal come in their order, also where the first of them has
// to be sent again; others go on meanwhile.
func TestOrder(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		failures := 0
		r.answer = func(_ int, one received, w http.ResponseWriter, _ *http.Request) {
			if one.typ == ProposalOpened && one.data.Proposal.ID == "p1" && failures < 2 {
				failures++
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		room.serve(through, plain("all"))
		room.propose("p1")
		room.propose("p2")
		room.fulfil("f1", "p1")
		room.reject("r2", "p2")
		time.Sleep(time.Minute)
		want := func(when string, lines ...string) {
			t.Helper()
			got := strings.Split(strings.TrimSpace(told(r.all())), "\n")
			slices.Sort(got)
			slices.Sort(lines)
			if !slices.Equal(got, lines) {
				t.Errorf("%s: %q, want %q", when, got, lines)
			}
		}
		soon := []string{"proposal.opened p1", "proposal.opened p1", "proposal.opened p2", "proposal.rejected p2"}
		want("after a minute", soon...)
		time.Sleep(time.Hour)
		want("after an hour", append(soon, "proposal.opened p1", "proposal.fulfilled p1")...)
		if got := r.all(); got[len(got)-1].typ != ProposalFulfilled {
			t.Errorf("the last is %+v", got[len(got)-1])
		}
	})
}

// A receiver says for how long it wants to be left alone, and is.
func TestRetryAfterHolds(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.Header().Set("Retry-After", "600")
				w.WriteHeader(http.StatusTooManyRequests)
			}
		}
		d := room.serve(through, plain("all"))
		since := time.Now()
		room.propose("p1")
		synctest.Wait()
		room.propose("p2")
		time.Sleep(599 * time.Second)
		if list, err := d.List(t.Context(), demo); err != nil || list[0].State != "paused" || list[0].Pending != 2 || len(r.all()) != 1 {
			t.Errorf("%+v, %v, %d attempts", list, err, len(r.all()))
		}
		time.Sleep(2 * time.Second)
		got := r.all()
		if len(got) != 3 || got[1].at.Sub(since) < 10*time.Minute {
			t.Errorf("%d attempts: %+v", len(got), got)
		}
	})
}

// Who answers 410 is asked no more, over a restart as well, until somebody says so
// or the receiver is another one. What was not taken stays with us.
func TestGone(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n <= 2 {
				w.WriteHeader(http.StatusGone)
			}
		}
		d := room.serve(through, plain("all"))
		check := func(when string, attempts, dead int, state string) {
			t.Helper()
			synctest.Wait()
			list, err := d.List(t.Context(), demo)
			if err != nil || list[0].State != state || list[0].Pending != 0 || list[0].Dead != dead || len(r.all()) != attempts {
				t.Errorf("%s: %+v, %v, %d attempts", when, list, err, len(r.all()))
			}
		}
		room.propose("p1")
		check("after the first", 1, 1, "disabled")
		room.propose("p2")
		check("while it is disabled", 1, 1, "disabled")
		if _, err := d.Retry(t.Context(), demo, "all", ""); err == nil {
			t.Error("a disabled webhook sends")
		}
		d.Close(t.Context())
		d = room.serve(through, plain("all"))
		room.propose("p3")
		check("after a restart", 1, 1, "disabled")
		if err := d.Enable(t.Context(), demo, "all"); err != nil {
			t.Error(err)
		}
		check("enabled", 1, 1, "active")
		room.propose("p4")
		check("gone again", 2, 2, "disabled")
		d.Close(t.Context())
		moved := plain("all")
		moved.URL += "/new"
		d = room.serve(through, moved)
		check("with another URL", 2, 2, "active")
		if n, err := d.Retry(t.Context(), demo, "all", ""); n != 2 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		check("retried", 4, 0, "active")
		got := r.all()
		slices.SortFunc(got[2:], func(a, b received) int { return strings.Compare(a.data.Proposal.ID, b.data.Proposal.ID) })
		if told(got) != "proposal.opened p1\nproposal.opened p4\nproposal.opened p1\nproposal.opened p4\n" {
			t.Errorf("got %s", told(got))
		}
	})
}

// What is under way when the receiver says that it wants nothing more is not sent
// again.
func TestGoneMeanwhile(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				time.Sleep(time.Second)
				w.WriteHeader(http.StatusInternalServerError)
				return
			}
			w.WriteHeader(http.StatusGone)
		}
		d := room.serve(through, plain("all"))
		room.propose("p1")
		synctest.Wait()
		room.propose("p2")
		time.Sleep(time.Hour)
		list, err := d.List(t.Context(), demo)
		if err != nil || list[0].State != "disabled" || list[0].Pending != 0 || list[0].Dead != 2 || len(r.all()) != 2 {
			t.Errorf("%+v, %v, %d attempts", list, err, len(r.all()))
		}
	})
}

// A receiver that is overloaded is left alone for a moment, whatever happens.
func TestBusy(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.WriteHeader(http.StatusServiceUnavailable)
			}
		}
		room.serve(through, plain("all"))
		room.propose("p1")
		synctest.Wait()
		room.propose("p2")
		time.Sleep(delays[0] - time.Second)
		if got := told(r.all()); got != "proposal.opened p1\n" {
			t.Errorf("meanwhile it got %s", got)
		}
		time.Sleep(delays[0])
		if got := proposals(r.all()); len(r.all()) != 3 || !slices.Equal(got, []string{"p1", "p2"}) {
			t.Errorf("then it got %s", told(r.all()))
		}
	})
}

// No more than a thousand wait, and of the dead no more are kept. What is beyond
// that stays on record, and comes in its time.
func TestBounds(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		const many = mostPending + mostDead + 500
		broken := true
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) {
			if broken {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		h := plain("all")
		h.Retries = 1
		d := room.serveWith(Options{Hooks: []Hook{h}, Log: slog.New(slog.DiscardHandler)}, through)
		look := func() Status {
			t.Helper()
			list, err := d.List(t.Context(), demo)
			if err != nil {
				t.Fatal(err)
			}
			if s := list[0]; s.Pending > mostPending || s.Dead > mostDead {
				t.Fatalf("%+v", s)
			}
			return list[0]
		}
		for i := range many {
			room.propose(fmt.Sprint("p", i))
		}
		synctest.Wait()
		if s := look(); s.Pending != mostPending || s.Dead != 0 || s.Unread != many-mostPending {
			t.Errorf("%+v", s)
		}
		time.Sleep(7 * time.Second)
		if s := look(); s.Dead != mostDead || s.Lost != 0 || s.Pending != mostPending {
			t.Errorf("%+v", s)
		}
		time.Sleep(time.Hour)
		if s := look(); s.Dead != mostDead || s.Lost != mostPending+500 || s.Pending != 0 {
			t.Errorf("%+v", s)
		}
		broken = false
		dead, err := d.Dead(t.Context(), demo, "all")
		if err != nil || len(dead) != mostDead {
			t.Fatalf("%v, %d letters", err, len(dead))
		}
		if n, err := d.Drop(t.Context(), demo, "all", dead[0].ID); n != 1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		if n, err := d.Retry(t.Context(), demo, "all", ""); n != mostDead-1 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		synctest.Wait()
		if s := look(); s.Dead != 0 || s.Pending != 0 || s.Delivered != mostDead-1 {
			t.Errorf("%+v", s)
		}
	})
}

// Of a flood of refusals a few are told each minute, and how many were not.
func TestRefusals(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		h := plain("refusals")
		h.Events, h.From = []EventType{EnvelopeRefused}, []string{"agent"}
		room.serve(through, h)
		for i := range 25 {
			room.refuse("agent", fmt.Sprint("e", i), 0)
			room.refuse("other", fmt.Sprint("o", i), 0)
		}
		room.refuse("agent", "", 400)
		room.now = room.now.Add(time.Minute)
		room.refuse("agent", "late", 0)
		room.refuse("agent", "later", 0)
		synctest.Wait()
		got := r.all()
		var ids []string
		for _, one := range got {
			ids = append(ids, fmt.Sprintf("%s+%d", one.data.ID, one.data.Suppressed))
		}
		slices.Sort(ids) // they may overtake each other
		want := []string{"e0+0", "e1+0", "e2+0", "e3+0", "e4+0", "e5+0", "e6+0", "e7+0", "e8+0", "e9+0", "late+415", "later+0"}
		slices.Sort(want)
		if !slices.Equal(ids, want) {
			t.Errorf("got %q", ids)
		}
	})
}

// A bridge that fails again and again is told of once, and once more when it runs.
// Nothing of it is on record, and a restart loses none of it.
func TestBridges(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		up := false
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) {
			if !up {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		full := plain("full")
		full.Full = true
		d := room.serve(through, full)
		d.Bridge(demo, "files", BridgeState{Up: true}) // it was started
		d.Bridge(demo, "files", BridgeState{Failures: 1, RetryIn: time.Second, Reason: "exit status 1\nof \x1b[31mit"})
		d.Bridge(demo, "files", BridgeState{Failures: 2, RetryIn: time.Second, Reason: "exit status 1"})
		d.Bridge("elsewhere", "files", BridgeState{Failures: 1})
		d.Close(t.Context())
		up = true
		d = room.serve(through, full)
		time.Sleep(time.Minute)
		d.Bridge(demo, "files", BridgeState{Failures: 1, Reason: "again"})
		d.Bridge(demo, "files", BridgeState{Up: true})
		d.Bridge(demo, "files", BridgeState{Up: true}) // somebody had it restarted
		synctest.Wait()
		got := r.all()
		if got[0].typ != BridgeFailed || !strings.Contains(got[0].body, `"data":{"space":"demo","bridge":"files","failures":1,"retry_in_ms":1000,"error":"exit status 1 of [31mit"}`) {
			t.Errorf("the first is %+v", got[0])
		}
		var order []EventType // as they were taken
		for _, one := range got[len(got)-4:] {
			order = append(order, one.typ)
		}
		if !slices.Equal(order, []EventType{BridgeFailed, BridgeFailed, BridgeRestarted, BridgeRestarted}) {
			t.Errorf("taken in the order %q", order)
		}
		ids := map[string]EventType{}
		for _, one := range got {
			ids[one.id] = one.typ
		}
		count := map[EventType]int{}
		for _, typ := range ids {
			count[typ]++
		}
		if count[BridgeFailed] != 2 || count[BridgeRestarted] != 2 || len(ids) != 4 {
			t.Errorf("got %s", told(got))
		}
	})
}

// Of bridges that fail all the time a bounded number of events is kept as well, and
// what is written can be read again.
func TestManyBridgeEvents(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(_ int, _ received, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "36000")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
		o := Options{Dir: room.dir, Hooks: []Hook{plain("all")}, Log: slog.New(slog.DiscardHandler)}
		d, err := Open(t.Context(), room.journal, o)
		if err != nil {
			t.Fatal(err)
		}
		through(d)
		c := d.couriers[0]
		for i := range 4 * mostPending {
			d.Bridge(demo, fmt.Sprint("b", i), BridgeState{Failures: 1})
			if len(c.told) > mostPending {
				t.Fatalf("%d are on their way", len(c.told))
			}
		}
		if err := d.Start(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		defer func() { d.Close(cancelled()) }()
		for range 4 {
			for i := range mostPending {
				d.Bridge(demo, fmt.Sprint("c", i), BridgeState{Failures: 1})
				d.Bridge(demo, fmt.Sprint("c", i), BridgeState{Up: true})
			}
			synctest.Wait()
		}
		list, err := d.List(t.Context(), demo)
		if err != nil || list[0].Pending != 2*mostPending || list[0].Dead != mostDead {
			t.Errorf("%+v, %v", list, err)
		}
		if s, err := d.store.read(c.hook); err != nil || len(s.pending) != 2*mostPending {
			t.Errorf("what is kept cannot be read: %v", err)
		}
	})
}

// A link that has expired before the event was taken gives way to a new one.
func TestLinkExpires(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n <= 4 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		made := 0
		o := Options{Hooks: []Hook{plain("all")}, ApprovalLink: linkMaker(&made)}
		o.Hooks[0].Approvers = []string{"boss"}
		room.serveWith(o, through)
		room.propose("p1")
		time.Sleep(4 * time.Hour) // the last attempt is later than the link of an hour
		got := r.all()
		if len(got) != 5 || made != 2 || got[3].body != got[0].body || !got[4].data.Links["boss"].Expires.After(got[4].at) {
			t.Errorf("%d links for %d attempts: %+v", made, len(got), got)
		}
	})
}

// A receiver that repeats what it was sent does not get a link's code into the log,
// the file or the list of dead letters.
func TestRepeatedLink(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(_ int, got received, w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "I do not know "+got.data.Links["boss"].URL, http.StatusBadRequest)
		}
		var made int
		var log strings.Builder
		o := Options{Hooks: []Hook{plain("all")}, ApprovalLink: linkMaker(&made), Log: slog.New(slog.NewTextHandler(&log, nil))}
		o.Hooks[0].Approvers, o.Hooks[0].Retries = []string{"boss"}, 1
		d := room.serveWith(o, through)
		room.propose("p1")
		time.Sleep(time.Minute)
		dead, err := d.Dead(t.Context(), demo, "all")
		if err != nil || len(dead) != 1 || dead[0].Problem != "it answered 400 Bad Request: I do not know https://parley.example/approve#[redacted]" {
			t.Errorf("%+v, %v", dead, err)
		}
		d.Close(t.Context())
		file, err := os.ReadFile(filepath.Join(room.dir, demo, "all.json"))
		if err != nil || strings.Contains(string(file), "demo-p1-boss") || strings.Contains(log.String(), "demo-p1-boss") {
			t.Errorf("%v\n%s\n%s", err, file, log.String())
		}
	})
}

// Why a server failed is content, and leaves the house with content alone.
func TestBridgeWithIDsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		d := room.serve(through, plain("ids"))
		d.Bridge(demo, "files", BridgeState{Failures: 1, RetryIn: time.Second, Reason: "it said what it said"})
		synctest.Wait()
		if got := r.all(); len(got) != 1 || !strings.Contains(got[0].body, `"data":{"space":"demo","bridge":"files","failures":1,"retry_in_ms":1000}}`) {
			t.Errorf("got %+v", got)
		}
	})
}

// An approver gets a link, made once however often the event is sent.
func TestLinks(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
			if n == 1 {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
		made := 0
		o := Options{Hooks: []Hook{plain("all")}, ApprovalLink: linkMaker(&made)}
		o.Hooks[0].Approvers = []string{"boss", "nobody"}
		room.serveWith(o, through)
		room.propose("p1")
		time.Sleep(time.Minute)
		room.reject("r1", "p1")
		synctest.Wait()
		got := r.all()
		if len(got) != 3 || made != 1 || got[0].body != got[1].body {
			t.Fatalf("%d links for %+v", made, got)
		}
		if l := got[1].data.Links; len(l) != 1 || l["boss"].URL != "https://parley.example/approve#demo-p1-boss" || l["boss"].Expires.IsZero() {
			t.Errorf("%+v", l)
		}
		if len(got[2].data.Links) > 0 {
			t.Errorf("a decision has links: %+v", got[2])
		}
	})
}
