package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestParseArguments(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.txt")
	if err := os.WriteFile(file, []byte("from\na file"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", `{}`},
		{"path=a.txt", `{"path":"a.txt"}`},
		{"path=", `{"path":""}`},
		{"a=b=c", `{"a":"b=c"}`},
		{"n:=12 list:=[1,2] o:={} no:=null", `{"n":12,"list":[1,2],"o":{},"no":null}`},
		{"big:=9007199254740993 exact:=1.0", `{"big":9007199254740993,"exact":1.0}`},
		{"text=@" + file, `{"text":"from\na file"}`},
		{"text=@-", `{"text":"from stdin"}`},
		{"text==@home text2==", `{"text":"@home","text2":""}`},
		{`quote="x" ünï=ö`, `{"quote":"\"x\"","ünï":"ö"}`},
		{"k:ey=v", `{"k:ey":"v"}`},
	} {
		s := &terminal{in: strings.NewReader("from stdin")}
		m, err := s.parseArguments(strings.Fields(c.args))
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if got := string(m.object()); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}

func TestParseArgumentsThatAreNone(t *testing.T) {
	for _, args := range []string{"path", "=x", ":=1", "n:=", "n:=nonsense", "n:=1,2", `o:={"a":1,"a":2}`, "a=1 a=2", "a=1 a:=2"} {
		_, err := new(terminal).parseArguments(strings.Fields(args))
		if _, usage := errors.AsType[usageError](err); !usage {
			t.Errorf("%s: %v", args, err)
		}
	}
}

func TestAmended(t *testing.T) {
	e, err := decodeAny([]byte(`{"kind":"mcp/proposal:tools/call","payload":{"method":"tools/call","params":{"_meta":{"x":1},"name":"write_file","arguments":{"path":"a","n":1.0}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	got := amended(e, members{{"path", jsontext.Value(`"b"`)}, {"more", jsontext.Value(`true`)}})
	if want := `{"_meta":{"x":1},"name":"write_file","arguments":{"path":"b","n":1.0,"more":true}}`; string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// What was proposed is shown in a form in which it can be sent.
func FuzzArgumentsReadBack(f *testing.F) {
	f.Add("path=a.txt", "n:=[1,{}]")
	f.Add("a==", "b=@@")
	f.Fuzz(func(t *testing.T, a, b string) {
		if strings.Contains(a+b, "=@") {
			return // would read files
		}
		m, err := new(terminal).parseArguments([]string{a, b})
		if err != nil {
			return
		}
		if v := m.object(); !v.IsValid() && utf8Names(m) {
			t.Fatalf("%q and %q make %s", a, b, v)
		}
	})
}

// utf8Names reports whether no two names become the same where invalid UTF-8 is
// replaced.
func utf8Names(m members) bool {
	seen := map[string]bool{}
	for _, one := range m {
		name := strings.ToValidUTF8(one.name, "\ufffd")
		if seen[name] || name != one.name {
			return false
		}
		seen[name] = true
	}
	return true
}

func TestSplitEnvelopes(t *testing.T) {
	for _, c := range []struct {
		input string
		want  int
	}{
		{"", 0},
		{"\n \n", 0},
		{`{"kind":"chat"}`, 1},
		{"{\"kind\":\"chat\"}\n\n{\"kind\":\"chat\"}\n", 2},
		{"{\"kind\":\n\"chat\"}\n", 1},
		{"{\"a\":1,\"a\":2}\n{}\n", 2}, // wrong ones, for the gateway to refuse
		{"nonsense\nmore", 1},
	} {
		if got := len(splitEnvelopes([]byte(c.input))); got != c.want {
			t.Errorf("%q is %d envelopes, want %d", c.input, got, c.want)
		}
	}
}
