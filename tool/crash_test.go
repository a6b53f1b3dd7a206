package tool

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// crashing is a process that serves, and is killed.
type crashing struct {
	t    *testing.T
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Scanner
	died chan struct{} // closed when the process has been killed at its step, or has closed its standard error
}

// startCrash starts the process. Where it gets to the step, it is killed.
func startCrash(t *testing.T, dir, at, run string) *crashing {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &crashing{t: t, cmd: exec.Command(self), died: make(chan struct{})}
	p.cmd.Env = append(os.Environ(), crashDir+"="+dir, crashAt+"="+at, crashRun+"="+run, "GORACE=atexit_sleep_ms=0")
	in, err1 := p.cmd.StdinPipe()
	out, err2 := p.cmd.StdoutPipe()
	said, err3 := p.cmd.StderrPipe()
	for _, err := range []error{err1, err2, err3, p.cmd.Start()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	p.in, p.out = in, bufio.NewScanner(out)
	go func() {
		defer close(p.died)
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if lines.Text() != "at "+at {
				t.Error("the process says:", lines.Text())
			}
			p.kill()
		}
	}()
	return p
}

// kill ends the process without a warning.
func (p *crashing) kill() { _ = p.cmd.Process.Kill() } // fails only where it has ended

// end waits until the process is gone, which may still have something to say.
func (p *crashing) end() (killed bool) {
	p.in.Close()
	for p.out.Scan() {
	}
	<-p.died
	_ = p.cmd.Wait() // how it ended says its state
	return !p.cmd.ProcessState.Exited()
}

// Whichever step of a run its process is killed at, the next process goes on
// with it, or says that nobody knows.
func TestCrashDo(t *testing.T) {
	for at, want := range map[string]string{
		"before Before":             orderDone,
		"in Before":                 orderUnknown,
		"at the end of Before":      orderUnknown,
		"after Before":              orderDone,
		"at elicitation/create":     orderDone, // while a question waits
		"between the answers":       orderDone,
		"at sampling/createMessage": orderDone,
		"after the answers":         orderDone,
		"at the end of Client":      orderDone,
		"after Client":              orderDone,
		"in After":                  orderUnknown,
		"at the end of After":       orderUnknown,
		"after After":               orderDone, // before the answer is sent
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			first := startCrash(t, dir, at, "run")
			if killed := first.end(); !killed {
				t.Fatal("the process did not get to the step")
			}
			for range 2 { // and the outcome stays what it is
				if got := doAgain(t, dir); !strings.Contains(got, want) {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			checkLedger(t, dir, "tea", want == orderDone)
		})
	}
}

const (
	// orderDone is in the result of an order that came to its end.
	orderDone = `"structuredContent":{"data":"order of tea: 3, Good day."}`
	// orderUnknown is in what is told of one that nobody knows the outcome of.
	orderUnknown = "outcome_unknown"
)

// doAgain goes on with the run, to its end.
func doAgain(t *testing.T, dir string) string {
	t.Helper()
	p := startCrash(t, dir, "", "run")
	if !p.out.Scan() {
		t.Error("the process says nothing")
	}
	got := outcome(p.out.Text())
	if p.end() {
		t.Error("the process was killed")
	}
	return got
}

// outcome is what a process says of its run, which mostly is the result.
func outcome(line string) string {
	if strings.Contains(line, "whether it acted is not known (-32603)") {
		return orderUnknown
	}
	return strings.Clone(line)
}

// checkLedger looks at what the processes did: nothing that may be done once was
// done twice, and a question keeps its name, and is not asked again once its
// answer has got to the function.
func checkLedger(t *testing.T, dir, item string, done bool) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ledger"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	count := map[string]int{}
	names := map[string]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if asked, ok := strings.CutPrefix(line, "asked "); ok {
			method, id, _ := strings.Cut(asked, " ")
			if count["got "+method] > 0 {
				t.Errorf("%s was answered, and asked again", method)
			}
			if before := names[method]; before != "" && before != id {
				t.Errorf("%s is called %s, it was called %s", method, id, before)
			}
			names[method] = id
		}
		count[line]++
	}
	for _, phase := range []string{"Before ", "After "} {
		if n := count[phase+item]; n > 1 || done && n != 1 {
			t.Errorf("%s was started %d times", phase, n)
		}
	}
}

