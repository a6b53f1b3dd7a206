package webhook

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
)

// Events arrive over a socket, and the library of the document takes them for what
// they are, their time included.
func TestDelivery(t *testing.T) {
	room, r := newRoom(t), newReceiver(t)
	room.propose("before")
	r.answer = func(_ int, one received, w http.ResponseWriter, req *http.Request) {
		v, err := standardwebhooks.NewWebhook(secret)
		if err == nil {
			err = v.Verify([]byte(one.body), req.Header)
		}
		if err != nil || !strings.HasPrefix(req.UserAgent(), "Parley/") || req.Header.Get("Authorization") != "" {
			t.Errorf("%v: %v", req.Header, err)
		}
		w.WriteHeader(http.StatusNoContent)
	}
	d := room.serve(nil, hook("all", r.listen()))
	room.send("you", "chat", "c1", "", `{"text":"hello"}`)
	room.propose("p1")
	room.fulfil("f1", "p1")
	r.first(2)
	room.propose("p2")
	room.reject("r2", "p2")
	r.first(4)
	room.propose("p3")
	room.send("agent", "mcp/withdraw:tools/call:write_file", "w3", "p3", `{}`)
	r.first(6)
	room.propose("p4")
	room.fulfil("n4", "n/a")
	room.send("boss", "mcp/request:tools/call:write_file+", "f4", "p4", `{"method":"tools/call","params":{"name":"write_file","arguments":{}}}`, "files")
	r.first(8)
	room.propose("p5")
	room.send("boss", "mcp/request:notifications/progress", "n5", "p5", `{"method":"notifications/progress"}`)
	room.send("system:gateway", "system/notice", "x5", "p5", `{"event":"proposal_expired","proposal":"p5"}`)
	room.send("system:gateway", "system/notice", "x6", "p5", `{"event":"tools_seen"}`)
	r.first(10)
	room.refuse("agent", "e1", 0)
	got := r.first(11)
	status(t, d, "all", func(s Status) bool {
		return s.Delivered == 11 && s.Pending == 0 && s.Last.Status == 204 && s.State == "active"
	})
	want := "proposal.opened p1\nproposal.fulfilled p1\nproposal.opened p2\nproposal.rejected p2\nproposal.opened p3\nproposal.withdrawn p3\n" +
		"proposal.opened p4\nproposal.amended p4\nproposal.opened p5\nproposal.expired p5\nenvelope.refused e1\n"
	if told(got) != want {
		t.Errorf("got %s", told(got))
	}
}

// What a webhook is not for is not sent to it.
func TestFilters(t *testing.T) {
	room, all, few := newRoom(t), newReceiver(t), newReceiver(t)
	filtered := hook("few", few.listen())
	filtered.Events = MatchEvents("proposal.*")
	filtered.From = []string{"agent"}
	filtered.Kinds = patterns(t, "mcp/proposal:tools/call:write_*")
	elsewhere := hook("all", few.listen())
	elsewhere.Space = "elsewhere"
	if _, err := room.journal.Open(t.Context(), "elsewhere", room); err != nil {
		t.Fatal(err)
	}
	room.serve(nil, filtered, hook("all", all.listen()), elsewhere)
	room.propose("p1")
	room.send("agent", "mcp/proposal:tools/call:read_file", "p2", "", `{"method":"tools/call"}`)
	room.send("other", "mcp/proposal:tools/call:write_file", "p3", "", `{"method":"tools/call"}`)
	room.send("boss", "mcp/reject:tools/call:read_file", "r2", "p2", `{}`)
	room.send("boss", "mcp/reject", "r3", "p3", `{}`)
	room.refuse("agent", "e1", 0)
	room.reject("r1", "p1")
	all.first(7)
	few.first(2)
	if got := told(few.all()); got != "proposal.opened p1\nproposal.rejected p1\n" {
		t.Errorf("got %s", got)
	}
}

