//go:build !unix

package sqlite

// syncFolder has nothing to do where a folder cannot be synced; the file system
// keeps its names by itself.
func syncFolder(string) error { return nil }
