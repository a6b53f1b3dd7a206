//go:build unix

package sqlite

import (
	"errors"
	"os"
)

// syncFolder brings the names in a folder to the disk.
func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
