package source

import (
	"context"
	"io"
	"io/fs"
	"os"

	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/tool"
)

// File is what a file was when it was read.
type File struct {
	Path string // as Clean makes it
	Info fs.FileInfo
	Data []byte
}

// Stat describes a regular file, links followed. Its errors are those of Read.
func (r *Root) Stat(p string) (string, fs.FileInfo, error) {
	c, err := r.Clean(p)
	if err != nil {
		return "", nil, err
	}
	info, err := r.root.Stat(c)
	if err == nil {
		err = isFile(c, info.Mode())
	}
	return c, info, r.Explain(c, err)
}

// Read reads a regular file of at most so many bytes.
//
// The codes of its errors: invalid_path for what is no path, leads out by ".."
// or names a folder; forbidden for links that lead out, for what is no regular
// file and where the disk denies it; not_found; too_large.
func (r *Root) Read(ctx context.Context, p string, most int64) (*File, error) {
	c, info, err := r.Stat(p)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := fits(c, info.Size(), most); err != nil {
		return nil, err
	}
	file, err := r.root.OpenFile(c, os.O_RDONLY|below.Nonblock, 0)
	if err != nil {
		return nil, r.Explain(c, err)
	}
	defer file.Close()
	f, err := read(c, file, most)
	return f, r.Explain(c, err)
}

// read looks again at what was opened: it may have been exchanged since.
func read(p string, file *os.File, most int64) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if err := isFile(p, info.Mode()); err != nil {
		return nil, err
	}
	if err := fits(p, info.Size(), most); err != nil {
		return nil, err
	}
	data := make([]byte, info.Size()+1)
	n, err := io.ReadFull(file, data)
	if err == nil { // it grows while it is read
		return nil, tool.Errorf(tool.ResourceExhausted, "%s changes while it is read: try again", quote(p))
	}
	if err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	return &File{Path: p, Info: info, Data: data[:n]}, nil
}

func fits(p string, size, most int64) error {
	if size > most {
		return tool.Errorf(tool.TooLarge, "%s has %d bytes, more than the %d that are read", quote(p), size, most)
	}
	return nil
}

func isFile(p string, m fs.FileMode) error {
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return tool.Errorf(tool.InvalidPath, "%s is a folder: name a file in it", quote(p))
	}
	return tool.Errorf(tool.Forbidden, "%s is not a regular file but a %s", quote(p), kindOf(m))
}

func kindOf(m fs.FileMode) string {
	switch m.Type() {
	case fs.ModeSymlink:
		return "symbolic link"
	case fs.ModeNamedPipe:
		return "named pipe"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}

func errNoFolder(p string) error {
	return tool.Errorf(tool.InvalidPath, "%s is not a folder", quote(p))
}
