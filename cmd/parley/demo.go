package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/space"
)

// demoDir is where the demo keeps its state, below the current folder.
const demoDir = ".parley"

// The demo's participants.
const (
	demoHuman = "you"
	demoAgent = "agent"
	demoGuest = "guest" // whoever's MCP client comes in
	demoFiles = "files"
)

// demoPlan is the demo: a space with a person, an agent and a file tool.
type demoPlan struct {
	config     *config.Config
	dir        string // as it was named
	files      string // the scratch folder
	humanToken string // path of the token file
	agentToken string // the token itself
	guestToken string // path of the token file
}

// openDemo finds the demo's folder as it was left, or makes it.
func openDemo(dir string) (*demoPlan, error) {
	d := &demoPlan{dir: dir, files: filepath.Join(dir, "files"), humanToken: filepath.Join(dir, "you.token"), guestToken: guestTokenFile(dir)}
	if err := os.MkdirAll(d.files, 0o700); err != nil {
		return nil, parley.Errorf(parley.Unavailable, "the demo's folder cannot be made: %v", err).
			WithHint("name another one with --data")
	}
	if err := writeNew(filepath.Join(dir, ".gitignore"), "*\n"); err != nil {
		return nil, cannotWrite(dir, err)
	}
	human, err := keptToken(d.humanToken)
	if err != nil {
		return nil, err
	}
	if d.agentToken, err = keptToken(filepath.Join(dir, "agent.token")); err != nil {
		return nil, err
	}
	guest, err := keptToken(d.guestToken)
	if err != nil {
		return nil, err
	}
	d.config, err = d.configure(human, guest)
	return d, err
}

// guestTokenFile holds the token of the demo's guest.
func guestTokenFile(dir string) string { return filepath.Join(dir, "guest.token") }

// keptToken is the token of an earlier run, or a new one. Of two programs that start
// at the same time both get the same.
func keptToken(path string) (string, error) {
	token, err := readTokenFile(path, nil)
	if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		return token, err
	}
	made := fmt.Sprintf("%s.%d", path, os.Getpid())
	if err := writeTokenFile(made, randomToken()); err != nil {
		return "", err
	}
	defer os.Remove(made)
	if err := os.Link(made, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", cannotWrite(path, err)
	}
	return readTokenFile(path, nil)
}

// writeNew writes a file unless it is there.
func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// configure is what a parley.yaml for the demo would say.
func (d *demoPlan) configure(humanToken, guestToken string) (*config.Config, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	files, err := filepath.Abs(d.files)
	if err != nil {
		return nil, err
	}
	path, err := filepath.Abs(filepath.Join(d.dir, "parley.db"))
	if err != nil {
		return nil, err
	}
	human := demoParticipant(humanToken, "mcp/*", "chat", "reflection", "conclusion", "capability/*", "space/*")
	mayRead := []string{"mcp/proposal:*", "mcp/withdraw:*", "mcp/request:*/list", "chat", "reflection", "conclusion",
		reading("read_*"), reading("list_*"), reading("search_*")}
	agent := demoParticipant(d.agentToken, mayRead...)
	guest := demoParticipant(guestToken, append(mayRead, "mcp/request:notifications/*")...)
	return &config.Config{
		Listen:  config.DefaultListen,
		Journal: config.Journal{Path: path, Sync: config.SyncNormal},
		Spaces: map[string]*config.Space{defaultSpace: {
			Enforcement:  config.Strict,
			Protocol:     parley.ProtocolMCPx,
			Limits:       space.DefaultLimits(),
			ContextTypes: config.BuiltinContextTypes(),
			Participants: map[string]*config.Participant{demoHuman: human, demoAgent: agent, demoGuest: guest},
			MCPServers: map[string]*config.MCPServer{demoFiles: {
				Type: config.Stdio, Command: self, Args: []string{"tools", "files", files},
				Capabilities: config.DefaultServerCapabilities(), Era: config.EraAuto, Pin: config.PinRecord, Sessions: config.SessionsAuto,
			}},
		}},
	}, nil
}

// reading is the right to call tools of the file tool, and of no other server that
// may have been imported.
func reading(tools string) string {
	return `{"kind": "mcp/request:tools/call:` + tools + `", "to": ["` + demoFiles + `"]}`
}

func demoParticipant(token string, patterns ...string) *config.Participant {
	p := &config.Participant{
		TokenHashes: []config.TokenHash{config.HashToken(token)},
		Routing:     config.RoutingAll, Echo: true,
	}
	for _, pattern := range patterns {
		p.Capabilities = append(p.Capabilities, parley.MustCapability(pattern))
	}
	return p
}
