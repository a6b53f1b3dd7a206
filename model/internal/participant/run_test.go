package participant

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/parleytest"
	"github.com/parleyhq/parley/tool/sampling"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-not-to-be-seen-0123456789"

// space is a gateway with a model in it.
type space struct {
	*parleytest.Gateway
	t     *testing.T
	ended chan error   // what Run returned
	leave func() error // lets the model go, and returns the same
	asker *client.Room
}

// serving starts a gateway, the participant llm with these models, and one who
// asks. change may be nil.
func serving(t *testing.T, change func(*Options), list ...*fake) *space {
	t.Helper()
	s := &space{t: t, Gateway: parleytest.Start(t, &parleytest.Options{Participants: map[string][]string{
		"llm":   {"mcp/response:*", "mcp/request:notifications/*"},
		"agent": {"mcp/*", "chat"},
		"other": {"mcp/*"},
	}})}
	s.start(change, list...)
	s.asker = s.join("agent")
	return s
}

// start starts the participant llm.
func (s *space) start(change func(*Options), list ...*fake) {
	s.t.Helper()
	here := make(chan string, 1)
	o := Options{
		Document: &modelspec.Document{URL: s.URL, Space: s.Space, Token: modelspec.Secret(s.Token("llm"))},
		OnJoin:   func(id string) { here <- id },
		Log:      logTo(s.t),
	}
	for i, f := range list {
		spec := modelspec.Model{Name: fmt.Sprintf("model-%d", i), Model: "maker-of-" + string(rune('a'+i)), Key: key}
		o.Document.Models = append(o.Document.Models, spec)
		o.Models = append(o.Models, Model{spec, f})
	}
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	s.ended = ended
	go func() { ended <- Run(ctx, o) }()
	select {
	case id := <-here:
		if id != "llm" {
			s.t.Errorf("it joined as %s", id)
		}
	case err := <-ended:
		s.t.Fatal(err)
	}
	s.leave = sync.OnceValue(func() error { cancel(); return <-ended })
	s.t.Cleanup(func() { s.leave() })
}

func (s *space) join(who string) *client.Room {
	s.t.Helper()
	room, err := client.Dial(s.t.Context(), s.URL, &client.Options{Token: s.Token(who), Space: s.Space})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(room.Close)
	return room
}

// ask asks as the asker does, with params as JSON or nil for a plain question.
func (s *space) ask(params string, opts ...client.SendOption) (*client.Reply, error) {
	if params == "" {
		params = `{"messages":[{"role":"user","content":{"type":"text","text":"how are you?"}}],"maxTokens":50}`
	}
	return s.asker.Request(s.t.Context(), "llm", method, jsontext.Value(params), opts...)
}

// refused wants an error with that code and data.code.
func refused(t *testing.T, err error, code int64, word, says string) *client.RPCError {
	t.Helper()
	rpc, ok := errors.AsType[*client.RPCError](err)
	if !ok {
		t.Fatalf("no refusal: %v", err)
	}
	if got, _ := parley.MemberString(rpc.Data, "code"); rpc.Code != code || got != word || !strings.Contains(rpc.Message, says) {
		t.Errorf("%d %s %s, want %d %s %s", rpc.Code, got, rpc.Message, code, word, says)
	}
	return rpc
}

// Whatever sends our requests back in place of an answer must not put a key on record.
func TestReplyWithAKey(t *testing.T) {
	input := reply("")
	input.Content = []sampling.Block{sampling.ToolUse{ID: "1", Name: "show", Input: []byte(`{"header":"Bearer ` + key + `"}`)}}
	input.StopReason = sampling.ToolUseWanted
	for _, said := range []*sampling.Result{reply("you sent: Bearer " + key), input} {
		s := serving(t, nil, &fake{ask: func(context.Context, *sampling.Request, func(provider.Progress)) (*sampling.Result, error) {
			return said, nil
		}})
		_, err := s.ask("")
		if rpc := refused(t, err, client.CodeInternal, garbled, "holds a secret"); strings.Contains(rpc.Message, key) {
			t.Error(rpc.Message)
		}
	}
	short := serving(t, func(o *Options) { o.Document.Models[0].Key = "none" }, says("there is none"))
	if _, err := short.ask(""); err != nil {
		t.Errorf("a word that is also a key: %v", err)
	}
}

