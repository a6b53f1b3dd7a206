package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
	"github.com/parleyhq/parley/internal/mcpstdio"
)

// mcpFlags say where an MCP client comes in, and what to start where nobody is.
type mcpFlags struct {
	target
	participant string
	up          upFlags
}

func newMCP(t *terminal) *cobra.Command {
	flags := mcpFlags{up: upFlags{level: slog.LevelWarn}}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Be a space as an MCP server, over standard input and output",
		Long: `Be a space as an MCP server over standard input and output, for a client that
starts its servers itself. All that it says goes to a gateway, which acts for it
as the participant whose token is shown.

Where no URL is named and no gateway listens, one is started as "parley up" would
start it, in this folder; it ends with the client. In the demo the client is the
participant guest, and needs no --token-file.`,
		Example: `  parley mcp --token-file agent.token
  parley mcp --url http://127.0.0.1:7717 --space demo --participant files --token-file agent.token
  claude mcp add parley -- parley mcp --token-file /home/me/room/agent.token`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error { return runMCP(cmd.Context(), t, &flags) },
	}
	f := cmd.Flags()
	flags.addFlags(f)
	f.StringVar(&flags.participant, "participant", "", "only this `SERVER` of the space, its names unchanged")
	f.StringVarP(&flags.up.config, "config", "c", "", "the configuration `FILE` of a gateway to start (else "+configName+", if there is one)")
	f.StringVar(&flags.up.listen, "listen", "", "the `HOST:PORT` of that gateway, in place of the configured one")
	f.StringVar(&flags.up.data, "data", demoDir, "the demo's `FOLDER`")
	addLevel(f, &flags.up.level)
	return cmd
}

// runMCP relays until the client ends.
func runMCP(ctx context.Context, t *terminal, flags *mcpFlags) error {
	if flags.tokenFile == "-" {
		return usagef("standard input is for the client, not for the token").hint("--token-file FILE, or set PARLEY_TOKEN")
	}
	// A client that went away is an error to see, not the end of the gateway
	// that may run in here. To ignore the signal would make the programs that it
	// starts ignore it too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	mute := *t
	mute.out, mute.outTTY = t.err, t.errTTY // standard output carries the protocol alone
	own := &embedded{flags: &flags.up, t: &mute}
	own.ctx, own.end = context.WithCancel(context.WithoutCancel(ctx)) // until the client has said goodbye
	defer own.close()
	at, err := flags.address(ctx, own)
	if err != nil {
		return stopped(ctx, err)
	}
	endpoint := mcpURL(at.url, at.space, flags.participant)
	err = mcpstdio.Run(ctx, mcpstdio.Options{
		URL: endpoint, Token: at.token, In: t.in, Out: t.out, Wake: own.wake,
		Log: t.logger(flags.up.level),
	})
	if errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return err
}

// mcpURL is where MCP clients find a space, or one server of it.
func mcpURL(gateway, space, participant string) string {
	u := gateway + "/mcp"
	if space != "" {
		u += "/" + url.PathEscape(space)
	}
	if participant != "" {
		u += "/" + url.PathEscape(participant)
	}
	return u
}

// address is where the client goes, and as whom. Where nobody named a gateway, own
// sees to it that there is one.
func (f *mcpFlags) address(ctx context.Context, own *embedded) (address, error) {
	at := address{url: strings.TrimRight(cmp.Or(f.url, os.Getenv("PARLEY_URL")), "/"), space: f.spaceNamed(), token: strings.TrimSpace(os.Getenv("PARLEY_TOKEN"))}
	named, err := at.url != "", error(nil)
	if named {
		err = checkURL(at.url)
	} else {
		at.url, err = own.arrive(ctx)
	}
	if err != nil {
		return at, err
	}
	if f.tokenFile != "" {
		at.token, err = readTokenFile(f.tokenFile, nil)
	} else if at.token == "" && !named && own.isDemo {
		at.token, err = readTokenFile(guestTokenFile(f.up.data), nil)
		if errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			err = parley.Errorf(parley.NotFound, "a gateway listens at %s, and the demo's token for it is not here: there is no %s", at.url, guestTokenFile(f.up.data)).
				WithHint("name a token of that gateway with --token-file, or start one of your own with --listen")
		}
	}
	if err == nil && f.participant != "" && at.space == "" {
		at.space, err = (&api{address: at, http: patientClient()}).onlySpace(ctx)
	}
	return at, err
}

