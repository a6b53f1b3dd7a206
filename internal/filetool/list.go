package filetool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxEntries is how many names one listing shows.
const maxEntries = 1000

var listTool = &mcp.Tool{
	Name: "list_directory",
	Description: fmt.Sprintf("List what is in a folder, sorted by name, up to %d names in one answer. "+
		"Where the answer was cut, truncated is true: call again with after set to the last name.", maxEntries),
	Annotations: reads("List a folder"),
}

type listInput struct {
	Path  string `json:"path,omitempty" jsonschema:"the folder, relative to the served folder, which is the default"`
	After string `json:"after,omitempty" jsonschema:"list only names that sort after this one"`
}

type listOutput struct {
	Path      string  `json:"path"`
	Entries   []entry `json:"entries"`
	Truncated bool    `json:"truncated,omitempty" jsonschema:"more names follow the last one"`
}

type entry struct {
	Name string `json:"name"`
	Type string `json:"type" jsonschema:"file, directory, symlink, pipe, socket or device"`
	Size int64  `json:"size,omitempty" jsonschema:"bytes, of a file"`
}

func (o *listOutput) render() []mcp.Content {
	var b strings.Builder
	for _, e := range o.Entries {
		fmt.Fprintf(&b, "[%s] %s\n", label(e.Type), e.Name)
	}
	if len(o.Entries) == 0 {
		b.WriteString("(nothing)\n")
	}
	if o.Truncated {
		fmt.Fprintf(&b, "(cut here: call again with after=%q)\n", o.Entries[len(o.Entries)-1].Name)
	}
	return say("%s", strings.TrimSuffix(b.String(), "\n"))
}

func label(kind string) string {
	if kind == "directory" {
		return "DIR"
	}
	return strings.ToUpper(kind)
}

func (f *folder) list(ctx context.Context, in listInput) (*listOutput, error) {
	p, err := f.clean(in.Path)
	if err != nil {
		return nil, err
	}
	dir, err := f.openDir(p)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	found, err := firstNames(ctx, dir, in.After, maxEntries+1)
	if err != nil {
		return nil, f.explain(p, err)
	}
	out := &listOutput{Path: p, Entries: []entry{}, Truncated: len(found) > maxEntries}
	for _, d := range found[:min(len(found), maxEntries)] {
		out.Entries = append(out.Entries, f.entry(p, d))
	}
	return out, nil
}

// entry asks through the root for the size: a DirEntry's own Info goes by the
// folder's name, which may mean something else by now.
func (f *folder) entry(dir string, d fs.DirEntry) entry {
	e := entry{Name: strings.ToValidUTF8(d.Name(), "\uFFFD"), Type: kindOf(d.Type())}
	if d.Type().IsRegular() {
		if info, err := f.root.Lstat(path.Join(dir, d.Name())); err == nil {
			e.Size = info.Size()
		}
	}
	return e
}

// firstNames returns the first n entries of dir after the given name, in
// order, and never holds many more than that.
func firstNames(ctx context.Context, dir *os.File, after string, n int) ([]fs.DirEntry, error) {
	var kept []fs.DirEntry
	shrink := func() {
		slices.SortFunc(kept, byName)
		kept = kept[:min(n, len(kept))]
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		batch, err := dir.ReadDir(1024)
		for _, d := range batch {
			if after == "" || d.Name() > after {
				kept = append(kept, d)
			}
		}
		if len(kept) > 4*n {
			shrink()
		}
		if errors.Is(err, io.EOF) {
			shrink()
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func byName(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }
