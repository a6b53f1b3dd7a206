package room

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// game is a handoff that asks a human, and then a model what to say to them. It
// counts what may happen once.
type game struct{ before, after atomic.Int32 }

func (g *game) add(s *tool.Server) {
	tool.AddHandoff(s, tool.Tool{Name: "greet", Needs: []tool.Ability{tool.Elicitation, tool.Sampling}}, tool.Handoff[words, words, words, words]{
		Before: func(_ context.Context, _ *tool.Call, in words) (words, error) {
			g.before.Add(1)
			return in, nil
		},
		Client: func(ctx context.Context, c *tool.Call, h words) (out words, err error) {
			who, err := tool.Elicit[name](ctx, c, sampling.Elicitation[struct{}]{Key: "who", Message: h.Text})
			if err != nil {
				return out, err
			}
			err = c.Branch(ctx, tool.Branch{Type: "reasoning"}, func(ctx context.Context, c *tool.Call) error {
				x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("Greet " + who.Parsed.Who)}})
				out.Text = x.Parsed
				return err
			})
			return out, err
		},
		After: func(_ context.Context, _ *tool.Call, _, c words, _ words) (words, error) {
			g.after.Add(1)
			return c, nil
		},
	})
}

// house is a site with a server that can be restarted.
type house struct {
	*site
	game
	runs    string
	arrival time.Duration
	server  *tool.Server
	leave   func() error
}

func open(t *testing.T) *house {
	h := &house{site: begin(t, nil), runs: t.TempDir()}
	h.start()
	return h
}

func (h *house) start() {
	h.t.Helper()
	h.server = newServer(h.t, h.runs, h.game.add)
	h.leave = h.serve(h.server, Options{Serves: served(), arrival: h.arrival})
}

func (h *house) stop() {
	h.t.Helper()
	if err := h.leave(); err != nil {
		h.t.Fatal(err)
	}
	if err := h.server.Close(); err != nil {
		h.t.Fatal(err)
	}
}

// once holds that nothing was done twice.
func (h *house) once(you *person, questions int) {
	h.t.Helper()
	if b, a := h.before.Load(), h.after.Load(); b != 1 || a != 1 {
		h.t.Errorf("Before was started %d times, After %d", b, a)
	}
	if asked := len(you.onRecord("mcp/request:elicitation/create")) + len(you.onRecord("mcp/request:sampling/createMessage")); asked != questions {
		h.t.Errorf("%d questions, want %d", asked, questions)
	}
	if answers := len(you.onRecord("mcp/response:tools/call")); answers != 1 {
		h.t.Errorf("%d answers", answers)
	}
	until(h.t, "the run is forgotten", func() bool {
		return len(slices.Collect(h.server.Runs())) == 0
	})
}

const greeting = `{"data":{"text":"Hello Ann"}}`

func TestRestartWhileAQuestionWaits(t *testing.T) {
	h := open(t)
	you, ann, model := h.join("you"), h.join("ann"), h.join("model")
	done := you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	form1 := ann.next()
	h.stop()
	if form1.ctx.Err() != nil {
		t.Error("the form was taken back")
	}
	h.start()
	form1.say(form(`{"who":"Ann"}`))
	model.next() // stays without an answer for now
	h.stop()
	h.start()
	h.stop()
	h.start()
	// Whoever left it unanswered, it is not asked anew; the model answers by the record.
	asked := you.onRecord("mcp/request:sampling/createMessage")
	if _, err := model.Respond(t.Context(), asked[0], jsontext.Value(reply("Hello Ann"))); err != nil {
		t.Fatal(err)
	}
	if got := within(t, done, "the greeting").text(); got != greeting {
		t.Errorf("got %s", got)
	}
	h.once(you, 2)
	if c := asked[0].Context; c == nil || c.Type != "reasoning" {
		t.Errorf("asked in %+v", c)
	}
}

func TestAnswersWhileAway(t *testing.T) {
	h := open(t)
	you, ann, model := h.join("you"), h.join("ann"), h.join("model")
	done := you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	q.say(form(`{"who":"Ann"}`))
	until(t, "the answer is on record", func() bool {
		for _, err := range you.API().Envelopes(t.Context(), &client.Query{From: "ann", Kind: "mcp/response:elicitation/create"}) {
			return err == nil
		}
		return false
	})
	h.start()
	model.next().say(reply("Hello Ann"))
	if got := within(t, done, "the greeting").text(); got != greeting {
		t.Errorf("got %s", got)
	}
	h.once(you, 2)
}

