package patch

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// short is a file in one line: its name, what becomes of it, its lines.
func short(f File) string {
	var s strings.Builder
	s.WriteString(f.Name)
	if f.Old != "" {
		s.WriteString(" was " + f.Old)
	}
	if f.Deleted {
		s.WriteString(" deleted")
	}
	if f.Binary {
		s.WriteString(" binary")
	}
	for _, l := range f.Lines {
		s.WriteString(" " + string(rune(l.Op)) + l.Text)
	}
	return s.String()
}

func TestParse(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"git": {`commit 0123
    a message

diff --git a/a.go b/a.go
index 1..2 100644
--- a/a.go
+++ b/a.go
@@ -1,3 +1,3 @@ func f
 one
-two
+zwei
 three
diff --git a/b.go b/b.go
--- a/b.go
+++ b/b.go
@@ -1 +1 @@
-x
+y
`, []string{"a.go  one -two +zwei  three", "b.go -x +y"}},
		"diff -u":                 {"--- a.txt\t2026-01-01 00:00:00\n+++ b.txt\t2026-01-02 00:00:00\n@@ -1 +1,2 @@\n x\n+y\n", []string{"b.txt was a.txt  x +y"}},
		"two of diff -u":          {"--- a\n+++ a\n@@ -1 +1 @@\n-x\n+y\n--- b\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", []string{"a -x +y", "b -x +y"}},
		"a new file":              {"diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n", []string{"n +x"}},
		"a deleted file":          {"diff --git a/n b/n\ndeleted file mode 100644\n--- a/n\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n", []string{"n deleted -x"}},
		"a deleted empty file":    {"diff --git a/n b/n\ndeleted file mode 100644\nindex 1..0\n", []string{"n deleted"}},
		"renamed":                 {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", []string{"y was x"}},
		"another mode":            {"diff --git a/run me b/run me\nold mode 100644\nnew mode 100755\n", []string{"run me"}},
		"binary":                  {"diff --git a/i.png b/i.png\nindex 1..2\nBinary files a/i.png and b/i.png differ\n", []string{"i.png binary"}},
		"odd names":               {"diff --git \"a/\\303\\244\\t.go\" \"b/\\303\\244\\t.go\"\n--- \"a/\\303\\244\\t.go\"\n+++ \"b/\\303\\244\\t.go\"\n@@ -1 +1 @@\n-x\n+y\n", []string{"ä\t.go -x +y"}},
		"lines like headers":      {"--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- b\n-diff --git a/c b/c\n+++ b\n+@@ -1 +1 @@\n", []string{"a --- b -diff --git a/c b/c +++ b +@@ -1 +1 @@"}},
		"no end of the last line": {"--- a\n+++ a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n", []string{"a -x +y"}},
		"lost spaces":             {"--- a\n+++ a\n@@ -1,3 +1,3 @@\n x\n\n-y\n+z\n", []string{"a  x   -y +z"}},
		"of Windows":              {"--- a\r\n+++ a\r\n@@ -1,2 +1,2 @@\r\n x\r\n-y\r\n+z\r\n", []string{"a  x -y +z"}},
	} {
		t.Run(name, func(t *testing.T) {
			files, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range files {
				got = append(got, short(f))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestNotADiff(t *testing.T) {
	for text, want := range map[string]string{
		"":                               `line 1: there is no file in it: a file begins with "diff --git a/NAME b/NAME", or with "--- NAME" and "+++ NAME"`,
		"hello\nworld":                   `line 1: there is no file in it: a file begins with "diff --git a/NAME b/NAME", or with "--- NAME" and "+++ NAME"`,
		"@@ -1 +1 @@\n-x\n+y":            "line 1: a hunk stands before the name of its file",
		"--- a\n+++ a\n@@ x @@\n":        "line 3: a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@",
		"--- a\n+++ a\n@@ -1 +1,-1 @@\n": "line 3: a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@",
		"--- a\n+++ a\n@@ -1 +1,99999999999999999999 @@\n":             "line 3: a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@",
		"--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n":                          "line 4: the diff ends in the middle of a hunk",
		"--- a\n+++ a\n@@ -1,2 +1,2 @@\n x\n?y\n":                      "line 5: expected 1 more lines of the old file and 1 of the new one",
		"--- a\n+++ a\n@@ -1 +1,2 @@\n-x\n-y\n":                        "line 5: expected 0 more lines of the old file and 2 of the new one",
		"--- a\n+++ a\n@@ -9 +9 @@\n-x\n+y\n@@ -1 +1 @@\n-x\n+y\n":     "line 6: the hunk begins at line 1, and the one before it ends at 10",
		"--- /dev/null\n+++ /dev/null\n@@ -1 +1 @@\n-x\n+y\n":          "line 3: a hunk stands before the name of its file",
		"diff --git a/x b/y\nindex 1..2\n@@ -1 +1 @@\n-x\n+y\n":        "line 3: a hunk stands before the name of its file",
		"--- a\n+++ a\n@@ -1,1073741825 +1,1073741825 @@\n x\n":        "line 3: a hunk begins with @@ -LINE,COUNT +LINE,COUNT @@",
		"--- a\n+++ a\n@@ -1 +1073741824,1 @@\n-x\n+y\n@@ -1 +1 @@\n-": "line 6: the hunk begins at line 1, and the one before it ends at 1073741825",
	} {
		files, err := Parse(text)
		if _, ok := errors.AsType[*SyntaxError](err); !ok || err.Error() != want {
			t.Errorf("%q: %v, %v\nwant %s", text, files, err, want)
		}
	}
}

func TestNumbered(t *testing.T) {
	files, err := Parse("--- a\n+++ a\n@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three\n@@ -9,2 +9 @@\n nine\n-ten\n")
	if err != nil {
		t.Fatal(err)
	}
	const want = "    1   one\n      - two\n    2 + zwei\n    3   three\n…\n    9   nine\n      - ten\n"
	if got := files[0].Numbered(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	for number, want := range map[int]bool{-1: false, 0: false, 1: true, 2: true, 3: true, 4: false, 9: true, 10: false} {
		if files[0].Has(number) != want {
			t.Errorf("line %d: %v", number, !want)
		}
	}
}

// What git itself writes of a folder is read.
func TestGit(t *testing.T) {
	dir := t.TempDir()
	git := func(arguments ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "init.defaultBranch=main"}, arguments...)...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", arguments, err, out)
		}
		return string(out)
	}
	for _, name := range []string{"plain.txt", "with space.txt", "ä.txt", "gone.txt"} {
		write(t, dir, name, "one\ntwo\nthree")
	}
	write(t, dir, "renamed.txt", "a\nb\nc\n")
	write(t, dir, "data.bin", "\x00\x01")
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "first")
	for _, name := range []string{"plain.txt", "with space.txt", "ä.txt"} {
		write(t, dir, name, "one\n2\nthree\nfour\n")
	}
	write(t, dir, "data.bin", "\x00\x02")
	git("rm", "-q", "gone.txt")
	git("mv", "renamed.txt", "other.txt")
	git("add", "-A")
	files, err := Parse(git("diff", "--cached", "-M"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, short(f))
	}
	slices.Sort(got)
	want := []string{
		"data.bin binary",
		"gone.txt deleted -one -two -three",
		"other.txt was renamed.txt",
		"plain.txt  one -two -three +2 +three +four",
		"with space.txt  one -two -three +2 +three +four",
		"ä.txt  one -two -three +2 +three +four",
	}
	if !slices.Equal(got, want) {
		t.Errorf("\n got %q\nwant %q", got, want)
	}
}

// Any text is read or refused, and what is read can be shown.
func FuzzParse(f *testing.F) {
	f.Add("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n x\n-y\n+z\n")
	f.Add("--- \"a\\t\"\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n")
	f.Add("diff --git a/x b/y\nrename from x\nrename to y\nGIT binary patch\n")
	f.Fuzz(func(t *testing.T, text string) {
		files, err := Parse(text)
		if err != nil {
			if e, ok := errors.AsType[*SyntaxError](err); !ok || e.Line < 1 || e.Line > strings.Count(text, "\n")+1 {
				t.Fatalf("%v", err)
			}
			return
		}
		lines := 0
		for _, f := range files {
			if f.Name == "" || !utf8.ValidString(f.Name) || f.Old == f.Name {
				t.Fatalf("%+v", f)
			}
			if shown := f.Numbered(); strings.Count(shown, "\n") < len(f.Lines) {
				t.Fatalf("%d lines shown as %q", len(f.Lines), shown)
			}
			last := 0
			for _, l := range f.Lines {
				if (l.Number == 0) != (l.Op == Removed) || l.Number > 0 && l.Number <= last {
					t.Fatalf("%+v after %d", l, last)
				}
				last = max(last, l.Number)
				if l.Number > 0 && !f.Has(l.Number) {
					t.Fatalf("%+v is not there", l)
				}
			}
			lines += len(f.Lines)
		}
		if lines > strings.Count(text, "\n")+1 {
			t.Fatalf("%d lines out of %q", lines, text)
		}
	})
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
