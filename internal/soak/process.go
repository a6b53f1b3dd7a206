package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// process is a running gateway.
type process struct {
	cmd    *exec.Cmd
	url    string
	said   string        // the file that has its standard error
	ended  chan struct{} // closed when it has; exit is set then
	exit   error
	listen chan string // gets its URL
}

// startTime and stopTime bound a start up to listening, and an orderly end.
// The program itself gives up on the latter after 15 s.
const (
	startTime = 60 * time.Second
	stopTime  = 20 * time.Second
)

// startGateway starts the program, and returns when it listens.
func startGateway(ctx context.Context, program, config string) (*process, error) {
	p := &process{said: filepath.Join(filepath.Dir(config), "stderr"), ended: make(chan struct{}), listen: make(chan string, 1)}
	said, err := os.OpenFile(p.said, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer said.Close()
	p.cmd = exec.Command(program, "up", "--config", config, "--json")
	p.cmd.Stderr = said
	p.cmd.Env = append(os.Environ(), raceOptions)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.watch(out)
	late := time.NewTimer(startTime)
	defer late.Stop()
	select {
	case p.url = <-p.listen:
		return p, nil
	case <-p.ended:
		return nil, fmt.Errorf("the gateway ended instead of listening: %v, see %s", p.exit, p.said)
	case <-late.C:
		err = errors.New("the gateway does not listen")
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	p.kill()
	return nil, err
}

// raceOptions let a program that was built with the race detector end as soon
// as others do.
const raceOptions = "GORACE=atexit_sleep_ms=0"

// watch reads what the gateway tells of itself, until it ends.
func (p *process) watch(out io.Reader) {
	defer close(p.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var event struct{ Event, URL string }
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listening" {
			p.listen <- event.URL // there is one such line
		}
	}
	p.exit = p.cmd.Wait()
}

// stop asks the gateway to end, and says how long that took. The error says
// that it did not do so in time and in order.
func (p *process) stop() (took time.Duration, err error) {
	began := time.Now()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return 0, fmt.Errorf("the gateway had ended before it was asked to: %w", err)
	}
	late := time.NewTimer(stopTime)
	defer late.Stop()
	select {
	case <-p.ended:
		return time.Since(began), p.exit
	case <-late.C:
		p.kill()
		return time.Since(began), fmt.Errorf("the gateway did not end within %v", stopTime)
	}
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended
	<-p.ended
}

// children are the processes that the gateway has started.
func (p *process) children() (pids []int) {
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", p.cmd.Process.Pid)) // the pattern is sound
	for _, list := range lists {
		text, _ := os.ReadFile(list) // a thread may have ended
		for field := range strings.FieldsSeq(string(text)) {
			var pid int
			if _, err := fmt.Sscan(field, &pid); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// alarms are what must not stand on a gateway's standard error.
var alarms = []string{"DATA RACE", "panic", "fatal error", `"level":"ERROR"`, "goroutine stack exceeds"}

// heard finds the lines of a gateway's standard error that speak of a fault. One
// that is not of the log is the first of several, some of which come with it.
func heard(r io.Reader) (faults []string, err error) {
	const following, longest = 30, 1 << 20
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, longest)
	for left := 0; lines.Scan(); {
		line := lines.Text()
		switch {
		case left > 0:
			left--
			faults[len(faults)-1] += "\n    " + line
		case len(faults) < mostFaults && slices.ContainsFunc(alarms, func(a string) bool { return strings.Contains(line, a) }):
			faults = append(faults, "the gateway said: "+line)
			if !strings.Contains(line, `"level":`) {
				left = following
			}
		}
	}
	return faults, lines.Err()
}
