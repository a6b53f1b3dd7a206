package filetool

import (
	"context"
	"errors"
	"io/fs"
	"syscall"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/below"
)

// Codes of refused calls that have no counterpart on the wire. The others are
// [parley.InvalidArgument], [parley.NotFound], [parley.Unavailable] (the disk
// is full or read-only) and [parley.Internal].
const (
	// Forbidden is a path that leads out of the folder, a file that is none
	// (device, socket, named pipe), or missing permission on the disk.
	Forbidden parley.Code = "forbidden"
	// AlreadyExists is a name that is taken.
	AlreadyExists parley.Code = "already_exists"
	// NotEmpty is a folder that still holds something.
	NotEmpty parley.Code = "not_empty"
	// TooLarge is more than one answer may carry.
	TooLarge parley.Code = "too_large"
	// Cancelled is a call that was given up by its caller.
	Cancelled parley.Code = "cancelled"
)

// Codes lists every code that a refused call may begin with.
func Codes() []parley.Code {
	return []parley.Code{
		parley.InvalidArgument, parley.NotFound, Forbidden, AlreadyExists, NotEmpty,
		TooLarge, Cancelled, parley.Unavailable, parley.Internal,
	}
}

// A refusal is an error as the caller of a tool reads it.
type refusal struct{ err *parley.Error }

func (r refusal) Unwrap() error { return r.err }

func (r refusal) Error() string {
	if r.err.Hint == "" {
		return r.err.Error()
	}
	return r.err.Error() + "\n" + r.err.Hint
}

func asRefusal(err error) refusal {
	if e, ok := errors.AsType[*parley.Error](err); ok {
		return refusal{e}
	}
	return refusal{parley.Errorf(parley.Internal, "%v", below.Cause(err))}
}

// codeOnEveryRefusal gives a code to what the SDK itself refuses: arguments
// that do not fit a tool's schema.
func codeOnEveryRefusal(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		res, err := next(ctx, method, req)
		r, ok := res.(*mcp.CallToolResult)
		if err != nil || !ok || r.GetError() == nil {
			return res, err
		}
		if _, ok := errors.AsType[refusal](r.GetError()); !ok {
			r.Content = nil
			r.SetError(asRefusal(parley.Errorf(parley.InvalidArgument, "%v", r.GetError()).
				WithHint("tools/list shows the arguments of each tool")))
		}
		return r, nil
	}
}

// explain turns what the file system said about the path p into a refusal. It
// never repeats the file system's own path: that one is of this machine.
func (f *folder) explain(p string, err error) error {
	if _, ok := errors.AsType[*parley.Error](err); ok {
		return err
	}
	cause := below.Cause(err)
	for _, row := range []struct {
		is      error
		code    parley.Code
		message string
		hint    string
	}{
		{f.escapes, Forbidden, "leads out of the folder through a symbolic link", "write the path of something that lies below the folder itself"},
		{context.Canceled, Cancelled, "was given up by the caller", ""},
		{context.DeadlineExceeded, Cancelled, "took longer than the caller allows", ""},
		{syscall.ENOTDIR, parley.InvalidArgument, "goes through something that is not a folder", "list_directory shows what is there"},
		{syscall.EISDIR, parley.InvalidArgument, "is a folder", "name a file"},
		{syscall.ENAMETOOLONG, parley.InvalidArgument, "has a name that is too long for the disk", "most disks take names of up to 255 bytes"},
		{syscall.ELOOP, parley.InvalidArgument, "goes through symbolic links that lead in a circle", "write the path of a real file or folder"},
		{syscall.EXDEV, parley.InvalidArgument, "lies on another disk than its destination", "read it, write it there and delete it here"},
		{syscall.ENOSPC, parley.Unavailable, "does not fit: the disk is full", "delete something first"},
		{syscall.EDQUOT, parley.Unavailable, "does not fit: the disk quota is used up", "delete something first"},
		{syscall.EROFS, parley.Unavailable, "cannot be changed: the disk is read-only", ""},
		{fs.ErrNotExist, parley.NotFound, "does not exist", "list_directory and search_files show what is there"},
		{fs.ErrPermission, Forbidden, "may not be touched: the disk denies permission", ""},
		{fs.ErrExist, AlreadyExists, "is taken", "choose another name"},
	} {
		if errors.Is(cause, row.is) {
			return parley.Errorf(row.code, "%s %s", quote(p), row.message).WithHint("%s", row.hint)
		}
	}
	return parley.Errorf(parley.Internal, "%s: %v", quote(p), cause)
}