func TestAnswers(t *testing.T) {
	var heard *sampling.Request
	var once sync.Once
	model := &fake{ask: func(_ context.Context, q *sampling.Request, _ func(provider.Progress)) (*sampling.Result, error) {
		once.Do(func() { heard = q })
		return reply("fine"), nil
	}}
	s := serving(t, nil, model)
	got, err := s.ask("")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"role":"assistant","content":{"type":"text","text":"fine"},"model":"fake-1","stopReason":"endTurn","_meta":{"parley/usage":{"input_tokens":10,"output_tokens":5}}}`
	if string(got.Result) != want {
		t.Errorf("%s", got.Result)
	}
	if heard.Messages[0].Text() != "how are you?" || heard.MaxTokens != 50 || got.Envelope.From != "llm" {
		t.Errorf("%+v", heard)
	}
	_, err = s.asker.Request(t.Context(), "llm", "tools/list", nil)
	if rpc, ok := errors.AsType[*client.RPCError](err); !ok || rpc.Code != client.CodeMethodNotFound {
		t.Error(err)
	}
	if err := s.leave(); err != nil {
		t.Error(err)
	}
}

// What cannot be meant reaches no endpoint.
func TestBadRequests(t *testing.T) {
	model := says("no")
	s := serving(t, nil, model)
	user := `{"role":"user","content":{"type":"text","text":"?"}}`
	for _, c := range []struct{ params, says string }{
		{`{"messages":[` + user + `]}`, "maxTokens"},
		{`{"messages":[` + user + `],"maxTokens":0}`, "maxTokens: "},
		{`{"messages":[` + user + `],"maxTokens":"many"}`, "maxTokens"},
		{`{"messages":[],"maxTokens":1}`, "messages"},
		{`{"messages":[{"role":"user","content":{"type":"text"}}],"maxTokens":1}`, "messages[0].content"},
		{`{"messages":[{"role":"system","content":{"type":"text","text":"?"}}],"maxTokens":1}`, "messages[0]: role"},
		{`{"messages":[` + user + `,{"role":"assistant","content":{"type":"tool_use","id":"a","name":"n","input":{}}}],"maxTokens":1}`, `(id "a"): missing`},
		{`{"messages":[` + user + `],"maxTokens":1,"tools":[{"name":"a","inputSchema":{"type":"object"}},{"name":"a","inputSchema":{"type":"object"}}]}`, `"a"`},
		{`{"messages":[` + user + `],"maxTokens":1,"tools":[{"name":"__schema__","inputSchema":{"type":"object"}},{"name":"__schema__","inputSchema":{"type":"object"}}]}`, "__schema__"},
	} {
		_, err := s.ask(c.params)
		refused(t, err, client.CodeInvalidParams, invalid, c.says)
	}
	if model.times() != 0 {
		t.Error("the model was asked")
	}
	if _, err := s.ask(`{"messages":[` + user + `],"maxTokens":1,"toolChoice":{"mode":"required"},"tools":[{"name":"__schema__","inputSchema":{"type":"object"}}]}`); err != nil {
		t.Errorf("a typed answer: %v", err)
	}
}

func TestChoosesAndFallsBack(t *testing.T) {
	down := fails(&provider.Error{Kind: provider.Unreachable, Message: "dial tcp 10.0.0.1:443"}, -1)
	other := says("here")
	change := func(o *Options) { o.Document.Retries = new(0) }
	s := serving(t, change, down, other)
	_, err := s.ask("")
	rpc := refused(t, err, client.CodeInternal, unavailable, "model-0")
	if strings.Contains(rpc.Message, "10.0.0.1") || other.times() != 0 {
		t.Error(rpc, other.times())
	}
	if _, err := s.ask(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":5,"modelPreferences":{"hints":[{"name":"OF-B"}]}}`); err != nil {
		t.Error(err)
	}
	_ = s.leave()
	s.start(func(o *Options) { change(o); o.Document.Fallback = true }, down, other)
	if _, err := s.ask(""); err != nil || other.times() != 2 {
		t.Error(err, other.times())
	}
}

