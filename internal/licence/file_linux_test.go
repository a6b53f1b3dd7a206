package licence

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/parleyhq/parley/internal/response"
)

// A file that could not be read for want of something else is tried again,
// though it has not changed.
func TestOutOfDescriptors(t *testing.T) {
	r := open(t, publicPEM(t, keys().ed))
	r.put(sign(t, jwt.SigningMethodEdDSA, keys().ed, nil))
	long := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.path, long, long); err != nil {
		t.Fatal(err)
	}
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	during := r.Tier()
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if during != response.Community {
		t.Errorf("without descriptors the tier is %s", during)
	}
	r.want(response.Pro)
}
