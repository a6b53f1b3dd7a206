package config

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/parleyhq/parley/internal/nearest"
)

// What a gateway is reached by: names, origins, and who may come without a token.

// hosts is a list of names, without port, in lower case.
func (r *reader) hosts(v value) []string {
	var hosts []string
	for _, item := range r.items(v) {
		text, ok := r.entry(item)
		if !ok {
			continue
		}
		name := strings.TrimSuffix(strings.ToLower(text), ".")
		if !validHost(name) {
			r.fail(item, "write a name or an address alone, as parley.example.org, without a scheme, port or path", "%s is not the name of a host", item.title())
			continue
		}
		if !slices.Contains(hosts, name) {
			hosts = append(hosts, name)
		}
	}
	return hosts
}

func validHost(name string) bool {
	if addr, err := netip.ParseAddr(name); err == nil {
		return addr.Zone() == ""
	}
	for label := range strings.SplitSeq(name, ".") {
		odd := func(c rune) bool { return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') }
		if label == "" || len(label) > 63 || strings.IndexFunc(label, odd) >= 0 {
			return false
		}
	}
	return len(name) <= 253
}

// origins is a list of origins as browsers write them: a scheme, a host in lower
// case, and a port unless it is the scheme's own.
func (r *reader) origins(v value) []string {
	var origins []string
	for _, item := range r.items(v) {
		text, ok := r.entry(item)
		if !ok {
			continue
		}
		if better := origin(text); better != text {
			hint := "write a scheme and a host, as https://example.org, without a path"
			if better != "" {
				hint = "write it as browsers do: " + better
			}
			r.fail(item, hint, "%s is not an origin", item.title())
			continue
		}
		if !slices.Contains(origins, text) {
			origins = append(origins, text)
		}
	}
	return origins
}

// publicURL is an origin, with which links begin.
func (r *reader) publicURL(v value) string {
	text, ok := r.text(v)
	if !ok {
		return ""
	}
	address := strings.TrimSuffix(text, "/")
	if origin(address) != address {
		r.fail(v, "write a scheme and a host in lower case, as https://parley.example.org, without a path", "public_url is not how browsers reach a gateway")
		return ""
	}
	return address
}

// origin is the origin that text means, or empty where it means none.
func origin(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if !validHost(host) {
		return ""
	}
	if port == "80" && u.Scheme == "http" || port == "443" && u.Scheme == "https" {
		port = ""
	}
	switch {
	case port != "":
		host = net.JoinHostPort(host, port)
	case strings.Contains(host, ":"):
		host = "[" + host + "]"
	}
	return u.Scheme + "://" + host
}

// entry is an item of a list of texts.
func (r *reader) entry(item value) (string, bool) {
	if !item.written() {
		r.fail(item, "", "%s has no value", item.title())
		return "", false
	}
	return r.text(item)
}

func (r *reader) mcp(v value) MCP {
	m := r.keys(v, mcpKeys)
	name, ok := r.text(m["anonymous"])
	if !ok {
		return MCP{}
	}
	return MCP{Anonymous: name, place: m["anonymous"].problem("", "")}
}

// checkAnonymous sees that the anonymous participant is one.
func (r *reader) checkAnonymous(s *Space) {
	p := s.MCP.place
	if _, ok := s.Participants[s.MCP.Anonymous]; ok || p.Line == 0 {
		return
	}
	names := make([]string, 0, len(s.Participants))
	for id := range Sorted(s.Participants) {
		names = append(names, id)
	}
	p.Message = fmt.Sprintf("there is no participant %q", showKey(s.MCP.Anonymous))
	p.Hint = "write it into participants, with the capabilities that anybody on this machine may have"
	if near := nearest.To(showKey(s.MCP.Anonymous), names); near != "" {
		p.Hint = fmt.Sprintf("did you mean %q?", near)
	}
	r.problems = append(r.problems, p)
}

// ListenOn replaces the address to listen on. The error, an [*Error], says what
// cannot be reached from there.
func (c *Config) ListenOn(address string) error {
	c.Listen = address
	if problems := c.reach(); len(problems) > 0 {
		return &Error{Name: c.name, Problems: tidy(problems)}
	}
	return nil
}

// reach is what is wrong with the address, as seen from the spaces.
func (c *Config) reach() []Problem { return append(c.exposed(), c.circular()...) }

// circular is the servers that are a way into this gateway: what they list would
// be what the gateway lists, which they are a part of.
func (c *Config) circular() (problems []Problem) {
	for _, s := range Sorted(c.Spaces) {
		for _, m := range Sorted(s.MCPServers) {
			if !isOwnMCP(m.URL, c.Listen) {
				continue
			}
			p := m.place
			p.Message = "this is a room of this gateway, which cannot be a server of itself"
			p.Hint = "name the MCP server that you mean; its tools are in the room already where another entry has it"
			problems = append(problems, p)
		}
	}
	return problems
}

// exposed is the spaces that anybody may enter from other machines.
func (c *Config) exposed() []Problem {
	host, _, err := net.SplitHostPort(c.Listen)
	if err == nil && loopback(host) {
		return nil
	}
	var problems []Problem
	for _, s := range Sorted(c.Spaces) {
		if s.MCP.Anonymous != "" {
			p := s.MCP.place
			p.Message = "anonymous lets anybody in who reaches the gateway, so it may listen on loopback only"
			p.Hint = "listen on " + DefaultListen + ", or leave anonymous out and give every client a token"
			problems = append(problems, p)
		}
	}
	return problems
}
