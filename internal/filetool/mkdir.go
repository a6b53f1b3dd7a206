package filetool

import (
	"context"
	"errors"
	"io/fs"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

var mkdirTool = &mcp.Tool{
	Name:        "create_directory",
	Description: "Create a folder and the missing folders on the way. A folder that exists is left as it is.",
	Annotations: changes("Create a folder", false, true),
}

type mkdirInput struct {
	Path string `json:"path" jsonschema:"the folder to create, relative to the served folder"`
}

type mkdirOutput struct {
	Path string `json:"path"`
}

func (o *mkdirOutput) render() []mcp.Content { return say("%s is a folder now", o.Path) }

func (f *folder) mkdir(ctx context.Context, in mkdirInput) (*mkdirOutput, error) {
	p, err := f.cleanInside(in.Path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, f.explain(p, err)
	}
	if err := f.makeFolder(p); err != nil {
		return nil, err
	}
	return &mkdirOutput{Path: p}, nil
}

func (f *folder) makeFolder(p string) error {
	err := f.root.MkdirAll(p, 0o777)
	if errors.Is(err, fs.ErrExist) {
		return parley.Errorf(AlreadyExists, "%s exists and is not a folder", quote(p)).
			WithHint("choose another name, or move what is there")
	}
	if err != nil {
		return f.explain(p, err)
	}
	return nil
}
