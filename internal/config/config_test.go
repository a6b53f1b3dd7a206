package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// specExample is the example of section 15 of the contract.
const specExample = `
listen: 127.0.0.1:7717
journal: {path: parley.db, sync: normal}
spaces:
  demo:
    enforcement: strict
    participants:
      you:    {token: "${env:YOU_TOKEN}", capabilities: ["mcp/*", "chat", "capability/*"]}
      agent:  {token: "${env:AGENT_TOKEN}", capabilities: ["mcp/proposal:*", "mcp/request:*/list", "mcp/request:tools/call:read_*", "chat"]}
    mcp_servers:            # the same shape that Claude, Cursor and VS Code use
      files: {command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "./workspace"]}
      wiki:  {url: "http://127.0.0.1:9000/mcp"}
`

func caps(patterns ...string) parley.Capabilities {
	var cs parley.Capabilities
	for _, p := range patterns {
		cs = append(cs, parley.MustCapability(p))
	}
	return cs
}

func hashes(names ...string) []TokenHash {
	var hs []TokenHash
	for _, n := range names {
		hs = append(hs, HashToken(testEnv[n]))
	}
	return hs
}

func TestContractExample(t *testing.T) {
	dir := t.TempDir()
	got, err := Parse("parley.yaml", []byte(specExample), Env{Dir: dir, Lookup: lookup})
	if err != nil {
		t.Fatal(err)
	}
	want := &Config{
		Listen:  "127.0.0.1:7717",
		Journal: Journal{Path: filepath.Join(dir, "parley.db"), Sync: SyncNormal},
		Spaces: map[string]*Space{"demo": {
			Enforcement:  Strict,
			Protocol:     "mcpx/v0.1",
			Limits:       space.DefaultLimits(),
			ContextTypes: BuiltinContextTypes(),
			Participants: map[string]*Participant{
				"you": {
					TokenHashes:  hashes("YOU_TOKEN"),
					Capabilities: caps("mcp/*", "chat", "capability/*"),
					Routing:      RoutingAll, Echo: true,
				},
				"agent": {
					TokenHashes:  hashes("AGENT_TOKEN"),
					Capabilities: caps("mcp/proposal:*", "mcp/request:*/list", "mcp/request:tools/call:read_*", "chat"),
					Routing:      RoutingAll, Echo: true,
				},
			},
			MCPServers: map[string]*MCPServer{
				"files": {
					Type: Stdio, Command: "npx", Dir: dir,
					Args:         []string{"-y", "@modelcontextprotocol/server-filesystem", "./workspace"},
					Capabilities: DefaultServerCapabilities(), Era: EraAuto, Pin: PinRecord, Sessions: SessionsAuto, Response: ResponsePass,
				},
				"wiki": {
					Type: HTTP, URL: "http://127.0.0.1:9000/mcp", Capabilities: DefaultServerCapabilities(),
					Era: EraAuto, Pin: PinRecord, Sessions: SessionsAuto, Response: ResponsePass,
				},
			},
		}},
		name: "parley.yaml",
	}
	for _, server := range got.Spaces["demo"].MCPServers {
		server.place = Problem{}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
}

// TestKeys holds the effect of every key: what a few lines of configuration
// change, one key at a time.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		key, text string
		get       func(c *Config) any
		want      any
	}{
		{"listen", "listen: '[::1]:0'", func(c *Config) any { return c.Listen }, "[::1]:0"},
		{"listen default", "", func(c *Config) any { return c.Listen }, "127.0.0.1:7717"},
		{"hosts", "hosts: [Parley.Example.org., '::1', a_b]", func(c *Config) any { return c.Hosts }, []string{"parley.example.org", "::1", "a_b"}},
		{"hosts default", "", func(c *Config) any { return c.Hosts }, []string(nil)},
		{"origins", "origins: ['https://example.org', 'http://127.0.0.1:8080', 'http://[::1]:1', 'https://example.org']", func(c *Config) any { return c.Origins },
			[]string{"https://example.org", "http://127.0.0.1:8080", "http://[::1]:1"}},
		{"origins default", "", func(c *Config) any { return c.Origins }, []string(nil)},
		{"public_url", "public_url: https://parley.example.org:8443/", func(c *Config) any { return c.PublicURL }, "https://parley.example.org:8443"},
		{"public_url default", "", func(c *Config) any { return c.PublicURL }, ""},
		{"journal.path", "journal: {path: /tmp/x.db}", func(c *Config) any { return c.Journal.Path }, "/tmp/x.db"},
		{"journal.path relative", "journal: {path: ../x.db}", func(c *Config) any { return c.Journal.Path }, "/x.db"},
		{"journal.path default", "journal:", func(c *Config) any { return c.Journal.Path }, "/etc/parley.db"},
		{"journal.sync full", "journal: {sync: full}", func(c *Config) any { return c.Journal.Sync }, SyncFull},
		{"journal.sync normal", "journal: {sync: normal}", func(c *Config) any { return c.Journal.Sync }, SyncNormal},
		{"journal.sync off", "journal: {sync: off}", func(c *Config) any { return c.Journal.Sync }, SyncOff},
		{"journal.sync default", "journal: {}", func(c *Config) any { return c.Journal.Sync }, SyncNormal},
		{"spaces default", "spaces:", func(c *Config) any { return len(c.Spaces) }, 0},

		{"enforcement strict", "spaces: {s: {enforcement: strict}}", enforcement, Strict},
		{"enforcement lazy", "spaces: {s: {enforcement: lazy}}", enforcement, Lazy},
		{"enforcement default", "spaces: {s: }", enforcement, Strict},
		{"protocol", "spaces: {s: {protocol: mcpp/v0.1}}", protocol, "mcpp/v0.1"},
		{"protocol same", "spaces: {s: {protocol: mcpx/v0.1}}", protocol, "mcpx/v0.1"},
		{"protocol default", "spaces: {s: {}}", protocol, "mcpx/v0.1"},

		{"token", who(`token: "${env:YOU_TOKEN}"`), tokens, hashes("YOU_TOKEN")},
		{"token literal", who(`token: correct-horse-battery-staple`), tokens, []TokenHash{HashToken("correct-horse-battery-staple")}},
		{"token number", who(`token: 00123456789012345678`), tokens, []TokenHash{HashToken("00123456789012345678")}},
		{"token hash", who("token: " + HashToken("x").Reference()), tokens, []TokenHash{HashToken("x")}},
		{"token list", who(`token: ["${env:YOU_TOKEN}", "${env:AGENT_TOKEN}"]`), tokens, hashes("YOU_TOKEN", "AGENT_TOKEN")},
		{"token mixed", who(`token: "a-$${-${env:YOU_TOKEN}-b"`), tokens, []TokenHash{HashToken("a-${-you-0123456789abcdef-b")}},
		{"token default", who(``), tokens, []TokenHash(nil)},
		{"capabilities", who(`capabilities: [chat, "!mcp/*"]`), capabilities, "[chat !mcp/*]"},
		{"capabilities block", who("capabilities:\n  - chat\n  - mcp/request:*\n"), capabilities, "[chat mcp/request:*]"},
		{"capabilities object", who(`capabilities: [{kind: "mcp/request:tools/call:write_file", params: {arguments: {path: /w/*, mode: 420, force: true, to: [a, 1.5]}}, to: [files]}]`), capabilities,
			`[{"kind":"mcp/request:tools/call:write_file","params":{"arguments":{"path":"/w/*","mode":420,"force":true,"to":["a",1.5]}},"to":["files"]}]`},
		{"capabilities default", who(``), capabilities, "[]"},
		{"routing", who(`routing: directed`), func(c *Config) any { return p(c).Routing }, RoutingDirected},
		{"routing same", who(`routing: all`), func(c *Config) any { return p(c).Routing }, RoutingAll},
		{"routing default", who(``), func(c *Config) any { return p(c).Routing }, RoutingAll},
		{"contexts none", who(`contexts: none`), contexts, "none"},
		{"contexts type", who(`contexts: "type:reasoning,workflow"`), contexts, "type:reasoning,workflow"},
		{"contexts id", who(`contexts: "id:a/b,c:d"`), contexts, "id:a/b,c:d"},
		{"contexts tree", who(`contexts: tree:abc`), contexts, "tree:abc"},
		{"contexts of two trees", who(`contexts: "tree:b,a%2Cb"`), contexts, "tree:a%2Cb,b"},
		{"contexts default", who(``), contexts, "all"},
		{"kinds", who(`kinds: [chat, "mcp/request:resources/read:a,b"]`), kinds, "[chat mcp/request:resources/read:a,b]"},
		{"kinds text", who(`kinds: "chat,mcp/*"`), kinds, "[chat mcp/*]"},
		{"kinds default", who(``), kinds, "[]"},
		{"history", who(`history: 50`), func(c *Config) any { return p(c).History }, 50},
		{"history zero", who(`history: 0`), func(c *Config) any { return p(c).History }, 0},
		{"history default", who(``), func(c *Config) any { return p(c).History }, 0},
		{"echo off", who(`echo: off`), func(c *Config) any { return p(c).Echo }, false},
		{"echo false", who(`echo: false`), func(c *Config) any { return p(c).Echo }, false},
		{"echo on", who(`echo: on`), func(c *Config) any { return p(c).Echo }, true},
		{"echo default", who(``), func(c *Config) any { return p(c).Echo }, true},

		{"serves", who(`serves: [elicitation, sampling, tools]`), func(c *Config) any { return p(c).Serves }, []Service{ServesElicitation, ServesSampling, ServesTools}},
		{"serves default", who(``), func(c *Config) any { return p(c).Serves }, []Service(nil)},
		{"anonymous", "spaces: {s: {mcp: {anonymous: p}, participants: {p: }}}", func(c *Config) any { return c.Spaces["s"].MCP.Anonymous }, "p"},
		{"anonymous default", "spaces: {s: {mcp: }}", func(c *Config) any { return c.Spaces["s"].MCP }, MCP{}},

		{"command", server(`command: npx`), func(c *Config) any { return m(c).Command }, "npx"},
		{"args", server(`command: x, args: [-p, 8080, "", "${HOME}"]`), func(c *Config) any { return m(c).Args }, []string{"-p", "8080", "", "${HOME}"}},
		{"args default", server(`command: x`), func(c *Config) any { return m(c).Args }, []string(nil)},
		{"env", server(`command: x, env: {PORT: 8080, DEBUG: true, KEY: "k-${env:YOU_TOKEN}", NONE: ""}`), func(c *Config) any { return reveal(m(c).Env) },
			map[string]string{"PORT": "8080", "DEBUG": "true", "KEY": "k-you-0123456789abcdef", "NONE": ""}},
		{"cwd", server(`command: x, cwd: work`), func(c *Config) any { return m(c).Dir }, "/etc/work"},
		{"cwd absolute", server(`command: x, cwd: /srv`), func(c *Config) any { return m(c).Dir }, "/srv"},
		{"cwd default", server(`command: x`), func(c *Config) any { return m(c).Dir }, "/etc"},
		{"url", server(`url: "https://x.example/mcp?a=b"`), func(c *Config) any { return m(c).URL }, "https://x.example/mcp?a=b"},
		{"headers", server(`url: "https://x.example/", headers: {Authorization: "Bearer ${env:YOU_TOKEN}"}`), func(c *Config) any { return reveal(m(c).Headers) },
			map[string]string{"Authorization": "Bearer you-0123456789abcdef"}},
		{"type stdio", server(`type: stdio, command: x`), transport, Stdio},
		{"type http", server(`type: http, url: "http://127.0.0.1"`), transport, HTTP},
		{"type streamable", server(`type: streamable-http, url: "http://127.0.0.1"`), transport, HTTP},
		{"type sse", server(`type: sse, url: "http://127.0.0.1"`), transport, SSE},
		{"type of a command", server(`command: x`), transport, Stdio},
		{"type of a url", server(`url: "http://127.0.0.1"`), transport, HTTP},
		{"pin strict", server(`command: x, pin: strict`), func(c *Config) any { return m(c).Pin }, PinStrict},
		{"pin off", server(`command: x, pin: off`), func(c *Config) any { return m(c).Pin }, PinOff},
		{"pin default", server(`command: x`), func(c *Config) any { return m(c).Pin }, PinRecord},
		{"response wrap", server(`command: x, response: wrap`), func(c *Config) any { return m(c).Response }, ResponseWrap},
		{"response default", server(`command: x`), func(c *Config) any { return m(c).Response }, ResponsePass},
		{"sessions peer", server(`command: x, sessions: peer`), func(c *Config) any { return m(c).Sessions }, SessionsPeer},
		{"sessions shared", server(`command: x, sessions: shared`), func(c *Config) any { return m(c).Sessions }, SessionsShared},
		{"sessions default", server(`command: x`), func(c *Config) any { return m(c).Sessions }, SessionsAuto},
		{"roots", server(`command: x, roots: true`), func(c *Config) any { return m(c).Roots }, true},
		{"roots default", server(`command: x`), func(c *Config) any { return m(c).Roots }, false},
		{"result_budget", who(`result_budget: 4000`), func(c *Config) any { return p(c).ResultBudget }, ResultBudget(4000)},
		{"result_budget off", who(`result_budget: off`), func(c *Config) any { return p(c).ResultBudget }, NoBudget},
		{"result_budget default", who(``), func(c *Config) any { return p(c).ResultBudget }, ResultBudget(0)},
		{"result_budget of a server", server(`command: x, result_budget: 500`), func(c *Config) any { return m(c).ResultBudgets }, map[string]ResultBudget{"*": 500}},
		{"result_budget of tools", server(`command: x, result_budget: {"*": 500, read: off, find: 256, none: null}`), func(c *Config) any { return m(c).ResultBudgets },
			map[string]ResultBudget{"*": 500, "read": NoBudget, "find": 256}},
		{"result_budget of a server by default", server(`command: x`), func(c *Config) any { return m(c).ResultBudgets }, map[string]ResultBudget(nil)},
		{"server capabilities default", server(`command: x`), func(c *Config) any { return fmt.Sprint(m(c).Capabilities) },
			"[mcp/response:* mcp/request:notifications/* mcp/request:sampling/createMessage mcp/request:elicitation/create mcp/request:roots/list]"},
		{"server capabilities", server(`command: x, capabilities: [chat]`), func(c *Config) any { return fmt.Sprint(m(c).Capabilities) }, "[chat]"},
		{"server capabilities none", server(`command: x, capabilities: []`), func(c *Config) any { return len(m(c).Capabilities) }, 0},

		{"limits size", limit("envelope_bytes: 64KiB"), func(c *Config) any { return l(c).EnvelopeBytes }, 64 << 10},
		{"limits size in MiB", limit("envelope_bytes: 2 MiB"), func(c *Config) any { return l(c).EnvelopeBytes }, 2 << 20},
		{"limits size in bytes", limit("envelope_bytes: 65536"), func(c *Config) any { return l(c).EnvelopeBytes }, 65536},
		{"limits size in B", limit("envelope_bytes: 65536B"), func(c *Config) any { return l(c).EnvelopeBytes }, 65536},
		{"limits size in GiB", limit("lag_bytes: 1GiB"), func(c *Config) any { return l(c).LagBytes }, 1 << 30},
		{"nesting", limit("nesting: 64"), func(c *Config) any { return l(c).Nesting }, 64},
		{"participants", limit("participants: 7"), func(c *Config) any { return l(c).Participants }, 7},
		{"connections", limit("connections: 7"), func(c *Config) any { return l(c).Connections }, 7},
		{"limits.history", limit("history: 7"), func(c *Config) any { return l(c).History }, 7},
		{"lag_envelopes", limit("lag_envelopes: 7"), func(c *Config) any { return l(c).LagEnvelopes }, 7},
		{"rate", limit("rate: 0.5"), func(c *Config) any { return l(c).Rate }, 0.5},
		{"burst", limit("burst: 7"), func(c *Config) any { return l(c).Burst }, 7},
		{"context_rate", limit("context_rate: 7"), func(c *Config) any { return l(c).ContextRate }, 7.0},
		{"context_depth", limit("context_depth: 7"), func(c *Config) any { return l(c).ContextDepth }, 7},
		{"open_contexts", limit("open_contexts: 7"), func(c *Config) any { return l(c).OpenContexts }, 7},
		{"context_metadata_bytes", limit("context_metadata_bytes: 7"), func(c *Config) any { return l(c).ContextMetadataBytes }, 7},
		{"open_proposals", limit("open_proposals: 7"), func(c *Config) any { return l(c).OpenProposals }, 7},
		{"proposal_ttl", limit("proposal_ttl: 90s"), func(c *Config) any { return l(c).ProposalTTL }, 90 * time.Second},
		{"context_idle", limit("context_idle: 1h30m"), func(c *Config) any { return l(c).ContextIdle }, 90 * time.Minute},
		{"approval_wait", limit("approval_wait: 500ms"), func(c *Config) any { return l(c).ApprovalWait }, 500 * time.Millisecond},
		{"call_timeout", limit("call_timeout: 2m"), func(c *Config) any { return l(c).CallTimeout }, 2 * time.Minute},
		{"context types default", "spaces: {s: }", func(c *Config) any { return c.Spaces["s"].ContextTypes }, BuiltinContextTypes()},
		{"context type of one's own", contextTypes(`audit: {description: "who did what", kinds: [acme/*, chat]}`), contextType("audit"),
			space.ContextType{Description: "who did what", Kinds: []string{"acme/*", "chat"}}},
		{"context type kinds text", contextTypes(`audit: {kinds: "acme/*,chat"}`), contextType("audit"), space.ContextType{Kinds: []string{"acme/*", "chat"}}},
		{"context type limits", contextTypes("a/b: {limits: {context_rate: 0.5, context_depth: 2, open_contexts: 3, context_metadata_bytes: 1KiB, context_idle: 5m}}"), contextType("a/b"),
			space.ContextType{Rate: 0.5, Depth: 2, Open: 3, MetadataBytes: 1 << 10, Idle: 5 * time.Minute}},
		{"context type summarize", contextTypes(`audit: {summarize: true}`), contextType("audit"), space.ContextType{Summarize: true}},
		{"context types summarized", contextTypes("workflow: {summarize: on}, audit: {summarize: true}, delegation: {summarize: off}"),
			func(c *Config) any { return c.Spaces["s"].Summarized() }, []string{"audit", "workflow"}},
		{"context type empty", contextTypes("audit: "), contextType("audit"), space.ContextType{}},
		{"context type built in and changed", contextTypes(`workflow: {description: "", kinds: [], limits: {context_depth: 2}}`), contextType("workflow"),
			space.ContextType{Idle: time.Hour, Depth: 2}},
		{"context type built in and written", contextTypes("workflow: {}"), contextType("workflow"), BuiltinContextTypes()["workflow"]},
		{"context type with the space's idle", "spaces: {s: {limits: {context_idle: 5s}, context_types: {delegation: {limits: {context_idle: 7s}}}}}",
			func(c *Config) any {
				t := c.Spaces["s"].ContextTypes
				return []time.Duration{t["workflow"].Idle, t["delegation"].Idle}
			}, []time.Duration{0, 7 * time.Second}},
		{"limits default", limit(""), func(c *Config) any { return l(c) }, space.DefaultLimits()},

		{"merge", `spaces: {s: {participants: {a: &a {history: 5, echo: off}, b: {<<: *a, history: 6}, p: {<<: [{routing: directed}, *a]}}}}`,
			func(c *Config) any {
				return fmt.Sprintln(c.Spaces["s"].Participants["b"].History, p(c).History, p(c).Echo, p(c).Routing)
			}, "6 5 false directed\n"},
		{"json", `{"listen": "127.0.0.1:1", "spaces": {"s": {"participants": {"p": {"history": 3}}}}}`, func(c *Config) any { return p(c).History }, 3},
		{"crlf", "listen: 127.0.0.1:1\r\njournal:\r\n  sync: full\r\n", func(c *Config) any { return fmt.Sprint(c.Listen, c.Journal.Sync) }, "127.0.0.1:1full"},
		{"byte order mark", "\ufefflisten: 127.0.0.1:1", func(c *Config) any { return c.Listen }, "127.0.0.1:1"},
	} {
		t.Run(c.key, func(t *testing.T) {
			cfg, err := Parse("parley.yaml", []byte(c.text), Env{Dir: "/etc", Lookup: lookup})
			if err != nil {
				t.Fatal(err)
			}
			if got := c.get(cfg); !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestEveryLimitIsRead fails for a limit that the space has and the file lacks.
func TestEveryLimitIsRead(t *testing.T) {
	if n := reflect.TypeFor[space.Limits]().NumField(); n != len(limitKeys) {
		t.Errorf("the space has %d limits, the configuration %d", n, len(limitKeys))
	}
}

func who(keys string) string {
	if strings.Contains(keys, "\n") {
		return "spaces:\n s:\n  participants:\n   p:\n    " + strings.ReplaceAll(keys, "\n", "\n    ")
	}
	return "spaces: {s: {participants: {p: {" + keys + "}}}}"
}
func server(keys string) string { return "spaces: {s: {mcp_servers: {m: {" + keys + "}}}}" }
func limit(key string) string   { return "spaces: {s: {limits: {" + key + "}}}" }
func contextTypes(keys string) string {
	return "spaces: {s: {context_types: {" + keys + "}}}"
}

func contextType(name string) func(*Config) any {
	return func(c *Config) any { return c.Spaces["s"].ContextTypes[name] }
}

func p(c *Config) *Participant   { return c.Spaces["s"].Participants["p"] }
func m(c *Config) *MCPServer     { return c.Spaces["s"].MCPServers["m"] }
func l(c *Config) space.Limits   { return c.Spaces["s"].Limits }
func enforcement(c *Config) any  { return c.Spaces["s"].Enforcement }
func protocol(c *Config) any     { return c.Spaces["s"].Protocol }
func tokens(c *Config) any       { return p(c).TokenHashes }
func capabilities(c *Config) any { return fmt.Sprint(p(c).Capabilities) }
func contexts(c *Config) any     { return p(c).Contexts.String() }
func kinds(c *Config) any        { return fmt.Sprint(p(c).Kinds) }
func transport(c *Config) any    { return m(c).Type }
func reveal(s map[string]Secret) any {
	plain := make(map[string]string)
	for name, secret := range s {
		plain[name] = secret.Reveal()
	}
	return plain
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "parley.yaml: there is no space, so nobody can join"},
		{"# nothing yet\n", "there is no space"},
		{"spaces: {}", "there is no space"},
		{"spaces: {s: {}}", ""},
		{"listen: :7717\nspaces: {s: }", ":1:9: listen is reachable from other machines"},
		{"listen: 0.0.0.0:7717\nspaces: {s: }", "listen is reachable from other machines"},
		{"listen: example.org:7717\nspaces: {s: }", "listen is reachable from other machines"},
		{"listen: localhost:7717\nspaces: {s: }", ""},
		{"listen: 127.1.2.3:7717\nspaces: {s: }", ""},
		{who("history: 1"), `"p" has no token, so nobody can connect as it`},
		{"spaces: {s: {mcp: {anonymous: p}, participants: {p: {history: 1}}}}", ""},
		{who("token: too-short"), ":1:40: token is shorter than 16 characters and can be guessed"},
		{who("token: long-enough-for-us"), ""},
		{server(`url: "http://192.0.2.1/", headers: {A: b}`), "headers go to another machine over plain HTTP"},
		{server(`url: "http://192.0.2.1/"`), ""},
		{contextTypes("audit: {summarize: true}"), ":1:29: contexts are to be summed up, and nobody serves sampling"},
		{"spaces: {s: {context_types: {audit: {summarize: true}}, participants: {m: {token: long-enough-for-us, capabilities: [\"mcp/response:*\"], serves: [sampling]}}}}", ""},
		{who("token: long-enough-for-us, serves: [elicitation]"), `"p" serves elicitation and may not answer: it may never send mcp/response:elicitation/create`},
		{who(`token: long-enough-for-us, serves: [elicitation], capabilities: ["mcp/response:elicitation/*"]`), ""},
		{server(`type: sse, url: "http://127.0.0.1/"`), ":1:38: type sse names a transport of old"},
		{server(`url: "http://127.0.0.1/", headers: {A: b}`), ""},
	} {
		cfg, err := parse(t, c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, w := range cfg.Warnings {
			got = append(got, w.Format("parley.yaml"))
		}
		if all := strings.Join(got, "\n"); !strings.Contains(all, c.want) || (c.want == "") != (len(got) == 0) {
			t.Errorf("%q warns\n%s\nwant %q", c.text, all, c.want)
		}
	}
}

// What nobody may enter without a token from another machine is refused in the
// file, and again where the address to listen on is another one.
func TestListenOn(t *testing.T) {
	const text = "spaces:\n  s:\n    mcp: {anonymous: p}\n    participants: {p: }\n"
	const refused = "parley.yaml:3:22: anonymous lets anybody in who reaches the gateway, so it may listen on loopback only\n    listen on 127.0.0.1:7717, or "
	for address, ok := range map[string]bool{
		"127.0.0.1:0": true, "127.9.9.9:1": true, "[::1]:7717": true, "localhost:7717": true,
		":7717": false, "0.0.0.0:0": false, "[::]:0": false, "192.0.2.1:7717": false, "localhost.example.org:1": false, "nonsense": false,
	} {
		c, err := parse(t, text)
		if err != nil {
			t.Fatal(err)
		}
		err = c.ListenOn(address)
		if (err == nil) != ok || c.Listen != address || err != nil && !strings.HasPrefix(err.Error(), refused) {
			t.Errorf("on %s: %v", address, err)
		}
		if address == "nonsense" {
			continue
		}
		_, err = parse(t, text+"listen: '"+address+"'\n")
		if (err == nil) != ok || err != nil && !strings.HasPrefix(err.Error(), refused) {
			t.Errorf("a file with %s: %v", address, err)
		}
	}
	c, err := parse(t, who(""))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.ListenOn("0.0.0.0:1"); err != nil {
		t.Errorf("nobody is anonymous: %v", err)
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask is
			t.Fatal(err)
		}
		return path
	}
	write("p.token", "token-of-p-0123456789\r\n", 0o600)
	path := write("parley.yaml", who(`token: "${file:p.token}"`), 0o644)
	cfg, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := p(cfg).TokenHashes; !slices.Equal(got, []TokenHash{HashToken("token-of-p-0123456789")}) {
		t.Errorf("the token's line break is a part of it")
	}
	if want := filepath.Join(dir, "parley.db"); cfg.Journal.Path != want {
		t.Errorf("the journal is %s, want %s", cfg.Journal.Path, want)
	}
	if len(cfg.Warnings) > 0 {
		t.Errorf("warnings: %v", cfg.Warnings)
	}

	path = write("hash.yaml", who(`token: "`+HashToken("x").Reference()+`"`), 0o644)
	if cfg, err = Load(path); err != nil || len(cfg.Warnings) > 0 {
		t.Errorf("a hash in a readable file: %v, %v", err, cfg.Warnings)
	}
	if runtime.GOOS == "windows" {
		return // no permission bits
	}

	path = write("open.yaml", who(`token: token-of-p-0123456789`), 0o644)
	if cfg, err = Load(path); err != nil || len(cfg.Warnings) != 1 ||
		!strings.Contains(cfg.Warnings[0].Format(path), "a token stands in a file that others can read\n    chmod 600 "+path) {
		t.Errorf("a token in a readable file: %v, %v", err, cfg)
	}
	path = write("closed.yaml", who(`token: token-of-p-0123456789`), 0o600)
	if cfg, err = Load(path); err != nil || len(cfg.Warnings) > 0 {
		t.Errorf("a token in a private file: %v, %v", err, cfg.Warnings)
	}

	open := write("open.token", "token-of-p-0123456789", 0o640)
	path = write("parley.yaml", who("history: 1\ntoken: \"${file:open.token}\"\n"), 0o644)
	want := fmt.Sprintf("%s:6:12: the file %s can be read by others (mode 0640)\n    chmod 600 %s", path, open, open)
	if _, err := Load(path); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	write("big.token", strings.Repeat("x", maxSecret+1), 0o600)
	path = write("parley.yaml", who(`token: "${file:big.token}"`), 0o644)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "big.token is longer than 64KiB") {
		t.Errorf("a large token file: %v", err)
	}
	path = write("parley.yaml", who(`token: "${file:.}"`), 0o644)
	if _, err := Load(path); err == nil || !strings.Contains(err.Error(), "cannot be read: not a regular file") {
		t.Errorf("a folder as token file: %v", err)
	}
}

