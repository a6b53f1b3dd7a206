package filetool

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

var writeTool = &mcp.Tool{
	Name: "write_file",
	Description: "Write a whole file: it is created, or replaced if it exists. Missing folders on the way are created. " +
		"The file has either its old or its new content, never a part. For bytes that are not text, set encoding to base64.",
	Annotations: changes("Write a file", true, true),
}

type writeInput struct {
	Path     string `json:"path" jsonschema:"the file, relative to the folder"`
	Content  string `json:"content" jsonschema:"the new content, all of it"`
	Encoding string `json:"encoding,omitempty" jsonschema:"how content is given: utf-8 (default) or base64"`
}

type writeOutput struct {
	Path    string `json:"path"`
	Bytes   int    `json:"bytes" jsonschema:"size of the file now"`
	Created bool   `json:"created" jsonschema:"whether the file is new"`
}

func (o *writeOutput) render() []mcp.Content {
	if o.Created {
		return say("created %s, %d bytes", o.Path, o.Bytes)
	}
	return say("replaced %s, %d bytes now", o.Path, o.Bytes)
}

func (in writeInput) bytes() ([]byte, error) {
	switch in.Encoding {
	case "", "utf-8":
		return []byte(in.Content), nil
	case "base64":
		b, err := base64.StdEncoding.DecodeString(in.Content)
		if err != nil {
			return nil, parley.Errorf(parley.InvalidArgument, "content is not base64: %v", err)
		}
		return b, nil
	}
	return nil, parley.Errorf(parley.InvalidArgument, "there is no encoding %s", quote(in.Encoding)).
		WithHint("utf-8 or base64")
}

func (f *folder) write(ctx context.Context, in writeInput) (*writeOutput, error) {
	p, err := f.cleanInside(in.Path)
	if err != nil {
		return nil, err
	}
	if strings.HasSuffix(in.Path, "/") {
		return nil, parley.Errorf(parley.InvalidArgument, "%s names a folder", quote(in.Path)).
			WithHint("name a file, or use create_directory")
	}
	data, err := in.bytes()
	if err != nil {
		return nil, err
	}
	// Refuse before anything is made; it is looked at again when it counts.
	if _, err := f.replaceable(p); err != nil {
		return nil, err
	}
	if err := f.makeParents(p); err != nil {
		return nil, err
	}
	created, err := f.replace(ctx, p, data)
	if err != nil {
		return nil, f.explain(p, err)
	}
	return &writeOutput{Path: p, Bytes: len(data), Created: created}, nil
}

// replaceable returns what a write to p would replace, nil for nothing, and
// refuses whatever is not a regular file.
func (f *folder) replaceable(p string) (fs.FileInfo, error) {
	info, err := f.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, f.explain(p, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, parley.Errorf(Forbidden, "%s is a symbolic link, and links are not written through", quote(p)).
			WithHint("write to the file that it leads to, or delete the link first")
	case info.IsDir():
		return nil, parley.Errorf(parley.InvalidArgument, "%s is a folder", quote(p)).
			WithHint("name a file in it")
	}
	return info, isFile(p, info.Mode())
}

func (f *folder) makeParents(p string) error {
	dir := path.Dir(p)
	if dir == "." {
		return nil
	}
	return f.makeFolder(dir)
}

// replace puts data in p's place in one step: it is written beside p, brought
// to disk and renamed.
func (f *folder) replace(ctx context.Context, p string, data []byte) (created bool, err error) {
	temp := path.Join(path.Dir(p), ".parley-"+rand.Text()+".tmp")
	file, err := f.root.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return false, err
	}
	defer func() {
		if err != nil {
			f.root.Remove(temp)
		}
	}()
	if err := fillFile(ctx, file, data); err != nil {
		file.Close()
		return false, err
	}

	f.changing.Lock()
	defer f.changing.Unlock()
	old, err := f.replaceable(p)
	if err == nil && old != nil {
		err = file.Chmod(old.Mode().Perm())
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	return old == nil, f.root.Rename(temp, p)
}

// fillFile writes in pieces, so that a call that was given up stops.
func fillFile(ctx context.Context, file *os.File, data []byte) error {
	const piece = 1 << 20
	for len(data) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := file.Write(data[:min(piece, len(data))])
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		data = data[n:]
	}
	return file.Sync()
}
