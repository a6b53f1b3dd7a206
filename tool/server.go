package tool

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/licence"
	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/internal/runlog"
)

// Options say what a server is. Only Name has to be given.
type Options struct {
	Name         string // what the server calls itself, such as "parley-code"
	Title        string // for people; empty: none
	Version      string // empty: "devel"
	Instructions string // for models, on all tools together; empty: none

	// Tier is what everybody is entitled to. Empty means that a licence says,
	// and that it is Community without one.
	Tier Tier
	// Licence is whose licences count. The zero value accepts none.
	Licence Licence

	// ResponseConfig is a response_config.json to use instead of those that are
	// searched for. It need not be there yet.
	ResponseConfig string
	// Dir is where the search begins; empty: the working directory.
	Dir string
	// Getenv reads the environment; nil: os.Getenv.
	Getenv func(string) string

	// Runs is a folder in which the runs of handoffs are kept, so that they go on
	// after a restart; it is made where it is not there. Empty: they end with
	// the server. One server at a time can have it; see [Server.Close].
	Runs string
	// MaxRuns is how many calls of modern clients may wait for their clients at
	// a time; 0: DefaultMaxRuns.
	MaxRuns int
	// Patience is how long such a call waits for its client to come back; 0:
	// DefaultPatience. One that is kept can be gone on with for a week.
	Patience time.Duration

	// NoUsage leaves "parley/response", what an answer took and saved, out of
	// the answers' _meta.
	NoUsage bool
	// Log gets what callers are not told; nil: slog.Default().
	Log *slog.Logger
}

// Licence says which signed licences count, and where to look for one.
type Licence struct {
	// Key verifies them: a public RSA key of 2,048 bits or more (RS256) or an
	// Ed25519 key (EdDSA), as PEM or as a JWK. Whoever can change it can make
	// licences, so a program has it built in.
	Key []byte
	// Issuer is whom they come from (iss). It is needed with Key.
	Issuer string
	// Audience is whom they are for (aud); empty: the server's name.
	Audience string
	// File is where the licence lies; empty: $PARLEY_LICENCE.
	File string
}

// A Server serves tools. It is made by [NewServer].
//
// Its methods may be called from any goroutine.
type Server struct {
	opts    Options
	mcp     *mcp.Server
	source  *response.Source
	licence *licence.File // nil where the tier is fixed
	log     *slog.Logger
	now     func() time.Time
	newID   func() string
	calls   calls
	kept    *runlog.Dir // nil: runs are not kept
	runs    runs

	reviving sync.Mutex // held while a run that is kept is looked for

	mu    sync.Mutex
	tools map[string]*declared // by name; guarded by mu
	swept time.Time            // when the folder of runs was looked through; guarded by mu
}

// NewServer makes a server without tools; see [Add].
//
// Errors are a *[parley.Error]: invalid_argument for options that make no
// sense. What is wrong with a licence or with a response_config.json is no
// error: it goes to the log, and the server does with less.
func NewServer(opts Options) (*Server, error) {
	opts.Version = cmp.Or(opts.Version, "devel")
	if opts.Getenv == nil {
		opts.Getenv = os.Getenv
	}
	if opts.Log == nil {
		opts.Log = slog.Default()
	}
	opts.MaxRuns = cmp.Or(opts.MaxRuns, DefaultMaxRuns)
	opts.Patience = cmp.Or(opts.Patience, DefaultPatience)
	s := &Server{opts: opts, log: opts.Log, now: time.Now, newID: newID, tools: make(map[string]*declared)}
	if err := s.entitle(); err != nil {
		return nil, err
	}
	if err := s.openRuns(); err != nil {
		return nil, err
	}
	s.source = response.NewSource(response.SourceOptions{
		Getenv: opts.Getenv, Dir: opts.Dir, File: opts.ResponseConfig, Log: opts.Log,
	})
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: opts.Name, Title: opts.Title, Version: opts.Version}, &mcp.ServerOptions{
		Instructions: opts.Instructions,
		// The tools do not change while it serves, and a changed profile
		// changes none of them.
		//lint:ignore SA1019 what MCP retires is what clients of today listen to
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}, Logging: &mcp.LoggingCapabilities{}},
	})
	s.mcp.AddReceivingMiddleware(sendsInput)
	s.mcp.AddSendingMiddleware(sendRaw)
	s.mcp.AddReceivingMiddleware(inSession)
	return s, nil
}

