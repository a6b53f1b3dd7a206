package tool

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley/tool/sampling"
)

// The environment of a process that is there to be killed.
const (
	crashDir = "TOOL_CRASH_DIR" // where it keeps its runs, and what it did
	crashAt  = "TOOL_CRASH_AT"  // the step at which it waits for its end; "" is none
	crashRun = "TOOL_CRASH_RUN" // the run that it makes by Do; "": it serves MCP on stdin and stdout
)

func TestMain(m *testing.M) {
	if os.Getenv(crashDir) == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := crash(os.Getenv(crashDir), os.Getenv(crashRun)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// crash is what the process does until it is killed.
func crash(dir, run string) error {
	s, err := NewServer(Options{
		Name: "crash", Runs: filepath.Join(dir, "runs"), NoUsage: true,
		Log: slog.New(slog.DiscardHandler), Getenv: func(string) string { return "" }, ResponseConfig: "testdata/minimal.json",
	})
	if err != nil {
		return err
	}
	addOrder(s)
	ledger = filepath.Join(dir, "ledger")
	if run == "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		return errors.Join(s.Run(ctx), s.Close())
	}
	result, err := s.Do(context.Background(), Request{
		Tool: "order", Arguments: jsontext.Value(`{"item":"tea"}`), Run: run, Peer: orderPeer{},
	})
	if err != nil {
		_, err = fmt.Println("error:", err)
		return err
	}
	_, err = fmt.Printf("%s\n", result)
	return err
}

// ledger is where the process notes what it does before it does it. Before it
// serves it is "", and nothing is noted.
var ledger string

var ledgerMu sync.Mutex

// note puts a line down, on disk.
func note(line string) {
	if ledger == "" {
		return
	}
	ledgerMu.Lock()
	defer ledgerMu.Unlock()
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

// step is a place at which the process may be killed: it says so, and does no more.
func step(name string) {
	if ledger == "" || os.Getenv(crashAt) != name {
		return
	}
	fmt.Fprintln(os.Stderr, "at", name)
	select {}
}

// addOrder declares a handoff that is at a step wherever something of a run has
// come to the disk, or is about to.
func addOrder(s *Server) {
	AddHandoff(s, Tool{Name: "order", Needs: []Ability{Sampling, Elicitation}}, Handoff[orderParams, orderHeld, orderAnswers, orderReceipt]{
		Before: func(_ context.Context, _ *Call, p orderParams) (orderHeld, error) {
			note("Before " + string(p.Item))
			step("in Before")
			return orderHeld{"order of " + string(p.Item)}, nil
		},
		Client: func(ctx context.Context, c *Call, o orderHeld) (orderAnswers, error) {
			form, err := Elicit[orderAmount](ctx, c, sampling.Elicitation[string]{Key: "amount", Message: "How much for the " + o.name + "?"})
			if err != nil {
				return orderAnswers{}, err
			}
			note("got " + methodElicit)
			step("between the answers")
			greeting, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("Greet.")}})
			if err != nil {
				return orderAnswers{}, err
			}
			note("got " + methodSample)
			step("after the answers")
			return orderAnswers{form.Parsed.Pieces, greeting.Parsed}, nil
		},
		After: func(_ context.Context, _ *Call, o orderHeld, f orderAnswers, p orderParams) (orderReceipt, error) {
			note("After " + string(p.Item))
			step("in After")
			return orderReceipt(fmt.Sprintf("%s: %d, %s", o.name, f.pieces, f.greeting)), nil
		},
	})
}

type (
	orderParams struct {
		Item orderItem `json:"item"`
	}
	orderItem   string
	orderAmount struct {
		Pieces int `json:"pieces"`
	}
	// What is handed on is JSON only by the methods below, which are steps.
	orderHeld    struct{ name string }
	orderAnswers struct {
		pieces   int
		greeting string
	}
	orderReceipt string
)

func (i *orderItem) UnmarshalText(text []byte) error {
	step("before Before")
	*i = orderItem(text)
	return nil
}

func (i orderItem) MarshalText() ([]byte, error) { return []byte(i), nil }

func (o orderHeld) MarshalJSON() ([]byte, error) {
	step("at the end of Before")
	return json.Marshal(o.name)
}

func (o *orderHeld) UnmarshalJSON(text []byte) error {
	step("after Before")
	return json.Unmarshal(text, &o.name)
}

func (f orderAnswers) MarshalJSON() ([]byte, error) {
	step("at the end of Client")
	return json.Marshal(fmt.Sprint(f.pieces, " ", f.greeting))
}

func (f *orderAnswers) UnmarshalJSON(text []byte) error {
	step("after Client")
	var handed string
	if err := json.Unmarshal(text, &handed); err != nil {
		return err
	}
	pieces, greeting, _ := strings.Cut(handed, " ")
	f.greeting = greeting
	_, err := fmt.Sscan(pieces, &f.pieces)
	return err
}

func (r orderReceipt) MarshalText() ([]byte, error) {
	step("at the end of After")
	return []byte(r), nil
}

func (r *orderReceipt) UnmarshalText(text []byte) error {
	step("after After")
	*r = orderReceipt(text)
	return nil
}

// orderPeer is a peer that answers each question by itself, and notes it.
type orderPeer struct{}

func (orderPeer) Can(Ability) bool { return true }

func (orderPeer) Ask(_ context.Context, q Question) (jsontext.Value, error) {
	note("asked " + q.Method + " " + q.ID)
	step("at " + q.Method)
	return jsontext.Value(goodAnswer(q.Method)), nil
}

func (orderPeer) Notify(context.Context, string, jsontext.Value) error { return nil }

func goodAnswer(method string) string {
	if method == methodElicit {
		return `{"action":"accept","content":{"pieces":3}}`
	}
	return `{"role":"assistant","model":"m","content":{"type":"text","text":"Good day."}}`
}