// TestSecretsDoNotShow prints a Config in all the ways that occur to people.
func TestSecretsDoNotShow(t *testing.T) {
	cfg, err := parse(t, `
spaces:
  s:
    participants: {p: {token: sesame-open-the-door}}
    mcp_servers:
      m: {command: x, env: {KEY: sesame-key}}
      n: {url: "http://127.0.0.1/", headers: {Authorization: sesame-header}}`)
	if err != nil {
		t.Fatal(err)
	}
	hash := HashToken("sesame-open-the-door")
	var out strings.Builder
	hidden := struct{ c Config }{*cfg} // fmt calls no methods below here
	each := []any{cfg, *cfg, p(cfg), *p(cfg), *m(cfg), p(cfg).TokenHashes, m(cfg).Env, m(cfg).Env["KEY"], *cfg.Spaces["s"].MCPServers["n"], hidden}
	for _, v := range each {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		if data, err := json.Marshal(v); err == nil {
			out.Write(data)
		}
	}
	for _, secret := range []string{"sesame", fmt.Sprintf("%x", "sesame"), hash.Reference(), fmt.Sprint(hash[0], hash[1], hash[2])} {
		if strings.Contains(out.String(), secret) {
			t.Errorf("%q shows in\n%s", secret, out.String())
		}
	}
	if strings.Count(out.String(), redacted) < 10 {
		t.Error("nothing was printed")
	}
	var none Secret
	if none.Reveal() != "" {
		t.Error("the zero secret is not empty")
	}
}