// openRuns opens the folder of runs.
func (s *Server) openRuns() (err error) {
	if s.opts.Runs == "" {
		return nil
	}
	if s.kept, err = runlog.Open(s.opts.Runs); err != nil {
		return err
	}
	s.sweep()
	return nil
}

// Close ends the calls of modern clients that wait for their clients, waits for
// their functions, and leaves the folder of runs to others. Those that are kept
// there can be gone on with. It does not end what Serve and Do are at.
func (s *Server) Close() error {
	s.runs.close()
	s.park(func(*conversation) bool { return true })
	if s.kept == nil {
		return nil
	}
	s.calls.wait()
	return s.kept.Close()
}

// park ends runs so that they can be gone on with, and waits until they have
// ended.
func (s *Server) park(which func(*conversation) bool) {
	for _, c := range s.stop(which) {
		<-c.done
	}
}

// stop is park that does not wait.
func (s *Server) stop(which func(*conversation) bool) []*conversation {
	stopped := s.runs.those(which)
	for _, c := range stopped {
		c.stop(errParked)
	}
	return stopped
}

// entitle settles where the tier comes from.
func (s *Server) entitle() error {
	o := &s.opts
	if o.Name == "" {
		return parley.Errorf(parley.InvalidArgument, "the server has no name").WithHint("set Options.Name")
	}
	if o.Tier != "" {
		if _, err := response.ParseTier(string(o.Tier)); err != nil {
			return err
		}
		if len(o.Licence.Key) > 0 {
			return parley.Errorf(parley.InvalidArgument, "the tier is fixed, and a licence's key is given too").
				WithHint("set Options.Tier or Options.Licence, not both")
		}
		return nil
	}
	file, err := licence.Open(licence.Options{
		Path:     cmp.Or(o.Licence.File, o.Getenv("PARLEY_LICENCE")),
		Key:      o.Licence.Key,
		Issuer:   o.Licence.Issuer,
		Audience: cmp.Or(o.Licence.Audience, o.Name),
		Log:      s.log,
	})
	s.licence = file
	return err
}

// tier is what callers are entitled to now.
func (s *Server) tier() Tier {
	if s.licence == nil {
		return s.opts.Tier
	}
	return s.licence.Tier()
}

// MCP is the server as the SDK has it, to be connected to transports or handed
// to an HTTP handler. Whoever serves it that way calls [Server.Wait] at the end.
func (s *Server) MCP() *mcp.Server { return s.mcp }

// Run serves on stdin and stdout until stdin ends or ctx does, both of which
// are a nil error. Nothing else may write to stdout meanwhile.
func (s *Server) Run(ctx context.Context) error { return s.Serve(ctx, &mcp.StdioTransport{}) }

// Serve serves one client until the client leaves or ctx ends, both of which
// are a nil error. The contexts of the client's calls that are under way then
// end, and Serve waits until their functions have returned.
func (s *Server) Serve(ctx context.Context, t mcp.Transport) error {
	// Its runs are put away when the connection ends, before their requests
	// do: that would look as if the client had cancelled them.
	var session atomic.Pointer[mcp.ServerSession]
	own := func(c *conversation) bool { return c.session == session.Load() }
	var ended atomic.Bool // before a request that began later could be among those that stop
	line := &line{Transport: t, over: func() {
		ended.Store(true)
		s.stop(own)
	}}
	requests := context.WithValue(ctx, overKey{}, func() bool { return ended.Load() || ctx.Err() != nil })
	connected, err := s.mcp.Connect(requests, line, nil)
	if err != nil {
		return fmt.Errorf("serving %s: %w", s.opts.Name, err)
	}
	session.Store(connected)
	// The SDK's way to close a session waits for its calls without a word to
	// them. Without a connection their contexts end.
	stop := context.AfterFunc(ctx, func() { line.conn.Close() })
	defer stop()
	defer s.park(own)
	if err := connected.Wait(); err != nil && ctx.Err() == nil {
		return fmt.Errorf("serving %s: %w", s.opts.Name, err)
	}
	return nil
}

// Wait waits until no call is under way. It keeps nobody from calling.
func (s *Server) Wait() { s.calls.wait() }
