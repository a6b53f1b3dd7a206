package sqlite

import (
	"errors"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parleyhq/parley"
)

// A disk that is really full is told as one.
func TestBackupOnAFullFileSystem(t *testing.T) {
	path := filled(t, 1000)
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=256k"); errors.Is(err, syscall.EPERM) {
		t.Skip("only root may mount a tmpfs; TestBackupOnAFullDisk has another full disk")
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	_, err := Backup(t.Context(), path, filepath.Join(dir, "b.db"), true, CopyOptions{})
	wants(t, err, parley.Unavailable, "the disk is full")
	alone(t, dir)
}
