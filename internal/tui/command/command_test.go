package command

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tui/safe"
)

var update = flag.Bool("update", false, "write what comes out into testdata")

// golden holds a file against what becomes of it: lines that begin with "> " are
// given, and what is indented below is what comes of them.
func golden(t *testing.T, file string, becomes func(line string) []string) {
	t.Helper()
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var after strings.Builder
	cases := 0
	for line := range strings.Lines(string(before)) {
		line = strings.TrimSuffix(line, "\n")
		given, isCase := strings.CutPrefix(line, "> ")
		if strings.HasPrefix(line, "  ") {
			continue
		}
		after.WriteString(line + "\n")
		if isCase {
			cases++
			for _, l := range becomes(given) {
				after.WriteString(strings.TrimRight("  "+l, " ") + "\n")
			}
		}
	}
	if cases == 0 {
		t.Fatalf("%s has no cases", file)
	}
	if *update {
		if err := os.WriteFile(file, []byte(after.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if after.String() != string(before) {
		t.Errorf("%s: got\n%s", file, after.String())
	}
}

// told is a command, field by field.
func told(c Command) []string {
	var lines []string
	v := reflect.ValueOf(c)
	for i := range v.NumField() {
		if f := v.Field(i); !f.IsZero() {
			lines = append(lines, v.Type().Field(i).Name+": "+inWords(f.Interface()))
		}
	}
	return lines
}

func inWords(v any) string {
	switch v := v.(type) {
	case jsontext.Value:
		return string(v)
	case *parley.Context:
		return fmt.Sprintf("%q type %q in %q", v.ID, v.Type, v.Parent)
	case []Arg:
		var all []string
		for _, a := range v {
			kind := ""
			if a.JSON != nil {
				kind = " JSON"
			} else if a.Bare {
				kind = " text"
			}
			all = append(all, fmt.Sprintf("%q=%q%s", a.Name, a.Text, kind))
		}
		return strings.Join(all, ", ")
	case fmt.Stringer:
		return v.String()
	case Verb, Place:
		return fmt.Sprint(v)
	}
	return fmt.Sprintf("%q", v)
}

func wrong(err error) []string {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return []string{"another error: " + err.Error()}
	}
	return []string{fmt.Sprintf("wrong at %d: %s", e.Column, e.Problem), "hint: " + e.Hint}
}

func TestParse(t *testing.T) {
	golden(t, "testdata/parse.txt", func(line string) []string {
		c, err := Parse(line)
		if err != nil {
			return wrong(err)
		}
		if lines := told(c); len(lines) > 0 {
			return lines
		}
		return []string{"nothing"}
	})
}

// Every example of the help is a command of its verb, and every verb is in the help.
func TestUsages(t *testing.T) {
	for _, u := range Usages() {
		line := "/" + string(u.Verb) + " " + u.Example
		if c, err := Parse(line); err != nil || c.Verb != u.Verb || c.Verb != Help && c.Text == "" && u.Verb == Say {
			t.Errorf("%s becomes %+v, %v", line, c, err)
		}
		if got := Describe(u.Verb); len(got) < 2 || !strings.HasPrefix(got[0], "/"+string(u.Verb)) {
			t.Errorf("%s is described as %q", u.Verb, got)
		}
	}
	if Describe("nonsense") != nil {
		t.Error("nonsense is described")
	}
}

func TestErrorHasACode(t *testing.T) {
	_, err := Parse("/approve")
	if e, ok := errors.AsType[*parley.Error](err); !ok || e.Code != parley.InvalidArgument || e.Hint == "" {
		t.Errorf("the error is %v", err)
	}
	if _, err := Parse(strings.Repeat("a", MaxLine+1)); err == nil {
		t.Error("a line of any length is read")
	}
}

// What a person sees of an argument can be typed again.
func TestSpelledIsRead(t *testing.T) {
	for _, text := range []string{
		"", "plain", "two words", `a"b`, `a\nb`, "a\nb\t", "it's", "'", "@file", "=x", "{", "[1]", "\u202e", "宽 ü", "\x1b[2J", "a=b", "a:", "for", "because", "-", "/x", "\U0001f600",
	} {
		c, err := Parse("/call x y " + spelledName(text+"n") + "=" + spelled(text))
		if err != nil || len(c.Args) != 1 || c.Args[0].Name != text+"n" || c.Args[0].Text != text {
			t.Errorf("%q became %+v, %v", text, c.Args, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	lines, err := os.ReadFile("testdata/parse.txt")
	if err != nil {
		f.Fatal(err)
	}
	for line := range strings.Lines(string(lines)) {
		if given, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> "); ok {
			f.Add(given)
		}
	}
	f.Fuzz(func(t *testing.T, line string) {
		c, err := Parse(line)
		if err != nil {
			e := err.(*Error)
			if e.At < 0 || e.At > len(line) || e.Problem == "" || e.Hint == "" {
				t.Errorf("%q: %+v", line, e)
			}
			return
		}
		if c.Verb != Nothing && verbOf("/"+string(c.Verb)) == nil {
			t.Errorf("%q is a %q", line, c.Verb)
		}
		v, err := c.Arguments(nil)
		if err != nil || !v.IsValid() || v.Kind() != '{' {
			t.Errorf("%q has the arguments %s, %v", line, v, err)
		}
	})
}

func isHarmless(s string) bool {
	return safe.OneLine(s) == s && strings.IndexFunc(s, unicode.IsControl) < 0
}
