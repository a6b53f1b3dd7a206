package client_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// thinkers is a gateway with an agent that may reason and propose, a person who
// decides, and a server of files.
func thinkers(t *testing.T) (agent, you *client.Room) {
	g := parleytest.Start(t, &parleytest.Options{Participants: map[string][]string{
		"agent": {"chat", "reflection", "conclusion", "mcp/*"},
		"you":   {"chat", "reflection", "conclusion", "mcp/*"},
		"files": {"chat", "mcp/*"},
	}})
	enter := func(name string, h client.Handler) *client.Room {
		room, err := client.Dial(t.Context(), g.URL, &client.Options{Token: g.Token(name), Space: g.Space, Handler: h})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(room.Close)
		return room
	}
	enter("files", func(ctx context.Context, req *client.Request) (any, error) {
		if req.Kind.Subject == "fail" {
			return nil, errors.New("no")
		}
		// What a server does for a request belongs below the request's context.
		ctx, work := req.Room().Context(ctx, "delegation")
		_, err := work.Chat(ctx, "working on it")
		return map[string]any{}, err
	})
	return enter("agent", nil), enter("you", nil)
}

// onRecord is everything that is, but for presence.
func onRecord(t *testing.T, room *client.Room) []*parley.Envelope {
	t.Helper()
	return slices.DeleteFunc(every(t, room.API().History(t.Context(), nil)), func(e *parley.Envelope) bool { return e.Kind == parley.KindPresence })
}

func every(t *testing.T, seq client.Envelopes) []*parley.Envelope {
	t.Helper()
	var list []*parley.Envelope
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, e)
	}
	return list
}

