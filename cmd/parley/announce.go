package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/tui/safe"
)

// announcer says on the terminal what "parley up" is doing: to read, or with
// --json as JSON Lines. What is piped stays text, since it is meant for people;
// the record is what programs read.
type announcer struct {
	t     *terminal
	house *house

	mu     sync.Mutex            // one line at a time
	faults map[bridgeName]string // what was told of each server last
}

// event is a line of --json.
type event struct {
	Event string `json:"event"`
	URL   string `json:"url,omitempty"`
	Space string `json:"space,omitempty"`
	Who   string `json:"participant,omitempty"`
	ID    string `json:"id,omitempty"`
	Error string `json:"error,omitempty"`
	Hint  string `json:"hint,omitempty"`
}

func (a *announcer) tell(e event, lines ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.t.json.set && a.t.json.value {
		_ = a.t.writeValue(e) // nobody reads any more: nothing to be done
		return
	}
	for _, line := range lines {
		fmt.Fprintln(a.t.out, line)
	}
}

// listening says what was started, and what to do next.
func (a *announcer) listening() {
	h, p := a.house, a.t.palette()
	if d := h.plan.demo; d != nil {
		a.tell(event{Event: "listening", URL: h.url, Space: defaultSpace},
			"Parley listens on "+p.name(h.url)+".",
			"",
			"The demo's room has three in it: "+p.name(demoHuman)+", an "+p.name(demoAgent)+", and "+p.name(demoFiles)+", a tool for the files in",
			d.files+". The agent may read there; to write it has to propose.",
			"")
		a.console()
		a.guest(d)
		return
	}
	lines := []string{"Parley listens on " + p.name(h.url) + "."}
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		line := fmt.Sprintf("  space %s: %s, %s", p.name(name),
			plural(len(s.Participants), "participant", "participants"), plural(len(s.MCPServers), "MCP server", "MCP servers"))
		if len(s.Models) > 0 {
			line += ", " + plural(len(s.Models), "model participant", "model participants")
		}
		lines = append(lines, line)
		if bounds := s.Retention.String(); bounds != "" {
			lines = append(lines, "    retention drops for good what is "+bounds)
		}
	}
	lines = append(lines, "Open "+p.name(consoleURL(h.url))+" in a browser; "+p.good(program()+" token link"+urlFlag(h.url)+" --token-file FILE")+" makes a link that signs you in.")
	lines = append(lines, "Sit down in a terminal with "+p.good(program()+" chat"+urlFlag(h.url)+" --token-file FILE")+"; Ctrl-C ends it.")
	a.tell(event{Event: "listening", URL: h.url}, lines...)
	for name, s := range config.Sorted(h.plan.config.Spaces) {
		url, as := mcpURL(h.url, name, ""), "with a participant's token"
		if s.MCP.Anonymous != "" {
			as += ", or as " + s.MCP.Anonymous + " without one"
		}
		a.tell(event{Event: "mcp", URL: url, Space: name, Who: s.MCP.Anonymous}, "MCP clients come in at "+p.name(url)+" "+as+": "+mcpGuide)
	}
}

// console says how to open the demo's console, and how to do without.
func (a *announcer) console() {
	d, p := a.house.plan.demo, a.t.palette()
	you := d.config.Spaces[defaultSpace].Participants[demoHuman]
	link := consoleURL(a.house.url)
	code, _, err := a.house.gateway.SignInCode(gateway.TokenHash(you.TokenHashes[0]))
	if err == nil { // else the page asks for the token
		link = signInLink(a.house.url, code)
	}
	a.tell(event{Event: "console", URL: link, Space: defaultSpace, Who: demoHuman},
		"Open the room in a browser. This link signs you in, once, within 10 minutes:",
		"  "+p.good(link),
		"Another one: "+p.good(a.command("token link")),
		"",
		"Or sit down in it in another terminal, in this folder:",
		"  "+p.good(a.command("chat")),
		"")
}

// mcpGuide says how to configure MCP clients.
const mcpGuide = "docs/mcp-clients.md"

// guest says how an MCP client comes into the demo.
func (a *announcer) guest(d *demoPlan) {
	url, p := mcpURL(a.house.url, defaultSpace, ""), a.t.palette()
	a.tell(event{Event: "mcp", URL: url, Space: defaultSpace, Who: demoGuest},
		"Your own agent comes in as "+p.name(demoGuest)+", with the same rights. For Claude Code, in this folder:",
		"  "+p.good("claude mcp add --transport http parley "+url+` --header "Authorization: Bearer $(cat `+shellWord(d.guestToken)+`)"`),
		"Cursor, VS Code, Claude Desktop: "+mcpGuide,
		"")
}