// A receiver that does not answer delays nobody else.
func TestSlowReceiver(t *testing.T) {
	room, slow, quick := newRoom(t), newReceiver(t), newReceiver(t)
	release := make(chan struct{})
	slow.answer = func(int, received, http.ResponseWriter, *http.Request) { <-release }
	d := room.serve(nil, hook("slow", slow.listen()), hook("quick", quick.listen()))
	t.Cleanup(func() { close(release) }) // before the servers wait for it
	for i := range 50 {
		room.propose(fmt.Sprint("p", i))
	}
	quick.first(50)
	if n := len(slow.first(mostFlights)); n != mostFlights {
		t.Errorf("%d requests at a time", n)
	}
	status(t, d, "slow", func(s Status) bool { return s.Pending == 50 && s.Delivered == 0 })
	status(t, d, "quick", func(s Status) bool { return s.Pending == 0 && s.Delivered == 50 })
	if n := len(slow.all()); n != mostFlights {
		t.Errorf("%d requests at a time", n)
	}
}

// Receivers do all sorts of things. None of it is a success but 2xx, and of none
// more is told than fits into a line.
func TestOddReceivers(t *testing.T) {
	elsewhere := newReceiver(t)
	redirect := elsewhere.listen()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string // of the problem; "" is a success
	}{
		"201":   {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, ""},
		"large": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", 1<<20)) }, ""},
		"moved": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, redirect, http.StatusTemporaryRedirect)
		}, "it answered 307 Temporary Redirect; redirections are not followed"},
		"moved 301": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, redirect, http.StatusMovedPermanently)
		}, "it answered 301 Moved Permanently; redirections are not followed"},
		"304":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304) }, "it answered 304 Not Modified; redirections are not followed"},
		"404":         {http.NotFound, "it answered 404 Not Found: 404 page not found"},
		"long":        {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, strings.Repeat("é", 1<<20), 500) }, "it answered 500 Internal Server Error: " + strings.Repeat("é", 100) + "…"},
		"hostile":     {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "a\x00\x1b]0;b\u202ec\nd\xff", 500) }, "it answered 500 Internal Server Error: a ]0;b c d"},
		"closes":      {hijack(""), "EOF"},
		"no HTTP":     {hijack("SSH-2.0-OpenSSH_9\r\n\r\n"), `net/http: HTTP/1.x transport connection broken: malformed HTTP response "SSH-2.0-OpenSSH_9"`},
		"too short":   {hijack("HTTP/1.1 500 Lies\r\nContent-Length: 100\r\n\r\nshort"), "it answered 500 Internal Server Error: short"},
		"short 200":   {hijack("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"), ""},
		"big headers": {hijack("HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 64<<10) + "\r\n\r\n"), "net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 16384 bytes; aborted"},
		"no status":   {hijack("HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"), "it answered 999 "},
		"early":       {hijack("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Fine\r\n\r\n"), ""},
		"many early":  {hijack(strings.Repeat("HTTP/1.1 103 Early\r\n\r\n", 5_000)), "net/http: HTTP/1.x transport connection broken: net/http: server response headers exceeded 16384 bytes; aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			room, r := newRoom(t), newReceiver(t)
			r.answer = func(_ int, _ received, w http.ResponseWriter, req *http.Request) { c.answer(w, req) }
			h := hook("all", r.listen())
			h.Retries = 0
			d := room.serve(nil, h)
			room.propose("p1")
			s := status(t, d, "all", func(s Status) bool { return s.Pending == 0 && s.Last != nil })
			if s.Last.Problem != c.want || (c.want == "") != (s.Delivered == 1) || (c.want == "") != (s.Dead == 0) || len(r.all()) != 1 {
				t.Errorf("%+v, %+v", s, s.Last)
			}
		})
	}
	if got := elsewhere.all(); len(got) > 0 {
		t.Errorf("a redirection was followed: %+v", got)
	}
}

// hijack answers with bytes, and closes.
func hijack(answer string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err == nil {
			io.WriteString(c, answer)
			c.Close()
		}
	}
}

