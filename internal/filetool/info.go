package filetool

import (
	"context"
	"net/url"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var infoTool = &mcp.Tool{
	Name:        "get_file_info",
	Description: "Describe a file or folder without opening it: type, size, time of the last change, permissions. A symbolic link is described itself.",
	Annotations: reads("Describe a file"),
}

type infoInput struct {
	Path string `json:"path" jsonschema:"the file or folder, relative to the served folder"`
}

type infoOutput struct {
	Path        string    `json:"path"`
	Type        string    `json:"type" jsonschema:"file, directory, symlink, pipe, socket or device"`
	Size        int64     `json:"size" jsonschema:"bytes; of no meaning for what is not a file"`
	Modified    time.Time `json:"modified"`
	Permissions string    `json:"permissions" jsonschema:"as in rw-r--r--"`
}

func (o *infoOutput) render() []mcp.Content {
	return say("%s: %s, %d bytes, changed %s, %s", o.Path, o.Type, o.Size, o.Modified.Format(time.RFC3339), o.Permissions)
}

func (f *folder) info(ctx context.Context, in infoInput) (*infoOutput, error) {
	p, err := f.clean(in.Path)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, f.explain(p, err)
	}
	info, err := f.root.Lstat(p)
	if err != nil {
		return nil, f.explain(p, err)
	}
	return &infoOutput{
		Path:        p,
		Type:        kindOf(info.Mode()),
		Size:        info.Size(),
		Modified:    info.ModTime().UTC(),
		Permissions: info.Mode().Perm().String()[1:],
	}, nil
}

// relativeURI names a file without telling where on this machine it lies.
func relativeURI(p string) string {
	return (&url.URL{Scheme: "file", Path: "/" + p}).String()
}
