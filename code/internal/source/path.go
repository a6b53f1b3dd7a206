package source

import (
	"github.com/parleyhq/parley/internal/below"
	"github.com/parleyhq/parley/tool"
)

// Clean returns p in the one form that is used everywhere: relative to the
// folder, with slashes, without "." and ".." elements. "" and "." are the
// folder itself, which is ".". It reads ".." as text, so that "a/../b" is "b"
// whatever a is.
//
// Errors have the code invalid_path.
func (r *Root) Clean(p string) (string, error) {
	c, problem := below.Clean(p)
	switch problem {
	case below.TooLong:
		return "", tool.Errorf(tool.InvalidPath, "a path of %d bytes is too long: write at most %d", len(p), below.MaxPath)
	case below.NotText:
		return "", tool.Errorf(tool.InvalidPath, "%s is not a path: it holds a zero byte or invalid UTF-8", quote(p))
	case below.Absolute:
		return "", tool.Errorf(tool.InvalidPath, "%s is absolute: write %s", quote(p), r.instead(p))
	case below.Outside:
		return "", tool.Errorf(tool.InvalidPath, `%s leads out of the folder: write a path below it, such as "pkg/server.go"`, quote(p))
	}
	return c, nil
}

// instead is what to write for an absolute path.
func (r *Root) instead(p string) string {
	rel, ok := below.Relative(r.dir, p)
	if !ok {
		return `a path relative to the folder, such as "pkg/server.go"`
	}
	return quote(rel) + ", which is relative to the folder"
}

// quote is p for a message, which a path must not be able to flood.
func quote(p string) string { return below.Quote(p, 120) }
