package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool"
)

// folder is a reviewer with a folder of files, and one beside it.
func folder(t *testing.T, files map[string]string) *reviewer {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(filepath.Join(dir, "served"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return &reviewer{root: root, atOnce: 2, tokens: 8000}
}

func reasons(left []leftOut) (list []string) {
	for _, l := range left {
		list = append(list, fmt.Sprint(clip(l.File, 20), " ", l.Reason))
	}
	return list
}

func names(parts []part) (list []string) {
	for _, p := range parts {
		list = append(list, p.file)
	}
	return list
}

func TestFilesOfTheFolder(t *testing.T) {
	r := folder(t, map[string]string{
		"served/a.go": "one\ntwo\n", "served/in/b.go": "x", "served/big": strings.Repeat("x", maxText+1), "served/data": "\xff", "served/nul": "a\x00b",
		"secret": "s",
	})
	if err := os.Symlink("../secret", filepath.Join(r.root.Name(), "link")); err != nil {
		t.Fatal(err)
	}
	var in input
	for _, name := range []string{"a.go", "in/b.go", "in/../a.go", "big", "data", "nul", "none", "in", "../secret", "link", filepath.Join(r.root.Name(), "a.go"), "a\x00b"} {
		in.Files = append(in.Files, source{Path: name})
	}
	parts, left, err := r.collect(in)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(parts); !slices.Equal(got, []string{"a.go", "in/b.go", "in/../a.go"}) {
		t.Errorf("parts are %q", got)
	}
	want := []string{"big too_large", "data not_text", "nul not_text", "none not_found", "in forbidden", "../secret forbidden", "link forbidden", clip(in.Files[10].Path, 20) + " forbidden", "a\x00b forbidden"}
	if got := reasons(left); !slices.Equal(got, want) {
		t.Errorf("left out are\n%q, want\n%q", got, want)
	}
	if parts[0].text != "    1   one\n    2   two\n" || !parts[0].has(2) || parts[0].has(3) || parts[0].has(0) {
		t.Errorf("a part is %q", parts[0].text)
	}
}

func TestFilesWithContent(t *testing.T) {
	r := &reviewer{}
	parts, left, err := r.collect(input{Files: []source{{"a.go", new("x\r\ny")}, {"empty", new("")}, {"bytes", new("\xff")}}})
	if err != nil || len(parts) != 1 || parts[0].text != "    1   x\n    2   y\n" {
		t.Errorf("%+v, %v", parts, err)
	}
	if got := reasons(left); !slices.Equal(got, []string{"empty nothing_new", "bytes not_text"}) {
		t.Errorf("left out are %q", got)
	}
}

func TestDiffs(t *testing.T) {
	diff := "diff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n" +
		"--- a\n+++ a\n@@ -1 +1,2 @@\n x\n+y\n" +
		"diff --git a/old b/new\nrename from old\nrename to new\n" +
		"--- gone\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n" +
		"--- big\n+++ big\n@@ -0,0 +1 @@\n+" + strings.Repeat("x", maxText) + "\n"
	parts, left, err := (&reviewer{}).collect(input{Diff: diff})
	if err != nil || len(parts) != 1 || parts[0].text != "    1   x\n    2 + y\n" || !parts[0].has(2) {
		t.Errorf("%+v, %v", parts, err)
	}
	if got, want := reasons(left), []string{"i.png binary", "new nothing_new", "gone nothing_new", "big too_large"}; !slices.Equal(got, want) {
		t.Errorf("left out are %q, want %q", got, want)
	}
}

func TestMistakesOfCallers(t *testing.T) {
	for name, c := range map[string]struct {
		in   input
		want tool.Code
		text string
	}{
		"nothing":        {input{}, tool.InvalidArgument, "give either diff or files"},
		"both":           {input{Diff: "x", Files: []source{{"a", new("")}}}, tool.InvalidArgument, "give either diff or files"},
		"no diff":        {input{Diff: "x"}, tool.InvalidArgument, "the diff cannot be read: line 1: there is no file in it"},
		"no folder":      {input{Files: []source{{Path: "a"}}}, tool.InvalidArgument, `"a" comes without content`},
		"no name":        {input{Files: []source{{"", new("")}}}, tool.InvalidPath, "a file has a path of 0 bytes"},
		"a long name":    {input{Files: []source{{strings.Repeat("x", 5000), new("")}}}, tool.InvalidPath, "a file has a path of 5000 bytes"},
		"a long diff":    {input{Diff: strings.Repeat("x", maxDiff+1)}, tool.TooLarge, "the diff has 4194305 bytes"},
		"too many files": {input{Files: make([]source, maxAll+1)}, tool.TooLarge, "there are 10001 files"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := (&reviewer{}).collect(c.in)
			if e, ok := errors.AsType[*tool.Error](err); !ok || e.Code != c.want || !strings.HasPrefix(e.Message, c.text) {
				t.Errorf("%v, want %s: %s…", err, c.want, c.text)
			}
		})
	}
}

func TestFindings(t *testing.T) {
	p := part{file: "a.go", has: func(n int) bool { return n >= 1 && n <= 9 }}
	a := answer{[]remark{{3, note, "n"}, {10, grave, "g"}, {1, warning, " \n"}, {0, warning, strings.Repeat("ä", maxMessage)}}}
	got := p.findings(a)
	if len(got) != 3 || got[0] != (finding{"a.go", 0, grave, "g"}) || got[1].Severity != warning || len(got[1].Message) > maxMessage+len("…") || got[2] != (finding{"a.go", 3, note, "n"}) {
		t.Errorf("%+v", got)
	}
	if got := p.findings(answer{slices.Repeat([]remark{{1, note, "n"}}, 60)}); len(got) != maxFindings {
		t.Errorf("%d findings", len(got))
	}
}
