//go:build !unix

package sqlite

// noRoom has nothing to add to what SQLite is told here.
func noRoom(error) bool { return false }
