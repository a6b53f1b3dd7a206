//go:build !linux && !darwin

package sqlite

// diskSpace is not known here.
func diskSpace(string) (size, free uint64, err error) { return 0, 0, nil }