func ExampleParse() {
	text := `
spaces:
  demo:
    enforcment: strict
    limits: {proposal_ttl: 1d}
`
	_, err := Parse("parley.yaml", []byte(text), Env{})
	fmt.Println(err)
	// Output:
	// parley.yaml:4:5: unknown key "enforcment"
	//     did you mean "enforcement"?
	// parley.yaml:5:28: proposal_ttl is not a duration
	//     write days in hours: 1d is 24h
}

func ExampleSorted() {
	cfg, err := Parse("parley.yaml", []byte("spaces: {kitchen: {}, attic: {}}"), Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for name, s := range Sorted(cfg.Spaces) {
		fmt.Println(name, s.Enforcement)
	}
	// Output:
	// attic strict
	// kitchen strict
}

// What concerns the journal is read where the secrets of the gateway are not.
func TestLoadJournal(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "parley.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("journal: {path: data/log.db, sync: full}\nspaces: {demo: {participants: {ann: {token: \"${env:SURELY_NOT_SET_ANYWHERE}\"}}}}\n")
	if _, err := Load(path); err == nil {
		t.Error("the secret is there")
	}
	j, err := LoadJournal(path)
	if err != nil || j.Path != filepath.Join(dir, "data", "log.db") || j.Sync != SyncFull {
		t.Errorf("the journal is %+v (%v)", j, err)
	}
	for _, wrong := range []string{"journal: {path: ''}", "journal: [", "journals: {path: log.db}", "journal: {sync: odd}"} {
		write(wrong)
		if j, err := LoadJournal(path); err == nil {
			t.Errorf("%s is read as %+v", wrong, j)
		}
	}
	if _, err := LoadJournal(filepath.Join(dir, "absent.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
}

func TestRetentionSaysWhatItDrops(t *testing.T) {
	for _, c := range []struct {
		Retention
		want string
	}{
		{Retention{}, ""},
		{Retention{Age: 720 * time.Hour}, "older than 720h"},
		{Retention{Bytes: 1 << 40}, "beyond the newest 1TiB"},
		{Retention{Age: 70 * time.Second, Bytes: 1500 << 20}, "older than 1m10s, or beyond the newest 1500MiB"},
	} {
		if got := c.String(); got != c.want {
			t.Errorf("%+v drops what is %q, want %q", c.Retention, got, c.want)
		}
	}
}
