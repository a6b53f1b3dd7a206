package webhook

import (
	"errors"
	"net"
	"net/netip"
	"net/url"
	"strings"
)

const mostURL = 2048

// CheckURL says what is wrong with where a webhook leads. Without plain, http is for
// this machine alone.
func CheckURL(text string, plain bool) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "" || u.Hostname() == "" || len(text) > mostURL || strings.ContainsAny(text, " \t\r\n"):
		return errors.New("is not the URL of a receiver: write one like https://example.org/hooks/parley")
	case u.User != nil:
		return errors.New("holds a name or a password: receivers know who sends by the signature")
	case u.Fragment != "" || strings.Contains(text, "#"):
		return errors.New("has a fragment, which is never sent: leave out what follows #")
	case u.Scheme == "https":
		return nil
	case u.Scheme != "http":
		return errors.New("is neither https nor http: write https://…")
	case !plain && !thisMachine(u.Hostname()):
		return errors.New("is plain http to another machine, which anybody on the way can read: write https, or allow_http: true if that is meant")
	}
	return nil
}

// thisMachine reports whether a host is this machine by its name.
func thisMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// mayReach reports whether a webhook may connect to an address that its host's name
// stood for. Nobody receives at those of a link, where clouds keep credentials, and
// what is meant for this machine stays there, whatever the name resolves to.
func mayReach(address string, stays bool) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap().WithZone("")
	if stays {
		return ip.IsLoopback()
	}
	return !ip.IsLinkLocalUnicast() && !ip.IsMulticast() && !ip.IsUnspecified()
}

// Shown is as much of a URL as is told to people: many receivers know who may call
// them by a secret in the path.
func Shown(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	show := u.Scheme + "://" + u.Host
	if len(u.Path) > 1 || u.RawQuery != "" {
		show += "/…"
	}
	return show
}
