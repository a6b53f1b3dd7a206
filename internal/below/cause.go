package below

import (
	"errors"
	"io/fs"
	"os"
)

// Cause is err without the operation and the path around it: that path is of
// this machine.
func Cause(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[*os.LinkError](err); ok {
		return e.Err
	}
	return err
}

// Escapes is the Cause of what root says of links that lead out. The standard
// library does not export the error, so root is asked for one.
func Escapes(root *os.Root) error {
	_, err := root.Lstat("..")
	return Cause(err)
}
