//go:build unix

package response

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestPipeInTheFilesPlace sees that a named pipe which took the file's place
// between the look at it and the reading holds up nobody.
func TestPipeInTheFilesPlace(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		t.Skip(err)
	}
	got := make(chan sighting, 1)
	go func() { got <- read(path) }()
	select {
	case a := <-got:
		if a.fault != notRegular || a.info != nil {
			t.Errorf("it was seen as %+v", a)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it waits for somebody to write")
	}
}