// proposed says that the demo's agent waits for a decision.
func (a *announcer) proposed(id string) {
	p := a.t.palette()
	a.tell(event{Event: "proposed", Space: defaultSpace, Who: demoAgent, ID: id},
		"The agent proposes to write hello.txt. Approve it in the browser, or in another terminal, by the keys a and Enter:",
		"  "+p.good(a.command("chat")),
		"or, without looking around, by one of these:",
		"  "+p.good(a.command("send fulfil", safe.ShortID(id))),
		"  "+p.good(a.command("send reject", safe.ShortID(id), "--reason disagree")),
		"",
		"Ctrl-C ends it all; what was proposed is still there when you come back.",
		"")
}

// starting says that an MCP server takes its time.
func (a *announcer) starting(name bridgeName) {
	p := a.t.palette()
	a.tell(event{Event: "starting", Space: name.space, Who: name.id}, "… "+p.name(name.id)+" is still starting")
}

// idle says that the demo's agent waits to be asked.
func (a *announcer) idle() {
	a.tell(event{Event: "idle", Space: defaultSpace, Who: demoAgent},
		"All that the agent proposed is decided. Ask it for another proposal, in another terminal:",
		"  "+a.t.palette().good(a.command("send chat", "propose again")),
		"",
		"Ctrl-C ends it all.",
		"")
}

// bridged says that an MCP server can be called.
func (a *announcer) bridged(name bridgeName) {
	text := "is ready"
	if a.note(name, "") {
		text = "is ready again"
	}
	p := a.t.palette()
	a.tell(event{Event: "ready", Space: name.space, Who: name.id}, p.good("✓")+" "+p.name(name.id)+" "+text)
}

// note remembers what was told of a server last, "" for being ready, and reports
// whether it was told of before, or of the same fault.
func (a *announcer) note(name bridgeName, fault string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.faults == nil {
		a.faults = map[bridgeName]string{}
	}
	last, known := a.faults[name]
	a.faults[name] = fault
	return known && (fault == "" || fault == last)
}

// unbridged says that an MCP server cannot be called, and what happens next: once
// for as long as the fault stays the same. said is the last that its program
// wrote to its standard error.
func (a *announcer) unbridged(name bridgeName, err error, said string) {
	then := "it is tried again from time to time"
	if a.house != nil {
		then = "the gateway goes on, and tries again from time to time"
	}
	if !a.note(name, err.Error()) {
		a.fault(name, err, said, then)
	}
}

// gone says that an MCP server does not come back.
func (a *announcer) gone(name bridgeName, err error) { a.fault(name, err, "", "it does not come back") }

func (a *announcer) fault(name bridgeName, err error, said, then string) {
	e, p := explain(err), a.t.palette()
	lines := []string{p.bad("✗") + " " + p.name(name.id) + ": " + clean(e.Error()) + "; " + then}
	if said != "" {
		lines = append(lines, "  "+p.dim("it said:")+" "+clean(said))
	}
	if e.Hint != "" {
		lines = append(lines, "  "+p.dim("hint:")+" "+clean(e.Hint))
	}
	a.tell(event{Event: "failed", Space: name.space, Who: name.id, Error: clean(e.Error()), Hint: clean(e.Hint)}, lines...)
}

func (a *announcer) leaving() {
	a.tell(event{Event: "leaving"}, "", "Ending: what was accepted is put on record and delivered. Ctrl-C again ends it at once.")
}

func (a *announcer) left() { a.tell(event{Event: "left"}, "Done.") }

// command is a line that can be pasted into a terminal.
func (a *announcer) command(verb string, rest ...string) string {
	parts := append([]string{program(), verb}, rest...)
	line := strings.Join(parts, " ") + urlFlag(a.house.url) + " --token-file " + shellWord(a.house.plan.demo.humanToken)
	return line
}

// urlFlag is what a command has to say to find the gateway.
func urlFlag(url string) string {
	if url == defaultURL {
		return ""
	}
	return " --url " + url
}

// program is how to call this program again: as it was called, or, where
// "go run" built it for once, by that.
func program() string {
	self := os.Args[0]
	if strings.Contains(filepath.ToSlash(self), "/go-build") {
		return "go run ./cmd/parley"
	}
	if !strings.ContainsRune(self, os.PathSeparator) {
		return self
	}
	return shellWord(self)
}

// shellWord quotes a word where a shell would take it apart.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%=,", r)
	}
	if s != "" && strings.TrimFunc(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