// embedded is a gateway of our own, which runs where no other does.
type embedded struct {
	flags *upFlags
	t     *terminal

	ctx context.Context // ends with the client
	end func()
	wg  sync.WaitGroup

	mu      sync.Mutex
	listen  string // the address that others find it at; "" where none was started or looked for
	isDemo  bool
	running chan struct{} // closed when it has ended; nil before it ran
}

// arrive finds the gateway that runs here, or starts one.
func (e *embedded) arrive(ctx context.Context) (at string, err error) {
	path, err := e.flags.configPath()
	if err != nil {
		return "", err
	}
	listen := config.DefaultListen
	if e.isDemo = path == ""; !e.isDemo {
		c, err := loadConfig(path)
		if err != nil {
			return "", err
		}
		listen = c.Listen
	}
	listen = dialable(cmp.Or(e.flags.listen, listen))
	if _, port, _ := net.SplitHostPort(listen); port == "0" {
		return e.start(ctx) // nobody else can be found there
	}
	e.mu.Lock()
	e.listen = listen
	e.mu.Unlock()
	if isThere(ctx, listen) {
		return "http://" + listen, nil
	}
	at, err = e.start(ctx)
	if err != nil && isThere(ctx, listen) {
		return "http://" + listen, nil // another program was faster
	}
	if other := e.elsewhere(ctx); err != nil && other != "" {
		return "", parley.Errorf(parley.Unavailable, "the gateway of this folder listens at %s", other).
			WithHint("name it: --url %s --token-file %s", other, guestTokenFile(e.flags.data))
	}
	return at, err
}

// elsewhere is where the demo of this folder is, if it listens at an address of its
// own choice; "" if it does not run.
func (e *embedded) elsewhere(ctx context.Context) string {
	if !e.isDemo {
		return ""
	}
	b, err := os.ReadFile(filepath.Join(e.flags.data, "url"))
	if err != nil {
		return ""
	}
	at := strings.TrimSpace(string(b))
	if u, err := url.Parse(at); err != nil || !isThere(ctx, u.Host) {
		return ""
	}
	return at
}

// dialable is an address to listen on as clients on this machine reach it.
func dialable(listen string) string {
	host, port, err := net.SplitHostPort(listen)
	if ip := net.ParseIP(host); err == nil && (host == "" || ip != nil && ip.IsUnspecified()) {
		return net.JoinHostPort("127.0.0.1", port)
	}
	return listen
}

// isThere reports whether somebody listens.
func isThere(ctx context.Context, address string) bool {
	d := net.Dialer{Timeout: time.Second}
	c, err := d.DialContext(ctx, "tcp", address)
	if err == nil {
		c.Close()
	}
	return err == nil
}

// start starts a gateway, and returns once it can be used.
func (e *embedded) start(ctx context.Context) (url string, err error) {
	p, err := e.flags.plan(e.t)
	if err != nil {
		return "", err
	}
	up, ended := make(chan string, 1), make(chan error, 1)
	p.onUp = func(url string) { up <- url }
	running := make(chan struct{})
	e.wg.Go(func() {
		defer close(running)
		ended <- runUp(e.ctx, e.t, p)
	})
	e.running = running
	select {
	case url := <-up:
		return url, nil
	case err := <-ended:
		return "", err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// wake starts a gateway where the one that was there has gone: it may have been that
// of another client.
func (e *embedded) wake(ctx context.Context) {
	if !e.mu.TryLock() {
		return // somebody is at it
	}
	defer e.mu.Unlock()
	if e.listen == "" || e.isRunning() || ctx.Err() != nil || isThere(ctx, e.listen) {
		return
	}
	if _, err := e.start(ctx); err != nil && e.ctx.Err() == nil && !isThere(ctx, e.listen) {
		e.t.printError(asError(err))
	}
}

func (e *embedded) isRunning() bool {
	if e.running == nil {
		return false
	}
	select {
	case <-e.running:
		return false
	default:
		return true
	}
}

// close ends the gateway in order, and waits.
func (e *embedded) close() {
	e.end()
	e.wg.Wait()
}
