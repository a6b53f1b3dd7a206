package below

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxPath bounds a path, in bytes, so that no call makes us walk for long.
const MaxPath = 4096

// A Problem is what keeps a text from being a path below a folder.
type Problem int

// The problems; Fine is none.
const (
	Fine     Problem = iota
	TooLong          // it has more than MaxPath bytes
	NotText          // it holds a zero byte or invalid UTF-8
	Absolute         // it begins at the top of a disk
	Outside          // it leads out by ".."
)

// Clean returns p in the one form that is used everywhere: relative to the
// folder, with slashes, without "." and ".." elements. "" and "." are the folder
// itself, which is ".". Where there is a problem the path is "".
//
// It reads ".." as text, before any symbolic link is followed, so that "a/../b"
// is always "b".
func Clean(p string) (string, Problem) {
	switch {
	case len(p) > MaxPath:
		return "", TooLong
	case strings.ContainsRune(p, 0) || !utf8.ValidString(p):
		return "", NotText
	case strings.HasPrefix(p, "/") || filepath.IsAbs(p) || filepath.VolumeName(p) != "":
		return "", Absolute
	}
	c := path.Clean(filepath.ToSlash(p))
	if !filepath.IsLocal(filepath.FromSlash(c)) {
		return "", Outside
	}
	return c, Fine
}

// Relative is what to write instead of an absolute path that lies below dir, and
// whether it does: callers used to other file servers write such paths.
func Relative(dir, p string) (string, bool) {
	rel, err := filepath.Rel(dir, filepath.FromSlash(p))
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// Quote is p for a message, in quotes and cut after most bytes: a path must not
// be able to flood it.
func Quote(p string, most int) string {
	if len(p) <= most {
		return strconv.Quote(p)
	}
	return strconv.Quote(strings.ToValidUTF8(p[:most], "")) + "…"
}
