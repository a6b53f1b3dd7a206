package demo_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/demo"
	"github.com/parleyhq/parley/parleytest"
)

// stage is a room with everybody but the agent in it.
type stage struct {
	g         *parleytest.Gateway
	you       *client.Room
	said      chan string // what the agent says
	proposals chan string // ids that the agent tells of
}

func newStage(t *testing.T) *stage {
	s := &stage{g: parleytest.Start(t, nil), said: make(chan string, 16), proposals: make(chan string, 16)}
	s.join(t, "files", &client.Options{Handler: func(_ context.Context, req *client.Request) (any, error) {
		text := "done"
		if strings.HasPrefix(req.Kind.Subject, "read_") {
			text = "what is in it"
		}
		return map[string]any{"content": []any{map[string]any{"type": "text", "text": text}}}, nil
	}})
	s.you = s.join(t, "you", nil)
	go func() {
		for e, err := range s.you.Envelopes(context.Background()) {
			if err != nil {
				return // the test has ended
			}
			if text, ok := parley.MemberString(e.Payload, "text"); ok && e.From == "agent" {
				s.said <- text
			}
		}
	}()
	return s
}

func (s *stage) join(t *testing.T, id string, o *client.Options) *client.Room {
	t.Helper()
	if o == nil {
		o = &client.Options{}
	}
	o.Token, o.Space = s.g.Token(id), s.g.Space
	room, err := client.Dial(t.Context(), s.g.URL, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Close)
	return room
}

// play runs the agent until the returned function is called.
func (s *stage) play(t *testing.T) (stop func()) {
	t.Helper()
	room := s.join(t, "agent", nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- demo.Run(ctx, room, demo.Options{OnProposal: func(id string) { s.proposals <- id }}) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		room.Close()
	}
}

// hear waits until the agent says something with these words in it.
func (s *stage) hear(t *testing.T, words ...string) {
	t.Helper()
	for _, w := range words {
		if text := <-s.said; !strings.Contains(text, w) {
			t.Errorf("it says %q, want %q in it", text, w)
		}
	}
}

func (s *stage) open(t *testing.T) []string {
	t.Helper()
	list, err := s.you.API().Proposals(t.Context(), client.ProposalOpen)
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	for _, p := range list {
		ids = append(ids, p.ID)
	}
	return ids
}

func TestApproved(t *testing.T) {
	s := newStage(t)
	defer s.play(t)()
	id := <-s.proposals
	s.hear(t, "small agent", "I would like to write hello.txt. Please approve my proposal, or reject it.")
	if _, err := s.you.FulfilID(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.hear(t, "Approved by you, thank you. files says: done\nNow hello.txt reads: what is in it")

	// It proposes again when somebody asks, and only once.
	for range 2 {
		if _, err := s.you.Chat(t.Context(), "Please PROPOSE again"); err != nil {
			t.Fatal(err)
		}
	}
	again := <-s.proposals
	s.hear(t, "Please approve my proposal", "still open")
	if open := s.open(t); !slices.Equal(open, []string{again}) {
		t.Errorf("open are %v, want %s", open, again)
	}
}

func TestRejected(t *testing.T) {
	s := newStage(t)
	defer s.play(t)()
	id := <-s.proposals
	s.hear(t, "small agent", "Please approve my proposal")
	p, err := s.you.API().Envelope(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.you.Reject(t.Context(), p, "unsafe", "not today"); err != nil {
		t.Fatal(err)
	}
	s.hear(t, "you said no (unsafe, “not today”), so nothing was written.")
}

// An agent that comes back takes up what it left, and does not begin anew.
func TestComesBack(t *testing.T) {
	s := newStage(t)
	stop := s.play(t)
	id := <-s.proposals
	s.hear(t, "small agent", "Please approve my proposal")
	stop()

	stop = s.play(t)
	if again := <-s.proposals; again != id {
		t.Errorf("it tells of %s, want %s", again, id)
	}
	if _, err := s.you.FulfilID(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	s.hear(t, "Approved by you")
	stop()

	defer s.play(t)()
	if _, err := s.you.Chat(t.Context(), "propose", client.To("agent")); err != nil {
		t.Fatal(err)
	}
	<-s.proposals
	s.hear(t, "Please approve my proposal") // the first thing that it says
}
