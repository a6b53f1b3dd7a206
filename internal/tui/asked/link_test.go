package asked

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// What a browser might read in another way than we do is nothing to agree to.
func TestReadLink(t *testing.T) {
	for given, want := range map[string]string{ // the host, or ! and the problem
		"https://auth.example.com/login?x=1#y":         "auth.example.com",
		"HTTPS://Example.com:8443":                     "Example.com:8443",
		"http://localhost:3000/":                       "localhost:3000",
		"http://127.0.0.1/":                            "127.0.0.1",
		"http://[::1]:80/":                             "[::1]:80",
		"https://good.com@evil.com/":                   "evil.com?", // doubted
		"https://xn--exmple-cua.com/":                  "xn--exmple-cua.com?",
		"https://a/b@good.com":                         "a",
		"":                                             "!there is no link",
		"http://example.com/":                          "!links are opened with https alone",
		"http://127.0.0.1.evil.com/":                   "!links are opened with https alone",
		"javascript:alert(1)":                          "!the link is not one",
		"file:///etc/passwd":                           "!the link is not one",
		"https:evil.com":                               "!the link is not one",
		"https:///evil.com":                            "!the link is not one",
		"https://ex%D0%B0mple.com/":                    "!the link is not one",
		"https://ex\u0430mple.com/":                    "!the link has characters",
		"https://good.com\\@evil.com/":                 "!the link has characters",
		"https://good.com/\n.evil.com":                 "!the link has characters",
		"https://good.com/\u202e":                      "!the link has characters",
		"https://a/" + strings.Repeat("x", 2*mostLink): "!the link is longer",
	} {
		quoted, _ := jsontext.AppendQuote(nil, given)
		a := Take(&parley.Envelope{}, jsontext.Value(`{"mode":"url","message":"m","url":`+string(quoted)+`}`))
		l := a.Link
		got := l.Host + strings.Repeat("?", min(len(l.Doubts), 1))
		if l.Problem != "" {
			got = "!" + l.Problem
		}
		if !strings.HasPrefix(got, want) || want == "" || (l.Problem == "") != a.Agreeable() || l.Problem == "" && got != want {
			t.Errorf("%.60q: %q, want %q", given, got, want)
		}
	}
}

// What is no form is taken all the same.
func TestTake(t *testing.T) {
	for params, want := range map[string]string{
		`{"message":"m"}`:                        "form m true",
		`{"mode":"form","message":"m"}`:          "form m true",
		`{"mode":"hologram","message":"m"}`:      "question m false",
		`{"message":"m","requestedSchema":[]}`:   "question m false",
		`{"mode":"url","message":"m","url":"x"}`: "question m false",
		`[]`:                                     "question  false",
		`null`:                                   "question  false",
		``:                                       "question  false",
	} {
		a := Take(&parley.Envelope{}, jsontext.Value(params))
		got := a.Noun() + " " + a.Message + map[bool]string{true: " true", false: " false"}[a.Agreeable()]
		if got != want || (a.Form == nil) != (a.Unfit != nil) {
			t.Errorf("%s: %q (%v), want %q", params, got, a.Unfit, want)
		}
	}
}
