package main

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// JSON on a terminal means what it meant, and holds nothing to be obeyed.
func TestJSONOnATerminal(t *testing.T) {
	for _, in := range []string{
		`{"text":"plain"}`,
		"{\"text\":\"\u009b2J\u202e\u007f\U000e0041 ü 👩‍💻\"}",
		"{\"a\":\n [1,\t2]}",
	} {
		var out bytes.Buffer
		term := &terminal{out: &out, outTTY: true}
		if err := term.writeJSON(jsontext.Value(in)); err != nil {
			t.Fatal(err)
		}
		got := jsontext.Value(strings.TrimSuffix(out.String(), "\n"))
		for _, r := range string(got) {
			if !shown(r) {
				t.Errorf("%q reaches the terminal in %q", r, got)
			}
		}
		want := jsontext.Value(in)
		if err := want.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if err := got.Canonicalize(); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%q became %q (%v)", want, got, err)
		}
	}
}

func TestParseMoment(t *testing.T) {
	zone := time.FixedZone("here", 3600)
	now := time.Date(2026, 11, 20, 15, 30, 0, 0, zone)
	for in, want := range map[string]string{
		"10m":                  "2026-11-20T15:20:00+01:00",
		"-10m":                 "2026-11-20T15:20:00+01:00",
		"2026-11-19":           "2026-11-19T00:00:00+01:00",
		"2026-11-19 08:05":     "2026-11-19T08:05:00+01:00",
		"2026-11-19T08:05:01":  "2026-11-19T08:05:01+01:00",
		"2026-11-19T08:05:01Z": "2026-11-19T08:05:01Z",
		"08:05":                "2026-11-20T08:05:00+01:00",
		"08:05:09":             "2026-11-20T08:05:09+01:00",
	} {
		got, err := parseMoment(in, now)
		if err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("parseMoment(%q) = %s, %v, want %s", in, got.Format(time.RFC3339), err, want)
		}
	}
	for _, in := range []string{"", "yesterday", "25:00", "2026-13-01"} {
		if at, err := parseMoment(in, now); err == nil {
			t.Errorf("parseMoment(%q) = %s", in, at)
		}
	}
}

func TestExpiryIsNeverEarly(t *testing.T) {
	now := time.Date(2026, 11, 20, 15, 30, 0, 1, time.UTC)
	var x expiry
	if err := x.Set("1s"); err != nil {
		t.Fatal(err)
	}
	if got := x.at(now); got.Before(now.Add(time.Second)) || got.Nanosecond() != 0 {
		t.Errorf("a second from %s is %s", now, got)
	}
	for _, in := range []string{"0s", "-1m", "tomorrow"} {
		if x.Set(in) == nil {
			t.Errorf("--expires %s is taken", in)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{
		"plain":       "plain",
		"a/b.c-d_e":   "a/b.c-d_e",
		"with blank":  "'with blank'",
		"it's":        `'it'\''s'`,
		"$HOME;rm":    "'$HOME;rm'",
		"":            "''",
		"x y" + "`":   "'x y`'",
		"a=b,c@d:8%+": "a=b,c@d:8%+",
		"*":           "'*'",
	} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %s, want %s", in, got, want)
		}
	}
}

func TestProgram(t *testing.T) {
	kept := os.Args[0]
	defer func() { os.Args[0] = kept }()
	for in, want := range map[string]string{
		"parley":                           "parley",
		"bin/parley":                       "bin/parley",
		"/tmp/go-build123/b001/exe/parley": "go run ./cmd/parley",
		"/opt/my tools/parley":             "'/opt/my tools/parley'",
	} {
		os.Args[0] = in
		if got := program(); got != want {
			t.Errorf("called as %s it says %s, want %s", in, got, want)
		}
	}
}

// An export that somebody looks at obeys nothing, and into a pipe goes as it is.
func TestExportOnATerminal(t *testing.T) {
	const line = "{\"text\":\"\u009b2J \u202e\"}\nno\x1b[2JJSON\n\x9b"
	for _, c := range []struct {
		tty  bool
		want string
	}{
		{false, line},
		{true, `{"text":"\u009b2J \u202e"}` + "\nno" + `\u001b[2JJSON` + "\n" + `\x9b`},
	} {
		var out bytes.Buffer
		err := writeOut(&terminal{out: &out, outTTY: c.tty}, "", func(w io.Writer) error {
			for i := range len(line) {
				if _, err := io.WriteString(w, line[i:i+1]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || out.String() != c.want {
			t.Errorf("tty %v: %q, %v", c.tty, out.String(), err)
		}
	}
}
