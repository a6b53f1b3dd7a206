//go:build linux || darwin

package sqlite

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// holdFolder removes the drafts in a folder that somebody left who was killed,
// and keeps others from taking one that is made now for one of those, until the
// file is closed that it returns. Whoever makes a draft shares a lock on the
// folder, which ends with the process: who gets it alone is alone. It is on the
// folder, not on the draft, since SQLite locks that.
func holdFolder(path string) (*os.File, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	fd := int(folder.Fd())
	if syscall.Flock(fd, syscall.LOCK_EX|syscall.LOCK_NB) == nil {
		removeDrafts(path)
	}
	// Another one that tidies up has the lock for a moment. Who has it for longer
	// does something else with the folder, and is not waited for.
	for end := time.Now().Add(2 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(fd, syscall.LOCK_SH|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || time.Now().After(end) {
			return folder, nil // without locks nothing is removed either
		}
	}
}
