package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/tui/asked"
	"github.com/parleyhq/parley/parleytest"
)

// chatters are who is there: files is a server that asks.
var chatters = &parleytest.Options{Participants: map[string][]string{
	"you": {"mcp/*", "chat"}, "boss": {"mcp/*", "chat", "space/*"}, "files": {"mcp/*"},
}}

// screen is what somebody sees, also while it is written to.
type screen struct {
	mu    sync.Mutex
	text  strings.Builder
	grown chan struct{} // closed when more is there
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown != nil {
		close(s.grown)
		s.grown = nil
	}
	return s.text.Write(p)
}

func (s *screen) look() (text string, grown <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grown == nil {
		s.grown = make(chan struct{})
	}
	return s.text.String(), s.grown
}

// await waits until something can be read, and returns what its first group matches.
func (s *screen) await(t *testing.T, pattern string) string {
	t.Helper()
	re := regexp.MustCompile("(?m)" + pattern)
	late := time.After(patience)
	for {
		text, grown := s.look()
		if m := re.FindStringSubmatch(text); m != nil {
			return m[len(m)-1]
		}
		select {
		case <-grown:
		case <-late:
			t.Fatalf("nothing says %s:\n%s", pattern, text)
		}
	}
}

// person is somebody who chats without a terminal.
type person struct {
	*testing.T
	screen
	keys *io.PipeWriter
	done chan error
}

// sits lets you take part. It ends with the test.
func sits(t *testing.T, g *parleytest.Gateway) *person {
	t.Helper()
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte(g.Token("you")), 0o600); err != nil {
		t.Fatal(err)
	}
	in, keys := io.Pipe()
	p := &person{T: t, keys: keys, done: make(chan error, 1)}
	term := &terminal{in: in, out: &p.screen, err: &p.screen, json: choice{set: true}}
	go func() {
		p.done <- runChat(t.Context(), term, &target{url: g.URL, space: g.Space, tokenFile: token}, chatFlags{})
		in.CloseWithError(io.ErrClosedPipe)
	}()
	p.await(t, "^you are you in demo")
	return p
}

func (p *person) types(lines ...string) {
	p.Helper()
	for _, line := range lines {
		if _, err := io.WriteString(p.keys, line+"\n"); err != nil {
			p.Fatal(err)
		}
	}
}

// leaves ends the input, and wants that all went well.
func (p *person) leaves() {
	p.Helper()
	p.keys.Close()
	if err := <-p.done; err != nil {
		p.Error(err)
	}
}

func joins(t *testing.T, g *parleytest.Gateway, who string) *client.Room {
	t.Helper()
	room, err := client.Dial(t.Context(), g.URL, &client.Options{Token: g.Token(who), Space: g.Space})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(room.Close)
	return room
}

// asks asks you for one text, and tells what comes back.
func asks(ctx context.Context, room *client.Room, message string, opts ...client.SendOption) <-chan string {
	return asksFor(ctx, room, `{"message":`+string(quote(message))+`,"requestedSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}`, opts...)
}

// asksFor asks you for what params say, and tells what comes back.
func asksFor(ctx context.Context, room *client.Room, params string, opts ...client.SendOption) <-chan string {
	answer := make(chan string, 1)
	go func() {
		reply, err := room.Request(ctx, "you", asked.Elicitation, jsontext.Value(params), opts...)
		if rpc, ok := errors.AsType[*client.RPCError](err); ok {
			answer <- fmt.Sprint(rpc.Code, " ", rpc.Message)
		} else if err != nil {
			answer <- err.Error()
		} else {
			answer <- string(reply.Result)
		}
	}()
	return answer
}

func wants(t *testing.T, answer <-chan string, want string) {
	t.Helper()
	select {
	case got := <-answer:
		if got != want {
			t.Errorf("the answer is %s, want %s", got, want)
		}
	case <-time.After(patience):
		t.Fatalf("there is no answer, want %s", want)
	}
}

