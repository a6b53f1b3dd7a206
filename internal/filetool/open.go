package filetool

import (
	"io/fs"
	"os"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/below"
)

// openFile opens a regular file for reading. What is there is looked at before
// it is opened, since opening a device may already do something, and again
// afterwards, since it may have been exchanged in between.
func (f *folder) openFile(p string) (*os.File, fs.FileInfo, error) {
	return f.open(p, isFile)
}

// openDir is openFile for folders.
func (f *folder) openDir(p string) (*os.File, error) {
	d, _, err := f.open(p, isDir)
	return d, err
}

func (f *folder) open(p string, check func(string, fs.FileMode) error) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Stat(p)
	if err != nil {
		return nil, nil, f.explain(p, err)
	}
	if err := check(p, info.Mode()); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(p, os.O_RDONLY|below.Nonblock, 0)
	if err != nil {
		return nil, nil, f.explain(p, err)
	}
	info, err = file.Stat()
	if err == nil {
		err = check(p, info.Mode())
	}
	if err != nil {
		file.Close()
		return nil, nil, f.explain(p, err)
	}
	return file, info, nil
}

func isFile(p string, m fs.FileMode) error {
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return parley.Errorf(parley.InvalidArgument, "%s is a folder", quote(p)).
			WithHint("list_directory shows what is in it")
	}
	return parley.Errorf(Forbidden, "%s is not a regular file but a %s", quote(p), kindOf(m)).
		WithHint("only regular files are opened")
}

func isDir(p string, m fs.FileMode) error {
	if m.IsDir() {
		return nil
	}
	return parley.Errorf(parley.InvalidArgument, "%s is not a folder but a %s", quote(p), kindOf(m)).
		WithHint("read_file reads files; get_file_info describes anything")
}

// kindOf is what a mode is called in answers.
func kindOf(m fs.FileMode) string {
	switch m.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "symlink"
	case fs.ModeNamedPipe:
		return "pipe"
	case fs.ModeSocket:
		return "socket"
	}
	return "device"
}