func TestWhatAnAskerHearsOfFailures(t *testing.T) {
	long := "the key " + key + " is \x1b[31mbad " + strings.Repeat("x", 1000)
	for _, c := range []struct {
		err  error
		code int64
		word string
		says string
	}{
		{&provider.Error{Kind: provider.Rate, RetryAfter: 90 * time.Second}, client.CodeBusy, exhausted, "takes no more requests"},
		{&provider.Error{Kind: provider.Denied, Message: long}, client.CodeInternal, denied, "refused the participant's key"},
		{&provider.Error{Kind: provider.Invalid, Message: long}, client.CodeInvalidParams, invalid, "does not take the request: the key [key] is"},
		{&provider.Error{Kind: provider.Gone, Message: long}, client.CodeInternal, gone, "does not have model-0"},
		{&provider.Error{Kind: provider.Garbled, Message: long}, client.CodeInternal, garbled, "does not answer as it should"},
		{&provider.Error{Kind: provider.Broken, Message: long}, client.CodeInternal, unavailable, "fails (broken): the key"},
		{&provider.Error{Kind: provider.Overloaded}, client.CodeInternal, unavailable, "fails (overloaded)"},
		{errors.New(long), client.CodeInternal, unavailable, "could not be asked"},
	} {
		s := serving(t, func(o *Options) { o.Document.Retries = new(0) }, fails(c.err, -1))
		_, err := s.ask("")
		rpc := refused(t, err, c.code, c.word, c.says)
		if strings.Contains(rpc.Message, key) || strings.Contains(rpc.Message, "\x1b") || len(rpc.Message) > 400 {
			t.Errorf("%q", rpc.Message)
		}
		if after := parley.Member(rpc.Data, "retry_after_ms"); (c.word == exhausted) != (string(after) == "90000") {
			t.Errorf("%s: %s", c.word, rpc.Data)
		}
		_ = s.leave()
	}
}

func TestBudgetsArePerAsker(t *testing.T) {
	s := serving(t, func(o *Options) {
		o.Document.RequestsPerMinute = 1000
		o.Document.Participants = map[string]modelspec.Budget{"agent": {RequestsPerMinute: 1}, "other": {TokensPerHour: 10}}
	}, says("yes"))
	if _, err := s.ask(""); err != nil {
		t.Fatal(err)
	}
	_, err := s.ask("")
	rpc := refused(t, err, client.CodeBusy, exhausted, "1 requests a minute is used up")
	if after := string(parley.Member(rpc.Data, "retry_after_ms")); len(after) != len("60000") {
		t.Errorf("%s", rpc.Data)
	}
	s.asker = s.join("other")
	if _, err := s.ask(""); err != nil { // 15 tokens
		t.Error(err)
	}
	_, err = s.ask("")
	refused(t, err, client.CodeBusy, exhausted, "10 tokens an hour is used up")
}

func TestMoreThanCanBeWorkedOn(t *testing.T) {
	begun, ended := make(chan struct{}, 2), make(chan error, 2)
	s := serving(t, func(o *Options) { o.Document.Concurrency = 2 }, waits(begun, ended))
	var asking sync.WaitGroup
	for range 2 {
		asking.Go(func() {
			_, err := s.ask("")
			refused(t, err, client.CodeInternal, unavailable, "leaves the room")
		})
	}
	<-begun
	<-begun
	_, err := s.ask("")
	rpc := refused(t, err, client.CodeBusy, exhausted, "2 requests are being worked on")
	if string(parley.Member(rpc.Data, "retry_after_ms")) != "1000" {
		t.Errorf("%s", rpc.Data)
	}
	if err := s.leave(); err != nil { // answers both
		t.Error(err)
	}
	asking.Wait()
	for range 2 {
		if err := <-ended; !errors.Is(err, errLeaving) {
			t.Error(err)
		}
	}
}

