package filetool

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

// maxPath bounds a path, in bytes, so that no call makes us walk for long.
const maxPath = 4096

// clean returns p in the one form that the tools use: relative, with slashes,
// without "." and ".." elements; "." is the folder itself. An empty p means
// the folder.
//
// It reads ".." as text, before any symbolic link is followed, so that "a/../b"
// is always "b".
func (f *folder) clean(p string) (string, error) {
	switch {
	case len(p) > maxPath:
		return "", parley.Errorf(parley.InvalidArgument, "a path of %d bytes is too long", len(p)).
			WithHint("write at most %d bytes", maxPath)
	case strings.ContainsRune(p, 0) || !utf8.ValidString(p):
		return "", parley.Errorf(parley.InvalidArgument, "%s is not a path: it holds a zero byte or invalid UTF-8", quote(p))
	case isAbsolute(p):
		return "", parley.Errorf(Forbidden, "%s is absolute", quote(p)).WithHint("%s", f.relativeHint(p))
	}
	c := path.Clean(filepath.ToSlash(p))
	if !filepath.IsLocal(filepath.FromSlash(c)) {
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

func isAbsolute(p string) bool {
	return strings.HasPrefix(p, "/") || filepath.IsAbs(p) || filepath.VolumeName(p) != ""
}

// relativeHint names the path to write instead where an absolute one lies
// below the folder, as it does for callers used to other file servers.
func (f *folder) relativeHint(p string) string {
	rel, err := filepath.Rel(f.dir, filepath.FromSlash(p))
	if err != nil || !filepath.IsLocal(rel) {
		return `write a path relative to the folder, such as "notes/today.md"`
	}
	return "write " + quote(filepath.ToSlash(rel)) + " instead: paths are relative to the folder"
}

// quote is p for a message, which a path must not be able to flood.
func quote(p string) string {
	const most = 200
	if len(p) <= most {
		return strconv.Quote(p)
	}
	return strconv.Quote(strings.ToValidUTF8(p[:most], "")) + "…"
}
