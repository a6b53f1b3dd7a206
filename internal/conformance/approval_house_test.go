package conformance

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

const (
	agentToken = "a-token-of-the-agent"
	bossToken  = "a-token-of-the-boss"

	patience = 40 * time.Second // for everything that one house does
)

// approvalSpaces differ in how long a call is held, and in how long a proposal
// stays open: each moment of a decision has one in which it cannot be missed.
var approvalSpaces = map[string]string{
	"patient":  "{approval_wait: 60s}",
	"hasty":    "{approval_wait: 50ms}",
	"brief":    "{approval_wait: 60s, proposal_ttl: 300ms}",
	"fleeting": "{approval_wait: 50ms, proposal_ttl: 4s}",
}

// approvalHouse is a gateway with spaces in which an agent may only propose, and
// a boss approves; it can end and come back.
type approvalHouse struct {
	t      *testing.T
	ctx    context.Context // bounds everything that is waited for
	config string
	spaces []string
	tally  *runTally

	// Of the process that runs now.
	cmd   *exec.Cmd
	out   sync.WaitGroup
	said  *bytes.Buffer
	url   string
	boss  map[string]*boss // by space
	ended bool
}

func newApprovalHouse(t *testing.T, spaces ...string) *approvalHouse {
	t.Helper()
	program(t) // its time is not that of the test
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	dir := t.TempDir()
	alone(t, dir)
	h := &approvalHouse{t: t, ctx: ctx, config: filepath.Join(dir, "parley.yaml"), spaces: spaces, tally: newTally(t)}
	// The servers run by a name of their own, which tells whether one is left behind.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	server := filepath.Join(dir, "server")
	if err := os.Symlink(self, server); err != nil {
		t.Fatal(err)
	}
	var conf strings.Builder
	fmt.Fprintf(&conf, "listen: 127.0.0.1:0\njournal: {path: %q}\nspaces:\n", filepath.Join(dir, "journal"))
	for _, space := range spaces {
		fmt.Fprintf(&conf, `  %s:
    limits: %s
    participants:
      agent: {token: %s, capabilities: ["mcp/proposal:*", "mcp/response:*", "mcp/withdraw:*", chat]}
      boss: {token: %s, capabilities: ["*"]}
    mcp_servers:
`, space, approvalSpaces[space], agentToken, bossToken)
		for _, era := range []string{"legacy", "modern"} {
			fmt.Fprintf(&conf, "      %s: {command: %q, era: %s, env: {%s: %q, GOCOVERDIR: %q}}\n", era, server, era, tallyEnv, h.tally.url, dir)
		}
	}
	if err := os.WriteFile(h.config, []byte(conf.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	h.start()
	t.Cleanup(func() {
		h.end(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("the gateway said:\n%s", end(h.said.String(), 20))
		}
	})
	return h
}

// start starts the gateway, and returns when its servers are there.
func (h *approvalHouse) start() {
	h.t.Helper()
	h.cmd = exec.Command(program(h.t), "up", "--config", h.config, "--json")
	h.said = new(bytes.Buffer)
	h.cmd.Stderr = h.said
	stdout, err := h.cmd.StdoutPipe()
	if err != nil {
		h.t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		h.t.Fatal(err)
	}
	h.ended = false
	listening := make(chan string, 1)
	h.out.Go(func() {
		defer close(listening)
		for lines := bufio.NewScanner(stdout); lines.Scan(); {
			var event struct{ Event, URL string }
			if json.Unmarshal(lines.Bytes(), &event) == nil && event.Event == "listening" {
				listening <- event.URL
			}
		}
	})
	if h.url = <-listening; h.url == "" {
		h.t.Fatalf("the gateway does not listen: %s", h.said)
	}
	h.boss = map[string]*boss{}
	for _, space := range h.spaces {
		h.boss[space] = h.newBoss(space)
	}
	for _, space := range h.spaces {
		h.ready(space)
	}
}

// ready waits until the servers of a space are listed with their tools.
func (h *approvalHouse) ready(space string) {
	h.t.Helper()
	c := h.client(h.t, space, modern)
	until(h.t, h.ctx, "the servers of "+space+" are there", func() bool {
		got, err := listTools(h.ctx, c)
		return err == nil && slices.Contains(got, "legacy__act") && slices.Contains(got, "modern__act")
	})
}

// until waits for something that can only be looked at.
func until(t *testing.T, ctx context.Context, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !is() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("it did not come to this: %s", what)
		}
	}
}

// cancelledCalls is how many calls the gateway knows to have ended without their
// clients.
func (h *approvalHouse) cancelledCalls(t *testing.T) (n int) {
	t.Helper()
	req, err := http.NewRequestWithContext(h.ctx, http.MethodGet, h.url+"/metrics", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		var one int
		name, value, _ := strings.Cut(lines.Text(), " ")
		if strings.HasPrefix(name, "parley_mcp_requests_total{") && strings.Contains(name, `outcome="cancelled"`) {
			if _, err := fmt.Sscan(value, &one); err != nil {
				t.Fatal(err)
			}
			n += one
		}
	}
	return n
}

