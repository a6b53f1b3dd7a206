//go:build unix

package unprivileged

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user id that owns nothing, on Linux and on macOS alike.
const nobody = 65534

// Run reports false where we are not root: the test goes on. For root it runs
// the test by itself in another process, as nobody, and takes over how it
// ended; then it reports true.
func Run(t *testing.T) bool {
	t.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	cmd := exec.Command(program(t), "-test.v", "-test.run", pattern(t.Name()))
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "TMPDIR=/tmp", "HOME=/", "GOCOVERDIR=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		t.Errorf("as nobody: %v\n%s", err, out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()):
		t.Errorf("as nobody it did not run:\n%s", out)
	}
	return true
}

// pattern matches this one test.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// program is a copy of the test binary where nobody can reach it.
func program(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "unprivileged")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "test")
	if err := copyFile(path, self); err != nil {
		t.Fatal(err)
	}
	return path
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if closing := out.Close(); err == nil {
		err = closing
	}
	return err
}
