package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// importEnv is what the imports of the tests may refer to.
var importEnv = map[string]string{
	"HOME": "/home/ann", "PATH": "/bin", "YOU_TOKEN": "sesame-of-you", "DATABASE": "sesame-db", "TRACE_ID": "sesame-trace", "BLANK": "",
}

func importLookup(name string) (string, bool) {
	v, ok := importEnv[name]
	return v, ok
}

// unpack writes an archive's files, and returns the path of the first.
func unpack(t *testing.T, dir string, files []txtar.File) string {
	t.Helper()
	for _, f := range files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, files[0].Name)
}

// TestImport holds what is shown of the configurations in testdata/import: the
// fragment, and what is told beside it.
func TestImport(t *testing.T) {
	files, err := filepath.Glob("testdata/import/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			given := slices.DeleteFunc(slices.Clone(archive.Files), func(f txtar.File) bool { return f.Name == "want" })
			dir := t.TempDir()
			path := unpack(t, dir, given)
			got := told(Import(path, ImportOptions{Show: true, Lookup: importLookup, Home: "/home/ann", Work: "/work/app/src",
				Taken: map[string]bool{"search": true}, Listen: DefaultListen}))
			got = strings.ReplaceAll(got, dir, "/DIR")
			if strings.Contains(got, "sesame") {
				t.Errorf("a secret shows: %s", got)
			}
			if *update {
				archive.Files = append(given, txtar.File{Name: "want", Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := string(archive.Files[len(archive.Files)-1].Data); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// told is all that an import says.
func told(im *Imported, err error) string {
	if err != nil {
		return err.Error() + "\n"
	}
	var text strings.Builder
	for _, p := range im.Warnings {
		text.WriteString(p.Format("warning") + "\n")
	}
	for _, p := range im.Notes {
		text.WriteString(p.Format("note") + "\n")
	}
	return text.String() + Fragment("demo", []*Imported{im})
}

// What is imported can be used as it is, secrets included.
func TestImportedServers(t *testing.T) {
	archive, err := txtar.ParseFile("testdata/import/claude_code.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := unpack(t, dir, archive.Files)
	im, err := Import(path, ImportOptions{Lookup: importLookup})
	if err != nil {
		t.Fatal(err)
	}
	s := &Space{Participants: map[string]*Participant{"ann": nil}, MCPServers: map[string]*MCPServer{}}
	im.AddTo(s)
	ids := s.IDs()
	for _, id := range []string{"ann", "github", "local-files", "parley-2", "local-files-2"} {
		if !ids[id] {
			t.Errorf("nobody is %s: %v", id, ids)
		}
	}
	github, files := s.MCPServers["github"], s.MCPServers["local-files"]
	if github.Type != HTTP || github.URL != "https://api.example.com/mcp/" || github.Headers["Authorization"].Reveal() != "Bearer ghp_sesame0123" ||
		github.Headers["X-Trace"].Reveal() != "sesame-trace" || github.Pin != PinRecord || len(github.Capabilities) == 0 {
		t.Errorf("github is %+v", github)
	}
	if files.Type != Stdio || files.Command != "./bin/files" || files.Dir != dir || files.Args[0] != "/home/ann/notes" ||
		files.Args[4] != "sesame-key" || files.Args[5] != "--header=Authorization: Bearer ${TOKEN}" ||
		files.Env["TOKEN"].Reveal() != "sesame-token" || files.Env["PATH"].Reveal() != "/bin:/opt/bin" {
		t.Errorf("files is %+v", files)
	}
	if got := s.MCPServers["parley-2"].Env["RETRIES"].Reveal(); got != "3" {
		t.Errorf("a number is %q", got)
	}
}

// Without Show, a variable that is not set is a mistake.
func TestImportNeedsItsVariables(t *testing.T) {
	const text = "{\"mcpServers\": {\"a\": {\"command\": \"x\",\n \"env\": {\"K\": \"${NOT_SET_AT_ALL}\", \"L\": \"${input:some-key}\"}}}}"
	_, err := ParseImport("f", []byte(text), "/d", ImportOptions{Lookup: importLookup})
	want := "f:2:15: the environment variable NOT_SET_AT_ALL is not set\n    set it before the gateway starts\n" +
		"f:2:41: the environment variable SOME_KEY is not set\n    set it before the gateway starts"
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// Ids are unique over files, and everything that is wrong with either is told.
func TestImportAll(t *testing.T) {
	dir := t.TempDir()
	one := unpack(t, dir, []txtar.File{{Name: "one.json", Data: []byte(`{"mcpServers": {"a": {"command": "x"}}}`)}})
	two := unpack(t, dir, []txtar.File{{Name: "two.json", Data: []byte(`{"servers": {"A": {"command": "x"}}}`)}})
	bad := unpack(t, dir, []txtar.File{{Name: "bad.json", Data: []byte(`{"servers": {"A": {}}}`)}})
	taken := map[string]bool{}
	all, err := ImportAll([]string{one, two}, ImportOptions{Taken: taken})
	if err != nil || len(all) != 2 || all[1].Servers[0].ID != "a-2" || len(taken) != 0 {
		t.Errorf("%v, %v, %v", all, err, taken)
	}
	_, err = ImportAll([]string{bad, filepath.Join(dir, "absent.json"), dir}, ImportOptions{})
	for _, want := range []string{bad + ":1:14: \"a\" has neither a command nor a url", "absent.json: there is no such file", dir + ": cannot be read"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestImportID(t *testing.T) {
	for name, want := range map[string]string{
		"github": "github", "a.b-c": "a.b-c", "GitHub": "github", "my_server": "my-server", "My  Server (prod)!": "my-server-prod",
		"-x": "x", "..": "server", "": "server", "日本": "server", strings.Repeat("ab", 40): strings.Repeat("ab", 32), "@scope/pkg": "scope-pkg",
	} {
		if got := importID(name); got != want {
			t.Errorf("%q becomes %q, want %q", name, got, want)
		}
	}
}

func TestEnvFile(t *testing.T) {
	got, wrong := parseEnvFile("\ufeffA=1\r\n# x\n\n export B = two words # c\nC='a # \\n'\nD=\"x\\n\\\"\\\\ \\y\" # c\nE=\nF=#\nG=a#b\n")
	want := map[string]string{"A": "1", "B": "two words", "C": `a # \n`, "D": "x\n\"\\ \\y", "E": "", "F": "", "G": "a#b"}
	if wrong != 0 || len(got) != len(want) {
		t.Errorf("%d: %q", wrong, got)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	for text, line := range map[string]int{"A=1\nx": 2, "1A=2": 1, "A='x": 1, "A=\"x\" y": 1, "=x": 1} {
		if _, wrong := parseEnvFile(text); wrong != line {
			t.Errorf("%q is wrong on line %d, want %d", text, wrong, line)
		}
	}
}

// What is shown is what nobody would mind to see on a stranger's screen.
func TestHarmless(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       bool
	}{
		{"LOG_LEVEL", "DEBUG", true}, {"PORT", "8080", true}, {"RATIO", "0.5", true}, {"API_URL", "https://api.example.com/v1", true},
		{"BASE", "http://127.0.0.1:9000/mcp", true}, {"DATA_DIR", "/srv/data", true}, {"CONFIG_FILE", "./a.json", true},
		{"API_KEY", "8080", false}, {"API_KEY", "", true}, {"TOKEN", "true", true}, {"PIN", "1234", false}, {"X", "hunter2", false},
		{"X", "123456", false}, {"X", "/srv/data", true}, {"X", "/srvdata", false}, {"PYTHONPATH", "/a/b:/c", true}, {"X", `C:\a b\c`, true}, {"KEY", "/srv/data", false}, {"X", "/a/b=", false}, {"DATA_DIR", "/srv/ghp_abcdef", false},
		{"HOOK", "https://hooks.example.com/services/T00000000/B00000000/XXXXXXXXXXXXXXXXXXXXXXXX", false},
		{"U", "https://me:pw@example.com/", false}, {"U", "https://example.com/?key=x", false}, {"DSN", "postgres://a:b@c/d", false},
		{"PASSWORD_FILE", "/run/x", false},
	} {
		if got := harmless(c.name, c.text); got != c.want {
			t.Errorf("%s=%s is harmless: %v", c.name, c.text, got)
		}
	}
	for _, c := range []struct {
		before, text string
		want         bool
	}{
		{"", "-y", false}, {"-y", "@modelcontextprotocol/server-filesystem", false}, {"--port", "8080", false}, {"--api-key", "x", true},
		{"--api-key", "--verbose", false}, {"--token-file", "/run/t", false}, {"--api-key", "/run/t", true}, {"", "--token=abc", true}, {"", "--token=${TOKEN}", false},
		{"--header", "Authorization: Bearer ${TOKEN}", false}, {"--header", "Authorization: Bearer abc", true}, {"-e", "GH_TOKEN", false},
		{"-e", "GH_TOKEN=x", true}, {"", "ghp_x1", true}, {"", "postgres://a:b@c/d", true}, {"", "https://example.com/mcp", false},
		{"", "https://example.com/mcp?token=x", true}, {"", "https://example.com/mcp?a=b", false}, {"", "0123456789abcdef0123456789abcdef", true},
		{"", "a-very-long-name-of-some-package-that-is-fine", false},
	} {
		if got := secretArgument(c.before, c.text); got != c.want {
			t.Errorf("%s %s looks like a secret: %v", c.before, c.text, got)
		}
	}
}

// FuzzImport holds what is true of every file: no panic, places inside of it, and a
// fragment that parley.yaml can hold, in which no variable's value shows.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/import/*.txtar")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	const secret = "Zx9-the-value-of-every-variable"
	lookup := func(string) (string, bool) { return secret, true }
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		im, err := ParseImport("f", data, dir, ImportOptions{Show: true, Lookup: lookup, Home: "/home/ann", Work: "/work/app", Listen: DefaultListen})
		if err != nil {
			checkProblems(t, data, err, secret)
			return
		}
		text := Fragment("s", []*Imported{im})
		if strings.Contains(text, secret) && !strings.Contains(string(data), secret) {
			t.Fatalf("a secret shows: %s", text)
		}
		cfg, err := Parse("fragment", []byte(text), Env{Dir: dir, Lookup: lookup})
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if got := len(cfg.Spaces["s"].MCPServers); got != len(im.Servers) {
			t.Fatalf("%d of %d servers in\n%s", got, len(im.Servers), text)
		}
	})
}

func checkProblems(t *testing.T, data []byte, err error, secret string) {
	e, ok := errors.AsType[*Error](err)
	if !ok || len(e.Problems) == 0 || len(e.Problems) > maxProblems {
		t.Fatal(err)
	}
	if strings.Contains(err.Error(), secret) && !strings.Contains(string(data), secret) {
		t.Fatalf("a secret shows: %v", err)
	}
	lines := strings.Count(string(data), "\n") + 1
	for _, p := range e.Problems {
		if p.Line < 0 || p.Line > lines || p.Line > 0 && p.Column < 1 || p.Message == "" {
			t.Errorf("%+v of %d lines", p, lines)
		}
	}
}
