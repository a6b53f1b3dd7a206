package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/code/internal/codetools"
	"github.com/parleyhq/parley/tool"
)

// Exit codes, as those of parley.
const (
	exitOK    = 0
	exitError = 1
	exitUsage = 2
)

// A usageError is a mistake in the command line.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// flags are what the command line says.
type flags struct {
	tier          string
	licence       string
	licenceKey    string
	licenceIssuer string
	config        string
	cacheMiB      int
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.ReadCloser, stdout, stderr io.Writer) int {
	cmd := newCommand(stdin, stdout, stderr)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "parley-code: %v\n", err)
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Hint != "" {
		fmt.Fprintln(stderr, e.Hint)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintln(stderr, `"parley-code --help" tells how it is used`)
		return exitUsage
	}
	return exitError
}

func newCommand(stdin io.ReadCloser, stdout, stderr io.Writer) *cobra.Command {
	var f flags
	cmd := &cobra.Command{
		Use:   "parley-code DIR",
		Short: "Serve the source code below a folder over MCP",
		Long: `Serve the source code below DIR as an MCP server over standard input and output:
what its files and the project consist of, single symbols with what they depend
on and where they are used, changes of one symbol, and a scan for
vulnerabilities, for Go, Python, JavaScript and TypeScript. Nothing outside of
DIR is read or written. Any MCP client can run it, and "parley join" takes it
into a space.

Every answer comes in Parley's envelope; response_config.json, or --config,
says how much of it is sent.`,
		Example: `  parley-code ./project
  parley join code -- parley-code ./project
  parley-code --tier pro ./project`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              oneFolder,
		RunE: func(cmd *cobra.Command, args []string) error {
			return serve(cmd.Context(), args[0], f, stdin, stdout, stderr)
		},
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	fs := cmd.Flags()
	fs.StringVar(&f.tier, "tier", "", "what callers are entitled to: community, pro or enterprise (default: what a licence says, else community)")
	fs.StringVar(&f.licence, "licence", "", "file with a signed licence (default: $PARLEY_LICENCE)")
	fs.StringVar(&f.licenceKey, "licence-key", "", "file with the public key that licences are signed with, PEM or JWK")
	fs.StringVar(&f.licenceIssuer, "licence-issuer", "", "who signs licences; needed with --licence-key")
	fs.StringVar(&f.config, "config", "", "response_config.json to use instead of those that are searched for")
	fs.IntVar(&f.cacheMiB, "cache", 256, "memory for parsed files, in MiB; 0 parses each file for every call")
	return cmd
}

func oneFolder(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return usageError{errors.New("which folder? Name the one that is to be served")}
	case 1:
		return nil
	}
	return usageError{fmt.Errorf("%d folders are named, and one is served", len(args))}
}

func serve(ctx context.Context, dir string, f flags, stdin io.ReadCloser, stdout, stderr io.Writer) error {
	opts, err := f.options(stderr)
	if err != nil {
		return err
	}
	project, err := codetools.Open(dir, codetools.Options{CacheBytes: f.cacheBytes()})
	if err != nil {
		return err
	}
	defer project.Close()
	server, err := tool.NewServer(opts)
	if err != nil {
		return err
	}
	project.Register(server)
	return server.Serve(ctx, &mcp.IOTransport{Reader: stdin, Writer: keepOpen{stdout}})
}

// cacheBytes is -1 for no cache: 0 would be the default.
func (f flags) cacheBytes() int64 {
	if f.cacheMiB == 0 {
		return -1
	}
	return int64(f.cacheMiB) << 20
}

// options are the server's, as far as flags say.
func (f flags) options(stderr io.Writer) (tool.Options, error) {
	opts := tool.Options{
		Name: "parley-code", Title: "Source code", Version: version(),
		Instructions: "Tools for the source code of one project. Paths are relative to its folder, with slashes. " +
			"Begin with get_project_map. get_file_context tells whether a file is worth reading, analyze_code lists what it holds, " +
			"extract_code shows one symbol with what it needs, and get_symbol_references where it is used. " +
			"update_symbol replaces one, and security_scan looks for vulnerabilities.",
		Tier:           tool.Tier(f.tier),
		ResponseConfig: f.config,
		Log:            slog.New(slog.NewTextHandler(stderr, nil)),
	}
	if f.cacheMiB < 0 || f.cacheMiB > 1<<20 {
		return opts, usageError{fmt.Errorf("--cache %d is not from 0 to %d", f.cacheMiB, 1<<20)}
	}
	opts.Licence = tool.Licence{File: f.licence, Issuer: f.licenceIssuer}
	if f.licenceKey != "" {
		key, err := os.ReadFile(f.licenceKey)
		if err != nil {
			return opts, fmt.Errorf("reading the key of licences: %w", err)
		}
		opts.Licence.Key = key
	}
	return opts, nil
}

// keepOpen is stdout, which is not ours to close.
type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
