// Package built builds the programs that tests run as their users do, each of them
// once for all tests of a package.
//
//	func TestMain(m *testing.M) { built.Main(m) }
//
//	cmd := exec.Command(built.Program(t, "../../cmd/parley"), "up")
package built

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"go.uber.org/goleak"
)

// folder is where the programs are, until the tests have ended.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "parley-built-") })

// programs are functions that build, by what they build.
var programs sync.Map

// Main runs the tests, sees that no goroutine is left, and removes what was built.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		if dir, err := folder(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	}))
}

// Program is the path of the program whose package is in a folder, as the tests see
// that. It has the folder's name.
func Program(t testing.TB, pkg string) string {
	t.Helper()
	pkg, err := filepath.Abs(pkg)
	if err != nil {
		t.Fatal(err)
	}
	once, _ := programs.LoadOrStore(pkg, sync.OnceValues(func() (string, error) { return build(pkg) }))
	path, err := once.(func() (string, error))()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func build(pkg string) (string, error) {
	dir, err := folder()
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = pkg // it may be of another module than the tests
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building %s: %w\n%s", pkg, err, out)
	}
	return path, err
}