func listTools(ctx context.Context, c *mcpClient) (names []string, err error) {
	resp, err := c.post(ctx, map[string]any{"jsonrpc": "2.0", "id": 0, "method": "tools/list", "params": map[string]any{
		"_meta": map[string]any{"io.modelcontextprotocol/protocolVersion": modern, "io.modelcontextprotocol/clientCapabilities": map[string]any{}},
	}}, "")
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	err = json.NewDecoder(resp.Body).Decode(&list)
	for _, tool := range list.Result.Tools {
		names = append(names, tool.Name)
	}
	return names, err
}

// end ends the gateway, if it runs, and waits until it is gone.
func (h *approvalHouse) end(signal syscall.Signal) {
	if h.ended {
		return
	}
	h.ended = true
	for _, b := range h.boss {
		b.room.Close()
	}
	_ = h.cmd.Process.Signal(signal) // fails only where it has ended by itself
	h.out.Wait()
	_ = h.cmd.Wait() // how it ended is not asked here
}

// restart ends the gateway, and starts it again.
func (h *approvalHouse) restart(signal syscall.Signal) {
	h.t.Helper()
	h.end(signal)
	h.start()
}

// client is a new client of the agent's.
func (h *approvalHouse) client(t *testing.T, space, version string) *mcpClient {
	t.Helper()
	return newClient(t, h.ctx, h.url+"/mcp/"+space, version, false)
}

// boss is who approves in a space.
type boss struct {
	room *client.Room
	ctx  context.Context

	mu        sync.Mutex
	proposals []*parley.Envelope
	changes   int           // how often the definition of a tool was told to be another
	changed   chan struct{} // closed with each of them, and made anew
}

func (h *approvalHouse) newBoss(space string) *boss {
	h.t.Helper()
	b := &boss{ctx: h.ctx, changed: make(chan struct{})}
	var err error
	b.room, err = client.Dial(h.ctx, h.url, &client.Options{Token: bossToken, Space: space, History: 1000, OnArrival: b.heard})
	if err != nil {
		h.t.Fatal(err)
	}
	return b
}

func (b *boss) heard(e *parley.Envelope) {
	event, _ := parley.MemberString(e.Payload, "event")
	proposal := parley.SplitKind(e.Kind).Type == parley.TypeProposal
	changed := e.Kind == parley.KindNotice && event == "tools_changed"
	if !proposal && !changed {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if proposal {
		b.proposals = append(b.proposals, e)
	} else {
		b.changes++
	}
	close(b.changed)
	b.changed = make(chan struct{})
}

// of are the proposals for a call, oldest first.
func (b *boss) of(id string) (list []*parley.Envelope, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, e := range b.proposals {
		if proposedID(e) == id {
			list = append(list, e)
		}
	}
	return list, b.changed
}

func proposedID(e *parley.Envelope) string {
	var payload struct {
		Params struct{ Arguments struct{ ID string } }
	}
	_ = json.Unmarshal(e.Payload, &payload) // what has none is not meant
	return payload.Params.Arguments.ID
}

// proposed waits for the nth proposal of a call.
func (b *boss) proposed(t *testing.T, id string, n int) *parley.Envelope {
	t.Helper()
	return b.proposedBy(t, nil, id, n)
}

// proposedBy is proposed, of a call that must not be answered before.
func (b *boss) proposedBy(t *testing.T, call *held, id string, n int) *parley.Envelope {
	t.Helper()
	var answered <-chan struct{}
	if call != nil {
		answered = call.done
	}
	for {
		list, changed := b.of(id)
		if len(list) >= n {
			return list[n-1]
		}
		select {
		case <-changed:
		case <-answered:
			if list, _ = b.of(id); len(list) < n {
				r := call.answer(t)
				t.Fatalf("%s was proposed %d times, want %d; it was answered %q: %s", id, len(list), n, r.what(), r.text())
			}
		case <-b.ctx.Done():
			t.Fatalf("%s was proposed %d times, want %d", id, len(list), n)
		}
	}
}

// decide does what a cell of the matrix says.
func (b *boss) decide(t *testing.T, e *parley.Envelope, decision string) {
	t.Helper()
	switch decision {
	case "approve":
		b.approve(t, e)
	case "reject":
		if _, err := b.room.Reject(b.ctx, e, "unsafe", "not on a Sunday"); err != nil {
			t.Fatal(err)
		}
	}
}

// approve fulfils a proposal, without waiting for the result.
func (b *boss) approve(t *testing.T, e *parley.Envelope) *parley.Envelope {
	t.Helper()
	call, err := b.tryApprove(e)
	if err != nil {
		t.Fatal(err)
	}
	return call
}

func (b *boss) tryApprove(e *parley.Envelope) (*parley.Envelope, error) {
	call, err := client.NewFulfilment(e)
	if err != nil {
		return nil, err
	}
	_, err = b.room.Send(b.ctx, call)
	return call, err
}

// toolsChanged is how often a tool was told to be another than before.
func (b *boss) toolsChanged() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changes
}

func (b *boss) waitForChange(t *testing.T, after int) {
	t.Helper()
	for {
		b.mu.Lock()
		n, changed := b.changes, b.changed
		b.mu.Unlock()
		if n > after {
			return
		}
		select {
		case <-changed:
		case <-b.ctx.Done():
			t.Fatal("no tool was told to have changed")
		}
	}
}

// state is what became of a proposal.
func (b *boss) state(t *testing.T, id string) client.ProposalState {
	t.Helper()
	p, err := b.room.API().Proposal(b.ctx, id)
	if err != nil {
		t.Fatal(err)
	}
	return p.State
}
