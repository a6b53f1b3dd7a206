package mcpbridge

import (
	"cmp"
	"net/url"
	"slices"
	"strings"
)

// leastMasked is how many bytes a configured value has at least to be kept out of
// what a server says: shorter ones are words like true or 8080, which everything
// is full of.
const leastMasked = 6

const masked = "[redacted]"

// mask hides what the server is configured with, where a server, or an error, says
// it: the log and the console are read by more people than the configuration.
func (s Server) mask() *strings.Replacer {
	var hidden []string
	for _, value := range s.Env {
		for line := range strings.Lines(value) { // as stderr is read
			hidden = append(hidden, strings.Map(printable, strings.TrimSpace(line)))
		}
	}
	for _, value := range s.Headers {
		_, credential, _ := strings.Cut(value, " ") // of Bearer and the like
		hidden = append(hidden, value, credential)
	}
	if u, err := url.Parse(s.URL); err == nil {
		password, _ := u.User.Password()
		hidden = append(hidden, u.RawQuery, password)
	}
	hidden = slices.DeleteFunc(hidden, func(value string) bool { return len(value) < leastMasked })
	slices.SortFunc(hidden, func(a, b string) int { return cmp.Compare(len(b), len(a)) }) // the whole before its parts
	pairs := make([]string, 0, 2*len(hidden))
	for _, value := range hidden {
		pairs = append(pairs, value, masked)
	}
	return strings.NewReplacer(pairs...)
}
