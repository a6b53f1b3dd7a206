package config

import (
	"net"
	"net/netip"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/parleyhq/parley"
)

// The keys of every level. Names stand where a path says NAME.
var (
	topKeys         = []string{"listen", "hosts", "origins", "public_url", "journal", "webhooks", "spaces"}
	journalKeys     = []string{"path", "sync"}
	retentionKeys   = []string{"age", "size"}
	spaceKeys       = []string{"enforcement", "protocol", "participants", "mcp_servers", "models", "limits", "retention", "mcp", "context_types", "webhooks"}
	mcpKeys         = []string{"anonymous"}
	contextTypeKeys = []string{"description", "kinds", "limits", "summarize"}
	participantKeys = []string{"token", "capabilities", "routing", "contexts", "kinds", "history", "echo", "serves", resultBudgetKey}
	serverKeys      = []string{"type", "command", "args", "env", "cwd", "url", "headers", "capabilities", "era", "pin", "sessions", "roots", "response", resultBudgetKey}
	budgetKeys      = []string{"requests_per_minute", "tokens_per_hour", "tokens_per_day"}
	modelsKeys      = append([]string{"models", "participants", "retries", "fallback", "concurrency"}, budgetKeys...)
	modelKeys       = []string{"name", "kind", "model", "url", "key", "max_tokens", "cost", "speed", "intelligence"}
)

// levels is where a key that stands at the wrong place belongs.
var levels = []struct {
	path string
	keys []string
}{
	{"the top level", topKeys},
	{"journal", journalKeys},
	{"spaces.NAME", spaceKeys},
	{"spaces.NAME.limits", limitKeys},
	{"spaces.NAME.retention", retentionKeys},
	{"spaces.NAME.mcp", mcpKeys},
	{"spaces.NAME.context_types.TYPE", contextTypeKeys},
	{"spaces.NAME.participants.ID", participantKeys},
	{"spaces.NAME.mcp_servers.ID", serverKeys},
	{"webhooks", webhookKeys},
	{"spaces.NAME.models.ID", modelsKeys},
	{"spaces.NAME.models.ID.models", modelKeys},
}

var validSpace = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

func (r *reader) config(v value) *Config {
	m := r.keys(v, topKeys)
	c := &Config{
		Listen:    r.listen(m["listen"]),
		Hosts:     r.hosts(m["hosts"]),
		Origins:   r.origins(m["origins"]),
		PublicURL: r.publicURL(m["public_url"]),
		Journal:   r.journal(m["journal"]),
		Spaces:    make(map[string]*Space),
		name:      r.name,
	}
	for _, s := range r.all(m["spaces"]) {
		if !validSpace.MatchString(s.name) {
			r.failKey(s, "a name is 1 to 64 letters, digits, dots, dashes and underscores, and starts with a letter or digit",
				"%q cannot be the name of a space", showKey(s.name))
			continue
		}
		c.Spaces[s.name] = r.space(s)
	}
	r.sharedWebhooks(m["webhooks"], c.Spaces)
	r.problems = append(r.problems, c.reach()...)
	if len(c.Spaces) == 0 && len(r.problems) == 0 {
		r.warn(v, "write spaces: {NAME: {participants: …}}", "there is no space, so nobody can join")
	}
	if r.shared && r.literal.written() {
		r.warn(r.literal, "chmod 600 "+r.name+", or write ${env:NAME}, ${file:PATH} or sha256:HEX instead",
			"a token stands in a file that others can read")
	}
	return c
}

func (r *reader) listen(v value) string {
	text, ok := r.text(v)
	if !ok {
		return DefaultListen
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		r.fail(v, "write HOST:PORT, as "+DefaultListen, "listen is not a host and a port")
		return DefaultListen
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		r.fail(v, "a port is a number up to 65535; 0 takes any that is free", "listen has no valid port")
		return DefaultListen
	}
	if strings.ContainsAny(host, " /@") {
		r.fail(v, "write HOST:PORT, as "+DefaultListen, "listen has no valid host")
		return DefaultListen
	}
	if !loopback(host) {
		r.warn(v, "put a proxy that speaks TLS in front, and listen on "+DefaultListen,
			"listen is reachable from other machines, and traffic is plain HTTP: tokens can be read on the way")
	}
	return text
}