// A process that is killed again and again, at any moment, gets to an end, or
// says that nobody knows, and never does twice what may be done once.
func TestCrashAnytime(t *testing.T) {
	whole := time.Hour
	for range 3 {
		began := time.Now()
		doAgain(t, t.TempDir())
		whole = min(whole, time.Since(began))
	}
	deaths, ends := 0, map[string]int{}
	for range 8 {
		dir := t.TempDir()
		got, died := killedAnytime(t, dir, whole)
		deaths += died
		if got != orderUnknown && !strings.Contains(got, orderDone) {
			t.Errorf("the run ends with %q", got)
		}
		ends[got]++
		checkLedger(t, dir, "tea", got != orderUnknown)
	}
	t.Logf("%d processes were killed in their first %v; %d of the outcomes are not known", deaths, whole, ends[orderUnknown])
}

// killedAnytime makes a run that takes so long from process to process, until
// one of them tells how it ended. The last one is let alone.
func killedAnytime(t *testing.T, dir string, whole time.Duration) (got string, deaths int) {
	for range 4 {
		p := startCrash(t, dir, "", "run")
		kill := time.AfterFunc(whole/2+rand.N(whole/2), p.kill)
		if p.out.Scan() {
			got = outcome(p.out.Text())
		}
		if p.end() {
			deaths++
		}
		if kill.Stop(); got != "" {
			return got, deaths
		}
	}
	return doAgain(t, dir), deaths
}

// A modern client goes on with its requestState, whichever step the server was
// killed at, and brings the answers that it has already given.
func TestCrashModern(t *testing.T) {
	for at, want := range map[string]string{
		"in a question":        orderDone, // killed by the client, when it has the first one
		"in another question":  orderDone,
		"between the answers":  orderDone,
		"after the answers":    orderDone,
		"at the end of Client": orderDone,
		"after Client":         orderDone,
		"in After":             orderUnknown,
		"at the end of After":  orderUnknown,
		"after After":          orderDone,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			m := &modernClient{t: t, dir: t.TempDir(), item: "tea", answered: map[string]bool{}}
			m.p = startCrash(t, m.dir, at, "")
			if at == "in a question" {
				m.killAfter = 1
			} else if at == "in another question" {
				m.killAfter = 2
			}
			got := m.call()
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want %s", got, want)
			}
			if again := m.last(); again != got {
				t.Errorf("then it is %s, it was %s", again, got)
			}
			if m.deaths != 1 {
				t.Errorf("the server died %d times", m.deaths)
			}
			m.p.end()
			checkLedger(t, m.dir, "tea", want == orderDone)
		})
	}
}

// A server may be ended at any moment, and so may the next one. Its modern client
// gets to the end. Where all of them are stopped in an orderly way, that is never
// unknown.
func TestEndedAnytime(t *testing.T) {
	for name, end := range map[string]func(*crashing){
		"killed":     (*crashing).kill,
		"terminated": func(p *crashing) { _ = p.cmd.Process.Signal(syscall.SIGTERM) }, // fails only where it has ended
		"left":       func(p *crashing) { p.in.Close() },
	} {
		t.Run(name, func(t *testing.T) {
			for range 6 {
				m := newRestless(t, end)
				got := m.call()
				m.p.end()
				done := strings.Contains(got, m.done())
				if unknown := name == "killed" && strings.Contains(got, "was stopped in the middle of"); !done && !unknown {
					t.Errorf("after %d ends: %s", m.deaths, got)
				}
				for _, item := range m.items {
					checkLedger(t, m.dir, item, done && item == m.item)
				}
			}
		})
	}
}

// restless is a client whose servers are ended, each a bit later than the one before.
type restless struct {
	modernClient
	items []string
}

func newRestless(t *testing.T, end func(*crashing)) *restless {
	m := &restless{modernClient: modernClient{t: t, dir: t.TempDir(), answered: map[string]bool{}}}
	m.next = func() {
		if m.state == "" { // the call is lost, and there is another one
			m.item = fmt.Sprint("tea ", len(m.items))
			m.items = append(m.items, m.item)
		}
		p := startCrash(t, m.dir, "", "")
		m.p = p
		time.AfterFunc(rand.N(time.Duration(m.deaths+1)*10*time.Millisecond), func() { end(p) })
	}
	m.next()
	return m
}

