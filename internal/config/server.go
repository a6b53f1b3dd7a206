package config

import (
	"net/url"
	"strings"
)

func (r *reader) server(v value, enforcement Enforcement) *MCPServer {
	m := r.keys(v, serverKeys)
	s := &MCPServer{Type: r.transport(m["type"])}
	s.Command, _ = r.plain(m["command"])
	s.URL = r.url(m["url"])
	s.place = m["url"].problem("", "")
	s.Args = r.args(m["args"])
	s.Env = r.secrets(m["env"], validEnvName, "a variable's name is not empty and has no =")
	s.Headers = r.secrets(m["headers"], validHeader, "a header's name is letters, digits and dashes")
	s.Era = choose(r, m["era"], EraAuto, EraLegacy, EraModern)
	s.Pin = choose(r, m["pin"], PinRecord, PinStrict, PinOff)
	s.Sessions = choose(r, m["sessions"], SessionsAuto, SessionsShared, SessionsPeer)
	s.Roots = r.flag(m["roots"], false)
	s.Response = choose(r, m["response"], ResponsePass, ResponseWrap)
	s.ResultBudgets = r.resultBudgets(m[resultBudgetKey])
	s.Capabilities = DefaultServerCapabilities()
	if m["capabilities"].written() {
		s.Capabilities = r.capabilities(m["capabilities"], enforcement)
	}
	if v.written() && v.kind != mapNode {
		return s // told already
	}
	r.checkTransport(v, m, s)
	if s.Type == Stdio {
		s.Dir = r.path(m["cwd"], ".")
	}
	return s
}

// transport is the type as clients write it; empty follows from the rest.
func (r *reader) transport(v value) Transport {
	switch text, _ := r.text(v); text {
	case "streamable-http", "streamableHttp", "streamable_http":
		return HTTP
	case "":
		return ""
	}
	return choose(r, v, Stdio, HTTP, SSE)
}

// checkTransport sees that a server is a command or a URL, and nothing of the
// other.
func (r *reader) checkTransport(v value, m map[string]value, s *MCPServer) {
	command, address := m["command"].written(), m["url"].written()
	switch {
	case command && address:
		r.fail(m["url"], "remove one of them", "a server has a command or a url, not both")
		return
	case !command && !address:
		r.failKey(v, "write command: PROGRAM, or url: http://…", "%q has neither a command nor a url", v.name)
		return
	}
	useless, has := []string{"headers"}, "command"
	if address {
		useless, has = []string{"args", "env", "cwd"}, "url"
	}
	for _, key := range useless {
		if m[key].written() {
			r.failKey(m[key], "", "%s has no effect on a server with a %s", key, has)
		}
	}
	if declared := m["type"]; s.Type != "" && (s.Type == Stdio) != command {
		r.fail(declared, "leave type out: it follows from command or url", "type %s does not go with a %s", s.Type, has)
	}
	if s.Type == "" {
		s.Type = Stdio
		if address {
			s.Type = HTTP
		}
	}
	if s.Type == SSE {
		r.warn(m["type"], "leave type out if the server speaks Streamable HTTP too",
			"type sse names a transport of old; the server is spoken to over Streamable HTTP")
	}
	r.checkHeaders(m, s)
}

func (r *reader) checkHeaders(m map[string]value, s *MCPServer) {
	for name, secret := range Sorted(s.Headers) {
		if strings.ContainsAny(secret.Reveal(), "\r\n") {
			r.fail(m["headers"], "", "the header %s holds a line break", name)
		}
	}
	u, err := url.Parse(s.URL)
	if err == nil && u.Scheme == "http" && len(s.Headers) > 0 && !loopback(u.Hostname()) {
		r.warn(m["url"], "write https", "headers go to another machine over plain HTTP and can be read on the way")
	}
}

// plain is text in which references to secrets are not filled in, because it
// shows in process lists and logs.
func (r *reader) plain(v value) (string, bool) {
	text, ok := r.text(v)
	if !ok {
		return "", false
	}
	switch {
	case strings.Contains(text, "${env:"), strings.Contains(text, "${file:"):
		r.fail(v, "write it into env or headers", "secrets are not filled in here, since %s shows in process lists and logs", v.title())
	case strings.Contains(text, "${workspaceFolder"), strings.Contains(text, "${input:"), strings.Contains(text, "${userHome"):
		r.fail(v, "write what is meant; relative paths start from cwd", "an editor's ${…} variables are not filled in")
	case strings.ContainsRune(text, 0):
		r.fail(v, "", "%s holds a NUL character", v.title())
	case text == "" && v.name == "command":
		r.fail(v, "write command: PROGRAM", "command is empty")
	default:
		return text, true
	}
	return "", false
}

func (r *reader) args(v value) []string {
	var args []string
	for _, item := range r.items(v) {
		if !item.written() {
			r.fail(item, `write "" for an empty argument`, "%s has no value", item.title())
			continue
		}
		if text, ok := r.plain(item); ok {
			args = append(args, text)
		}
	}
	return args
}

func (r *reader) url(v value) string {
	text, ok := r.plain(v)
	if !ok {
		return ""
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		r.fail(v, "write http://HOST/PATH or https://HOST/PATH", "url is not the address of an HTTP server")
	case u.User != nil:
		r.fail(v, "write headers: {Authorization: …}", "url holds a user name or password, and shows in logs")
	case u.Fragment != "":
		r.fail(v, "", "url has a part after #, which is never sent")
	}
	return text
}

// validHeader is a token of RFC 9110.
func validHeader(name string) bool {
	return name != "" && strings.IndexFunc(name, func(c rune) bool {
		return c <= ' ' || c > '~' || strings.ContainsRune("\"(),/:;<=>?@[\\]{}", c)
	}) < 0
}
