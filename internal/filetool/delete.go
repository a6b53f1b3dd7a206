package filetool

import (
	"context"
	"errors"
	"io/fs"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

var deleteTool = &mcp.Tool{
	Name: "delete_file",
	Description: "Delete a file, a symbolic link (not what it leads to) or an empty folder. " +
		"A folder with content is refused unless recursive is true. There is no way back.",
	Annotations: changes("Delete a file", true, false),
}

type deleteInput struct {
	Path      string `json:"path" jsonschema:"what to delete, relative to the folder"`
	Recursive bool   `json:"recursive,omitempty" jsonschema:"delete a folder with everything in it; false by default"`
}

type deleteOutput struct {
	Path string `json:"path"`
	Type string `json:"type" jsonschema:"what it was: file, directory, symlink, pipe, socket or device"`
}

func (o *deleteOutput) render() []mcp.Content { return say("deleted the %s %s", o.Type, o.Path) }

func (f *folder) delete(ctx context.Context, in deleteInput) (*deleteOutput, error) {
	p, err := f.cleanInside(in.Path)
	if err != nil {
		return nil, err
	}
	f.changing.Lock()
	defer f.changing.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, f.explain(p, err)
	}
	info, err := f.root.Lstat(p)
	if err != nil {
		return nil, f.explain(p, err)
	}
	remove := f.root.Remove
	if in.Recursive {
		remove = f.root.RemoveAll
	}
	err = remove(p)
	// The system's error for a folder that is not empty counts as ErrExist.
	if info.IsDir() && errors.Is(err, fs.ErrExist) {
		return nil, parley.Errorf(NotEmpty, "the folder %s is not empty", quote(p)).
			WithHint("set recursive to true to delete everything in it")
	}
	if err != nil {
		return nil, f.explain(p, err)
	}
	return &deleteOutput{Path: p, Type: kindOf(info.Mode())}, nil
}
