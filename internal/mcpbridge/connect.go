package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// Connect starts the server, or reaches it, and makes the handshake. ctx bounds
// that alone: the connection lives until [Upstream.Close] or the server's end.
//
// An error is ctx's or a [*parley.Error] with a hint, as of [Server.Check], or
// unavailable where the server does not answer as an MCP server would. Nothing
// of the server is left then.
func Connect(ctx context.Context, s Server, o *Options) (*Upstream, error) {
	if o == nil {
		o = &Options{}
	}
	dial := func(to sink) (link, error) {
		if s.URL != "" {
			return newStreamable(s, *o, to)
		}
		return startStdio(s, *o, to)
	}
	u, err := connect(ctx, s.String(), s.Era, *o, dial)
	if errors.Is(err, errFrightened) {
		return connect(ctx, s.String(), Legacy, *o, dial)
	}
	return u, err
}

func connect(ctx context.Context, name string, era Era, o Options, dial func(sink) (link, error)) (*Upstream, error) {
	u := newUpstream(o)
	l, err := dial(u)
	if err != nil {
		u.cancel()
		return nil, err
	}
	u.run(l)
	if err := u.handshake(ctx, era); err != nil {
		u.Close()
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if errors.Is(err, errFrightened) {
			return nil, err
		}
		return nil, handshakeError(name, u.strayText(), err, o.patience())
	}
	return u, nil
}

var (
	errPatience = errors.New("no answer to initialize")
	errVersion  = errors.New("no common protocol version")
)

// handshake finds out which era the server speaks, and begins in its way.
func (u *Upstream) handshake(ctx context.Context, era Era) error {
	ctx, cancel := context.WithTimeoutCause(ctx, u.opts.patience(), errPatience)
	defer cancel()
	if era != Legacy {
		modern, err := u.discover(ctx)
		if modern || err != nil {
			return err
		}
	}
	if era == Modern {
		return fmt.Errorf("%w: it does not speak %s", errVersion, mcp.Modern)
	}
	return u.initialize(ctx)
}

func (u *Upstream) initialize(ctx context.Context) error {
	params := jsontext.Value(fmt.Sprintf(`{"protocolVersion":%q,"capabilities":%s,"clientInfo":%s}`,
		mcp.LegacyVersions[0], u.opts.capabilities(), u.opts.clientInfo()))
	result, err := u.Call(ctx, "initialize", params, nil)
	if err != nil {
		return err
	}
	version, _ := parley.MemberString(result, "protocolVersion")
	if !mcp.IsLegacy(version) {
		return fmt.Errorf("%w: it speaks %q", errVersion, clip([]byte(version)))
	}
	u.info = Info{Version: version, Raw: result}
	u.link.negotiated(version)
	return u.Notify(ctx, "notifications/initialized", nil)
}

// handshakeError says what somebody who has just written a configuration can
// do about it.
func handshakeError(name, stray string, err error, patience time.Duration) error {
	e := parley.Errorf(parley.Unavailable, "%s is no MCP server that can be used: %v", name, err).
		WithHint("run it by hand to see what it says")
	if status, ok := errors.AsType[*HTTPError](err); ok {
		return e.WithHint("%s", statusHint(status.Status))
	}
	switch {
	case errors.Is(err, errPatience) && stray != "":
		e.Message = fmt.Sprintf("%s did not answer initialize within %v; it wrote %q, which is not JSON-RPC", name, patience, stray)
	case errors.Is(err, errPatience):
		e.Message = fmt.Sprintf("%s did not answer initialize within %v", name, patience)
		e.Hint = "run it by hand to see what it waits for; npx downloads a server at its first run"
	case errors.Is(err, errVersion):
		e.Hint = "it needs to speak one of " + fmt.Sprint(mcp.Versions)
	case errors.Is(err, ErrServerGone):
		if g, ok := errors.AsType[*goneError](err); ok {
			err = g.why
		}
		e.Message = fmt.Sprintf("%s could not be reached: %v", name, err)
		e.Hint = "see that it runs, and what it says"
	}
	return e
}

func statusHint(status int) string {
	switch status {
	case 401, 403:
		return "give it what it asks for in headers, as Authorization"
	case 404, 405:
		return "the path of its MCP endpoint is often /mcp"
	default:
		return "see what the server says"
	}
}
