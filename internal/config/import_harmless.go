package config

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// What may be shown of a client's values. Values of env and headers are taken for
// secrets unless they plainly are none; arguments the other way round.

var (
	secretName  = regexp.MustCompile(`(?i)key|token|secret|passw|pwd|passphrase|auth|credential|cookie|session|private|signature|dsn|webhook|(^|[_-])(pass|pat|pin|sid)($|[_-])`)
	placeName   = regexp.MustCompile(`(?i)(^|_)(dir|dirs|path|file|folder|home|root|cwd|workspace)$`)
	plainPath   = regexp.MustCompile(`^(\.{0,2}|[A-Za-z]:)[/\\][^\x00-\x1f$]*$`)
	plainPlace  = regexp.MustCompile(`^[A-Za-z]:([/\\][A-Za-z0-9._ @+-]{1,40})+[/\\]?$|^(/[A-Za-z0-9._ @+-]{1,40}){2,}/?(:(/[A-Za-z0-9._ @+-]{1,40})+/?)*$`)
	plainNumber = regexp.MustCompile(`^-?[0-9]{1,5}(\.[0-9]{1,3})?$`)
	plainStep   = regexp.MustCompile(`^[A-Za-z][a-z._-]{0,23}$|^v?[0-9.]{1,4}$|^$`)
	plainPort   = regexp.MustCompile(`^:?[0-9]{0,5}$`)
	plainHost   = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,19})\.){0,6}[a-z0-9-]{1,20}$`)
)

// plainWords are values that nobody keeps a secret.
var plainWords = []string{
	"", "true", "false", "yes", "no", "on", "off", "none", "null", "auto", "default", "*", "utf-8",
	"debug", "info", "warn", "warning", "error", "trace", "silent", "verbose", "fatal",
	"development", "production", "staging", "test", "local", "stdio", "http", "sse", "localhost", "127.0.0.1", "0.0.0.0",
	"application/json", "text/plain", "text/event-stream", "application/json, text/event-stream", "*/*",
}

// harmless reports whether a value of that name is plainly no secret.
func harmless(name, text string) bool {
	if slices.Contains(plainWords, strings.ToLower(text)) {
		return true
	}
	if secretName.MatchString(name) {
		return false
	}
	switch {
	case plainNumber.MatchString(text), harmlessURL(text), plainPlace.MatchString(text) && !looksSecret(text):
		return true
	case placeName.MatchString(name):
		return plainPath.MatchString(text) && !looksSecret(text)
	}
	return false
}

// harmlessURL reports whether text is an address of plain words: some services
// put secrets into the path.
func harmlessURL(text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return false
	}
	if !plainHost.MatchString(strings.ToLower(u.Hostname())) || !plainPort.MatchString(u.Port()) {
		return false
	}
	for step := range strings.SplitSeq(u.EscapedPath(), "/") {
		if !plainStep.MatchString(step) {
			return false
		}
	}
	return true
}

var (
	secretStart = regexp.MustCompile(`(?i)(^|[^a-z0-9])(sk-|pk-|rk_|sk_|gh[opsur]_|github_pat_|glpat-|xox[a-z]-|xapp-|akia|asia|aiza|eyj|npm_|hf_|pypi-|dop_v1_|ya29\.|shpat_|lin_api_|ntn_|secret_|bearer\s|basic\s)[a-z0-9]`)
	longWord    = regexp.MustCompile(`[A-Za-z0-9+=_]{24,}`)
	longStep    = regexp.MustCompile(`[A-Za-z0-9+=_]{40,}`) // in a path, where hashes are usual
	digit       = regexp.MustCompile(`[0-9]`)
	letter      = regexp.MustCompile(`[A-Za-z]`)
)

// looksSecret reports whether a text looks like a secret by itself.
func looksSecret(text string) bool {
	if secretStart.MatchString(text) {
		return true
	}
	long := longWord
	if plainPath.MatchString(text) {
		long = longStep
	}
	return slices.ContainsFunc(long.FindAllString(text, -1), func(word string) bool {
		return digit.MatchString(word) && letter.MatchString(word)
	})
}

// secretArgument reports whether an argument looks like a secret, from what it
// is, what it names, and the argument before it.
func secretArgument(before, text string) bool {
	if looksSecret(text) {
		return true
	}
	if u, err := url.Parse(text); err == nil && u.Host != "" {
		return u.User != nil || secretQuery(u)
	}
	name, set, ok := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if !ok {
		name, set, ok = strings.Cut(text, ":") // a header
	}
	if ok && set != "" && secretName.MatchString(name) {
		return !harmless(name, strings.TrimSpace(set)) && !onlyReferences(set)
	}
	if !strings.HasPrefix(before, "-") || strings.Contains(before, "=") || strings.HasPrefix(text, "-") {
		return false
	}
	return secretName.MatchString(before) && !harmless(before, text) && !onlyReferences(text) &&
		!(fileOption.MatchString(before) && plainPath.MatchString(text))
}

var fileOption = regexp.MustCompile(`(?i)[-_](file|path|dir)$`)

// onlyReferences reports whether text is of variables that a program fills in,
// and of nothing else that could be told.
func onlyReferences(text string) bool {
	parts := pieces(text)
	return slices.ContainsFunc(parts, func(p piece) bool { return p.reference }) &&
		!slices.ContainsFunc(parts, func(p piece) bool { return !p.reference && !plainScheme.MatchString(p.text) })
}

var plainScheme = regexp.MustCompile(`(?i)^\s*((bearer|basic|token|apikey)\s+)?$`)

func secretQuery(u *url.URL) bool {
	for name, values := range u.Query() {
		for _, text := range values {
			if text != "" && (secretName.MatchString(name) || looksSecret(text)) {
				return true
			}
		}
	}
	return slices.ContainsFunc(strings.Split(u.Path, "/"), looksSecret)
}
