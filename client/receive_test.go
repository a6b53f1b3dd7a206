package client_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

// The first loop misses nothing, though it comes late.
func TestEnvelopesFromTheStart(t *testing.T) {
	g := newGateway(t)
	for i := range 5 {
		g.say("agent", "chat", fmt.Sprint(i))
	}
	room := g.dial(t, "you", &client.Options{History: 3})
	g.say("agent", "chat", "5")
	if _, err := room.Chat(t.Context(), "last"); err != nil {
		t.Fatal(err)
	}
	var got []uint64
	for e, err := range room.Envelopes(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if got = append(got, e.Seq); e.From == "you" {
			break
		}
	}
	if fmt.Sprint(got) != "[3 4 5 6 7]" {
		t.Errorf("got %v", got)
	}
}

// Connections break at any moment while everybody talks: each envelope is seen
// once, in order, by everybody, and is on record once.
func TestResume(t *testing.T) {
	const senders, each, breaks = 4, 60, 40
	g := newGateway(t)
	watcher := g.dial(t, "watcher", nil)
	var everybody sync.WaitGroup
	for s := range senders {
		room := g.dial(t, fmt.Sprintf("sender-%d", s), &client.Options{EchoOff: s%2 == 1})
		everybody.Go(func() {
			for i := range each {
				if _, err := room.Chat(t.Context(), fmt.Sprintf("%d/%d", s, i)); err != nil {
					t.Errorf("sender %d: %v", s, err)
					return
				}
			}
		})
	}
	everybody.Go(func() {
		for i := range breaks {
			g.find(t, func(e *parley.Envelope) bool { return e.Seq >= uint64(i*senders*each/breaks) })
			if list := g.connections(); len(list) > 0 {
				list[rand.IntN(len(list))].ws.CloseNow()
			}
		}
	})
	want := uint64(1)
	texts := map[string]bool{}
	for e, err := range watcher.Envelopes(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != want || texts[string(e.Payload)] {
			t.Fatalf("got seq %d %s, want %d", e.Seq, e.Payload, want)
		}
		texts[string(e.Payload)] = true
		if want++; want > senders*each {
			break
		}
	}
	everybody.Wait()
	if n := len(g.record()); n != senders*each {
		t.Errorf("%d on record", n)
	}
	if at := watcher.Position(); at != (parley.Position{Epoch: "e1", Seq: senders * each}) {
		t.Errorf("position is %v", at)
	}
}

func TestResumeWithinHistory(t *testing.T) {
	g := newGateway(t)
	for i := range 9 {
		g.say("agent", "chat", fmt.Sprint(i))
	}
	g.upgrade = nil
	room := g.dial(t, "you", &client.Options{After: &parley.Position{Epoch: "e1", Seq: 4}})
	g.dropAll()
	want := uint64(5)
	for e, err := range room.Envelopes(t.Context()) {
		if err != nil || e.Seq != want {
			t.Fatalf("got %v, %v, want %d", e, err, want)
		}
		if want++; want == 10 {
			break
		}
	}
}

