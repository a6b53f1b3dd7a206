package codetools

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley/tool"
)

// TestUpdateSweepsWhatOthersLeft puts files there as a process leaves them that
// is killed.
func TestUpdateSweepsWhatOthersLeft(t *testing.T) {
	p, dir := folderWith(t, map[string]string{
		"a.py":                           "def f(): return 0\n",
		backups + "/.parley-OLD.tmp":     "old",
		backups + "/.parley-NEW.tmp":     "new",
		backups + "/.parley-OTHER.keep":  "not ours",
		backups + "/.parley-X.tmp/x.tmp": "a folder",
	})
	hourAgo := time.Now().Add(-time.Hour)
	for _, name := range []string{".parley-OLD.tmp", ".parley-OTHER.keep", ".parley-X.tmp"} {
		if err := os.Chtimes(filepath.Join(dir, backups, name), hourAgo, hourAgo); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := p.update(t, UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"}); err != nil {
		t.Fatal(err)
	}
	var left []string
	entries, err := os.ReadDir(filepath.Join(dir, backups))
	for _, e := range entries {
		left = append(left, e.Name())
	}
	if got, want := strings.Join(left, " "), ".gitignore .parley-NEW.tmp .parley-OTHER.keep .parley-X.tmp a.py"; got != want || err != nil {
		t.Errorf("there are %q, want %q (%v)", got, want, err)
	}
}

// TestUpdateWritesNothingBesideTheSource lets nothing be made beside the source,
// which only root can do all the same.
func TestUpdateWritesNothingBesideTheSource(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"pkg/a.py": "def f(): return 0\n"})
	old, err := p.updatable(t.Context(), UpdateIn{Path: "pkg/a.py"})
	if err != nil {
		t.Fatal(err)
	}
	pkg := filepath.Join(dir, "pkg")
	if err := os.Chmod(pkg, 0o555); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(pkg, 0o755) })
	_ = p.replaceFile(t.Context(), old, []byte("def f(): return 1\n"))
	entries, err := os.ReadDir(pkg)
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the source there are %v, %v", entries, err)
	}
	entries, err = os.ReadDir(filepath.Join(dir, backups))
	if err != nil || len(entries) != 0 {
		t.Errorf("among the backups %v were left, %v", entries, err)
	}
}

func TestUpdateNeedsAFolderForBackups(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def f(): return 0\n", ".parley": "a file"})
	_, err := p.update(t, UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"})
	if e := refusedWith(t, err, tool.Forbidden); !strings.Contains(e.Message, "backed up") {
		t.Errorf("it says %q", e.Message)
	}
	if contentOf(t, dir, "a.py") != "def f(): return 0\n" {
		t.Error("it was written without a backup")
	}
}

func TestUpdateKeepsTheOwner(t *testing.T) {
	p, dir := folderWith(t, map[string]string{"a.py": "def f(): return 0\n"})
	name := filepath.Join(dir, "a.py")
	if err := os.Chown(name, 1234, 2345); err != nil {
		return // only root gives files away
	}
	if _, err := p.update(t, UpdateIn{Path: "a.py", Symbol: "f", Code: "def f(): return 1"}); err != nil {
		t.Fatal(err)
	}
	out, err := exec.CommandContext(t.Context(), "stat", "-c", "%u:%g", name).Output()
	if err != nil || string(out) != "1234:2345\n" {
		t.Errorf("the file belongs to %q, %v", out, err)
	}
}