// Several forms are asked one after the other, each for the call that caused it.
func TestChatAsksOneFormAfterTheOther(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files, you := joins(t, g, "files"), sits(t, g)
	call, err := client.NewRequest("files", "tools/call", jsontext.Value(`{"name":"book_table","arguments":{}}`), client.WithID("call-1"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := joins(t, g, "boss").Send(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	first := asks(t.Context(), files, "one?", client.Correlate("call-1"))
	you.await(t, `^files asks you \(#\d+\), for boss's call of book_table \(#\d+\):\n  \| one\?$`)
	second := asks(t.Context(), files, "two?")
	you.await(t, `^\(files asks something as well, #\d+: after this one\)$`)
	third := asks(t.Context(), joins(t, g, "boss"), "three?")
	you.await(t, `^\(boss asks something as well, #\d+: after this one\)$`)

	you.types("a", "yes", "/decline", "c", "/cancel")
	wants(t, first, `{"action":"accept","content":{"text":"a"}}`)
	wants(t, second, `{"action":"decline"}`)
	wants(t, third, `{"action":"cancel"}`)
	you.await(t, `(?s)^Sent\..*two\?.*^Declined\..*three\?.*^Put away\.`)
	you.leaves()
}

// Who asks for more than is shown is told so, and others are still heard.
func TestChatBoundsForms(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files, you := joins(t, g, "files"), sits(t, g)
	asks(t.Context(), files, "the first")
	you.await(t, `\| the first$`)
	for i := range asked.MostEach - 1 {
		asks(t.Context(), files, fmt.Sprint("form ", i))
	}
	you.await(t, fmt.Sprintf(`(?s)(as well, .*){%d}`, asked.MostEach-1))
	wants(t, asks(t.Context(), files, "one more"), "-32000 too many forms wait to be filled in here")
	asks(t.Context(), joins(t, g, "boss"), "mine")
	you.await(t, `^\(boss asks something as well`)
	you.leaves()
	you.await(t, `^17 forms stay unanswered; parley chat asks again\.$`)
}

// A form goes away when its asker gives up, and when somebody else answers.
func TestChatLosesForms(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files, you := joins(t, g, "files"), sits(t, g)
	ctx, giveUp := context.WithCancel(t.Context())
	gone := asks(ctx, files, "one?")
	you.await(t, `\| one\?$`)
	elsewhere := asks(t.Context(), files, "two?", client.WithID("two"))
	you.await(t, `as well`)
	waiting, giveUpToo := context.WithCancel(t.Context())
	asks(waiting, files, "three?")
	you.await(t, `(?s)as well.*as well`)

	giveUpToo() // one that is not open
	you.await(t, `^The form of files \(#\d+\) is no longer asked: the requester no longer waits\.$`)
	giveUp()
	<-gone
	you.await(t, `\| two\?$`)
	you.types("meant for one")
	you.await(t, `^That was meant for a form that is gone, and was not sent\.$`)
	second := joins(t, g, "you")
	if _, err := second.Respond(t.Context(), &parley.Envelope{ID: "two", From: "files", Kind: "mcp/request:elicitation/create", Payload: jsontext.Value(`{"method":"elicitation/create"}`)}, jsontext.Value(`{"action":"decline"}`)); err != nil {
		t.Fatal(err)
	}
	wants(t, elsewhere, `{"action":"decline"}`)
	you.await(t, `^The form of files \(#\d+\) was answered by you\.$`)
	you.leaves()
	if text, _ := you.look(); strings.Contains(text, "you: meant") || strings.Contains(text, "| three?") {
		t.Errorf("what was not meant for the room was said, or a form was asked that was gone:\n%s", text)
	}
}

// A form outlives the gateway, and an answer that is refused can be tried again.
func TestChatOutlivesTheGateway(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files, you := joins(t, g, "files"), sits(t, g)
	answer := asks(t.Context(), files, "one?")
	you.await(t, `^1/1 text`)
	g.Restart()
	you.await(t, `^connected again$`)
	you.types("still here", "yes")
	wants(t, answer, `{"action":"accept","content":{"text":"still here"}}`)
	you.await(t, `^Sent\.$`)
	you.leaves()
}

// Who may not answer is told, and the form stays.
func TestChatWithoutTheRightToAnswer(t *testing.T) {
	g := parleytest.Start(t, &parleytest.Options{Participants: map[string][]string{"you": {"chat"}, "files": {"mcp/*"}}})
	files, you := joins(t, g, "files"), sits(t, g)
	asks(t.Context(), files, "one?")
	you.await(t, `^1/1 text`)
	you.types("a", "yes")
	you.await(t, `(?s)^capability_violation: you may not send mcp/response.*^This goes to files`)
	you.leaves()
	you.await(t, `^1 form stays unanswered`)
}

// Where the gateway cannot tell what happened meanwhile, forms are held against the
// record.
func TestChatReconciles(t *testing.T) {
	g := parleytest.Start(t, chatters)
	out := &screen{}
	term := &terminal{out: out, err: out, in: strings.NewReader("")}
	now := time.Now()
	form := func(id string, seq uint64, age time.Duration) *asked.Ask {
		a := fillingOf(t, "m", "", "").Ask
		a.Request = &parley.Envelope{ID: id, From: "files", Seq: seq, TS: now.Add(-age)}
		return a
	}
	kept, old, young, gone := form("kept", 1, time.Hour), form("old", 2, 48*time.Hour), form("young", 9, 0), form("gone", 3, time.Hour)
	c := &chat{t: term, console: newConsole(term), room: joins(t, g, "you"), forms: asked.Queue{gone, kept, old, young}, open: newFilling(gone)}
	c.reconcile(t.Context(), []*parley.Envelope{kept.Request}, 5, now)
	if fmt.Sprint(c.forms) != fmt.Sprint(asked.Queue{kept, old, young}) || c.open != nil {
		t.Errorf("what is left: %v", c.forms)
	}
	out.await(t, `^The form of files \(#3\) was answered, or is no longer asked\.$`)
}

// A gap in what arrives is told, and the record is looked at.
func TestChatLooksAgainBehindAGap(t *testing.T) {
	g := parleytest.Start(t, chatters)
	out := &screen{}
	term := &terminal{out: out, err: out, in: strings.NewReader("")}
	a := &api{address{g.URL, g.Space, g.Token("you")}, patientClient()}
	request, err := client.NewRequest("you", asked.Elicitation, jsontext.Value(`{"message":"one?"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := joins(t, g, "files").Send(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	c := &chat{t: term, console: newConsole(term), api: a, room: joins(t, g, "you"), results: make(chan func())}
	defer c.aside.Wait()
	gap := arrival{err: &client.Gap{}}
	if err := c.arrived(t.Context(), gap, 0); err != nil {
		t.Fatal(err)
	}
	(<-c.results)()
	out.await(t, `^… the gateway no longer has what came after`)
	if len(c.forms) != 1 || c.forms[0].Form.Message != "one?" {
		t.Fatalf("what waits: %v", c.forms)
	}
	answered := c.forms[0].Request
	if _, err := c.room.Respond(t.Context(), answered, jsontext.Value(`{"action":"decline"}`)); err != nil {
		t.Fatal(err)
	}
	gap.err = &client.Gap{After: parley.Position{Seq: answered.Seq}}
	if err := c.arrived(t.Context(), gap, 0); err != nil {
		t.Fatal(err)
	}
	(<-c.results)()
	if len(c.forms) != 0 {
		t.Errorf("what waits: %v", c.forms)
	}
}

// In the middle of a form one can speak and look around, and is asked again.
func TestChatInTheMiddleOfAForm(t *testing.T) {
	g := parleytest.Start(t, chatters)
	files, you := joins(t, g, "files"), sits(t, g)
	answer := asks(t.Context(), files, "one?")
	you.await(t, `^1/1 text`)
	you.types("/say which one?")
	you.await(t, `(?s)you: which one\?$`)
	you.types("/to boss do you know?")
	you.await(t, `you → boss: do you know\?$`)
	you.types("/help")
	you.await(t, `^/skip +leave this question out$`)
	you.types("/who")
	you.await(t, `^  files$`)
	you.types("/usr/bin", "yes")
	wants(t, answer, `{"action":"accept","content":{"text":"/usr/bin"}}`)
	you.await(t, `^Sent\.$`)
	you.types("/help")
	you.await(t, `^/approve ID`)
	you.types("/quit")
	if err := <-you.done; err != nil {
		t.Error(err)
	}
}

// The end of the room is an error, with its reason.
func TestChatEndsWithItsPlace(t *testing.T) {
	g := parleytest.Start(t, chatters)
	you := sits(t, g)
	if _, err := joins(t, g, "boss").Send(t.Context(), &parley.Envelope{Kind: parley.KindKick, Payload: jsontext.Value(`{"participant":"you","reason":"enough"}`)}); err != nil {
		t.Fatal(err)
	}
	if err := <-you.done; !errors.Is(err, client.ErrRemoved) {
		t.Errorf("it ended with %v", err)
	}
}