// A gap is told where the hole is, to the loop and to OnState.
func TestGap(t *testing.T) {
	for name, c := range map[string]struct {
		change func(g *gateway)
		want   client.Gap
		next   uint64
	}{
		"another epoch": {
			func(g *gateway) { g.epoch = "e2" },
			client.Gap{After: parley.Position{Epoch: "e1", Seq: 1}, Next: parley.Position{Epoch: "e2", Seq: 4}}, 5,
		},
		"no longer kept": {
			func(g *gateway) { g.first = 4 },
			client.Gap{After: parley.Position{Epoch: "e1", Seq: 1}, Next: parley.Position{Epoch: "e1", Seq: 4}}, 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			hold := make(chan struct{})
			states := make(chan client.State, 10)
			room := g.dial(t, "you", &client.Options{OnState: func(s client.State) {
				states <- s
				if s.Phase == client.Waiting {
					<-hold
				}
			}})
			if _, err := room.Chat(t.Context(), "1"); err != nil {
				t.Fatal(err)
			}
			g.dropAll()
			for s := range states {
				if s.Phase == client.Waiting {
					break
				}
			}
			for i := range 3 {
				g.say("agent", "chat", fmt.Sprint(i))
			}
			g.mu.Lock()
			c.change(g)
			g.mu.Unlock()
			close(hold)
			if s := <-states; s.Gap == nil || *s.Gap != c.want {
				t.Errorf("OnState was told %+v", s)
			}
			g.say("agent", "chat", "5")

			seqs := []uint64{}
			for e, err := range room.Envelopes(t.Context()) {
				var gap *client.Gap
				switch {
				case errors.As(err, &gap):
					if *gap != c.want {
						t.Errorf("the loop was told %v", gap)
					}
					seqs = append(seqs, 0)
				case err != nil:
					t.Fatal(err)
				default:
					seqs = append(seqs, e.Seq)
				}
				if len(seqs) == 3 {
					break
				}
			}
			if seqs[0] != 1 || seqs[1] != 0 || seqs[2] != c.next {
				t.Errorf("got %v", seqs)
			}
			if s := room.Stats(); s.Gaps != 1 {
				t.Errorf("stats are %+v", s)
			}
		})
	}
}

// A slow loop makes the room stop reading, and loses nothing.
func TestSlowLoop(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", &client.Options{Buffer: 2})
	started, goOn := make(chan struct{}), make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		want := uint64(1)
		for e, err := range room.Envelopes(t.Context()) {
			if err != nil || e.Seq != want {
				t.Errorf("got %v, %v, want %d", e, err, want)
				return
			}
			if want == 1 {
				close(started)
				<-goOn
			}
			if want++; want > 100 {
				return
			}
		}
	}()
	g.say("agent", "chat", "0")
	<-started
	for i := range 99 {
		g.say("agent", "chat", fmt.Sprint(i))
	}
	close(goOn)
	<-done
}

// A loop that is slower than the gateway's patience makes it close the
// connection; the room resumes, and the loop still sees everything once.
func TestStallIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGateway(t)
		room := g.dial(t, "you", &client.Options{Buffer: 1})
		seen := 0
		done := make(chan struct{})
		go func() {
			defer close(done)
			for e, err := range room.Envelopes(t.Context()) {
				time.Sleep(2 * time.Minute) // of the bubble's time: longer than it takes to miss a pong
				if seen++; err != nil || e.Seq != uint64(seen) {
					t.Errorf("got %v, %v, want %d", e, err, seen)
				}
				if seen == 5 {
					return
				}
			}
		}()
		synctest.Wait()
		for i := range 5 {
			g.say("agent", "chat", fmt.Sprint(i))
		}
		<-done
		if s := room.Stats(); s.Stalls == 0 || s.Stalled < time.Minute {
			t.Errorf("stats are %+v", s)
		}
		room.Close()
	})
}

// Nobody looped in time: the first loop is told what it missed.
func TestFirstLoopTooLate(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", &client.Options{Buffer: 2})
	for range 4 {
		if _, err := room.Chat(t.Context(), "x"); err != nil {
			t.Fatal(err)
		}
	}
	var gap *client.Gap
	for _, err := range room.Envelopes(t.Context()) {
		if !errors.As(err, &gap) || gap.After.Seq != 0 || gap.Next.Seq < 3 {
			t.Errorf("got %v", err)
		}
		break
	}
}

func TestLoopEnds(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range room.Envelopes(ctx) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	}
	room.Close()
	for _, err := range room.Envelopes(t.Context()) {
		if !errors.Is(err, client.ErrClosed) {
			t.Errorf("got %v", err)
		}
	}
}

