package taint

import (
	"strings"
	"testing"
)

func TestTablesParse(t *testing.T) {
	for name, table := range map[string]func() *rules{"python": pythonRules, "javascript": javascriptRules, "go": goRules} {
		if n := len(table().byEnd); n < 100 {
			t.Errorf("%s: rules about %d names", name, n)
		}
	}
}

func TestParseRulesRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"sink":                       "line 1",
		"sink fire os.system 0":      `"fire" is no danger`,
		"\nsnk command os.system 0":  "line 2",
		"sink command os.system if":  "nothing stands after if",
		"clean sql,fire os.path.foo": `"fire" is no danger`,
	} {
		if _, err := parseRules(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got the error %v, want one with %q", text, err, want)
		}
	}
}

func TestRulesFit(t *testing.T) {
	r, err := parseRules("sink sql a.{b,c}.run 0\nsink sql *.go 1+ if mode=fast|slow maybe\n")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"a.b.run": true, "a.c.run": true, "a.run": false, "x.a.b.run": false,
		"x.go": true, "x().go": true, "go": false, "x.gogo": false,
	} {
		if got := r.first(path, aSink) != nil; got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
	one := r.first("x.go", aSink)
	if one.takes(0, "") || !one.takes(1, "") || !one.takes(7, "") || one.takes(-1, "other") || one.maybe != 1 || len(one.ifs) != 1 {
		t.Errorf("got %+v", one)
	}
}

func TestWordsOf(t *testing.T) {
	for name, want := range map[string]string{
		"sessionToken": "session token", "API_KEY": "api key", "HTTPServer": "http server", "x": "x", "dbPassword2": "db password2",
		"X-Api-Key": "x api key", "": "", "aB": "a b",
	} {
		if got := strings.Join(wordsOf(name), " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}
