package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/tool/sampling"
)

// held is a handoff that stays at one of its steps until its context ends.
type held struct {
	at      string
	reached chan struct{} // closed at the step, where it is not the question
	left    chan error    // why it left the step
	began   []string      // the phases; read when the run has ended
}

func newHeld(at string) *held {
	return &held{at: at, reached: make(chan struct{}), left: make(chan error, 1)}
}

func (h *held) phase(ctx context.Context, name string) error {
	h.began = append(h.began, name)
	return h.stay(ctx, name)
}

func (h *held) stay(ctx context.Context, step string) error {
	if h.at != step {
		return nil
	}
	close(h.reached)
	<-ctx.Done()
	h.left <- ctx.Err()
	return ctx.Err()
}

func (h *held) add(s *Server, timeout time.Duration) {
	AddHandoff(s, Tool{Name: "held", Needs: []Ability{Elicitation}, Timeout: timeout}, Handoff[none, none, none, string]{
		Before: func(ctx context.Context, _ *Call, _ none) (none, error) { return none{}, h.phase(ctx, "Before") },
		Client: func(ctx context.Context, c *Call, _ none) (none, error) {
			h.began = append(h.began, "Client")
			if err := askConsent(ctx, c); err != nil {
				h.left <- err
				return none{}, err
			}
			return none{}, h.stay(ctx, "Client")
		},
		After: func(ctx context.Context, _ *Call, _, _, _ none) (string, error) { return "done", h.phase(ctx, "After") },
	})
}

func askConsent(ctx context.Context, c *Call) error {
	type consent struct {
		OK bool `json:"ok"`
	}
	_, err := Elicit[consent](ctx, c, sampling.Elicitation[none]{Key: "ok", Message: "OK?"})
	return err
}

// steps are those that a run can be stopped at, and the phases that have begun then.
var steps = []struct {
	at    string
	began []string
}{
	{"Before", []string{"Before"}},
	{"question", []string{"Before", "Client"}}, // while it waits for its answer
	{"Client", []string{"Before", "Client"}},
	{"After", []string{"Before", "Client", "After"}},
}

const consented = `{"action":"accept","content":{"ok":true}}`

// eras are how a call gets to its step, and what is under way then: the id of a
// request, or none and the state by which the call is gone on with.
var eras = map[string]func(l *lines, h *held) (under, state string){
	"2025-11-25": func(l *lines, h *held) (under, state string) {
		l.initialize(bothAbilities)
		l.send(`{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"held"}}`)
		if h.at != "Before" {
			if q := l.asked(methodElicit); h.at != "question" {
				l.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, q.ID, consented)
			}
		}
		return "c", ""
	},
	"2026-07-28": func(l *lines, h *held) (under, state string) {
		l.callModern("b", "held", "{}", "")
		if h.at == "Before" {
			return "b", ""
		}
		state, asked := l.required()
		if h.at == "question" {
			return "", state
		}
		l.callModern("c", "held", "{}", state, allAnswered(asked, consented)...)
		return "c", state
	},
}

