package client_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

func TestDialIsWelcomed(t *testing.T) {
	g := newGateway(t)
	g.limits = `{"envelope_bytes":2048,"call_timeout":"90s","rate":200}`
	room := g.dial(t, "you", nil)
	if room.ID() != "you" {
		t.Errorf("we are %q", room.ID())
	}
	w := room.Welcome()
	if w.Space.Name != "demo" || w.History.Epoch != "e1" || w.Space.Limits.CallTimeout != 90*time.Second || w.Space.Limits.Rate != 200 {
		t.Errorf("welcome is %+v", w)
	}
	caps := room.Capabilities()
	if len(caps) != 2 || caps[0].String() != "chat" {
		t.Errorf("capabilities are %v", caps)
	}
}

// Every option reaches the gateway, in the words of section 6.
func TestDialQuery(t *testing.T) {
	for want, opts := range map[string]client.Options{
		"space=demo":             {},
		"history=5&space=demo":   {History: 5},
		"after=7&epoch=e1":       {After: &parley.Position{Epoch: "e1", Seq: 7}, History: 5},
		"routing=directed":       {Routing: client.RoutingDirected},
		"contexts=none":          {Contexts: "none"},
		"kinds=chat%2Cmcp%2F%2A": {Kinds: []string{"chat", "mcp/*"}},
		"presence=off":           {PresenceOff: true},
		"echo=off":               {EchoOff: true},
		"exclusive=on":           {Exclusive: true},
	} {
		g := newGateway(t)
		g.dial(t, "you", &opts)
		for part := range strings.SplitSeq(want, "&") {
			if q := g.queries()[0]; !strings.Contains("&"+q+"&", "&"+part+"&") {
				t.Errorf("query is %q, want %q in it", q, part)
			}
		}
		if opts.After != nil && strings.Contains(g.queries()[0], "history") {
			t.Errorf("query is %q", g.queries()[0])
		}
	}
}

func TestDialRefused(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   parley.Code
	}{
		{401, `{"code":"unauthorized","detail":"no such token","hint":"h"}`, parley.Unauthorized},
		{403, `{"code":"capability_violation","detail":"d"}`, parley.CapabilityViolation},
		{404, `{"code":"not_found","detail":"no such space"}`, parley.NotFound},
		{429, `{"code":"rate_limited","detail":"d","retry_after_ms":5}`, parley.RateLimited},
		{503, `{"code":"unavailable","detail":"d"}`, parley.Unavailable},
		{401, `<html>a proxy`, parley.Unauthorized},
		{502, `{"cut":"o`, parley.Unavailable},
		{500, ``, parley.Internal},
	} {
		g := newGateway(t)
		g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(c.status)
			w.Write([]byte(c.body))
			return false
		}
		_, err := g.tryDial(t, "you", nil)
		refused, ok := err.(*parley.Error)
		if !ok || refused.Code != c.want || refused.Message == "" {
			t.Errorf("%d %s: got %v", c.status, c.body, err)
		}
	}
}

func TestDialUnreachable(t *testing.T) {
	g := newGateway(t)
	g.close()
	_, err := g.tryDial(t, "you", nil)
	refused, ok := errors.AsType[*parley.Error](err)
	if !ok || refused.Code != parley.Unavailable || refused.Hint == "" {
		t.Errorf("got %v", err)
	}
}

func TestDialBadArguments(t *testing.T) {
	for _, c := range []struct {
		url  string
		opts client.Options
	}{
		{"ftp://host", client.Options{}},
		{"127.0.0.1:7717", client.Options{}},
		{"http:///ws", client.Options{}},
		{"http://host", client.Options{Routing: "sideways"}},
		{"http://host", client.Options{History: -1}},
		{"http://host", client.Options{Kinds: []string{"a,b"}}},
		{"http://host", client.Options{Kinds: []string{""}}},
		{"http://host", client.Options{Token: "t\n"}},
		{"http://host", client.Options{After: &parley.Position{Seq: 3}}},
	} {
		_, err := client.Dial(t.Context(), c.url, &c.opts)
		if !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
			t.Errorf("%s %+v: got %v", c.url, c.opts, err)
		}
	}
}

func TestDialGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		g.upgrade = func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return false }
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := client.Dial(ctx, "http://gateway", &client.Options{HTTPClient: g.client(t)})
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDialKeepsTrying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		tries := 0
		g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
			if tries++; tries < 4 {
				writeProblem(w, 503, "unavailable", "starting")
				return false
			}
			return true
		}
		g.dial(t, "you", &client.Options{RetryDial: true})
		if tries != 4 {
			t.Errorf("%d tries", tries)
		}
	})
}

// What the gateway ends for good ends the room, with an error that says why.
func TestEnds(t *testing.T) {
	for status, want := range map[websocket.StatusCode]error{
		4001: client.ErrUnauthorized,
		4003: client.ErrRemoved,
		4009: client.ErrReplaced,
	} {
		g := newGateway(t)
		room := g.dial(t, "you", nil)
		go g.of("you").ws.Close(status, "because")
		<-room.Done()
		err := room.Err()
		end, ok := errors.AsType[*client.EndError](err)
		if !ok || end.Status != int(status) || !errors.Is(err, want) || !strings.Contains(err.Error(), "because") {
			t.Errorf("%d: got %v", status, err)
		}
		if _, err := room.Chat(t.Context(), "late"); !errors.Is(err, want) {
			t.Errorf("%d: a send says %v", status, err)
		}
		for _, err := range room.Envelopes(t.Context()) {
			if !errors.Is(err, want) {
				t.Errorf("%d: the loop says %v", status, err)
			}
		}
		room.Close()
	}
}

