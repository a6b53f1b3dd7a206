package room

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// The environment of a process that serves in a room until it is killed.
const (
	lifeURL   = "ROOM_LIFE_URL"
	lifeToken = "ROOM_LIFE_TOKEN"
	lifeSpace = "ROOM_LIFE_SPACE"
	lifeDir   = "ROOM_LIFE_DIR" // where it keeps its runs, and what it did
	lifeAt    = "ROOM_LIFE_AT"  // the step at which it waits for its end; "" is none
)

// TestLife is no test: it is the process that is killed.
func TestLife(t *testing.T) {
	url, dir := os.Getenv(lifeURL), os.Getenv(lifeDir)
	if url == "" {
		return
	}
	s := newServer(t, filepath.Join(dir, "runs"), addErrand)
	ledger = filepath.Join(dir, "ledger")
	o := Options{Token: os.Getenv(lifeToken), Space: os.Getenv(lifeSpace), Serves: served()}
	if err := Serve(context.Background(), s, url, o); err != nil {
		t.Fatal(err)
	}
}

// ledger is where the process notes what it does; "": nowhere.
var ledger string

// note puts a line down, on disk, before what it tells of is done.
func note(line string) {
	f, err := os.OpenFile(ledger, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, line)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		panic(err)
	}
	f.Close()
}

// step is a place at which the process is killed: it says so, and does no more.
func step(name string) {
	if ledger == "" || os.Getenv(lifeAt) != name {
		return
	}
	fmt.Fprintln(os.Stderr, "at", name)
	select {}
}

// addErrand declares a handoff that is at a step wherever something of a run has
// come to the disk, or is about to.
func addErrand(s *tool.Server) {
	tool.AddHandoff(s, tool.Tool{Name: "errand", Needs: []tool.Ability{tool.Elicitation, tool.Sampling}}, tool.Handoff[errand, handed, handed, receipt]{
		Before: func(_ context.Context, _ *tool.Call, e errand) (handed, error) {
			note("Before")
			step("in Before")
			return handed{"Before", string(e.For)}, nil
		},
		Client: func(ctx context.Context, c *tool.Call, h handed) (handed, error) {
			who, err := tool.Elicit[name](ctx, c, sampling.Elicitation[struct{}]{Key: "who", Message: h.text})
			if err != nil {
				return handed{}, err
			}
			step("between the answers")
			x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("Greet " + who.Parsed.Who)}})
			if err != nil {
				return handed{}, err
			}
			step("after the answers")
			return handed{"Client", x.Parsed}, nil
		},
		After: func(_ context.Context, _ *tool.Call, before, client handed, _ errand) (receipt, error) {
			note("After")
			step("in After")
			return receipt(before.text + ": " + client.text), nil
		},
	})
}

type (
	errand struct {
		For purpose `json:"for"`
	}
	purpose string
	// What is handed on is JSON by its methods only, which are steps.
	handed  struct{ phase, text string }
	receipt string
)

func (p *purpose) UnmarshalText(text []byte) error {
	step("before Before")
	*p = purpose(text)
	return nil
}

func (p purpose) MarshalText() ([]byte, error) { return []byte(p), nil }

func (h handed) MarshalJSON() ([]byte, error) {
	step("at the end of " + h.phase)
	return json.Marshal([]string{h.phase, h.text})
}

func (h *handed) UnmarshalJSON(text []byte) error {
	var parts [2]string
	if err := json.Unmarshal(text, &parts); err != nil {
		return err
	}
	h.phase, h.text = parts[0], parts[1]
	step("after " + h.phase)
	return nil
}

func (r receipt) MarshalText() ([]byte, error) {
	step("at the end of After")
	return []byte(r), nil
}

func (r *receipt) UnmarshalText(text []byte) error {
	step("after After")
	*r = receipt(text)
	return nil
}

// life is such a process.
type life struct {
	cmd   *exec.Cmd
	ended chan struct{}
}

