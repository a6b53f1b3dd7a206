package markdown

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/parleyhq/parley/internal/tui/safe"
)

// maxTarget is how much of where a link goes is shown, in columns.
const maxTarget = 200

// hostLike finds in words what reads like a place on the network.
var hostLike = regexp.MustCompile(`(?i)(?:[a-z][a-z0-9+.-]*://)?(?:[^\s/@]*@)?((?:[\pL\pN_-]+\.)+[\pL]{2,})`)

// destination is where a link goes, to be shown, and whether it is what it seems: the
// words name no other place, and nothing about the target misleads.
func destination(said, target string) (where string, honest bool) {
	where = safe.Line(target, maxTarget)
	if where == "" {
		return "nowhere", true
	}
	u, err := url.Parse(target)
	if err != nil || safe.OneLine(target) != target {
		return where, false
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case u.User != nil: // what stands before the @ may look like the host
		return safe.Line(host, maxTarget) + ": " + where, false
	case !isPlainHost(host) || u.Scheme != "" && u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto":
		return where, false
	}
	return where, namesNoOther(said, host, u)
}

// isPlainHost reports whether a host is written in the letters that all hosts had once.
func isPlainHost(host string) bool {
	if strings.Contains(host, "xn--") {
		return false
	}
	return strings.IndexFunc(host, func(r rune) bool { return r > '~' }) < 0
}

// namesNoOther reports whether the words mention no place but the one where the link
// goes. The name of a file at its end is none.
func namesNoOther(said, host string, u *url.URL) bool {
	file := path.Base(u.Path)
	for _, m := range hostLike.FindAllStringSubmatch(said, -1) {
		named := strings.ToLower(m[1])
		if strings.EqualFold(named, file) || strings.Contains(u.Opaque, m[1]) {
			continue
		}
		if strings.TrimPrefix(named, "www.") != strings.TrimPrefix(host, "www.") {
			return false
		}
	}
	return true
}
