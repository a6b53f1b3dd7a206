package source

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/tool"
)

// room is a served folder with things to trip over, and a secret beside it.
func room(t testing.TB) (*Root, string) {
	t.Helper()
	top := t.TempDir()
	dir := filepath.Join(top, "served")
	put(t, filepath.Join(dir, "a.py"), "inside")
	put(t, filepath.Join(dir, "sub", "b.py"), "inside")
	put(t, filepath.Join(dir, "node_modules", "x", "c.js"), "theirs")
	put(t, filepath.Join(dir, ".git", "d.py"), "hidden")
	put(t, filepath.Join(top, "outside", "secret.py"), "secret")
	for name, target := range map[string]string{
		"absfile": filepath.Join(top, "outside", "secret.py"), "relfile": "../outside/secret.py",
		"abs": filepath.Join(top, "outside"), "rel": "../outside", "sub/up": "../../outside", "chain": "rel", "dots": "..",
		"circle": "circle", "dangling": "nowhere", "good": "sub", "goodfile.py": "sub/b.py",
	} {
		if err := os.Symlink(target, filepath.Join(dir, filepath.FromSlash(name))); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, dir
}

func put(t testing.TB, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func refused(t *testing.T, r *Root, p string, code tool.Code) {
	t.Helper()
	_, err := r.Read(t.Context(), p, 1000)
	if !errors.Is(err, &tool.Error{Code: code}) {
		t.Errorf("%.50q: %v, want %s", p, err, code)
		return
	}
	if len(err.Error()) > 400 || strings.Contains(err.Error(), "secret\n") {
		t.Errorf("%.50q: %v", p, err)
	}
}

func TestRead(t *testing.T) {
	r, _ := room(t)
	for _, p := range []string{"a.py", "./a.py", "sub/../a.py", "sub/b.py", "good/b.py", "goodfile.py", "no/../a.py"} {
		f, err := r.Read(t.Context(), p, 1000)
		if err != nil || string(f.Data) != "inside" {
			t.Errorf("%s: %v, %v", p, f, err)
		}
	}
}

func TestPathsThatLeadOut(t *testing.T) {
	r, dir := room(t)
	for _, p := range []string{
		"..", "../", "../outside/secret.py", "sub/../../outside/secret.py", "/", "/etc/passwd", "//a.py", filepath.Join(dir, "a.py"),
		"a\x00", "\xff", strings.Repeat("a/", below.MaxPath), "", ".", "sub", "good", "a.py/x", "circle", strings.Repeat("a", 300),
	} {
		refused(t, r, p, tool.InvalidPath)
	}
	for _, p := range []string{"absfile", "relfile", "abs/secret.py", "rel/secret.py", "sub/up/secret.py", "chain/secret.py", "good/up/secret.py", "dots/outside/secret.py"} {
		refused(t, r, p, tool.Forbidden)
	}
	refused(t, r, "dangling", tool.NotFound)
	refused(t, r, "missing.py", tool.NotFound)
}

func TestAbsolutePathsBelowTheFolderAreTranslated(t *testing.T) {
	r, dir := room(t)
	_, err := r.Clean(filepath.Join(dir, "sub", "b.py"))
	if err == nil || !strings.Contains(err.Error(), `write "sub/b.py"`) {
		t.Error(err)
	}
}

// What is no regular file is never opened: a pipe would wait for ever, and a
// device may do something.
func TestSpecialFiles(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("folders hold no such files here")
	}
	r, dir := room(t)
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.py"), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "socket.py"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	refused(t, r, "pipe.py", tool.Forbidden)
	refused(t, r, "socket.py", tool.Forbidden)
	if os.Symlink("/dev/zero", filepath.Join(dir, "device.py")) == nil {
		refused(t, r, "device.py", tool.Forbidden)
	}
}

func TestSizesAndRights(t *testing.T) {
	r, dir := room(t)
	put(t, filepath.Join(dir, "large.py"), strings.Repeat("secret\n", 200))
	refused(t, r, "large.py", tool.TooLarge)
	if os.Geteuid() != 0 {
		put(t, filepath.Join(dir, "mine.py"), "secret\n")
		if err := os.Chmod(filepath.Join(dir, "mine.py"), 0); err != nil {
			t.Fatal(err)
		}
		refused(t, r, "mine.py", tool.Forbidden)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, "a.py", 1000); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestOpenRefusesWhatIsNoFolder(t *testing.T) {
	_, dir := room(t)
	for _, p := range []string{filepath.Join(dir, "a.py"), filepath.Join(dir, "missing")} {
		if _, err := Open(p); !errors.Is(err, &tool.Error{Code: tool.InvalidPath}) {
			t.Errorf("%s: %v", p, err)
		}
	}
}

func TestFiles(t *testing.T) {
	r, _ := room(t)
	var got []string
	for e, err := range r.Files(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e.Path)
	}
	if want := "a.py sub/b.py"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %s", got, want)
	}
	for _, p := range []string{"missing", "../outside", "a.py", "rel"} {
		for _, err := range r.Files(t.Context(), p) {
			if _, ok := errors.AsType[*tool.Error](err); !ok {
				t.Errorf("%s: %v", p, err)
			}
		}
	}
}

// Whatever the path, the secret stays untold.
func FuzzRead(f *testing.F) {
	for _, p := range []string{"../outside/secret.py", "rel/secret.py", "dots/outside/secret.py", "good/up/secret.py", "a.py/..", "/etc/passwd", "chain/../rel/secret.py"} {
		f.Add(p)
	}
	r, _ := room(f)
	f.Fuzz(func(t *testing.T, p string) {
		file, err := r.Read(context.Background(), p, 1000)
		if err == nil && string(file.Data) == "secret" {
			t.Errorf("%q tells the secret", p)
		}
		if _, ok := errors.AsType[*tool.Error](err); err != nil && !ok {
			t.Errorf("%q: %v is no tool.Error", p, err)
		}
	})
}
