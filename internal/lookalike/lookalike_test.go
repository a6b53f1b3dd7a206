package lookalike

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestConfusable(t *testing.T) {
	for _, c := range []struct{ name, other string }{
		{"files", "fi1es"}, {"files", "fiIes"}, {"files", "FILES"}, {"files", "fılеs"}, {"files", "f\u200bi\u0301les"}, {"files", "ｆｉｌｅｓ"}, {"files", "𝓯𝓲𝓵𝓮𝓼"},
		{"boss", "b0ss"}, {"boss", "bоѕѕ"}, {"boss", "böss"}, {"agent", "аgent"}, {"agent", "ɑgent"}, {"modem", "modern"}, {"www", "vvvvvv"},
		{"read_file", "read-file"}, {"a.b", "a-b"}, {"l", "|"}, {"worker-1", "worker-l"}, {"шар", "шap"}, {"φ", "ф"}, {"a", "a\u202e"},
	} {
		if like, ok := Confusable(c.name, []string{c.name, "somebody", c.other, "else"}); like != c.other || !ok {
			t.Errorf("%q is like %q, %v, want %q: %q and %q", c.name, like, ok, c.other, Skeleton(c.name), Skeleton(c.other))
		}
	}
	for _, c := range []struct{ name, other string }{
		{"files", "files"}, {"files", "file"}, {"agent", "agent-2"}, {"read", "write"}, {"agent-5", "agent-s"}, {"a", "о"}, {"", "x"}, {"一", "二"},
	} {
		if like, ok := Confusable(c.name, []string{c.other}); ok {
			t.Errorf("%q is like %q", c.name, like)
		}
	}
}

func TestMixed(t *testing.T) {
	for name, want := range map[string]bool{
		"agent": false, "аgent": true, "агент": false, "αβγ-1": false, "αbγ": true, "东京tokyo": false, "カタカナひらがな漢字": false, "a\u0301": false, "": false, "123 _": false,
	} {
		if got := Mixed(name); got != want {
			t.Errorf("Mixed(%q) = %v, want %v", name, got, want)
		}
	}
}

// What something looks like looks like itself.
func TestTable(t *testing.T) {
	if len(table()) < 2000 || Unicode == "" {
		t.Fatalf("the table of Unicode %q has %d characters", Unicode, len(table()))
	}
	for r, like := range table() {
		if Skeleton(string(r)) != Skeleton(like) || r < utf8.RuneSelf {
			t.Errorf("%U is like %q, of which the skeletons are %q and %q", r, like, Skeleton(string(r)), Skeleton(like))
		}
	}
}

const module = "../console/static/base/lookalikes.js"

// The web console has the same table, and it is small.
func TestModule(t *testing.T) {
	js, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	_, literal, _ := bytes.Cut(js, []byte("const encoded ="))
	var theirs strings.Builder
	for _, part := range regexp.MustCompile(`"([^"]*)"`).FindAllSubmatch(literal, -1) {
		theirs.Write(part[1])
	}
	if theirs.String() != encoded {
		t.Errorf("%s has another table: run go generate", module)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(js); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if n := packed.Len(); n > 12_000 {
		t.Errorf("%s takes %d bytes compressed", module, n)
	}
}

var few = []string{"", "Files", "modern", "vvv", "rnrn", "a_b c.d-e", "fiIes|1", "аgent", "αbγ", "`x`"}

// names are all characters that Go knows, between letters, and names of the other
// tests.
func names() []string {
	all := slices.Clone(few)
	for r := range rune(unicode.MaxRune) {
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Cf, unicode.Zs) && !unicode.In(r, unicode.Han, unicode.Hangul, unicode.Tangut) {
			all = append(all, "a"+string(r)+"n")
		}
	}
	return all
}

// fewChanged is how many characters may be marks in one version of Unicode, and letters
// in another: Go and Node each have their own.
const fewChanged = 5

// The web console makes the same skeletons, wherever Node can be asked.
func TestModuleAgrees(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no Node here")
	}
	js, err := os.ReadFile(module)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "lookalikes.mjs")
	if err := os.WriteFile(copied, js, 0o600); err != nil {
		t.Fatal(err)
	}
	names := names()
	input, err := json.Marshal(names)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), node, "--input-type=module", "-e",
		`import { skeleton, confusable, mixed } from "file://`+copied+`";
		import { readFileSync } from "node:fs";
		const names = JSON.parse(readFileSync(0));
		if (confusable("files", ["files", "boss", "fi1es"]) !== "fi1es" || confusable("a", ["a", "b"]) !== undefined) throw new Error("confusable is wrong");
		process.stdout.write(JSON.stringify(names.map((name) => [skeleton(name), mixed(name)])));`)
	cmd.Stdin = bytes.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, &stderr)
	}
	var theirs [][2]any
	if err := json.Unmarshal(out, &theirs); err != nil || len(theirs) != len(names) {
		t.Fatal(len(theirs), err)
	}
	wrong := 0
	for i, name := range names {
		if got := theirs[i]; got[0] != Skeleton(name) || got[1] != Mixed(name) {
			if wrong++; wrong < 20 {
				t.Logf("%+q: the page says %+q, %v, and we %+q, %v", name, got[0], got[1], Skeleton(name), Mixed(name))
			}
		}
	}
	if wrong > fewChanged {
		t.Errorf("%d of %d differ", wrong, len(theirs))
	}
}

func FuzzSkeleton(f *testing.F) {
	for _, name := range few {
		f.Add(name)
	}
	f.Add("\xff\u0301\u202e")
	f.Fuzz(func(t *testing.T, name string) {
		s := Skeleton(name)
		if !utf8.ValidString(s) || len(s) > 20*len(name)+20 {
			t.Errorf("%q has the skeleton %q", name, s)
		}
		if like, ok := Confusable(name, []string{name}); ok {
			t.Errorf("%q is like itself, %q", name, like)
		}
		if upper := strings.ToUpper(name); isASCII(name) && Skeleton(upper) != s {
			t.Errorf("%q and %q have the skeletons %q and %q", name, upper, s, Skeleton(upper))
		}
		Mixed(name)
	})
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
