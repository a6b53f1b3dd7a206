package source

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/tool"
)

// Root is a folder that is served. It is made by [Open].
type Root struct {
	dir     string // absolute; for hints only
	root    *os.Root
	escapes error // what os.Root says of links that lead out
}

// Open opens a folder. The error is a *[tool.Error]: invalid_path for what is
// no folder, and otherwise what the disk says.
func Open(dir string) (*Root, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", quote(dir), err)
	}
	root, err := os.OpenRoot(abs)
	if err != nil {
		return nil, tool.Errorf(tool.InvalidPath, "%s cannot be served: %w", quote(dir), below.Cause(err))
	}
	return &Root{dir: abs, root: root, escapes: below.Escapes(root)}, nil
}

// Close gives the folder back. Files that are being read are read to their end.
func (r *Root) Close() error { return r.root.Close() }

// Dir is the folder for what must be done by hand: writing, above all. Its
// methods keep within the folder too, and their errors go through [Root.Explain].
func (r *Root) Dir() *os.Root { return r.root }
