package config

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite what testdata/problems wants")

// testEnv is what the configurations of the tests may refer to.
var testEnv = map[string]string{
	"YOU_TOKEN":   "you-0123456789abcdef",
	"AGENT_TOKEN": "agent-0123456789abcdef",
	"EMPTY":       "",
}

func lookup(name string) (string, bool) {
	v, ok := testEnv[name]
	return v, ok
}

func parse(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return Parse("parley.yaml", []byte(text), Env{Dir: t.TempDir(), Lookup: lookup})
}

// TestProblems holds what is printed for the configurations in
// testdata/problems.
func TestProblems(t *testing.T) {
	files, err := filepath.Glob("testdata/problems/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			_, err = Parse("parley.yaml", archive.Files[0].Data, Env{Dir: dir, Lookup: lookup})
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("the error is a %T", err)
			}
			got := strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), "DIR/") + "\n"
			for _, secret := range []string{"sesame", "must-not-show", "0123456789abcdef", "secret-word", "another-token"} {
				if strings.Contains(got, secret) {
					t.Errorf("a secret shows: %s", got)
				}
			}
			if *update {
				archive.Files[1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(filepath.Join(dir, "none.yaml"))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "none.yaml: there is no such file\n    ") {
		t.Errorf("no file: %v", err)
	}
	if _, err := Load(dir); err == nil || !strings.HasSuffix(err.Error(), "cannot be read: not a regular file") {
		t.Errorf("a folder: %v", err)
	}
}

func TestNoText(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"too large", "# " + strings.Repeat("x", MaxBytes), "the file is larger than 1MiB"},
		{"latin 1", "listen: x\n# caf\xe9", ":2:6: the file is not UTF-8 text"},
		{"utf-16", "\xff\xfel\x00i\x00", ":1:1: the file is not UTF-8 text"},
		{"nul", "listen: \x00", ":1:9: the file holds the control character U+0000"},
		{"brackets", strings.Repeat("[", 100_000), ":1:65: values are nested deeper than 64 levels"},
		{"dashes", strings.Repeat("- ", 100_000), "nested deeper than 64 levels"},
		{"dashes in brackets", "[" + strings.Repeat("- ", 100_000), ":1:2: not valid YAML: a dash and a blank inside of [ ] or { }"},
		{"keys", strings.Repeat("a: b\n", 20_000), ":10001:2: there are more than 10,000 entries on one level"},
		{"parts", "[" + strings.Repeat("a,", 200_000) + "]", "the file has more than 250,000 parts"},
		{"merge keys", "a: " + strings.Repeat("<<", 500_000), "the file has << more than 1,000 times"},
		{"alias bomb", bomb(), "aliases and merge keys make too much of the file"},
		{"merge bomb", mergeBomb(), "aliases and merge keys make too much of the file"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %.300v\nwant %s", err, c.want)
			}
		})
	}
}

// bomb is nine levels of nine aliases each, nearly 400 million values.
func bomb() string {
	var b strings.Builder
	b.WriteString("l0: &l0 [x]\n")
	for i := 1; i <= 9; i++ {
		refs := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*l%d, ", i-1), 9), ", ")
		fmt.Fprintf(&b, "l%d: &l%d [%s]\n", i, i, refs)
	}
	return b.String()
}

// mergeBomb merges a few thousand keys into each of a few hundred mappings.
func mergeBomb() string {
	var b strings.Builder
	b.WriteString("a: &a {x: 1")
	for i := range 8_000 {
		fmt.Fprintf(&b, ", k%d: 1", i)
	}
	b.WriteString("}\n")
	for i := range 200 {
		fmt.Fprintf(&b, "m%d: {<<: *a}\n", i)
	}
	return b.String()
}