// A receiver that is not there, or not whom the URL means, gets nothing, and where
// it would be does not show.
func TestUnreachable(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	taken := l.Addr().String()
	l.Close()
	r := newReceiver(t)
	stranger := httptest.NewUnstartedServer(r)
	stranger.Config.ErrorLog = log.New(io.Discard, "", 0)
	stranger.StartTLS()
	t.Cleanup(stranger.Close)
	host := strings.TrimPrefix(r.listen(), "http://")
	for url, want := range map[string]string{
		"http://" + taken + "/sesame": "connection refused",
		"https://" + host:             "server gave HTTP response to HTTPS client",
		stranger.URL + "/sesame":      "certificate signed by unknown authority",
		"https://169.254.169.254/":    "a webhook may not connect to 169.254.169.254:443",
		"https://[::]:9/":             "a webhook may not connect to [::]:9",
	} {
		room := newRoom(t)
		h := hook("all", url)
		h.Retries = 0
		d := room.serve(nil, h)
		room.propose("p1")
		s := status(t, d, "all", func(s Status) bool { return s.Dead == 1 })
		if !strings.Contains(s.Last.Problem, want) || strings.Contains(s.Last.Problem, "sesame") || s.Last.Status != 0 {
			t.Errorf("%s: %+v", url, s.Last)
		}
	}
	if len(r.all()) > 0 {
		t.Errorf("got %+v", r.all())
	}
}

// A test event goes out at once, also where the webhook is disabled, and tells how it
// was answered.
func TestTest(t *testing.T) {
	room, r := newRoom(t), newReceiver(t)
	answers := make(chan int, 3)
	arrived := make(chan struct{})
	release := make(chan struct{})
	r.answer = func(n int, _ received, w http.ResponseWriter, _ *http.Request) {
		if n == 3 {
			close(arrived)
			<-release
		}
		w.WriteHeader(<-answers)
	}
	d := room.serve(nil, hook("all", r.listen()))
	answers <- 410
	room.propose("p1")
	status(t, d, "all", func(s Status) bool { return s.State == "disabled" })
	answers <- 202
	if a, err := d.Test(t.Context(), demo, "all"); err != nil || a.Status != 202 || a.Problem != "" {
		t.Errorf("%+v, %v", a, err)
	}
	answers <- 500
	done := make(chan Attempt)
	go func() {
		a, _ := d.Test(t.Context(), demo, "all")
		done <- a
	}()
	<-arrived
	if _, err := d.Test(t.Context(), demo, "all"); err == nil || !strings.Contains(err.Error(), "rate_limited") {
		t.Errorf("two tests at a time: %v", err)
	}
	close(release)
	if a := <-done; a.Status != 500 || a.Problem == "" {
		t.Errorf("%+v", a)
	}
	if got := r.all()[1]; got.typ != testEvent || !strings.Contains(got.body, `"data":{"space":"demo","webhook":"all"}`) {
		t.Errorf("%+v", got)
	}
	if _, err := d.Test(t.Context(), demo, "other"); err == nil {
		t.Error("a webhook was tested that there is not")
	}
}

// A desk that closes waits for no test.
func TestClosingATest(t *testing.T) {
	bubble(t, func(t *testing.T, room *room, r *receiver, through func(*Desk)) {
		r.answer = func(_ int, _ received, _ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }
		d := room.serve(through, plain("all"))
		began := time.Now()
		ended := make(chan time.Duration)
		go func() {
			_, _ = d.Test(context.Background(), demo, "all")
			ended <- time.Since(began)
		}()
		synctest.Wait()
		d.Close(cancelled())
		if took := <-ended; took >= DefaultTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

// Close waits for what is under way as long as it may, and what was not taken then is
// sent at the next start.
func TestClose(t *testing.T) {
	room, r := newRoom(t), newReceiver(t)
	stuck := make(chan struct{}, 10)
	r.answer = func(n int, _ received, _ http.ResponseWriter, req *http.Request) {
		if n == 1 {
			stuck <- struct{}{}
			<-req.Context().Done() // the sender leaves
		}
	}
	url := r.listen()
	d := room.serve(nil, hook("all", url))
	room.propose("p1")
	<-stuck
	d.Close(cancelled())
	if _, err := d.List(t.Context(), demo); err == nil {
		t.Error("a desk that was closed answers")
	}
	room.propose("p2")
	room.serve(nil, hook("all", url))
	got := r.first(3)
	if got[0].id != got[1].id || got[2].data.Proposal.ID != "p2" {
		// They may overtake each other.
		if got[0].id != got[2].id || got[1].data.Proposal.ID != "p2" {
			t.Errorf("got %+v", got)
		}
	}
}
