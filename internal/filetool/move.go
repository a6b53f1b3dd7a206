package filetool

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
)

var moveTool = &mcp.Tool{
	Name: "move_file",
	Description: "Move or rename a file or folder. Missing folders on the way to the destination are created. " +
		"A destination that exists is refused, unless overwrite is true and it is not a folder.",
	Annotations: changes("Move a file", true, false),
}

type moveInput struct {
	Source      string `json:"source" jsonschema:"what to move, relative to the folder"`
	Destination string `json:"destination" jsonschema:"its new path, relative to the folder, with its new name"`
	Overwrite   bool   `json:"overwrite,omitempty" jsonschema:"replace a file at the destination; false by default"`
}

type moveOutput struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
	Overwritten bool   `json:"overwritten" jsonschema:"whether something was replaced"`
}

func (o *moveOutput) render() []mcp.Content {
	if o.Overwritten {
		return say("moved %s to %s, replacing what was there", o.Source, o.Destination)
	}
	return say("moved %s to %s", o.Source, o.Destination)
}

func (f *folder) move(ctx context.Context, in moveInput) (*moveOutput, error) {
	src, err := f.cleanInside(in.Source)
	if err != nil {
		return nil, err
	}
	dst, err := f.cleanInside(in.Destination)
	if err != nil {
		return nil, err
	}
	if dst == src || strings.HasPrefix(dst, src+"/") {
		return nil, parley.Errorf(parley.InvalidArgument, "%s cannot be moved onto or into itself", quote(src)).
			WithHint("choose a destination outside it")
	}
	if _, err := f.root.Lstat(src); err != nil {
		return nil, f.explain(src, err)
	}
	if err := f.makeParents(dst); err != nil {
		return nil, err
	}

	f.changing.Lock()
	defer f.changing.Unlock()
	if err := ctx.Err(); err != nil {
		return nil, f.explain(src, err)
	}
	taken, err := f.taken(dst, in.Overwrite)
	if err != nil {
		return nil, err
	}
	if err := f.root.Rename(src, dst); err != nil {
		return nil, f.explainMove(src, dst, err)
	}
	return &moveOutput{Source: src, Destination: dst, Overwritten: taken}, nil
}

// taken says whether p exists, and refuses where it may not.
func (f *folder) taken(p string, overwrite bool) (bool, error) {
	info, err := f.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, f.explain(p, err)
	case info.IsDir():
		return false, parley.Errorf(AlreadyExists, "%s is a folder that exists", quote(p)).
			WithHint("name a path inside it, or delete it first: folders are not overwritten")
	case !overwrite:
		return false, parley.Errorf(AlreadyExists, "%s exists", quote(p)).
			WithHint("choose another destination, or set overwrite to true")
	}
	return true, nil
}

// explainMove says which of the two paths is at fault.
func (f *folder) explainMove(src, dst string, err error) error {
	if _, gone := f.root.Lstat(src); gone != nil {
		return f.explain(src, gone)
	}
	return f.explain(dst, err)
}
