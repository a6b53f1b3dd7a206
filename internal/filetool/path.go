package filetool

import (
	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/below"
)

// clean returns p in the one form that the tools use, as [below.Clean] makes it.
func (f *folder) clean(p string) (string, error) {
	c, problem := below.Clean(p)
	switch problem {
	case below.TooLong:
		return "", parley.Errorf(parley.InvalidArgument, "a path of %d bytes is too long", len(p)).
			WithHint("write at most %d bytes", below.MaxPath)
	case below.NotText:
		return "", parley.Errorf(parley.InvalidArgument, "%s is not a path: it holds a zero byte or invalid UTF-8", quote(p))
	case below.Absolute:
		return "", parley.Errorf(Forbidden, "%s is absolute", quote(p)).WithHint("%s", f.relativeHint(p))
	case below.Outside:
		return "", parley.Errorf(Forbidden, "%s leads out of the folder", quote(p)).
			WithHint(`write a path that stays below the folder, such as "notes/today.md"`)
	}
	return c, nil
}

// cleanInside is clean for what cannot be the folder itself.
func (f *folder) cleanInside(p string) (string, error) {
	if p == "" {
		return "", parley.Errorf(parley.InvalidArgument, "the path is empty").
			WithHint(`write a path below the folder, such as "notes/today.md"`)
	}
	c, err := f.clean(p)
	if err == nil && c == "." {
		return "", parley.Errorf(Forbidden, "%s is the served folder itself", quote(p)).
			WithHint("name something inside it")
	}
	return c, err
}

// relativeHint names the path to write instead where an absolute one lies
// below the folder, as it does for callers used to other file servers.
func (f *folder) relativeHint(p string) string {
	rel, ok := below.Relative(f.dir, p)
	if !ok {
		return `write a path relative to the folder, such as "notes/today.md"`
	}
	return "write " + quote(rel) + " instead: paths are relative to the folder"
}

// quote is p for a message, which a path must not be able to flood.
func quote(p string) string { return below.Quote(p, 200) }
