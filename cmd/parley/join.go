package main

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/mcpbridge"
	"github.com/parleyhq/parley/internal/response"
)

// joinFlags say which MCP server to take along.
type joinFlags struct {
	url     string
	dir     string
	env     []string
	headers []string

	era      string
	sessions string
	response string
	roots    bool
	serves   []string
}

func newJoin(t *terminal) *cobra.Command {
	var to target
	var flags joinFlags
	cmd := &cobra.Command{
		Use:   "join NAME (-- COMMAND [ARG…] | --server-url URL), or join --model KIND:MODEL [URL]",
		Short: "Take one MCP server, or a model, into a space of a running gateway",
		Long: `Run an MCP server, or reach one over Streamable HTTP, and keep it in a space as the
participant NAME, whose token has to be shown. A server that dies is started
again; Ctrl-C ends it.

With --model a model joins instead, and answers requests for sampling/createMessage.
It is called as the participant whose token is shown, so no NAME is given; in
parley.yaml that one needs the capabilities mcp/response:* and
mcp/request:notifications/*, and serves: [sampling]. The program parley-model does the
work, and has to be beside parley or in PATH; docs/models.md tells more.`,
		Example: `  parley join files --token-file files.token -- parley tools files ./workspace
  parley join wiki --token-file wiki.token --server-url http://127.0.0.1:9000/mcp
  parley join --model anthropic:claude-sonnet-4 --key env:ANTHROPIC_API_KEY --token-file llm.token`,
		Args: func(cmd *cobra.Command, args []string) error {
			if err := checkJoinModel(cmd, args); err != nil || joinsModel(cmd) {
				return err
			}
			return checkJoin(cmd, args, flags)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if joinsModel(cmd) {
				return joinModel(cmd, args)
			}
			server, err := flags.server(args[1:])
			if err != nil {
				return err
			}
			serves, err := flags.servants()
			if err != nil {
				return err
			}
			wrap, err := flags.wrap(t)
			if err != nil {
				return err
			}
			return runJoin(cmd.Context(), t, &to, args[0], server, mcpbridge.Join{Serves: serves, Wrap: wrap})
		},
	}
	to.addFlags(cmd.Flags())
	f := cmd.Flags()
	f.StringVar(&flags.url, "server-url", "", "the `URL` of an MCP server over Streamable HTTP")
	f.StringArrayVar(&flags.headers, "header", nil, "an HTTP header for it, as `\"NAME: VALUE\"`; may be repeated")
	f.StringVar(&flags.dir, "dir", "", "the `FOLDER` in which the command runs")
	f.StringArrayVar(&flags.env, "env", nil, "a variable for the command, as `NAME=VALUE`, or NAME of one that is set here; may be repeated")
	f.StringVar(&flags.era, "era", "auto", "the versions of MCP to speak: legacy, modern, or auto: what it says")
	f.StringVar(&flags.sessions, "sessions", "auto", "who shares a session: auto, shared or peer")
	f.StringVar(&flags.response, "response", "pass", "what becomes of its tools' answers: pass, or wrap: the response envelope")
	f.BoolVar(&flags.roots, "roots", false, "let callers declare their roots to it")
	f.StringArrayVar(&flags.serves, "serves", nil, "who answers what it asks for where a caller cannot, as `sampling=WHO` or elicitation=WHO; may be repeated")
	addModelFlags(f)
	return cmd
}

func checkJoin(cmd *cobra.Command, args []string, flags joinFlags) error {
	dash := cmd.ArgsLenAtDash()
	switch {
	case len(args) == 0 || dash == 0:
		return usagef("join needs the name of the participant").hint("usage: %s", cmd.UseLine())
	case (flags.url == "") == (len(args) == 1):
		return usagef("either a command or --server-url").hint("usage: %s", cmd.UseLine())
	case len(args) > 1 && dash != 1:
		return usagef("the command has to stand behind --").hint("parley join %s -- %s", args[0], strings.Join(args[1:], " "))
	}
	return nil
}

func (f *joinFlags) server(command []string) (mcpbridge.Server, error) {
	s := mcpbridge.Server{URL: f.url, Dir: f.dir, Sessions: mcpbridge.Sessions(f.sessions), Roots: f.roots}
	switch s.Era = mcpbridge.Era(f.era); s.Era {
	case "auto":
		s.Era = ""
	case mcpbridge.Legacy, mcpbridge.Modern:
	default:
		return s, usagef("--era is %q", f.era).hint("it is auto, legacy or modern")
	}
	switch s.Sessions {
	case mcpbridge.SessionsAuto, mcpbridge.SessionsShared, mcpbridge.SessionsPeer:
	default:
		return s, usagef("--sessions is %q", f.sessions).hint("it is auto, shared or peer")
	}
	if len(command) > 0 {
		s.Command, s.Args = command[0], command[1:]
	}
	var err error
	if s.Env, err = variables(f.env); err != nil {
		return s, err
	}
	for _, header := range f.headers {
		name, value, ok := strings.Cut(header, ":")
		if !ok {
			return s, usagef("a --header has no colon").hint(`write --header "NAME: VALUE"`)
		}
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return s, s.Check()
}

// servants reads who answers for callers that cannot.
func (f *joinFlags) servants() (map[string][]string, error) {
	serves := map[string][]string{}
	for _, one := range f.serves {
		what, who, ok := strings.Cut(one, "=")
		if !ok || who == "" || what != "sampling" && what != "elicitation" {
			return nil, usagef("--serves is %q", one).hint("write --serves sampling=WHO or --serves elicitation=WHO")
		}
		serves[what] = append(serves[what], who)
	}
	return serves, nil
}

// wrap is how its tools answer in the envelope; nil where they need not.
func (f *joinFlags) wrap(t *terminal) (*response.Source, error) {
	switch config.Response(f.response) {
	case config.ResponsePass:
		return nil, nil
	case config.ResponseWrap:
		return response.NewSource(response.SourceOptions{Log: t.logger(slog.LevelInfo)}), nil
	}
	return nil, usagef("--response is %q", f.response).hint("it is pass or wrap")
}

// variables reads NAME=VALUE, and NAME as one of our own.
func variables(list []string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	env := make(map[string]string, len(list))
	for _, one := range list {
		name, value, ok := strings.Cut(one, "=")
		if !ok {
			if value, ok = os.LookupEnv(name); !ok {
				return nil, usagef("the variable %s is not set here", name).hint("write --env %s=VALUE", name)
			}
		}
		env[name] = value
	}
	return env, nil
}

// runJoin keeps the server in the space until Ctrl-C.
func runJoin(ctx context.Context, t *terminal, to *target, name string, server mcpbridge.Server, join mcpbridge.Join) error {
	a, err := to.open(ctx, t)
	if err != nil {
		return stopped(ctx, err)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	connect := clientInfo()
	connect.OnStderr = func(line string) { t.say("%s", t.errPalette().dim(name+": "+clean(line))) }
	who := announcer{t: t}
	join.URL, join.Token, join.Space, join.Connect = a.url, a.token, a.space, connect
	join.OnJoin = func(participant string) {
		if participant != name {
			stop(parley.Errorf(parley.IdentityMismatch, "the token is that of %q", participant).
				WithHint("join as %s, or show the token of %s", participant, name))
			return
		}
		who.bridged(bridgeName{a.space, name})
	}
	join.OnState = func(s mcpbridge.State) {
		if s.Phase == mcpbridge.Failed {
			who.unbridged(bridgeName{a.space, name}, s.Err, "")
		}
	}
	err = mcpbridge.NewBridge(server, join).Run(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}
