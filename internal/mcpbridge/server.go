package mcpbridge

import (
	"errors"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/parleyhq/parley"
)

// Server says which MCP server to bridge: a command that speaks over its
// standard input and output, or the URL of a Streamable HTTP endpoint. Exactly
// one of Command and URL is set.
type Server struct {
	Command string   // a program in PATH, or a path
	Args    []string // its arguments
	// Env is what the program finds in its environment, besides the few
	// variables that any program needs: PATH, HOME, the locale, proxies and
	// certificates. Ours is not handed on as a whole, since it may hold the
	// tokens of participants, and with one of them a server could approve its
	// own calls.
	Env map[string]string
	Dir string // its working folder; ours where empty

	// Era is the era of MCP to speak. Empty: what the server says.
	Era Era

	// Sessions says who shares a session with a legacy server. A modern one has
	// none. Default: SessionsAuto.
	Sessions Sessions

	// Roots lets callers declare their roots to the server. Some servers take
	// them for their folders, instead of what they were configured with.
	Roots bool

	URL string // http or https
	// Headers go with each request to URL, and to no other host. Those that the
	// protocol itself uses cannot be set.
	Headers map[string]string
}

// Era is an era of MCP.
type Era string

// The eras.
const (
	Legacy Era = "legacy" // up to 2025-11-25: a handshake, then a session
	Modern Era = "modern" // 2026-07-28: every request stands for itself
)

// Sessions says who shares a session.
type Sessions string

// The ways to share.
const (
	SessionsAuto   Sessions = "auto"   // callers of whom the server could ask something have their own
	SessionsShared Sessions = "shared" // everybody shares one
	SessionsPeer   Sessions = "peer"   // nobody does
)

// String is what to call the server in a message: no arguments and no query,
// which may hold secrets.
func (s Server) String() string {
	if s.URL == "" {
		return s.Command
	}
	u, err := url.Parse(s.URL)
	if err != nil {
		return "the given URL"
	}
	return u.Scheme + "://" + u.Host + u.Path
}

// Check finds what can be found without starting anything: a missing program
// or folder, a URL that is none. The error is a [*parley.Error] with a hint:
// invalid_config for what can never work, unavailable for what is not there.
func (s Server) Check() error {
	if s.URL != "" {
		return s.checkURL()
	}
	if s.Command == "" {
		return parley.Errorf(parley.InvalidConfig, "an MCP server needs a command or a url").
			WithHint(`write {command: PROGRAM, args: […]} or {url: "http://…"}`)
	}
	if s.Dir != "" {
		if info, err := os.Stat(s.Dir); err != nil || !info.IsDir() {
			return parley.Errorf(parley.Unavailable, "the folder %s, in which %s is to run, is not there", s.Dir, s.Command).
				WithHint("make it, or correct the server's dir")
		}
	}
	if err := s.lookUp(); err != nil {
		return commandError(s.Command, err)
	}
	return nil
}

// lookUp looks where os/exec will: a path with a separator counts from Dir.
func (s Server) lookUp() error {
	name := s.Command
	if s.Dir != "" && strings.ContainsRune(name, os.PathSeparator) && !filepath.IsAbs(name) {
		name = filepath.Join(s.Dir, name)
	}
	_, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrDot) {
		return nil // os/exec itself judges that
	}
	return err
}

func (s Server) checkURL() error {
	if s.Command != "" {
		return parley.Errorf(parley.InvalidConfig, "an MCP server has a command and a url").
			WithHint("leave one of them out")
	}
	u, err := url.Parse(s.URL)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return parley.Errorf(parley.InvalidConfig, "the url of an MCP server is not one of http or https").
			WithHint(`write it in full, as "http://127.0.0.1:9000/mcp"`)
	}
	return nil
}

// commandError says why a program could not be started, and what to do.
func commandError(command string, err error) error {
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return parley.Errorf(parley.Unavailable, "the command %s was not found", command).WithHint("%s", installHint(command))
	case errors.Is(err, fs.ErrPermission):
		return parley.Errorf(parley.Unavailable, "the command %s may not be executed", command).
			WithHint("chmod +x makes a file executable")
	default:
		return parley.Errorf(parley.Unavailable, "the command %s could not be started: %v", command, err)
	}
}

func installHint(command string) string {
	switch filepath.Base(command) {
	case "npx", "node", "npm":
		return "install Node.js, which brings it, or write its full path"
	case "uvx", "uv":
		return "install uv, which brings it, or write its full path"
	case "docker", "podman":
		return "install it, or run the server some other way"
	default:
		return "install it, or write its full path; PATH is " + os.Getenv("PATH")
	}
}

// inherited are the variables that a server's program inherits from ours, by
// name or, with a * at the end, by how the name begins.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TMP", "TEMP", "TZ", "LANG", "LANGUAGE", "LC_*", "XDG_*",
	"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE",
	"APPDATA", "LOCALAPPDATA", "PROGRAMFILES", "SYSTEMROOT", "SYSTEMDRIVE", "USERPROFILE", "COMSPEC", "PATHEXT",
}

// environ is the environment of the server's program.
func (s Server) environ() []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if _, set := s.Env[name]; !set && inherits(name) {
			env = append(env, kv)
		}
	}
	for name, value := range s.Env {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func inherits(name string) bool {
	return slices.ContainsFunc(inherited, func(pattern string) bool {
		if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
			return strings.HasPrefix(name, prefix)
		}
		return name == pattern
	})
}