func TestCancelled(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	s := serving(t, nil, waits(begun, ended))
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-begun; cancel() }()
	_, err := s.asker.Request(ctx, "llm", method, jsontext.Value(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":5}`))
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, client.ErrCancelled) {
		t.Error(err)
	}
}

// Who leaves is seen, though little else of the room reaches the participant.
func TestAskerLeaves(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	seen := make(lines, 64)
	s := serving(t, func(o *Options) {
		o.Log = slog.New(slog.NewTextHandler(seen, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}, waits(begun, ended))
	go func() { _, _ = s.ask("") }()
	<-begun
	s.asker.Close()
	for line := range seen {
		if strings.Contains(line, "an asker has left") && strings.Contains(line, "from=agent") {
			break
		}
	}
	_ = s.leave()
	<-ended
}

// lines are those that a log writes.
type lines chan string

func (l lines) Write(line []byte) (int, error) { l <- string(line); return len(line), nil }

func TestProgress(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	s := serving(t, nil, waits(begun, ended))
	heard := make(chan client.Progress, 1)
	go func() {
		_, _ = s.ask("", client.OnProgress(func(p client.Progress) { heard <- p }))
	}()
	<-begun
	if p := <-heard; p.Progress != 3 || p.Message != "40 bytes of model-0's reply" {
		t.Errorf("%+v", p)
	}
	_ = s.leave()
	<-ended
}

// Requests that an earlier run of the program was asked are answered, and those
// that came since are left to be served.
func TestUnanswered(t *testing.T) {
	begun, ended := make(chan struct{}, 1), make(chan error, 1)
	s := serving(t, nil, waits(begun, ended))
	_ = s.leave()
	ids := make(chan string, 3)
	lost, err := client.NewRequest("llm", method, jsontext.Value(`{"messages":[],"maxTokens":5}`))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	admitted := make(chan struct{})
	go func() {
		for e, err := range s.asker.Envelopes(t.Context()) {
			if err != nil || e.ID == lost.ID {
				break
			}
		}
		close(admitted)
	}()
	go func() {
		_, err := s.asker.Call(t.Context(), lost)
		answered <- err
	}()
	<-admitted
	s.start(func(o *Options) { o.Unanswered = ids }, waits(begun, ended))
	newer := make(chan error, 1)
	go func() { _, err := s.ask("", client.WithID("newer")); newer <- err }()
	<-begun
	ids <- "newer"
	ids <- "no-such-request"
	ids <- lost.ID
	refused(t, <-answered, client.CodeInternal, unknown, "ask again")
	close(ids)
	_ = s.leave()
	<-ended
	refused(t, <-newer, client.CodeInternal, unavailable, "leaves the room")
}

func TestNobodyToJoin(t *testing.T) {
	g := parleytest.Start(t, nil)
	for token, want := range map[string]parley.Code{"wrong": parley.Unauthorized, g.Token("files"): ""} {
		ctx, cancel := context.WithCancel(t.Context())
		err := Run(ctx, Options{Document: &modelspec.Document{URL: g.URL, Space: g.Space, Token: modelspec.Secret(token)}, OnJoin: func(string) { cancel() }, Log: logTo(t)})
		e, _ := errors.AsType[*parley.Error](err)
		if (want == "") != (err == nil) || want != "" && (e == nil || e.Code != want) {
			t.Errorf("%s: %v", token, err)
		}
		cancel()
	}
}

// A gateway that starts again finds the participant there.
func TestGatewayRestarts(t *testing.T) {
	s := serving(t, nil, says("still here"))
	s.Restart()
	if _, err := s.ask(""); err != nil {
		t.Error(err)
	}
}

// Whoever takes the place of a participant ends its program, which says so.
func TestReplaced(t *testing.T) {
	s := serving(t, nil, says("yes"))
	newer, err := client.Dial(t.Context(), s.URL, &client.Options{Token: s.Token("llm"), Space: s.Space, Exclusive: true})
	if err != nil {
		t.Fatal(err)
	}
	defer newer.Close()
	err = <-s.ended
	s.ended <- err
	if !errors.Is(err, client.ErrReplaced) {
		t.Error(err)
	}
}
