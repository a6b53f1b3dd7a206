package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
)

const (
	benchSpace = "bench"
	benchEcho  = "echo" // the participant with the tool, and the tool
)

// benchGateway is a gateway of the bench's own: this program again.
type benchGateway struct {
	dir    string
	config string
	self   string
	tokens []string

	cmd    *exec.Cmd
	in     io.WriteCloser
	said   bytes.Buffer // on standard error; read once it has ended
	ended  chan struct{}
	ready  chan string // the URL, then the names of MCP servers that are ready
	url    string
	guests int // MCP servers to wait for
}

// makeBenchGateway writes the configuration.
func makeBenchGateway(b *benchFlags, need benchNeed) (*benchGateway, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "this program does not find itself: %v", err)
	}
	dir, err := os.MkdirTemp(b.dir, "parley-bench-")
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "there is no room for a temporary journal: %v", err).
			WithHint("name a folder with --dir")
	}
	g := &benchGateway{dir: dir, config: filepath.Join(dir, "parley.yaml"), self: self}
	for range need.participants {
		g.tokens = append(g.tokens, randomToken())
	}
	if need.echo {
		g.guests = 1
	}
	if err := os.WriteFile(g.config, []byte(g.configuration(b.sync, "127.0.0.1:0", need)), 0o600); err != nil {
		g.close()
		return nil, cannotWrite(g.config, err)
	}
	return g, nil
}

// journal is the journal's file.
func (g *benchGateway) journal() string { return filepath.Join(g.dir, "parley.db") }

// configuration lets everybody do as much as they can.
func (g *benchGateway) configuration(sync, listen string, need benchNeed) string {
	var b strings.Builder
	fmt.Fprintf(&b, "listen: %s\njournal: {path: %q, sync: %s}\nspaces:\n  %s:\n", listen, g.journal(), sync, benchSpace)
	fmt.Fprintf(&b, "    limits: {rate: 1000000, burst: 1000000, connections: 1000000, history: %d, lag_envelopes: 1000000, lag_bytes: 256MiB}\n",
		max(need.history, 1_000))
	b.WriteString("    participants:\n")
	for i, token := range g.tokens {
		fmt.Fprintf(&b, "      %s: {token: %q, capabilities: [chat, \"mcp/request:tools/call:%s\"]}\n", benchParticipant(i), token, benchEcho)
	}
	if need.echo {
		fmt.Fprintf(&b, "    mcp_servers:\n      %s: {command: %q, args: [bench, echo]}\n", benchEcho, g.self)
	}
	return b.String()
}

func benchParticipant(i int) string { return fmt.Sprintf("p%d", i) }

// start starts the gateway, and returns once it can be used.
func (g *benchGateway) start(ctx context.Context) error {
	g.cmd = exec.Command(g.self, "bench", "gateway", "--json", "--config", g.config)
	g.said.Reset()
	g.url = ""
	g.cmd.Stderr = &g.said
	g.ended, g.ready = make(chan struct{}), make(chan string, 16)
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		g.in, err = g.cmd.StdinPipe()
	}
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		g.cmd = nil
		return parley.Errorf(parley.Unavailable, "the gateway cannot be started: %v", err)
	}
	go g.listen(out)
	for range 1 + g.guests {
		select {
		case said := <-g.ready:
			g.url = cmp.Or(g.url, said)
		case <-g.ended:
			return parley.Errorf(parley.Unavailable, "the gateway ended: %.1000s", bytes.TrimSpace(g.said.Bytes()))
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// listen hears what the gateway says, until it ends.
func (g *benchGateway) listen(out io.Reader) {
	defer close(g.ended)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		var e event
		if json.Unmarshal(lines.Bytes(), &e) != nil || e.Event != "listening" && e.Event != "ready" {
			continue
		}
		select {
		case g.ready <- cmp.Or(e.URL, e.Who):
		default: // a server that comes back, again and again
		}
	}
	_ = g.cmd.Wait() // how it ended shows what it said
}

// profile has the gateway write a CPU profile of what it does now.
func (g *benchGateway) profile(path string, d time.Duration) {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	_ = json.NewEncoder(g.in).Encode(benchOrder{Profile: path, For: d}) // it has ended: the run fails by that
}

// stop ends the gateway in order, within what that takes.
func (g *benchGateway) stop() {
	if g.cmd == nil {
		return
	}
	g.in.Close()
	t := time.AfterFunc(shutdownTime+5*time.Second, func() { g.cmd.Process.Kill() })
	<-g.ended
	t.Stop()
	g.cmd = nil
}

// crash ends it at once.
func (g *benchGateway) crash() {
	if g.cmd != nil {
		_ = g.cmd.Process.Kill() // fails only where it has ended
		<-g.ended
		g.in.Close()
		g.cmd = nil
	}
}

// close removes everything. What a gateway would save in order is not needed.
func (g *benchGateway) close() {
	g.crash()
	os.RemoveAll(g.dir)
}

// benchOrder is what a bench tells its gateway, on standard input.
type benchOrder struct {
	Profile string        // write a CPU profile to this file
	For     time.Duration // of so long
}

// newBenchGateway is a gateway that ends with its standard input.
func newBenchGateway(t *terminal) *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:     "gateway",
		Short:   "Be the gateway of a bench",
		Example: "  parley bench gateway --config parley.yaml\n  # parley bench starts it by itself",
		Hidden:  true,
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			flags := upFlags{config: path}
			p, err := flags.plan(t)
			if err != nil {
				return err
			}
			ctx, over := context.WithCancel(cmd.Context())
			defer over()
			profiles := sync.WaitGroup{}
			defer profiles.Wait()
			go func() { // reads until the process ends
				defer over()
				takeOrders(ctx, cmd.InOrStdin(), &profiles)
			}()
			return runUp(ctx, t, p)
		},
	}
	cmd.Flags().StringVar(&path, "config", "", "the configuration `FILE`")
	return cmd
}

// takeOrders does what a bench asks for.
func takeOrders(ctx context.Context, in io.Reader, profiles *sync.WaitGroup) {
	orders := json.NewDecoder(in)
	for {
		var o benchOrder
		if orders.Decode(&o) != nil {
			return
		}
		profiles.Go(func() { _ = writeProfile(ctx, o) }) // the file that is missing says it
	}
}

func writeProfile(ctx context.Context, o benchOrder) error {
	f, err := os.Create(o.Profile)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	t := time.NewTimer(o.For)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
	return nil
}