// TestEverybodyRestarts sees that a run waits for those who come back after it.
func TestEverybodyRestarts(t *testing.T) {
	h := open(t)
	you, ann, model := h.join("you"), h.join("ann"), h.join("model")
	done := you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	model.Close()
	until(t, "the model has left", func() bool { return h.Connections("model") == 0 })
	q.say(form(`{"who":"Ann"}`))
	h.start()
	model = h.join("model")
	model.next().say(reply("Hello Ann"))
	if got := within(t, done, "the greeting").text(); got != greeting {
		t.Errorf("got %s", got)
	}
	h.once(you, 2)
}

// TestNobodyComesBack sees that it does not wait for ever.
func TestNobodyComesBack(t *testing.T) {
	h := open(t)
	you, ann, model := h.join("you"), h.join("ann"), h.join("model")
	done := you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	model.Close()
	until(t, "the model has left", func() bool { return h.Connections("model") == 0 })
	q.say(form(`{"who":"Ann"}`))
	h.arrival = time.Millisecond
	h.start()
	if got := within(t, done, "an error").text(); !strings.Contains(got, "nobody who serves it is in the room") {
		t.Errorf("got %s", got)
	}
	h.stop()
}

func TestCancelledWhileAway(t *testing.T) {
	h := open(t)
	you, ann := h.join("you"), h.join("ann")
	h.join("model")
	ctx, cancel := context.WithCancel(t.Context())
	done := you.calling(ctx, "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	cancel()
	if o := within(t, done, "the end"); !errors.Is(o.err, context.Canceled) {
		t.Errorf("got %v", o.err)
	}
	until(t, "the cancellation is on record", func() bool {
		for _, err := range you.API().Envelopes(t.Context(), &client.Query{From: "you", Kind: kindCancelled}) {
			return err == nil
		}
		return false
	})
	h.start()
	within(t, q.ctx.Done(), "the form is taken back")
	until(t, "the call is answered", func() bool {
		list := you.onRecord("mcp/response:tools/call")
		return len(list) == 1 && strings.Contains(string(list[0].Payload), "-32800")
	})
	until(t, "the run is forgotten", func() bool { return len(slices.Collect(h.server.Runs())) == 0 })
	if h.after.Load() != 0 {
		t.Error("the run was gone on with")
	}
}

func TestCancelledAfterRestart(t *testing.T) {
	h := open(t)
	you, ann := h.join("you"), h.join("ann")
	h.join("model")
	ctx, cancel := context.WithCancel(t.Context())
	done := you.calling(ctx, "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	h.start()
	cancel()
	within(t, done, "the end")
	within(t, q.ctx.Done(), "the form is taken back")
	until(t, "the run is forgotten", func() bool { return len(slices.Collect(h.server.Runs())) == 0 })
}

// TestLeavingEndsWhatIsNotKept sees that the caller hears of it, and those who were
// asked.
func TestLeavingEndsWhatIsNotKept(t *testing.T) {
	h := open(t)
	you, ann := h.join("you"), h.join("ann")
	done := you.calling(t.Context(), "elicit", `{"text":"who?"}`, "")
	q := ann.next()
	h.stop()
	if got := within(t, done, "an error").text(); !strings.Contains(got, "whether it acted on the call is not known") {
		t.Errorf("got %s", got)
	}
	within(t, q.ctx.Done(), "the form is taken back")
}

// crashed is the participant tools in an earlier life: it takes a call, asks ann,
// and is gone.
func crashed(t *testing.T, s *site, you *person) (call *parley.Envelope, done <-chan outcome) {
	t.Helper()
	came := make(chan *parley.Envelope, 1)
	room, err := client.Dial(t.Context(), s.URL, &client.Options{Token: s.Token("tools"), Space: s.Space, OnArrival: func(e *parley.Envelope) {
		if strings.HasPrefix(e.Kind, "mcp/request:tools/call") {
			came <- e
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer room.Close()
	done = you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	call = within(t, came, "the call")
	e, err := client.NewRequest("ann", "elicitation/create", jsontext.Value(`{"message":"?"}`), client.Correlate(call.ID))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := room.Send(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	return call, done
}

func TestCallsOfAnEarlierLife(t *testing.T) {
	s := begin(t, nil)
	you, ann := s.join("you"), s.join("ann")
	_, done := crashed(t, s, you)
	q := ann.next()
	s.serve(newServer(t, t.TempDir(), new(game).add), Options{Serves: served()})
	o := within(t, done, "an error")
	rpc, ok := errors.AsType[*client.RPCError](o.err)
	if !ok || rpc.Code != codeGone || string(rpc.Data) != `{"code":"outcome_unknown"}` {
		t.Errorf("got %s, %v", o.result, o.err)
	}
	within(t, q.ctx.Done(), "the form is taken back")
}

// TestEndThatNobodyHeard sees that a run which has ended is answered as it ended,
// and that one whose call was answered is forgotten.
func TestEndThatNobodyHeard(t *testing.T) {
	s := begin(t, nil)
	you := s.join("you")
	s.join("ann")
	s.join("model")
	h := &house{site: s, runs: t.TempDir()}
	call, done := crashed(t, s, you)
	earlier := newServer(t, h.runs, h.add)
	answers := scripted{"elicitation/create": form(`{"who":"Ann"}`), "sampling/createMessage": reply("Hello Ann")}
	for _, run := range []string{call.ID, you.answeredCall(t, s), "no envelope"} {
		if _, err := earlier.Do(t.Context(), tool.Request{Tool: "greet", Arguments: jsontext.Value(`{"text":"who?"}`), Peer: answers, Run: run}); err != nil {
			t.Fatal(err)
		}
	}
	if err := earlier.Close(); err != nil {
		t.Fatal(err)
	}
	h.start()
	if got := within(t, done, "the greeting").text(); got != greeting {
		t.Errorf("got %s", got)
	}
	until(t, "what was answered is forgotten", func() bool { return slices.Equal(slices.Collect(h.server.Runs()), []string{"no envelope"}) })
	if n := h.after.Load(); n != 3 {
		t.Errorf("After was started %d times for three runs", n)
	}
}

// scripted answers each method in one way.
type scripted map[string]string

func (scripted) Can(tool.Ability) bool { return true }
func (s scripted) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	return jsontext.Value(s[q.Method]), nil
}
func (scripted) Notify(context.Context, string, jsontext.Value) error { return nil }

// answeredCall is a call that has its answer.
func (p *person) answeredCall(t *testing.T, s *site) string {
	t.Helper()
	s.dial("tools", func(context.Context, *client.Request) (any, error) { return jsontext.Value(`{}`), nil })
	r, err := p.Request(t.Context(), "tools", "tools/call", callParams("greet", `{}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	return r.Envelope.Correlation.IDs[0]
}

// TestGatewayRestarts sees that a question outlives the gateway.
func TestGatewayRestarts(t *testing.T) {
	h := open(t)
	you, ann, model := h.join("you"), h.join("ann"), h.join("model")
	done := you.calling(t.Context(), "greet", `{"text":"who?"}`, "")
	q := ann.next()
	h.Restart()
	q.say(form(`{"who":"Ann"}`))
	model.next().say(reply("Hello Ann"))
	if got := within(t, done, "the greeting").text(); got != greeting {
		t.Errorf("got %s", got)
	}
	h.once(you, 2)
}

// TestManyRunsWait restarts a server with many runs that wait for a human.
func TestManyRunsWait(t *testing.T) {
	const many = 100
	h := &house{site: begin(t, &parleytest.Options{Limits: parleytest.Limits{Rate: 100_000, Burst: 100_000, ContextRate: 100_000, OpenContexts: 10 * many}}), runs: t.TempDir()}
	h.start()
	you, ann := h.join("you"), h.join("ann")
	h.dial("model", func(_ context.Context, q *client.Request) (any, error) {
		return jsontext.Value(reply("Hello Ann")), nil
	})
	var calls []<-chan outcome
	for range many {
		calls = append(calls, you.calling(t.Context(), "greet", `{"text":"who?"}`, ""))
	}
	var forms []*asked
	for range many {
		forms = append(forms, ann.next())
	}
	h.stop()
	for _, q := range forms[:many/2] {
		q.say(form(`{"who":"Ann"}`))
	}
	h.start()
	for _, q := range forms[many/2:] {
		q.say(form(`{"who":"Ann"}`))
	}
	for _, done := range calls {
		if got := within(t, done, "a greeting").text(); got != greeting {
			t.Errorf("got %s", got)
		}
	}
	if n := len(you.onRecord("mcp/request:elicitation/create")); n != many {
		t.Errorf("%d forms", n)
	}
	if b, a := h.before.Load(), h.after.Load(); b != many || a != many {
		t.Errorf("Before was started %d times, After %d", b, a)
	}
	until(t, "the runs are forgotten", func() bool { return len(slices.Collect(h.server.Runs())) == 0 })
}