// A run that is cancelled at any step stops there, and what it would have done
// next it does not do. It is cancelled by its caller, by its caller's leaving, and
// by the server's end.
func TestCancelled(t *testing.T) {
	ends := map[string]func(l *lines, under string, stop func(), s *Server){
		"cancelled": func(l *lines, under string, _ func(), _ *Server) {
			l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%q}}`, under)
		},
		"left":    func(l *lines, _ string, _ func(), _ *Server) { l.in.Close() },
		"stopped": func(_ *lines, _ string, stop func(), _ *Server) { stop() },
		"closed":  func(_ *lines, _ string, _ func(), s *Server) { s.Close() },
	}
	for version, get := range eras {
		for name, end := range ends {
			for _, step := range steps {
				if version == "2026-07-28" && name == "cancelled" && step.at == "question" || version == "2025-11-25" && name == "closed" {
					continue // no request is under way that could be cancelled; Close is not for sessions
				}
				t.Run(version+"/"+name+"/"+step.at, func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						s, h := newHeldServer(t, "", step.at, 0)
						ctx, stop := context.WithCancel(t.Context())
						l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
							defer out.Close()
							return s.Serve(ctx, &mcp.IOTransport{Reader: in, Writer: out})
						})
						under, _ := get(l, h)
						synctest.Wait()
						drained := drain(l) // what it is told is not looked at
						end(l, under, stop, s)
						h.ended(t, step.began)
						s.Wait()
						stop()
						<-drained
					})
				})
			}
		}
	}
}

// A run that takes too long stops at any step, and its caller is told.
func TestTimedOut(t *testing.T) {
	for version, get := range eras {
		for _, step := range steps {
			t.Run(version+"/"+step.at, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, h := newHeldServer(t, "", step.at, time.Minute)
					l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
						return s.Serve(t.Context(), &mcp.IOTransport{Reader: in, Writer: out})
					})
					under, state := get(l, h)
					told := make(chan bool, 1)
					go func() { told <- l.says(`"error_code":"timeout"`) }()
					h.ended(t, step.began)
					if under == "" {
						l.callModern("c", "held", "{}", state)
					}
					if !<-told {
						t.Error("the caller was not told")
					}
				})
			})
		}
	}
}

// A call that comes some other way is stopped by its context.
func TestCancelledDo(t *testing.T) {
	for _, step := range steps {
		t.Run(step.at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, h := newHeldServer(t, "", step.at, 0)
				ctx, stop := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := s.Do(ctx, Request{Tool: "held", Peer: &consenting{silent: step.at == "question"}})
					done <- err
				}()
				synctest.Wait()
				stop()
				h.ended(t, step.began)
				if err := <-done; !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				s.Wait()
			})
		})
	}
}

// A modern client that does not come back is not waited for without end.
func TestAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, h := newHeldServer(t, "", "question", 0)
		l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
			return s.Serve(t.Context(), &mcp.IOTransport{Reader: in, Writer: out})
		})
		_, state := eras["2026-07-28"](l, h)
		began := time.Now()
		h.ended(t, []string{"Before", "Client"})
		if waited := time.Since(began); waited != DefaultPatience {
			t.Errorf("it was waited for %v", waited)
		}
		s.Wait()
		l.callModern("c", "held", "{}", state)
		if m := l.next(); m.Error == nil || !strings.Contains(string(m.Error), "outcome_unknown") {
			t.Errorf("who comes late is told %s %s", m.Result, m.Error)
		}
	})
}

func newHeldServer(t *testing.T, runs, at string, timeout time.Duration) (*Server, *held) {
	t.Helper()
	s, err := NewServer(quiet(Options{Runs: runs}))
	if err != nil {
		t.Fatal(err)
	}
	h := newHeld(at)
	h.add(s, timeout)
	return s, h
}

// ended waits until the run has left its step, and looks at what it has done.
func (h *held) ended(t *testing.T, began []string) {
	t.Helper()
	if err := <-h.left; err == nil {
		t.Error("it left its step for no reason")
	}
	synctest.Wait()
	if !slices.Equal(h.began, began) {
		t.Errorf("%v have begun, not %v", h.began, began)
	}
}

// consenting is a peer that says yes, or nothing.
type consenting struct{ silent bool }

func (*consenting) Can(Ability) bool { return true }

func (p *consenting) Ask(ctx context.Context, _ Question) (jsontext.Value, error) {
	if p.silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return jsontext.Value(consented), nil
}

func (*consenting) Notify(context.Context, string, jsontext.Value) error { return nil }

// says reads what the server says until it says something, or no more.
func (l *lines) says(something string) bool {
	for l.out.Scan() {
		if strings.Contains(l.out.Text(), something) {
			return true
		}
	}
	return false
}

// drain reads what the server says; the channel is closed when it says no more.
func drain(l *lines) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for l.out.Scan() {
		}
	}()
	return done
}

// callModern makes a call as a client of 2026-07-28, or goes on with it.
func (l *lines) callModern(id, name, arguments, state string, responses ...string) {
	l.t.Helper()
	l.send("%s", modernCall(id, name, arguments, state, responses...))
}

// modernCall is such a call as JSON.
func modernCall(id, name, arguments, state string, responses ...string) string {
	more := ""
	if state != "" {
		more = fmt.Sprintf(`,"requestState":%q,"inputResponses":{%s}`, state, strings.Join(responses, ","))
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"tools/call","params":{"name":%q,"arguments":%s%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":%s}}}`, id, name, arguments, more, bothAbilities)
}

// required is the server's next message, which asks for input: its state, and the
// ids of its questions.
func (l *lines) required() (state string, asked []string) {
	l.t.Helper()
	m := l.next()
	return requiredBy(l.t, m.Result)
}

func requiredBy(t testing.TB, result jsontext.Value) (state string, asked []string) {
	t.Helper()
	var r struct {
		Type     string                    `json:"resultType"`
		State    string                    `json:"requestState"`
		Requests map[string]jsontext.Value `json:"inputRequests"`
	}
	if err := json.Unmarshal(result, &r); err != nil || r.Type != "input_required" {
		t.Fatalf("%s asks for nothing: %v", result, err)
	}
	return r.State, slices.Collect(maps.Keys(r.Requests))
}

// allAnswered are the members of inputResponses that answer all questions alike.
func allAnswered(asked []string, answer string) (members []string) {
	for _, id := range asked {
		members = append(members, fmt.Sprintf("%q:%s", id, answer))
	}
	return members
}