// live starts a process, which is killed when it gets to the step.
func (s *site) live(dir, at string) *life {
	s.t.Helper()
	self, err := os.Executable()
	if err != nil {
		s.t.Fatal(err)
	}
	l := &life{cmd: exec.Command(self, "-test.run=^TestLife$"), ended: make(chan struct{})}
	l.cmd.Env = append(os.Environ(), lifeURL+"="+s.URL, lifeToken+"="+s.Token("tools"), lifeSpace+"="+s.Space, lifeDir+"="+dir, lifeAt+"="+at)
	said, err := l.cmd.StderrPipe()
	if err == nil {
		err = l.cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(l.ended)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if lines.Text() != "at "+at {
				s.t.Error("the process says:", lines.Text())
			}
			_ = l.cmd.Process.Kill() // fails only where it has ended
		}
		_ = l.cmd.Wait() // it was killed
	}()
	s.t.Cleanup(l.kill)
	return l
}

func (l *life) kill() {
	_ = l.cmd.Process.Kill() // fails only where it has ended
	<-l.ended
}

// answering is somebody who answers every question alike, once it is asked often
// enough.
func (s *site) answering(who, answer string, asked chan<- struct{}, go_ <-chan struct{}) {
	s.t.Helper()
	s.dial(who, func(ctx context.Context, _ *client.Request) (any, error) {
		asked <- struct{}{}
		select {
		case <-go_:
			return jsontext.Value(answer), nil
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	})
}

// TestKilled kills the process at each step of a run. The next one goes on, or says
// that nobody knows; nothing is done twice, asked twice or answered twice.
func TestKilled(t *testing.T) {
	const done, unknown = `{"data":"tea: Good day"}`, "whether it acted is not known"
	for at, want := range map[string]string{
		"before Before":        done,
		"in Before":            unknown,
		"at the end of Before": unknown,
		"after Before":         done,
		"asked":                done, // while a question waits, which is answered when the next one is there
		"answered":             done, // or when nobody is
		"between the answers":  done,
		"after the answers":    done,
		"at the end of Client": done,
		"after Client":         done,
		"in After":             unknown,
		"at the end of After":  unknown,
		"after After":          done, // before it is answered
	} {
		t.Run(at, func(t *testing.T) {
			s, dir := begin(t, nil), t.TempDir()
			you := s.join("you")
			asked, answer := make(chan struct{}, 10), make(chan struct{})
			s.answering("ann", form(`{"who":"Ann"}`), asked, answer)
			s.answering("model", reply("Good day"), make(chan struct{}, 10), answer)
			first := s.live(dir, at)
			until(t, "the process has joined", func() bool { return s.Connections("tools") == 1 })
			ended := you.calling(t.Context(), "errand", `{"for":"tea"}`, "")
			if at == "asked" || at == "answered" {
				within(t, asked, "a question")
				first.kill()
			}
			if at != "asked" {
				close(answer)
			}
			within(t, first.ended, "the process is at its step")
			s.live(dir, "")
			if at == "asked" {
				close(answer)
			}
			if got := within(t, ended, "the answer").text(); !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			you.onceEach(dir, want == done)
		})
	}
}

// onceEach holds that nothing was done, asked or answered twice, and that nothing
// is left of the run.
func (p *person) onceEach(dir string, done bool) {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil {
		p.t.Fatal(err)
	}
	for _, phase := range []string{"Before", "After"} {
		if n := strings.Count(string(text), phase); n > 1 || done && n != 1 {
			p.t.Errorf("%s was started %d times", phase, n)
		}
	}
	for _, kind := range []string{"mcp/request:elicitation/create", "mcp/request:sampling/createMessage", "mcp/response:tools/call"} {
		if n := len(p.onRecord(kind)); n > 1 || done && n != 1 {
			p.t.Errorf("%d times %s", n, kind)
		}
	}
	until(p.t, "the run is forgotten", func() bool {
		left, err := filepath.Glob(filepath.Join(dir, "runs", "*.run"))
		return err == nil && len(left) == 0
	})
}
