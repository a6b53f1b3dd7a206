package console

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What is vendored is what scripts/vendor-console made: each file is listed with
// its checksum, and whatever the pages import is there.
func TestVendored(t *testing.T) {
	readme := read(t, "vendor/README.md")
	sums := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^\| (\S+\.js) \|.*\| ([0-9a-f]{64}) \|$`).FindAllStringSubmatch(readme, -1) {
		sums[m[1]] = m[2]
	}
	found, err := fs.Glob(Files(), "vendor/*.js")
	if err != nil || len(found) == 0 || len(found) != len(sums) {
		t.Fatalf("%d files, %d in README.md, %v", len(found), len(sums), err)
	}
	for _, name := range found {
		if got := fmt.Sprintf("%x", sha256.Sum256([]byte(read(t, name)))); got != sums[path.Base(name)] {
			t.Errorf("%s has the checksum %s, not that of README.md: run scripts/vendor-console", name, got)
		}
	}
}

// below says which folders of the pages may import from a folder's: what all share
// knows nobody, and one page of the console knows of another what is said here.
var below = map[string][]string{
	".":         {"vendor", "base", "shell", "room", "approvals", "forms", "record"},
	"base":      {"vendor"},
	"forms":     {"vendor", "base"},
	"room":      {"vendor", "base", "forms"},
	"approvals": {"vendor", "base", "forms"},
	"search":    {"vendor", "base", "room"},
	"record":    {"vendor", "base"},
	"people":    {"vendor", "base"},
	"health":    {"vendor", "base"},
	"shell":     {"vendor", "base", "forms", "room", "approvals", "search", "people", "health"},
}

// Every module that one imports is embedded and may be imported there, and no page
// reaches beyond the gateway.
func TestImports(t *testing.T) {
	imported := regexp.MustCompile(`(?m)(?:^import .*|^} )from "(\.[^"]+)"`)
	elsewhere := regexp.MustCompile(`https?://[^/\s"]*`)
	// What a form says of itself, as the terminal's does.
	told := strings.NewReplacer("https://modelcontextprotocol.io/specification/", "", "a URI such as https://example.com/a", "")
	modules := 0
	for name := range all(t) {
		folder := path.Dir(name)
		if folder == "vendor" {
			continue
		}
		text := read(t, name)
		for _, m := range imported.FindAllStringSubmatch(text, -1) {
			modules++
			to := path.Join(folder, m[1])
			read(t, to)
			if from := path.Dir(to); from != folder && !slices.Contains(below[folder], from) {
				t.Errorf("%s imports %s", name, to)
			}
		}
		if found := elsewhere.FindString(told.Replace(text)); found != "" {
			t.Errorf("%s speaks of %s", name, found)
		}
	}
	if modules < 100 {
		t.Errorf("only %d imports were found", modules)
	}
}

// all are the names of the files that a browser reads as text of ours.
func all(t *testing.T) iter.Seq[string] {
	return func(yield func(string) bool) {
		err := fs.WalkDir(Files(), ".", func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !slices.Contains([]string{".js", ".css", ".html"}, path.Ext(name)) {
				return err
			}
			if !yield(name) {
				return fs.SkipAll
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := fs.ReadFile(Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
