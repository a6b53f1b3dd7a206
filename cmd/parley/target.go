package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/pflag"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/config"
)

const (
	defaultURL   = "http://" + config.DefaultListen
	defaultSpace = "demo"
)

// target is which space of which gateway a verb talks to, and as whom.
type target struct {
	url, space, tokenFile string
}

func (g *target) addFlags(flags *pflag.FlagSet) {
	g.addGatewayFlags(flags)
	flags.StringVar(&g.space, "space", "", "the `SPACE` (PARLEY_SPACE, else the only one)")
}

// addGatewayFlags are those of what concerns no space.
func (g *target) addGatewayFlags(flags *pflag.FlagSet) {
	flags.StringVar(&g.url, "url", "", "the gateway's `URL` (PARLEY_URL, else "+defaultURL+")")
	flags.StringVar(&g.tokenFile, "token-file", "", "`FILE` with the token (else PARLEY_TOKEN)")
}

// spaceNamed is the space that was named, if any was.
func (g *target) spaceNamed() string { return cmp.Or(g.space, os.Getenv("PARLEY_SPACE")) }

// address is a target with everything known.
type address struct {
	url, space, token string
}

// resolve finds what was not said in the environment.
func (g *target) resolve(t *terminal) (address, error) {
	a := address{
		url:   strings.TrimRight(cmp.Or(g.url, os.Getenv("PARLEY_URL"), defaultURL), "/"),
		space: g.spaceNamed(),
		token: strings.TrimSpace(os.Getenv("PARLEY_TOKEN")),
	}
	if err := checkURL(a.url); err != nil {
		return a, err
	}
	var err error
	if g.tokenFile != "" {
		if a.token, err = readTokenFile(g.tokenFile, t.in); err != nil {
			return a, err
		}
	}
	if a.token == "" {
		return a, parley.Errorf(parley.Unauthorized, "there is no token to show to %s", a.url).
			WithHint("give --token-file FILE or set PARLEY_TOKEN; parley up wrote those of its demo to %s", demoDir)
	}
	return a, nil
}

func checkURL(s string) error {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return usagef("%q is not the URL of a gateway", s).hint("write one like %s", defaultURL)
	}
	if u.Path == "/mcp" || strings.HasPrefix(u.Path, "/mcp/") {
		return usagef("%q is where MCP clients come in, not the URL of the gateway", s).
			hint("--url %s://%s, with --space NAME", u.Scheme, u.Host)
	}
	return nil
}

// open makes ready to talk to the space. Where none was named, it is the only one
// that the token belongs to.
func (g *target) open(ctx context.Context, t *terminal) (*api, error) {
	a, err := g.resolve(t)
	if err != nil {
		return nil, err
	}
	h := &api{address: a, http: patientClient()}
	if h.space == "" {
		h.space, err = h.onlySpace(ctx)
	}
	return h, err
}

// maxToken is more than any token file holds, in bytes.
const maxToken = 4 << 10

// readTokenFile reads a token from a file, which must be nobody else's to read,
// or from standard input where the path is "-".
func readTokenFile(path string, stdin io.Reader) (string, error) {
	r := stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return "", tokenFileError(path, err)
		}
		defer f.Close()
		if err := checkPrivate(f); err != nil {
			return "", err
		}
		r = f
	}
	b, err := io.ReadAll(io.LimitReader(r, maxToken))
	if err != nil {
		return "", tokenFileError(path, err)
	}
	token := strings.TrimSpace(string(b))
	if token == "" || strings.ContainsAny(token, " \t\r\n") {
		return "", parley.Errorf(parley.InvalidArgument, "%s does not hold one token", path).
			WithHint("it should hold a token and nothing else; parley token new --out FILE makes one")
	}
	return token, nil
}

func tokenFileError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return parley.Errorf(parley.NotFound, "there is no token file %s", path).
			WithHint("check the path; the demo's tokens lie in %s below the folder where parley up runs", demoDir)
	}
	return parley.Errorf(parley.Unavailable, "the token file cannot be read: %v", err).
		WithHint("it has to be a file that belongs to you")
}

// checkPrivate refuses a file that others can read. What is no regular file, as
// a pipe, has nobody to be kept from.
func checkPrivate(f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return tokenFileError(f.Name(), err)
	}
	if runtime.GOOS != "windows" && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return parley.Errorf(parley.Unauthorized, "others can read the token file %s (mode %04o)", f.Name(), info.Mode().Perm()).
			WithHint("chmod 600 %s", f.Name())
	}
	return nil
}
