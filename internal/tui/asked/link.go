package asked

import (
	"net"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Link is a page that somebody wants opened (MCP's elicitation in mode "url"). It is
// shown, and opened by nobody here.
type Link struct {
	URL     string // as it was written
	Host    string // where it leads; "" where there is a problem
	Problem string // why it is nothing to agree to; "" where it is
	Doubts  []string
}

// mostLink is how long a link may be, in bytes.
const mostLink = 8192

// readLink reads the link in the params of a request. What a browser could take for
// another one than is read here is none: anything but the characters of RFC 3986, and a
// host that is not spelled as it is.
func readLink(params jsontext.Value) *Link {
	given, _ := parley.MemberString(params, "url")
	l := &Link{URL: given}
	if l.Problem = l.problem(); l.Problem == "" {
		l.doubt()
	}
	return l
}

func (l *Link) problem() string {
	switch {
	case l.URL == "":
		return "there is no link in it"
	case len(l.URL) > mostLink:
		return "the link is longer than 8,192 characters"
	case strings.ContainsFunc(l.URL, notInLinks):
		return "the link has characters that no link has"
	}
	u, err := url.Parse(l.URL)
	switch {
	case err != nil || u.Host == "" || u.Host != spelledHost(l.URL):
		return "the link is not one that can be relied on"
	case u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return "links are opened with https alone, or http on this machine"
	}
	l.Host = u.Host
	return ""
}

func notInLinks(r rune) bool { return r <= ' ' || r > '~' || strings.ContainsRune("\"<>\\^`{|}", r) }

// spelledHost is the host as it stands in a link.
func spelledHost(link string) string {
	_, rest, _ := strings.Cut(link, "://")
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[strings.LastIndexByte(rest, '@')+1:]
}

func isLoopback(host string) bool {
	host = strings.ToLower(host)
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && ip.IsLoopback()
}

// doubt tells what about a link misleads.
func (l *Link) doubt() {
	if u, err := url.Parse(l.URL); err == nil && u.User != nil {
		l.Doubts = append(l.Doubts, "What stands before the @ is a name, not where the link leads: that is "+l.Host+".")
	}
	if strings.Contains(strings.ToLower(l.Host), "xn--") {
		l.Doubts = append(l.Doubts, "The name of the host is written with other letters (xn--), and may look like another one.")
	}
}