// A server that is stopped in an orderly way keeps its runs no worse than one that
// is killed: they are gone on with, though a request was under way.
func TestStoppedAndGoneOnWith(t *testing.T) {
	for name, end := range map[string]func(l *lines, stop func(), s *Server){
		"left":    func(l *lines, _ func(), _ *Server) { l.in.Close() },
		"stopped": func(_ *lines, stop func(), _ *Server) { stop() },
		"closed":  func(_ *lines, _ func(), s *Server) { s.Close() },
	} {
		for _, at := range []string{"question", "Client"} {
			t.Run(name+"/"+at, func(t *testing.T) {
				dir := t.TempDir()
				state := stoppedAt(t, dir, at, end)
				s, h := newHeldServer(t, dir, "", 0)
				defer s.Close()
				l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
					return s.Serve(t.Context(), &mcp.IOTransport{Reader: in, Writer: out})
				})
				l.callModern("d", "held", "{}", state)
				if at == "question" {
					state, asked := l.required()
					l.callModern("e", "held", "{}", state, allAnswered(asked, consented)...)
				}
				if m := l.next(); !strings.Contains(string(m.Result), `{"data":"done"}`) {
					t.Errorf("it ends with %s %s", m.Result, m.Error)
				}
				if want := []string{"Client", "After"}; !slices.Equal(h.began, want) {
					t.Errorf("%v have begun, not %v", h.began, want)
				}
			})
		}
	}
}

// stoppedAt brings a run to a step, ends its server, and returns the run's state.
func stoppedAt(t *testing.T, dir, at string, end func(*lines, func(), *Server)) (state string) {
	t.Helper()
	s, h := newHeldServer(t, dir, at, 0)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
		defer out.Close()
		return s.Serve(ctx, &mcp.IOTransport{Reader: in, Writer: out})
	})
	if _, state = eras["2026-07-28"](l, h); at != "question" {
		<-h.reached
	}
	drained := drain(l)
	end(l, stop, s)
	<-h.left
	s.Wait()
	stop()
	<-drained
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return state
}

// What holds for a connection's end holds for that of a handler of HTTP.
func TestHandlerClosedAndGoneOnWith(t *testing.T) {
	dir := t.TempDir()
	s, h := newHeldServer(t, dir, "Client", 0)
	w := heldWeb(t, s)
	state, asked := requiredBy(t, askHeld(w, modernCall("b", "held", "{}", "")))
	under := w.begin(t.Context(), modernCall("c", "held", "{}", state, allAnswered(asked, consented)...), modernHeaders("tools/call", "held"))
	<-h.reached
	w.handler.Close()
	<-h.left
	<-under
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	s, h = newHeldServer(t, dir, "", 0)
	w = heldWeb(t, s)
	if got := askHeld(w, modernCall("d", "held", "{}", state)); !strings.Contains(string(got), `{"data":"done"}`) {
		t.Errorf("it ends with %s", got)
	}
	if want := []string{"Client", "After"}; !slices.Equal(h.began, want) {
		t.Errorf("%v have begun, not %v", h.began, want)
	}
	w.handler.Close()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func heldWeb(t *testing.T, s *Server) *web {
	t.Helper()
	w := &web{t: t, handler: s.Handler(HandlerOptions{})}
	w.listen(w.handler)
	return w
}

// begin sends a request whose response ends as it may; the channel is closed then.
func (w *web) begin(ctx context.Context, request string, headers []string) <-chan struct{} {
	w.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url, strings.NewReader(request))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, h := range append(headers, "Content-Type: application/json", "Accept: application/json, text/event-stream") {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if res, err := http.DefaultClient.Do(req); err == nil {
			res.Body.Close()
		}
	}()
	return done
}

// askHeld sends a request of 2026-07-28, and returns the result, or what came instead.
func askHeld(w *web, request string) jsontext.Value {
	w.t.Helper()
	_, text := w.say(request, modernHeaders("tools/call", "held")...)
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(strings.TrimPrefix(line, "data:"))
		list, err := rpc.Decode([]byte(line))
		if err == nil && len(list) == 1 && list[0].Result != nil {
			return list[0].Result
		}
	}
	return jsontext.Value(text)
}

// A result is there for a client that asks for it again, for a moment; then
// nothing is left of the run, on the disk either.
func TestResultsAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		s, h := newHeldServer(t, dir, "", 0)
		l := newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
			return s.Serve(t.Context(), &mcp.IOTransport{Reader: in, Writer: out})
		})
		l.callModern("a", "held", "{}", "")
		state, asked := l.required()
		for range 3 {
			l.callModern("b", "held", "{}", state, allAnswered(asked, consented)...)
			if m := l.next(); !strings.Contains(string(m.Result), `{"data":"done"}`) {
				t.Errorf("the result is %s %s", m.Result, m.Error)
			}
			time.Sleep(fetchable - time.Second)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		l.callModern("c", "held", "{}", state)
		if m := l.next(); m.Error == nil {
			t.Errorf("the result is still there: %s", m.Result)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "*.run")); err != nil || len(left) > 0 {
			t.Errorf("on the disk is %v, %v", left, err)
		}
		if want := []string{"Before", "Client", "After"}; !slices.Equal(h.began, want) {
			t.Errorf("%v have begun, not %v", h.began, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
