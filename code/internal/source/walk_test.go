package source

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parleyhq/parley/internal/unprivileged"
)

func found(t *testing.T, r *Root, dir string) (files, leftOut []string) {
	t.Helper()
	for e, err := range r.Files(t.Context(), dir) {
		switch {
		case err != nil:
			t.Fatal(err)
		case e.LeftOut:
			leftOut = append(leftOut, e.Path)
		default:
			files = append(files, e.Path)
		}
	}
	return files, leftOut
}

// A chain of folders must neither take long nor be passed over in silence.
func TestFilesOfAChainOfFolders(t *testing.T) {
	r, dir := room(t)
	at := r.Dir()
	for range 1_000 { // one after the other, since no path may be as long
		if err := at.Mkdir("d", 0o755); err != nil {
			t.Fatal(err)
		}
		next, err := at.OpenRoot("d")
		if err != nil {
			t.Fatal(err)
		}
		if at != r.Dir() {
			at.Close()
		}
		at = next
	}
	at.Close()
	deepest := strings.Repeat("d/", maxDepth-1) + "d"
	put(t, filepath.Join(dir, filepath.FromSlash(deepest), "last.py"), "")
	put(t, filepath.Join(dir, filepath.FromSlash(deepest), "d", "beyond.py"), "")
	start := time.Now()
	files, leftOut := found(t, r, "d")
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	if strings.Join(files, " ") != deepest+"/last.py "+deepest+"/d/beyond.py" || strings.Join(leftOut, " ") != deepest+"/d/d" {
		t.Errorf("found %.300q, left out %.300q", files, leftOut)
	}
	if Skips(deepest) || !Skips(deepest+"/d") {
		t.Error("a search from the top goes another way down than is said")
	}
	if files, leftOut := found(t, r, ""); len(files) != 3 || len(leftOut) != 1 {
		t.Errorf("from the top: found %.300q, left out %.300q", files, leftOut)
	}
}

func TestFilesTellsWhatCannotBeRead(t *testing.T) {
	if unprivileged.Run(t) { // the disk denies root nothing
		return
	}
	r, dir := room(t)
	if err := os.Chmod(filepath.Join(dir, "sub"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(filepath.Join(dir, "sub"), 0o755) })
	if files, leftOut := found(t, r, ""); strings.Join(files, " ") != "a.py" || strings.Join(leftOut, " ") != "sub" {
		t.Errorf("found %q, left out %q", files, leftOut)
	}
}

func TestFilesBeginsWhereASearchWouldNotGo(t *testing.T) {
	r, _ := room(t)
	for dir, skips := range map[string]bool{".": false, "sub": false, "node_modules": true, "node_modules/x": true, ".git": true, "sub/vendor/y": true} {
		if Skips(dir) != skips {
			t.Errorf("a search leaves out %s: %v", dir, !skips)
		}
	}
	if files, _ := found(t, r, "node_modules"); strings.Join(files, " ") != "node_modules/x/c.js" {
		t.Errorf("found %q", files)
	}
}
