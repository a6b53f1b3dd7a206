package config

import (
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/space"
)

// Defaults of the keys at the top of the file.
const (
	DefaultListen      = "127.0.0.1:7717"
	DefaultJournalPath = "parley.db" // below the configuration's folder
)

// MaxBytes is the largest configuration that is read, in bytes.
const MaxBytes = 1 << 20

// Config is a whole configuration with its defaults filled in.
type Config struct {
	Listen  string   // host:port; ListenOn changes it
	Hosts   []string // names, without port, that browsers may know the gateway by, beside those of loopback
	Origins []string // whose pages may use a browser's session, beside the gateway's own
	// PublicURL is how browsers reach the gateway, as https://parley.example; "" where
	// that is what it listens on. It is the beginning of links.
	PublicURL string
	Journal   Journal
	Spaces    map[string]*Space // by name; range over Sorted(Spaces) for a fixed order

	// Warnings are what is allowed but probably not meant, by line.
	Warnings []Problem

	name string // of the file
}

// Journal says where and how durably the record is kept (section 9).
type Journal struct {
	Path string // absolute where the configuration's folder is known
	Sync Sync
}

// Sync is what durable means.
type Sync string

// The values of journal.sync.
const (
	SyncFull   Sync = "full"   // survives a power loss
	SyncNormal Sync = "normal" // survives a killed process; the default
	SyncOff    Sync = "off"    // promises nothing after a crash
)

// Space is one room.
type Space struct {
	Enforcement  Enforcement
	Protocol     string                       // what delivered envelopes carry: mcpx/v0.1 or mcpp/v0.1
	Participants map[string]*Participant      // by id
	MCPServers   map[string]*MCPServer        // by participant id
	Models       map[string]*ModelParticipant // by participant id; no id is in two of these maps
	Limits       space.Limits                 // complete, no field is zero
	Retention    Retention
	MCP          MCP
	Webhooks     []*Webhook                   // the gateway's own first, which every space has
	ContextTypes map[string]space.ContextType // by name, with those that are built in; a limit of 0 is that of Limits
}

// MCP says how MCP clients walk into a space.
type MCP struct {
	Anonymous string // the participant that requests without a token act as; empty: a token is needed

	place Problem // where anonymous stands
}

// Retention says how much of a space's record is kept (section 9). A field that
// is zero is no bound.
type Retention struct {
	Age   time.Duration
	Bytes int
}

// String says what is dropped; "" is nothing.
func (r Retention) String() string {
	var dropped []string
	if r.Age > 0 {
		dropped = append(dropped, "older than "+durationText(r.Age))
	}
	if r.Bytes > 0 {
		dropped = append(dropped, "beyond the newest "+sizeText(r.Bytes))
	}
	return strings.Join(dropped, ", or ")
}

// Enforcement says whether the gateway reads payloads (section 3).
type Enforcement string

// The values of enforcement.
const (
	Strict Enforcement = "strict" // the default
	Lazy   Enforcement = "lazy"
)

// Participant is somebody who connects with a token, and the settings of the
// connections that bring none of their own (section 6).
type Participant struct {
	TokenHashes  []TokenHash // any of these is the participant; empty: nobody can connect as it
	Capabilities parley.Capabilities
	Routing      Routing
	Contexts     space.ContextFilter
	Kinds        parley.Capabilities // patterns; empty is every kind
	History      int                 // envelopes sent on join
	Echo         bool                // whether it receives what it sent itself
	Serves       []Service           // in the order of the file, each once
	ResultBudget ResultBudget        // of what its MCP clients are given; see Space.ResultBudget
}

// Service is what a participant does for MCP servers and clients.
type Service string

// The values of serves.
const (
	ServesSampling    Service = "sampling"    // answers sampling/createMessage where the caller cannot
	ServesElicitation Service = "elicitation" // answers elicitation/create where the caller cannot
	ServesTools       Service = "tools"       // is an MCP server that joins by itself, and is listed to MCP clients
)

// Routing is what reaches a connection.
type Routing string

// The values of routing.
const (
	RoutingAll      Routing = "all"      // everything; the default
	RoutingDirected Routing = "directed" // broadcasts and what names the participant
)

// MCPServer is an MCP server that joins the space as a participant: a command
// that is spoken to over stdio, or a URL.
type MCPServer struct {
	Type         Transport
	Command      string // a bare name is looked up in PATH, one with a slash is relative to Dir
	Args         []string
	Env          map[string]Secret // added to the gateway's own environment
	Dir          string            // where the command runs
	URL          string
	Headers      map[string]Secret // sent with every HTTP request
	Capabilities parley.Capabilities
	Era          Era
	Pin          Pin
	Sessions     Sessions
	Roots        bool // whether callers' roots are declared to it
	Response     Response

	ResultBudgets map[string]ResultBudget // by tool, "*" for those not named; see Space.ResultBudget

	place Problem // of the url
}

// Era says which versions of MCP a server is spoken to in.
type Era string

// The values of era.
const (
	EraAuto   Era = "auto"   // what the server says; the default
	EraLegacy Era = "legacy" // up to 2025-11-25, with sessions
	EraModern Era = "modern" // 2026-07-28
)

