package source

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/tool"
)

// Explain turns what the file system said of the path p into a *[tool.Error].
// Errors that are one already, and those of a context, stay as they are.
func (r *Root) Explain(p string, err error) error {
	if _, ok := errors.AsType[*tool.Error](err); ok || err == nil {
		return err
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	cause := below.Cause(err)
	for _, row := range []struct {
		is      error
		code    tool.Code
		message string
	}{
		{r.escapes, tool.Forbidden, "leads out of the folder through a symbolic link"},
		{syscall.ENOTDIR, tool.InvalidPath, "goes through something that is not a folder"},
		{syscall.EISDIR, tool.InvalidPath, "is a folder"},
		{syscall.ENAMETOOLONG, tool.InvalidPath, "has a name that is too long for the disk"},
		{syscall.ELOOP, tool.InvalidPath, "goes through symbolic links that lead in a circle"},
		{syscall.EINVAL, tool.InvalidPath, "is not a path that the disk understands"},
		{syscall.ENOSPC, tool.ResourceExhausted, "does not fit: the disk is full"},
		{syscall.EDQUOT, tool.ResourceExhausted, "does not fit: the disk quota is used up"},
		{syscall.EMFILE, tool.ResourceExhausted, "cannot be opened: too many files are open"},
		{syscall.EROFS, tool.Forbidden, "cannot be changed: the disk is read-only"},
		{fs.ErrNotExist, tool.NotFound, "does not exist"},
		{fs.ErrPermission, tool.Forbidden, "may not be touched: the disk denies permission"},
	} {
		if row.is != nil && errors.Is(cause, row.is) {
			return tool.Errorf(row.code, "%s %s", quote(p), row.message)
		}
	}
	return tool.Errorf(tool.InternalError, "%s: %w", quote(p), cause)
}