// told is what an envelope says of its context, with names for the ids.
func told(e *parley.Envelope, names map[string]string) string {
	if e.Context == nil {
		return e.Kind + " main"
	}
	s := fmt.Sprintf("%s %s %s", e.Kind, names[e.Context.ID], e.Context.Type)
	if e.Context.Parent != "" {
		s += " in " + names[e.Context.Parent]
	}
	if e.Context.Metadata != nil {
		s += " " + string(e.Context.Metadata)
	}
	return s
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

var tool = map[string]any{"name": "write_file", "arguments": map[string]any{}}

// The example of section 8's origin: a chain of reasoning with a nested one, a
// proposal and a conclusion, and the denial that refers to it.
func TestContextOnTheWire(t *testing.T) {
	agent, you := thinkers(t)
	ctx := t.Context()
	sent, proposed, answered := must[client.Receipt](t), must[*client.Proposal](t), must[*client.Reply](t)

	inside, reason := agent.Context(ctx, "reasoning", client.ContextMetadata(map[string]string{"trigger": "security-analysis"}))
	sent(reason.Think(inside, "Starting security analysis"))
	p := proposed(reason.Propose(inside, "files", "tools/call", tool))
	_, deeper := agent.Context(inside, "workflow")
	sent(deeper.Think(inside, "Deeper analysis needed"))
	_, deepest := deeper.Context(ctx, "reasoning")
	answered(deepest.Request(ctx, "files", "tools/call", tool))
	if err := reason.SetMetadata(map[string]any{"confidence": 0.95}); err != nil {
		t.Fatal(err)
	}
	sent(reason.Conclude(ctx, map[string]string{"decision": "Deny the operation"}))
	sent(agent.Chat(inside, "denied", client.Correlate(reason.ID())))
	_, aside := agent.Context(inside, "note", client.ContextParent(nil), client.ContextID("aside"))
	sent(aside.Send(ctx, &parley.Envelope{Kind: "chat", Context: &parley.Context{ID: "elsewhere"}, Payload: []byte(`{"text":"a"}`)}))
	_, judging := you.Context(inside, "reasoning")
	sent(judging.Reject(ctx, p.Envelope, "unsafe", "no"))

	list := onRecord(t, you)
	work := list[slices.IndexFunc(list, func(e *parley.Envelope) bool { return e.From == "files" })]
	names := map[string]string{reason.ID(): "R", deeper.ID(): "D", deepest.ID(): "DD", "aside": "A", judging.ID(): "J", work.Context.ID: "W"}
	var got []string
	for _, e := range list {
		got = append(got, told(e, names))
	}
	want := []string{
		`reflection R reasoning {"trigger":"security-analysis"}`,
		`mcp/proposal:tools/call:write_file R reasoning`,
		`reflection D workflow in R`,
		`mcp/request:tools/call:write_file DD reasoning in D`,
		`chat W delegation in DD`,
		`mcp/response:tools/call:write_file DD reasoning in D`,
		`conclusion R reasoning {"confidence":0.95}`,
		`chat main`,
		`chat A note`,
		`mcp/reject:tools/call:write_file J reasoning`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for id, name := range names {
		if _, err := uuid.Parse(id); err != nil && name != "A" {
			t.Errorf("%s is %s, no UUID", name, id)
		}
	}
	if string(list[0].Payload) != `{"thought":"Starting security analysis"}` || string(list[6].Payload) != `{"decision":"Deny the operation"}` {
		t.Errorf("thought %s and concluded %s", list[0].Payload, list[6].Payload)
	}
	if chain := must[client.Chain](t)(agent.API().Chain(ctx, reason.ID())); len(chain.Envelopes) == 0 {
		t.Error("nothing follows from the reasoning")
	}
}

// Everything that a ContextRoom sends is in its context, whatever it answers and
// whatever its options say.
func TestContextCarriedByEveryMethod(t *testing.T) {
	agent, you := thinkers(t)
	ctx := t.Context()
	offer := func() *parley.Envelope {
		return must[*client.Proposal](t)(agent.Propose(ctx, "files", "tools/call", tool)).Envelope
	}
	question := func() *parley.Envelope {
		e := must[*parley.Envelope](t)(client.NewRequest("you", "tools/call", tool))
		must[client.Receipt](t)(agent.Send(ctx, e))
		asked := *e
		asked.From = "agent"
		return &asked
	}
	other := client.InContext(client.NewContext("other", nil))
	reply := func(_ *client.Reply, err error) error { return err }
	receipt := func(_ client.Receipt, err error) error { return err }
	for name, send := range map[string]func(c *client.ContextRoom) error{
		"Chat":     func(c *client.ContextRoom) error { return receipt(c.Chat(ctx, "x", other)) },
		"Think":    func(c *client.ContextRoom) error { return receipt(c.Think(ctx, "x", other)) },
		"Conclude": func(c *client.ContextRoom) error { return receipt(c.Conclude(ctx, nil, other)) },
		"Send":     func(c *client.ContextRoom) error { return receipt(c.Send(ctx, client.NewChat("x", other))) },
		"Notify":   func(c *client.ContextRoom) error { return receipt(c.Notify(ctx, "", "message", nil, other)) },
		"Request":  func(c *client.ContextRoom) error { return reply(c.Request(ctx, "files", "tools/call", tool, other)) },
		"Fulfil":   func(c *client.ContextRoom) error { return reply(c.Fulfil(ctx, offer(), other)) },
		"FulfilID": func(c *client.ContextRoom) error { return reply(c.FulfilID(ctx, offer().ID, other)) },
		"Amend":    func(c *client.ContextRoom) error { return reply(c.Amend(ctx, offer(), tool, other)) },
		"Reject":   func(c *client.ContextRoom) error { return receipt(c.Reject(ctx, offer(), "", "", other)) },
		"Respond":  func(c *client.ContextRoom) error { return receipt(c.Respond(ctx, question(), 1, other)) },
		"RespondError": func(c *client.ContextRoom) error {
			return receipt(c.RespondError(ctx, question(), errors.New("x"), other))
		},
		"Call": func(c *client.ContextRoom) error {
			e, _ := client.NewRequest("files", "tools/call", tool, other)
			return reply(c.Call(ctx, e))
		},
		"Propose": func(c *client.ContextRoom) error {
			p, err := c.Propose(ctx, "files", "tools/call", tool, other)
			if err != nil {
				return err
			}
			return receipt(c.Withdraw(ctx, p.Envelope, other))
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, c := you.Context(ctx, "reasoning")
			if err := send(c); err != nil {
				t.Fatal(err)
			}
			list := onRecord(t, you)
			at := slices.IndexFunc(list, func(e *parley.Envelope) bool { return e.Context != nil && e.Context.ID == c.ID() })
			if at < 0 {
				t.Fatal("nothing was sent in the context")
			}
			for _, e := range list[at:] {
				if e.From == "you" && (e.Context == nil || e.Context.ID != c.ID() || e.Context.Type != "reasoning") {
					t.Errorf("%s is in %+v", e.Kind, e.Context)
				}
			}
		})
	}
}

// Metadata go out once, with the first envelope that is admitted, and newer ones
// win over those that come back.
func TestContextMetadata(t *testing.T) {
	g := newGateway(t)
	refuse := false
	g.judge = func(*parley.Envelope) *parley.Error {
		if refuse {
			return parley.Errorf(parley.RateLimited, "later")
		}
		return nil
	}
	room := g.dial(t, "agent", nil)
	ctx := t.Context()
	_, c := room.Context(ctx, "reasoning", client.ContextMetadata(map[string]int{"n": 1}))
	if bad := c.SetMetadata("text"); !errors.Is(bad, &parley.Error{Code: parley.InvalidArgument}) {
		t.Errorf("a string: %v", bad)
	}
	say := func() {
		t.Helper()
		if _, err := c.Chat(ctx, "x"); (err != nil) != refuse {
			t.Fatal(err)
		}
	}
	refuse = true
	say()
	refuse = false
	say()
	say()
	for i, step := range []bool{true, false} {
		if err := c.SetMetadata(map[string]int{"n": 2 + i}); err != nil {
			t.Fatal(err)
		}
		refuse = step
		say()
	}
	var got []string
	for _, e := range g.record() {
		got = append(got, string(e.Context.Metadata))
	}
	if want := []string{`{"n":1}`, ``, `{"n":3}`}; !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
}

// An answer is in the context of what it answers, and does not repeat its
// metadata.
func TestAnswerRepeatsNoMetadata(t *testing.T) {
	agent, you := thinkers(t)
	_, c := agent.Context(t.Context(), "reasoning", client.ContextMetadata(map[string]int{"n": 1}))
	must[*client.Reply](t)(c.Request(t.Context(), "files", "tools/call", tool))
	list := onRecord(t, you)
	if e := list[len(list)-1]; e.From != "files" || e.Context.ID != c.ID() || e.Context.Metadata != nil || list[0].Context.Metadata == nil {
		t.Errorf("the answer is in %+v", e.Context)
	}
}

// What cannot be sent is told by whatever sends.
func TestContextThatCannotBeMeant(t *testing.T) {
	room := newGateway(t).dial(t, "agent", nil)
	for _, c := range []struct {
		opt  client.ContextOption
		code parley.Code
	}{
		{client.ContextMetadata(make(chan int)), parley.InvalidArgument},
		{client.ContextMetadata([]int{1}), parley.InvalidArgument},
		{client.ContextID("with a blank"), parley.InvalidContext},
		{client.ContextID(strings.Repeat("x", 129)), parley.InvalidContext},
		{client.ContextParent(&parley.Context{ID: "\x01"}), parley.InvalidContext},
	} {
		_, scope := room.Context(t.Context(), "reasoning", c.opt)
		for range 2 {
			if _, err := scope.Think(t.Context(), "x"); !errors.Is(err, &parley.Error{Code: c.code}) {
				t.Errorf("got %v, want %s", err, c.code)
			}
		}
	}
}

// A ctx carries a context for its own room alone.
func TestContextOfAnotherRoom(t *testing.T) {
	one, other := newGateway(t).dial(t, "agent", nil), newGateway(t).dial(t, "agent", nil)
	ctx, outer := one.Context(t.Context(), "workflow")
	_, elsewhere := other.Context(ctx, "workflow")
	_, inner := one.Context(ctx, "workflow")
	if elsewhere.Parent() != "" || inner.Parent() != outer.ID() || outer.Room() != one {
		t.Errorf("parents are %q and %q", elsewhere.Parent(), inner.Parent())
	}
}

// Whatever a room can send, it can send in a context.
func TestContextRoomSendsAllThatARoomDoes(t *testing.T) {
	option := reflect.TypeFor[[]client.SendOption]()
	inside := reflect.TypeFor[*client.ContextRoom]()
	for m := range reflect.TypeFor[*client.Room]().Methods() {
		takesContext := m.Type.NumIn() > 1 && m.Type.In(1) == reflect.TypeFor[context.Context]()
		if !takesContext || m.Type.In(m.Type.NumIn()-1) != option {
			continue
		}
		if _, ok := inside.MethodByName(m.Name); !ok {
			t.Errorf("there is no ContextRoom.%s", m.Name)
		}
	}
}