// Pin says what is made of a tool's definition that changes.
type Pin string

// The values of pin.
const (
	PinRecord Pin = "record" // definitions are recorded and changes announced; the default
	PinStrict Pin = "strict" // a changed tool can be called only after space/accept-tool
	PinOff    Pin = "off"    // neither
)

// Response says what becomes of what an MCP server's tools answer.
type Response string

// The values of response.
const (
	ResponsePass Response = "pass" // callers get it as it is; the default
	ResponseWrap Response = "wrap" // it is put into the response envelope (section 12)
)

// Sessions says who shares a session with an MCP server.
type Sessions string

// The values of sessions.
const (
	SessionsAuto   Sessions = "auto"   // by what the server speaks; the default
	SessionsShared Sessions = "shared" // one for all
	SessionsPeer   Sessions = "peer"   // one for each participant that calls it
)

// Transport is how an MCP server is spoken to.
type Transport string

// The values of type; without one it follows from command or url.
const (
	Stdio Transport = "stdio"
	HTTP  Transport = "http" // Streamable HTTP
	SSE   Transport = "sse"  // as HTTP, with a warning: the transport that it names is no longer spoken
)

// DefaultServerCapabilities is what an MCP server may send unless the file says
// otherwise: answers, notifications, and what a server may ask of its client.
func DefaultServerCapabilities() parley.Capabilities {
	return parley.Capabilities{
		parley.MustCapability("mcp/response:*"),
		parley.MustCapability("mcp/request:notifications/*"),
		parley.MustCapability("mcp/request:sampling/createMessage"),
		parley.MustCapability("mcp/request:elicitation/create"),
		parley.MustCapability("mcp/request:roots/list"),
	}
}

// Sorted ranges over a map of a Config in the order of its keys.
func Sorted[V any](m map[string]V) iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			if !yield(k, m[k]) {
				return
			}
		}
	}
}

// Env is what a configuration may refer to outside of itself. The zero value
// is this process's environment and working folder.
type Env struct {
	// Dir is the folder that relative paths start from: of the journal, of
	// ${file:PATH} and of an MCP server's cwd. Empty leaves them as they are.
	Dir string

	// Lookup finds an environment variable; nil is os.LookupEnv.
	Lookup func(name string) (string, bool)
}

// Load reads the configuration at path; relative paths in it start from its
// folder. The error is an [*Error]; where there is no such file,
// errors.Is(err, fs.ErrNotExist) holds.
func Load(path string) (*Config, error) {
	r, data, err := open(path)
	if err != nil {
		return nil, err
	}
	return r.parse(data)
}

// LoadJournal reads what the configuration at path says of the journal, and
// nothing else: no secret that it refers to has to be there. Errors are those of
// [Load].
func LoadJournal(path string) (Journal, error) {
	r, data, err := open(path)
	if err != nil {
		return Journal{}, err
	}
	doc, problems := parseDocument(data)
	r.problems = append(r.problems, problems...)
	var j Journal
	if doc != nil {
		j = r.journal(r.keys(value{node: doc}, topKeys)["journal"])
	}
	if len(r.problems) > 0 {
		return Journal{}, &Error{Name: r.name, Problems: tidy(r.problems)}
	}
	return j, nil
}

// open reads the file at path.
func open(path string) (*reader, []byte, error) {
	data, mode, err := readFile(path, MaxBytes)
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, nil, unreadable(path, err)
	}
	return &reader{name: path, env: Env{Dir: filepath.Dir(abs)}, shared: othersCanRead(mode)}, data, nil
}

// Parse reads a configuration from memory. The name stands in front of every
// problem. The error is an [*Error]. An empty file is the defaults: a gateway
// without a space, and a warning that says so.
func Parse(name string, data []byte, env Env) (*Config, error) {
	r := &reader{name: name, env: env}
	return r.parse(data)
}

func (r *reader) parse(data []byte) (*Config, error) {
	if r.env.Lookup == nil {
		r.env.Lookup = os.LookupEnv
	}
	doc, problems := parseDocument(data)
	r.problems = append(r.problems, problems...)
	var c *Config
	if doc != nil {
		c = r.config(value{node: doc})
	}
	if len(r.problems) > 0 {
		return nil, &Error{Name: r.name, Problems: tidy(r.problems)}
	}
	c.Warnings = tidy(r.warnings)
	return c, nil
}

func unreadable(path string, err error) *Error {
	p := Problem{Message: fmt.Sprintf("cannot be read: %v", cause(err))}
	if os.IsNotExist(err) {
		p.Message = "there is no such file"
		p.Hint = "name one with --config FILE"
	}
	return &Error{Name: path, Problems: []Problem{p}, err: err}
}

// readFile reads a regular file of at most limit bytes. Anything else, a pipe
// for one, could keep the start of the gateway waiting for ever.
func readFile(path string, limit int64) ([]byte, os.FileMode, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errNotRegular
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err = f.Stat() // again: of what was opened
	if err != nil {
		return nil, 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	return data, info.Mode(), err
}

// othersCanRead reports whether the permissions let anybody but the owner in.
// Windows has no such bits.
func othersCanRead(mode os.FileMode) bool {
	return runtime.GOOS != "windows" && mode.Perm()&0o077 != 0
}