// A room that is refused when it comes back ends.
func TestEndsWhereTheGatewayNoLongerWantsUs(t *testing.T) {
	g := newGateway(t)
	tries := 0
	g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
		if tries++; tries > 1 {
			writeProblem(w, 401, "unauthorized", "the token was revoked")
		}
		return tries == 1
	}
	room := g.dial(t, "you", nil)
	g.dropAll()
	<-room.Done()
	if err := room.Err(); !errors.Is(err, &parley.Error{Code: parley.Unauthorized}) {
		t.Errorf("got %v", err)
	}
}

func TestCloseSaysGoodbye(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	room.Close()
	room.Close()
	if !errors.Is(room.Err(), client.ErrClosed) {
		t.Errorf("got %v", room.Err())
	}
	if _, err := room.Chat(t.Context(), "late"); !errors.Is(err, client.ErrClosed) {
		t.Errorf("a send says %v", err)
	}
}

// Pauses double, within bounds, and are shortened by up to a half.
func TestBackoff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		tries := 0
		g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
			if tries++; tries > 1 && tries < 8 {
				writeProblem(w, 503, "unavailable", "starting")
				return false
			}
			return true
		}
		var states []client.State
		back := make(chan struct{})
		room := g.dial(t, "you", &client.Options{
			BackoffMin: time.Second, BackoffMax: 10 * time.Second,
			OnState: func(s client.State) {
				if states = append(states, s); s.Phase == client.Connected && len(states) > 1 {
					close(back)
				}
			},
		})
		g.dropAll()
		<-back
		want := []time.Duration{1, 2, 4, 8, 10, 10, 10}
		for i, s := range states[1 : len(states)-1] {
			most := want[i] * time.Second
			if s.Phase != client.Waiting || s.Attempt != i+1 || s.RetryIn < most/2 || s.RetryIn > most || s.Err == nil {
				t.Errorf("state %d is %+v, want a pause up to %v", i, s, most)
			}
		}
		if len(states) != 9 {
			t.Errorf("%d states", len(states))
		}
		room.Close()
		if last := states[len(states)-1]; last.Phase != client.Ended || !errors.Is(last.Err, client.ErrClosed) {
			t.Errorf("the last state is %+v", last)
		}
	})
}

// Where the gateway says when to come back, the room comes no sooner.
func TestRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		var times []time.Time
		g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
			if times = append(times, time.Now()); len(times) == 2 {
				w.Header().Set("Retry-After", "7")
				writeProblem(w, 429, "rate_limited", "slowly")
				return false
			}
			return true
		}
		room := g.dial(t, "you", nil)
		g.dropAll()
		time.Sleep(time.Minute) // of the bubble's time
		synctest.Wait()
		if len(times) != 3 || times[2].Sub(times[1]) < 7*time.Second {
			t.Errorf("tried at %v", times)
		}
		room.Close()
	})
}

// A token that is no longer taken ends the room; where others at the same address
// guess, it learns that only after it has waited as it was told.
func TestTokenNoLongerTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		var times []time.Time
		g.upgrade = func(w http.ResponseWriter, _ *http.Request) bool {
			switch times = append(times, time.Now()); len(times) {
			case 1:
				return true
			case 2, 3:
				w.Header().Set("Retry-After", "3")
				writeProblem(w, 429, "rate_limited", "too many wrong tokens")
			default:
				writeProblem(w, 401, "unauthorized", "the token is not known here")
			}
			return false
		}
		room := g.dial(t, "you", nil)
		g.dropAll()
		time.Sleep(time.Minute) // of the bubble's time
		synctest.Wait()
		if len(times) != 4 || times[2].Sub(times[1]) < 3*time.Second || times[3].Sub(times[2]) < 3*time.Second {
			t.Errorf("tried at %v", times)
		}
		if err := room.Err(); !errors.Is(err, &parley.Error{Code: parley.Unauthorized}) {
			t.Errorf("the room ends with %v", err)
		}
		room.Close()
	})
}

// A gateway that falls silent is found out by its missing pong.
func TestPings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		silent := make(chan struct{})
		joins := 0
		g.upgrade = func(w http.ResponseWriter, r *http.Request) bool {
			if joins++; joins > 1 {
				return true
			}
			ws, err := websocket.Accept(w, r, nil)
			if err != nil {
				t.Error(err)
				return false
			}
			ws.Write(r.Context(), websocket.MessageText, []byte(`{"from":"system:gateway","kind":"system/welcome","payload":{"you":{"id":"you"},"history":{"epoch":"e1","first":1,"last":0}}}`))
			<-silent // reads nothing, and so answers no ping
			ws.CloseNow()
			return false
		}
		start := time.Now()
		back := make(chan time.Duration, 2)
		room := g.dial(t, "you", &client.Options{OnState: func(s client.State) {
			if s.Phase == client.Connected {
				back <- time.Since(start)
			}
		}})
		<-back
		if took := <-back; took < 30*time.Second || took > 50*time.Second {
			t.Errorf("found out after %v", took)
		}
		close(silent)
		room.Close()
	})
}
