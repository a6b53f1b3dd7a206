package filetool

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/below"
)

// DefaultMaxBytes is the most that one read returns unless [Options.MaxBytes]
// says otherwise, in bytes of the file. An answer carries what it read twice,
// as text and as structured content, and must fit into one envelope (1 MiB).
const DefaultMaxBytes = 256 << 10

// Options adjusts a server. A nil *Options and the zero value are the defaults.
type Options struct {
	// MaxBytes is the most that one read_file returns, in bytes of the file;
	// 0 means [DefaultMaxBytes].
	MaxBytes int64
	// Version is what the server calls its own version; empty means "devel".
	Version string
}

// folder is the tree that is served and what all tools share.
type folder struct {
	root     *os.Root
	dir      string // absolute, for hints on absolute paths only
	maxBytes int64
	version  string
	escapes  error // what os.Root says of a link that leads out

	// calls is read-locked by every call under way, so that the end can wait
	// for them.
	calls sync.RWMutex

	// changing is held where a check and the change that relies on it must
	// not be separated.
	changing sync.Mutex
}

// New returns an MCP server for the files below dir, to be connected to a
// transport. The folder must exist; it stays open until the server is garbage.
//
// Errors are a *[parley.Error]: invalid_argument for options or a dir that make
// no sense, not_found where there is no such folder.
func New(dir string, opts *Options) (*mcp.Server, error) {
	f, err := openFolder(dir, opts)
	if err != nil {
		return nil, err
	}
	return f.server(), nil
}

// Run serves the files below dir on stdin and stdout until stdin ends or ctx
// does, both of which are a nil error. Calls that are under way then are given
// up, and Run waits until they are gone. Nothing else may write to stdout
// meanwhile. Errors before serving are those of [New].
func Run(ctx context.Context, dir string, opts *Options) error {
	f, err := openFolder(dir, opts)
	if err != nil {
		return err
	}
	defer f.close()
	err = f.server().Run(ctx, &mcp.StdioTransport{})
	if err == nil || ctx.Err() != nil {
		return nil
	}
	return fmt.Errorf("serving files on stdio: %w", err)
}

func openFolder(dir string, opts *Options) (*folder, error) {
	if opts == nil {
		opts = &Options{}
	}
	if opts.MaxBytes < 0 {
		return nil, parley.Errorf(parley.InvalidArgument, "MaxBytes is %d", opts.MaxBytes).
			WithHint("give a number of bytes, or 0 for %d", DefaultMaxBytes)
	}
	abs, err := existingFolder(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, parley.Errorf(parley.Unavailable, "cannot open the folder %q: %v", dir, below.Cause(err))
	}
	// One byte more than the most is read, which must not overflow.
	f := &folder{root: root, dir: abs, maxBytes: min(opts.MaxBytes, math.MaxInt64-1), version: opts.Version}
	if f.maxBytes == 0 {
		f.maxBytes = DefaultMaxBytes
	}
	if f.version == "" {
		f.version = "devel"
	}
	f.escapes = below.Escapes(root)
	return f, nil
}

// close waits for the calls under way: a write that is given up still removes
// its temporary file.
func (f *folder) close() {
	f.calls.Lock()
	defer f.calls.Unlock()
	f.root.Close()
}

// existingFolder returns dir's absolute path. It looks before anything is
// opened, because opening a named pipe would wait for a writer.
func existingFolder(dir string) (string, error) {
	if dir == "" {
		return "", parley.Errorf(parley.InvalidArgument, "no folder was named").
			WithHint("name the folder to serve, such as ./workspace")
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", parley.Errorf(parley.InvalidArgument, "the folder %q: %v", dir, err)
	}
	info, err := os.Stat(abs)
	switch {
	case os.IsNotExist(err):
		return "", parley.Errorf(parley.NotFound, "there is no folder %q", dir).
			WithHint("make it first: mkdir -p %q", dir)
	case err != nil:
		return "", parley.Errorf(parley.Unavailable, "cannot look at the folder %q: %v", dir, below.Cause(err))
	case !info.IsDir():
		return "", parley.Errorf(parley.InvalidArgument, "%q is not a folder", dir).
			WithHint("name the folder that holds it")
	}
	return abs, nil
}

const instructions = `Files below one folder. Paths are relative to it and use slashes: "notes/today.md"; "." is the folder itself. ` +
	`Absolute paths, ".." that leads out and symbolic links that lead out are refused. Errors read "code: message" with a hint on the next line.`

func (f *folder) server() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{
		Name:    "parley-files",
		Title:   "Parley files",
		Version: f.version,
	}, &mcp.ServerOptions{
		Instructions: instructions,
		// The tools never change, and nothing is logged to the client.
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
	s.AddReceivingMiddleware(codeOnEveryRefusal)
	add(f, s, readTool(f.maxBytes), f.read)
	add(f, s, writeTool, f.write)
	add(f, s, listTool, f.list)
	add(f, s, searchTool, f.search)
	add(f, s, infoTool, f.info)
	add(f, s, mkdirTool, f.mkdir)
	add(f, s, moveTool, f.move)
	add(f, s, deleteTool, f.delete)
	return s
}

// An answer is a tool's structured result; render is the same for people.
type answer interface{ render() []mcp.Content }

func add[In any, Out answer](f *folder, s *mcp.Server, t *mcp.Tool, run func(context.Context, In) (Out, error)) {
	mcp.AddTool(s, t, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (*mcp.CallToolResult, Out, error) {
		f.calls.RLock()
		defer f.calls.RUnlock()
		out, err := run(ctx, in)
		if err != nil {
			return nil, out, asRefusal(err)
		}
		return &mcp.CallToolResult{Content: out.render()}, out, nil
	})
}

func say(format string, args ...any) []mcp.Content {
	return []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(format, args...)}}
}

// reads and changes are the annotations of the two kinds of tools. No tool
// reaches beyond the folder, so none is of the open world.
func reads(title string) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, ReadOnlyHint: true, IdempotentHint: true, DestructiveHint: new(false), OpenWorldHint: new(false)}
}

func changes(title string, destructive, idempotent bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: new(destructive), IdempotentHint: idempotent, OpenWorldHint: new(false)}
}
