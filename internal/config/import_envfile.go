package config

import (
	"os"
	"strings"
	"unicode/utf8"
)

// maxEnvFile bounds a file of variables, in bytes.
const maxEnvFile = 256 << 10

func (im *importer) readEnvFile(v value, path string) map[string]string {
	data, _, err := readFile(path, maxEnvFile)
	switch {
	case os.IsNotExist(err):
		im.fail(v, "", "there is no file %s", path)
	case err != nil:
		im.fail(v, "", "the file %s cannot be read: %v", path, cause(err))
	case len(data) > maxEnvFile:
		im.fail(v, "", "the file %s is longer than %s", path, sizeText(maxEnvFile))
	case !utf8.Valid(data) || strings.ContainsRune(string(data), 0):
		im.fail(v, "", "the file %s is not UTF-8 text", path)
	default:
		variables, wrong := parseEnvFile(string(data))
		if wrong > 0 {
			im.fail(v, "", "line %d of %s is not NAME=VALUE", wrong, path)
		}
		return variables
	}
	return nil
}

// parseEnvFile reads NAME=VALUE, one a line; wrong is the first line that is
// something else. Lines may be empty, begin with # or with export. A value in
// single quotes is as it is, one in double quotes may hold \n, \" and \\; after
// one without quotes a comment may stand.
func parseEnvFile(text string) (variables map[string]string, wrong int) {
	variables = make(map[string]string)
	number := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if rest, ok := strings.CutPrefix(line, "export "); ok {
			line = rest
		}
		name, value, ok := strings.Cut(line, "=")
		name = strings.TrimSpace(name)
		if ok && bareName.MatchString(name) {
			variables[name], ok = envValue(strings.TrimSpace(value))
		} else {
			ok = false
		}
		if !ok && wrong == 0 {
			wrong = number
		}
	}
	return variables, wrong
}

func envValue(text string) (string, bool) {
	if text == "" || text[0] != '"' && text[0] != '\'' {
		if text != "" && text[0] == '#' {
			return "", true
		}
		text, _, _ = strings.Cut(text, " #")
		return strings.TrimSpace(text), true
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == text[0]:
			rest := strings.TrimSpace(text[i+1:])
			return b.String(), rest == "" || rest[0] == '#'
		case c == '\\' && text[0] == '"' && i+1 < len(text):
			i++
			b.WriteString(unescape(text[i]))
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}

func unescape(c byte) string {
	switch c {
	case 'n':
		return "\n"
	case 'r':
		return "\r"
	case 't':
		return "\t"
	case '"', '\\', '$':
		return string(c)
	}
	return `\` + string(rune(c))
}
