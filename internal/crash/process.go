package crash

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"sync"
	"time"
)

// house is where the gateway lives: one address for the participants, whichever
// process serves it.
type house struct {
	program, config string
	http            *http.Client // reaches the process that runs now

	mu      sync.Mutex
	address string        // of the process that listens; "" for none
	change  chan struct{} // closed when address changes, and made anew
	started time.Time     // the newest process
	welcome time.Duration // from started to the first welcome; 0 before that
	first   chan struct{} // closed with the first welcome
}

func newHouse(program, config string) *house {
	h := &house{program: program, config: config, change: make(chan struct{})}
	h.http = &http.Client{Transport: &http.Transport{DialContext: h.dial, MaxIdleConnsPerHost: 64}}
	return h
}

// url is what participants dial; the house finds the process behind it.
const url = "http://gateway.invalid"

// dial waits until a process listens, and connects to it.
func (h *house) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	for {
		h.mu.Lock()
		address, change := h.address, h.change
		h.mu.Unlock()
		if address != "" {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
		select {
		case <-change:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (h *house) moved(address string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.address = address
	close(h.change)
	h.change = make(chan struct{})
}

// welcomed notes that somebody was let in.
func (h *house) welcomed() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.welcome == 0 {
		h.welcome = time.Since(h.started)
		close(h.first)
	}
}

// recovery is the time from the start of the newest process to the first
// welcome, 0 where nobody was welcomed.
func (h *house) recovery() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.welcome
}

// age is the time since the newest process was started.
func (h *house) age() time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Since(h.started)
}

// reached is closed when the newest process has welcomed somebody.
func (h *house) reached() <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.first
}

// process is one run of the gateway.
type process struct {
	house  *house
	cmd    *exec.Cmd
	ended  chan struct{}
	output sync.WaitGroup
	said   tail // on its standard error
}

// start starts the gateway and returns at once.
func (h *house) start() (*process, error) {
	p := &process{house: h, ended: make(chan struct{})}
	p.cmd = exec.Command(h.program, "up", "--config", h.config, "--json")
	p.cmd.Stderr = &p.said
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	h.started, h.welcome, h.first = time.Now(), 0, make(chan struct{})
	h.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.output.Go(func() { p.listen(out) })
	go func() {
		defer close(p.ended)
		p.output.Wait()
		_ = p.cmd.Wait() // how it ended says its caller, or what it said
	}()
	return p, nil
}

// listen reads what the gateway says until it ends.
func (p *process) listen(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var event struct{ Event, URL string }
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listening" {
			p.house.moved(event.URL[len("http://"):])
		}
	}
	p.house.moved("")
	p.house.http.CloseIdleConnections()
}

// kill ends the process without a warning, and waits until it is gone.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // fails only where it has ended
	<-p.ended
}

// survive lets the process run for a while, or until something happens: an
// error says that it ended before.
func (p *process) survive(ctx context.Context, d time.Duration, until <-chan struct{}) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-until:
		return nil
	case <-t.C:
		return nil
	case <-p.ended:
		return fmt.Errorf("the gateway ended by itself: %s", p.said.String())
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// tail keeps the end of what is written.
type tail struct {
	mu   sync.Mutex
	data []byte
}

const mostTail = 8 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, b...)
	if over := len(t.data) - mostTail; over > 0 {
		t.data = append(t.data[:0], t.data[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}
