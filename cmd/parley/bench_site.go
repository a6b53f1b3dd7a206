package main

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/load"
)

// benchNeed says what a gateway has to have for a bench.
type benchNeed struct {
	participants int
	connections  int    // that one process has open
	echo         bool   // an MCP server with the tool echo
	to           string // whom calls are addressed to
	history      int
}

// benchSite is where a bench takes place: a gateway, its own or another's.
type benchSite struct {
	flags    *benchFlags
	t        *terminal
	target   load.Target
	command  []string
	gateway  *benchGateway // nil with --against
	api      *api
	progress *benchProgress
	longer   time.Duration // that the profile goes on beyond --duration
}

// open finds or starts the gateway.
func (b *benchFlags) open(ctx context.Context, t *terminal, need benchNeed) (*benchSite, error) {
	if err := b.check(need); err != nil {
		return nil, err
	}
	if err := allowFiles(need.connections); err != nil {
		return nil, err
	}
	s := &benchSite{flags: b, t: t, progress: &benchProgress{t: t}}
	var err error
	if s.command, err = benchWorker(); err != nil {
		return nil, err
	}
	if b.url != "" {
		return s, s.visit(ctx)
	}
	s.progress.say("starting a gateway")
	if s.gateway, err = makeBenchGateway(b, need); err != nil {
		return nil, err
	}
	if err = s.gateway.start(ctx); err != nil {
		s.gateway.close()
		return nil, err
	}
	s.aim(s.gateway.url, benchSpace, s.gateway.tokens)
	return s, nil
}

// visit makes ready for a gateway that runs already.
func (s *benchSite) visit(ctx context.Context) error {
	var tokens []string
	for _, file := range s.flags.tokenFiles {
		token, err := readTokenFile(file, s.t.in)
		if err != nil {
			return err
		}
		tokens = append(tokens, token)
	}
	if len(tokens) == 0 {
		if token := strings.TrimSpace(os.Getenv("PARLEY_TOKEN")); token != "" {
			tokens = append(tokens, token)
		}
	}
	if len(tokens) == 0 {
		return parley.Errorf(parley.Unauthorized, "there is no token to show to %s", s.flags.url).
			WithHint("give --token-file FILE, once for each participant, or set PARLEY_TOKEN")
	}
	s.aim(strings.TrimRight(s.flags.url, "/"), s.flags.spaceNamed(), tokens)
	if s.api.space == "" {
		var err error
		if s.api.space, err = s.api.onlySpace(ctx); err != nil {
			return err
		}
		s.target.Space = s.api.space
	}
	_, err := s.api.position(ctx, 0)
	return err
}

// aim points the load at a gateway.
func (s *benchSite) aim(base, space string, tokens []string) {
	s.target = load.Target{Protocol: "parley", Size: s.flags.size, Space: space, Tokens: tokens}
	s.api = &api{address: address{url: base, space: space, token: tokens[0]}, http: patientClient()}
	u, err := url.Parse(base)
	if err != nil {
		return // the first call says so
	}
	port := "80"
	if s.target.TLS = u.Scheme == "https"; s.target.TLS {
		port = "443"
	}
	s.target.Address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
}

// pid is the gateway's process, 0 where it is not known.
func (s *benchSite) pid() int {
	if s.gateway != nil {
		return s.gateway.cmd.Process.Pid
	}
	return s.flags.pid
}

// setting is what all kinds of load have in common.
func (s *benchSite) setting() load.Setting {
	return load.Setting{
		Target: s.target, Warmup: s.flags.warmup, Duration: s.flags.duration,
		PID: s.pid(), Command: s.command, Progress: s.progress.measuring, Measuring: s.measuring,
	}
}

// measuring begins the profile, where one is wanted.
func (s *benchSite) measuring() {
	if s.flags.profile != "" {
		s.gateway.profile(s.flags.profile, s.flags.duration+s.longer)
	}
}

// close ends the gateway and removes what it wrote.
func (s *benchSite) close() {
	s.progress.end()
	if s.gateway == nil {
		return
	}
	if s.flags.profile != "" {
		s.gateway.stop() // writes the profile to its end
	}
	s.gateway.close()
}

// benchProgress says on a terminal how far a bench is.
type benchProgress struct {
	t     *terminal
	shown bool
}

func (p *benchProgress) say(format string, args ...any) {
	if p.t.errTTY {
		fmt.Fprintf(p.t.err, "\r\x1b[K"+format, args...)
		p.shown = true
	}
}

func (p *benchProgress) measuring(left time.Duration, received uint64) {
	p.say("measuring: %d received, %.0f s left", received, left.Seconds())
}

func (p *benchProgress) end() {
	if p.shown {
		fmt.Fprint(p.t.err, "\r\x1b[K")
		p.shown = false
	}
}
