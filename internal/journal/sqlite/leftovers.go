package sqlite

import (
	"os"
	"path/filepath"
	"regexp"
)

// draftFiles are the names that drafts and what SQLite makes beside them have.
var draftFiles = regexp.MustCompile(`^\.parley-[0-9]+\.partial(-journal|-wal|-shm)?$`)

// removeDrafts removes the drafts in a folder. What cannot be removed belongs to
// somebody else.
func removeDrafts(folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.Type().IsRegular() && draftFiles.MatchString(e.Name()) {
			_ = os.Remove(filepath.Join(folder, e.Name()))
		}
	}
}