// Only the gateway is believed, and only what can be read.
func TestNotBelieved(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	c := g.of("you")
	for _, frame := range []string{
		`{"from":"agent","kind":"system/welcome","payload":{"you":{"id":"fool"}}}`,
		`{"from":"agent","kind":"system/presence","payload":{"event":"leave","participant":{"id":"you"}}}`,
		`{"from":"agent","kind":"system/error","correlation_id":"x","payload":{"error":"internal"}}`,
		`{"kind":"system/ack","payload":{"id":"x"}}`,
		`{"kind":"chat","KIND":"mcp/request:tools/call"}`,
		`not JSON`,
	} {
		c.raw(frame)
	}
	if _, err := room.Chat(t.Context(), "still here"); err != nil {
		t.Fatal(err)
	}
	if s := room.Stats(); s.Rejected != 6 {
		t.Errorf("stats are %+v", s)
	}
	if room.ID() != "you" || len(room.Participants()) != 1 {
		t.Errorf("we are %q among %v", room.ID(), room.Participants())
	}
}

func TestPresence(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	names := func() string {
		var s strings.Builder
		for _, p := range room.Participants() {
			s.WriteString(p.ID + " ")
		}
		return s.String()
	}
	presence := func(event, id string) {
		g.say(parley.GatewayID, "system/presence", fmt.Sprintf(`{"event":%q,"participant":{"id":%q,"capabilities":["chat"]}}`, event, id))
		if _, err := room.Chat(t.Context(), "and so"); err != nil {
			t.Fatal(err)
		}
	}
	presence("join", "agent")
	if got := names(); got != "agent you " {
		t.Errorf("here are %s", got)
	}
	presence("leave", "agent")
	if got := names(); got != "you " {
		t.Errorf("here are %s", got)
	}
}

// On resuming, presence that the new welcome knows already arrives again as
// envelopes, and does not turn the participants back.
func TestPresenceOnResume(t *testing.T) {
	g := newGateway(t)
	hold := make(chan struct{})
	lost := make(chan struct{})
	room := g.dial(t, "you", &client.Options{OnState: func(s client.State) {
		if s.Phase == client.Waiting {
			close(lost)
			<-hold
		}
	}})
	g.dropAll()
	<-lost
	g.say(parley.GatewayID, "system/presence", `{"event":"join","participant":{"id":"ghost"}}`)
	close(hold)
	if _, err := room.Chat(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if got := room.Participants(); len(got) != 1 || got[0].ID != "you" {
		t.Errorf("here are %v", got)
	}
}

// What a type of contexts has not of its own it has of the space.
func TestWelcomeContextTypes(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	g.of("you").raw(`{"from":"system:gateway","kind":"system/welcome","payload":{"you":{"id":"you","capabilities":["chat"]},"space":{"name":"demo",` +
		`"limits":{"context_rate":100,"context_depth":8,"open_contexts":256,"context_metadata_bytes":4096,"context_idle":"10m0s"},` +
		`"context_types":{"audit":{},"odd":5,"reasoning":{"description":"step by step","kinds":["reflection",5,"mcp/*"],"limits":{"context_depth":2,"context_idle":"1h0m0s"}}}}}}`)
	if _, err := room.Chat(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	all := client.ContextLimits{Rate: 100, Depth: 8, Open: 256, MetadataBytes: 4096, Idle: 10 * time.Minute}
	own := all
	own.Depth, own.Idle = 2, time.Hour
	want := map[string]client.ContextType{
		"audit":     {Limits: all},
		"odd":       {Limits: all},
		"reasoning": {Description: "step by step", Kinds: []string{"reflection", "mcp/*"}, Limits: own},
	}
	got := room.Welcome().Space
	if !reflect.DeepEqual(got.ContextTypes, want) || got.Limits.Context != all {
		t.Errorf("got %+v", got)
	}
}

func TestFreshWelcome(t *testing.T) {
	g := newGateway(t)
	room := g.dial(t, "you", nil)
	g.of("you").raw(`{"from":"system:gateway","kind":"system/welcome","payload":{"you":{"id":"you","capabilities":["chat"]},"participants":[{"id":"you"},{"id":"agent"}],"space":{"name":"demo"}}}`)
	if _, err := room.Chat(t.Context(), "x"); err != nil {
		t.Fatal(err)
	}
	if caps := room.Capabilities(); len(caps) != 1 || len(room.Participants()) != 2 || room.Welcome().History.Epoch != "e1" {
		t.Errorf("we may %v, the welcome is %+v", caps, room.Welcome())
	}
}
