package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
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

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// flags are what the command line says.
type flags struct {
	config string

	url       string
	space     string
	tokenFile string

	models      []string
	keys        []string
	maxTokens   int64
	perMinute   int
	perHour     int64
	perDay      int64
	retries     int
	fallback    bool
	concurrency int

	level slog.Level
}

// run is the program without the process around it.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	cmd := newCommand(stdin, stdout, stderr)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintf(stderr, "parley-model: %v\n", err)
	if e, ok := errors.AsType[*parley.Error](err); ok && e.Hint != "" {
		fmt.Fprintln(stderr, e.Hint)
	}
	if _, ok := errors.AsType[usageError](err); ok {
		fmt.Fprintln(stderr, `"parley-model --help" tells how it is used`)
		return exitUsage
	}
	return exitError
}

func newCommand(stdin io.Reader, stdout, stderr io.Writer) *cobra.Command {
	f := flags{level: slog.LevelWarn}
	cmd := &cobra.Command{
		Use:   "parley-model (--model KIND:MODEL[@URL]… | --config FILE) [URL]",
		Short: "Join a space as a model that answers sampling requests",
		Long: `Join a space of the gateway at URL as the participant whose token is shown, and
answer its requests for sampling/createMessage out of one or several models.
Ctrl-C leaves. In parley.yaml the participant needs the capabilities mcp/response:*
and mcp/request:notifications/*, and serves: [sampling].

KIND is openai (OpenAI's responses), openai-chat (chat completions, of OpenAI and of
every endpoint that is compatible), anthropic or ollama. Behind @ stands where the
endpoint is, unless it is the maker's own; Ollama's is the one on this machine. Which
of several models answers is for the request's preferences to say, and else the first.

A key is never written on the command line, where other programs see it: --key says
where it is. Without --key, the makers' own endpoints are shown the keys of
OPENAI_API_KEY and ANTHROPIC_API_KEY.

With --config, all that stands in a JSON file instead, or for "-" on standard input;
docs/models.md describes it. parley up, which starts a model for each entry of
models: in parley.yaml, hands it over in that way.`,
		Example: `  parley-model --model anthropic:claude-sonnet-4 --token-file llm.token
  parley-model --model ollama:llama3.2 --space demo http://127.0.0.1:7717
  parley-model --model openai:gpt-5 --key env:MY_KEY --tokens-per-day 500000
  parley-model --model openai-chat:qwen3@http://127.0.0.1:8080/v1 --key file:local.key
  parley-model --config llm.json`,
		Version:           version(),
		SilenceErrors:     true,
		SilenceUsage:      true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
		Args:              oneURL,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				f.url = args[0]
			}
			p := &program{stdout: stdout, stderr: stderr, log: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: f.level}))}
			document, more, err := f.document(cmd.Flags().Changed, stdin)
			if err != nil {
				return err
			}
			return p.serve(cmd.Context(), document, more)
		},
	}
	cmd.SetOut(stdout)
	cmd.SetErr(stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	f.register(cmd)
	return cmd
}

func (f *flags) register(cmd *cobra.Command) {
	fs := cmd.Flags()
	fs.StringVarP(&f.config, "config", "c", "", "a JSON `FILE` with everything, or - for standard input")
	fs.StringArrayVar(&f.models, "model", nil, "a model to ask, as `KIND:MODEL[@URL]`; may be repeated, the preferred one first")
	fs.StringArrayVar(&f.keys, "key", nil, "where the endpoints' key is, as `env:NAME` or file:PATH, or for one kind, KIND=env:NAME; may be repeated")
	fs.StringVar(&f.url, "url", "", "the gateway's `URL`, as the argument says it (PARLEY_URL, else "+defaultURL+")")
	fs.StringVar(&f.space, "space", "", "the `SPACE` (PARLEY_SPACE, else the only one)")
	fs.StringVar(&f.tokenFile, "token-file", "", "`FILE` with the participant's token (else PARLEY_TOKEN)")
	fs.Int64Var(&f.maxTokens, "max-tokens", 0, "most tokens that a reply may have (default: as many as are asked for)")
	fs.IntVar(&f.perMinute, "requests-per-minute", 0, "requests of each asker; -1 is no bound (default 60)")
	fs.Int64Var(&f.perHour, "tokens-per-hour", 0, "tokens of each asker in 60 minutes, of input and output (default: no bound)")
	fs.Int64Var(&f.perDay, "tokens-per-day", 0, "tokens of each asker in 24 hours, of input and output (default: no bound)")
	fs.IntVar(&f.retries, "retries", 0, "how often a request is sent again after an error that passes (default 3)")
	fs.BoolVar(&f.fallback, "fallback", false, "ask the next model where one fails")
	fs.IntVar(&f.concurrency, "concurrency", 0, "requests that are worked on at a time (default 16)")
	fs.TextVar(&f.level, "log-level", f.level, "debug, info, warn or error")
}

func oneURL(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usagef("%d gateways are named, and one is joined", len(args))
	}
	return nil
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}
