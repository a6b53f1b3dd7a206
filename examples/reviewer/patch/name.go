package patch

import (
	"strconv"
	"strings"
)

// nameOf is the file that a line of names means; "" for the one that is none.
// Git and diff write a time behind a tab, and git writes a name with odd
// characters as a C string.
func nameOf(text, prefix string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && text[0] == '"' {
		if name, err := strconv.Unquote(quoted); err == nil {
			text = name
		}
	} else {
		text, _, _ = strings.Cut(text, "\t")
	}
	if text == "/dev/null" {
		return ""
	}
	return strings.ToValidUTF8(strings.TrimPrefix(text, prefix), "\uFFFD")
}

// nameOfBoth is the name in "a/NAME b/NAME", which is all that git says of a file
// whose mode alone changes, or that is binary. "" where the two differ: then
// other lines tell.
func nameOfBoth(text string) string {
	if quoted, err := strconv.QuotedPrefix(text); err == nil && text[0] == '"' {
		return nameOf(quoted, "a/")
	}
	half := len(text) / 2
	if len(text)%2 == 1 && text[half] == ' ' && strings.HasPrefix(text, "a/") && text[2:half] == strings.TrimPrefix(text[half+1:], "b/") {
		return nameOf(text[:half], "a/")
	}
	return ""
}