// done is in the result of the newest call that came to its end.
func (m *restless) done() string { return strings.ReplaceAll(orderDone, "tea", m.item) }

// Before the first question a client has nothing by which to go on: the call is
// lost, nothing goes on with it by itself, and another call is another run.
func TestCrashModernEarly(t *testing.T) {
	for _, at := range []string{"before Before", "in Before", "at the end of Before", "after Before"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			m := &modernClient{t: t, dir: t.TempDir(), item: "coffee", answered: map[string]bool{}}
			m.p = startCrash(t, m.dir, at, "")
			m.send()
			if m.p.out.Scan() || !m.p.end() {
				t.Fatalf("the server says %s", m.p.out.Text())
			}
			m.item = "tea"
			m.p = startCrash(t, m.dir, "", "")
			if got := m.call(); !strings.Contains(got, orderDone) {
				t.Errorf("got %s", got)
			}
			m.p.end()
			checkLedger(t, m.dir, "tea", true)
			checkLedger(t, m.dir, "coffee", false)
		})
	}
}

// modernClient is a client of 2026-07-28 that makes a call, answers, and starts
// its server again where that has died.
type modernClient struct {
	t         *testing.T
	p         *crashing
	dir, item string
	killAfter int    // questions; the server is killed when so many have come
	next      func() // starts the next server, which may end in any way; nil: it is killed, and there is another one

	state     string            // of the newest round
	answers   map[string]string // to its questions
	answered  map[string]bool   // all questions that were ever answered
	questions int
	deaths    int
}

// send sends the call, or goes on with it.
func (m *modernClient) send() {
	m.t.Helper()
	params := fmt.Sprintf(`"name":"order","arguments":{"item":%q},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{"sampling":{},"elicitation":{}}}`, m.item)
	if m.state != "" {
		var responses []string
		for id, answer := range m.answers {
			responses = append(responses, fmt.Sprintf("%q:%s", id, answer))
		}
		params += fmt.Sprintf(`,"requestState":%q,"inputResponses":{%s}`, m.state, strings.Join(responses, ","))
	}
	// Where the server is about to die, the line may not reach it.
	_, _ = fmt.Fprintf(m.p.in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s}}`+"\n", params)
}

// heard waits for the answer. That the server ends is none.
func (m *modernClient) heard() bool {
	for m.p.out.Scan() {
		if !strings.Contains(m.p.out.Text(), `"message":"context canceled"`) {
			return true
		}
	}
	return false
}

// last sends once more what was sent last, and returns the answer's line.
func (m *modernClient) last() string {
	m.t.Helper()
	for m.send(); !m.heard(); m.send() {
		if killed := m.p.end(); !killed && m.next == nil {
			m.t.Fatal("the server ended by itself")
		}
		m.deaths++
		if m.next != nil {
			m.next()
		} else {
			m.p = startCrash(m.t, m.dir, "", "")
		}
	}
	return strings.Clone(m.p.out.Text())
}

// call makes the call, answers what it asks, and returns the last answer's line.
func (m *modernClient) call() string {
	m.t.Helper()
	for {
		line := m.last()
		var got struct {
			Result struct {
				Type     string `json:"resultType"`
				State    string `json:"requestState"`
				Requests map[string]struct {
					Method string `json:"method"`
				} `json:"inputRequests"`
			} `json:"result"`
		}
		if err := json.Unmarshal([]byte(line), &got, jsontext.AllowDuplicateNames(true)); err != nil {
			m.t.Fatalf("%s: %v", line, err)
		}
		if got.Result.Type != "input_required" {
			return line
		}
		m.state, m.answers = got.Result.State, map[string]string{}
		for id, q := range got.Result.Requests {
			if m.answered[id] {
				m.t.Errorf("%s was answered, and is asked again", q.Method)
			}
			m.answered[id] = true
			m.answers[id] = goodAnswer(q.Method)
		}
		if m.questions += len(m.answers); m.questions == m.killAfter {
			m.p.kill()
			m.p.end()
			m.deaths++
			m.p = startCrash(m.t, m.dir, "", "")
		}
	}
}