func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

func (r *reader) journal(v value) Journal {
	m := r.keys(v, journalKeys)
	return Journal{
		Path: r.path(m["path"], DefaultJournalPath),
		Sync: choose(r, m["sync"], SyncNormal, SyncFull, SyncOff),
	}
}

// path is a path, from the configuration's folder where it is relative.
func (r *reader) path(v value, def string) string {
	text, ok := r.text(v)
	switch {
	case !ok:
		text = def
	case text == "":
		r.fail(v, "", "%s is empty", v.title())
	case strings.ContainsRune(text, 0):
		r.fail(v, "", "%s holds a character that no path can hold", v.title())
	case strings.HasPrefix(text, "~"):
		r.fail(v, "write the whole path, or one that is relative to the configuration's folder", "~ is not expanded in %s", v.title())
	case strings.Contains(text, "${"):
		r.fail(v, "only tokens, env, headers, a model's key, and a webhook's url and secret may refer to secrets", "${…} is not expanded in %s", v.title())
	}
	return r.resolve(text)
}

func (r *reader) resolve(path string) string {
	if r.env.Dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(r.env.Dir, path)
}

func (r *reader) space(v value) *Space {
	m := r.keys(v, spaceKeys)
	s := &Space{
		Enforcement:  choose(r, m["enforcement"], Strict, Lazy),
		Protocol:     choose(r, m["protocol"], "mcpx/v0.1", "mcpp/v0.1"),
		Participants: make(map[string]*Participant),
		MCPServers:   make(map[string]*MCPServer),
		Limits:       r.limits(m["limits"]),
		Retention:    r.retention(m["retention"]),
		MCP:          r.mcp(m["mcp"]),
		ContextTypes: r.contextTypes(m["context_types"], m["limits"]),
	}
	tokens := make(map[TokenHash]string) // whose
	for _, p := range r.all(m["participants"]) {
		if r.id(p) {
			s.Participants[p.name] = r.participant(p, tokens, s)
		}
	}
	for _, server := range r.all(m["mcp_servers"]) {
		if !r.id(server) {
			continue
		}
		if _, taken := s.Participants[server.name]; taken {
			r.failKey(server, "rename one of them; a server needs no token, and its capabilities stand in mcp_servers",
				"%q is a participant already", server.name)
		}
		s.MCPServers[server.name] = r.server(server, s.Enforcement)
	}
	s.Models = r.models(m["models"], s)
	r.checkBudgets(s)
	r.checkAnonymous(s)
	s.Webhooks = r.webhooks(m["webhooks"])
	r.checkWebhooks(s.Webhooks, s)
	r.checkSummarizer(s, m["context_types"])
	return s
}

// minAge is how often retention looks. Less would keep nothing that anybody could
// look at.
const minAge = time.Minute

// retention reads how much of the record is kept.
func (r *reader) retention(v value) Retention {
	var keep Retention
	m := r.keys(v, retentionKeys)
	r.duration(m["age"], &keep.Age, minAge, 100*365*day)
	r.size(m["size"], &keep.Bytes, 64*kib, pib)
	return keep
}

// id checks the key of a participant or of a server, which is one too.
func (r *reader) id(v value) bool {
	switch {
	case v.name == "parley":
		r.failKey(v, "choose another name", "the id %q belongs to the gateway's own tools", v.name)
	case !parley.ValidParticipantID(v.name):
		hint := "an id is 1 to 64 of a-z, 0-9, dots and dashes, and starts with a letter or digit"
		if better := suggestID(v.name); better != "" {
			hint += ", as " + better
		}
		r.failKey(v, hint, "%q cannot be a participant's id", showKey(v.name))
	default:
		return true
	}
	return false
}

// suggestID is a valid id that looks like name, or empty.
func suggestID(name string) string {
	name = strings.TrimSuffix(showKey(name), "…")
	id := strings.Map(func(r rune) rune {
		if r == '_' || r == ' ' {
			return '-'
		}
		return r
	}, strings.ToLower(name))
	id = strings.TrimLeft(id, ".-")
	if !parley.ValidParticipantID(id) {
		return ""
	}
	return id
}
