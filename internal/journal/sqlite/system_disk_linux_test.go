package sqlite

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A journal's disk that is really full is told as one, and used again once there
// is room.
func TestFullFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a tmpfs; TestDiskFillsAnywhere has another full disk")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	j := open(t, Options{Path: filepath.Join(dir, "parley.db")})
	l, sink := openLog(t, j)
	l.Append(envelope(0))
	sink.WaitDurable(1)
	ballast := filepath.Join(dir, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 2<<20), 0o600); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling it: %v", err)
	}
	for n := range 40 {
		l.Append(envelope(1 + n))
	}
	if _, errs := sink.WaitFailed(1); !strings.Contains(errs[0].Error(), "the disk is full") {
		t.Errorf("the failure is told as %v", errs[0])
	}
	must(t, os.Remove(ballast))
	b, err := l.Recover(t.Context())
	must(t, err)
	l.Append(envelope(99))
	sink.WaitDurable(int(b.Last) + 1)
}
