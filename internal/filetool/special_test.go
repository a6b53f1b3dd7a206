//go:build unix

package filetool

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/internal/unprivileged"
)

// None of these calls may wait for a writer that never comes.
func TestSpecialFilesAreNotOpened(t *testing.T) {
	r := newRoom(t, nil)
	r.put("a.txt", "needle")
	if err := syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o644); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if err := os.Symlink("fifo", filepath.Join(r.dir, "link")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{"fifo", "link"} {
		if got := r.refused("forbidden", "read_file", args{"path": p}); !strings.Contains(got, "pipe") {
			t.Errorf("%q", got)
		}
		r.refused("invalid_argument", "list_directory", args{"path": p})
		r.refused("forbidden", "write_file", args{"path": p, "content": "x"})
		r.refused("invalid_argument", "search_files", args{"path": p, "text": "x"})
	}
	r.refused("invalid_argument", "read_file", args{"path": "fifo/below"})
	r.refused("invalid_argument", "write_file", args{"path": "fifo/below/deeper", "content": "x"})
	if got, want := text(r.do("search_files", args{"text": "needle"})), "a.txt:1: needle"; got != want {
		t.Errorf("got %q", got)
	}
	if got := text(r.do("list_directory", nil)); got != "[FILE] a.txt\n[PIPE] fifo\n[SYMLINK] link" {
		t.Errorf("got %q", got)
	}
	ok[moveOutput](r, "move_file", args{"source": "fifo", "destination": "moved"})
	if got := ok[deleteOutput](r, "delete_file", args{"path": "moved"}); got.Type != "pipe" {
		t.Errorf("%+v", got)
	}
}

// A pipe that takes a file's place after it was looked at does not hang the
// open either.
func TestOpenDoesNotWait(t *testing.T) {
	r := newRoom(t, nil)
	if err := syscall.Mkfifo(filepath.Join(r.dir, "fifo"), 0o644); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	f, err := openFolder(r.dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	file, err := f.root.OpenFile("fifo", os.O_RDONLY|below.Nonblock, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.Close()
}

func TestSocketsAreNotOpened(t *testing.T) {
	r := newRoom(t, nil)
	dir, err := os.MkdirTemp("", "ft") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	l, err := net.Listen("unix", filepath.Join(dir, "s"))
	if err != nil {
		t.Skipf("no sockets here: %v", err)
	}
	defer l.Close()
	if err := os.Rename(filepath.Join(dir, "s"), filepath.Join(r.dir, "socket")); err != nil {
		t.Skipf("cannot move a socket here: %v", err)
	}
	r.refused("forbidden", "read_file", args{"path": "socket"})
}

func TestNewDoesNotWaitForAPipe(t *testing.T) {
	p := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(p, 0o644); err != nil {
		t.Skipf("no named pipes here: %v", err)
	}
	if _, err := New(p, nil); err == nil || !strings.HasPrefix(err.Error(), "invalid_argument: ") {
		t.Errorf("%v", err)
	}
}

func TestMissingPermission(t *testing.T) {
	if unprivileged.Run(t) {
		return
	}
	r := newRoom(t, nil)
	r.put("closed", "x")
	if err := os.Chmod(filepath.Join(r.dir, "closed"), 0); err != nil {
		t.Fatal(err)
	}
	r.refused("forbidden", "read_file", args{"path": "closed"})
}

// Names that are not UTF-8 are shown as well as they can be.
func TestNamesThatAreNotUTF8(t *testing.T) {
	r := newRoom(t, nil)
	if err := os.WriteFile(filepath.Join(r.dir, "bad\xffname"), []byte("needle"), 0o644); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	if got := text(r.do("list_directory", nil)); got != "[FILE] bad\uFFFDname" {
		t.Errorf("got %q", got)
	}
	if got := text(r.do("search_files", args{"text": "needle"})); got != "bad\uFFFDname:1: needle" {
		t.Errorf("got %q", got)
	}
}
