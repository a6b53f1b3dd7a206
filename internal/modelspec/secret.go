package modelspec

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"strings"
)

// A Secret is a key or a token. It is itself in JSON, and nowhere else.
type Secret string

const redacted = "[redacted]"

// maxSecret is how long a secret may be, in bytes: what fits into a header.
const maxSecret = 4 << 10

// Format prints the same for every verb.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// LogValue keeps the secret out of logs.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// Reveal is the secret as text.
func (s Secret) Reveal() string { return string(s) }

// Sendable reports whether the secret can stand in a header of HTTP: visible
// ASCII without blanks, at least one character, at most 4,096.
func (s Secret) Sendable() bool {
	odd := func(c rune) bool { return c <= ' ' || c > '~' }
	return s != "" && len(s) <= maxSecret && strings.IndexFunc(string(s), odd) < 0
}

// A Reference says where a secret is: "env:NAME" or "file:PATH".
type Reference string

// errLiteral does not say what was written, as that may be a secret.
var errLiteral = errors.New("a secret is not written out, but named: write env:NAME or file:PATH")

// Check refuses what is no reference, without quoting it.
func (r Reference) Check() error {
	how, name, ok := strings.Cut(string(r), ":")
	if !ok || name == "" || how != "env" && how != "file" || strings.ContainsRune(name, 0) {
		return errLiteral
	}
	return nil
}

// Resolve reads the secret, out of this process's environment or a file that is
// nobody else's to read. Blanks and line breaks around it are no part of it.
func (r Reference) Resolve() (Secret, error) {
	if err := r.Check(); err != nil {
		return "", err
	}
	how, name, _ := strings.Cut(string(r), ":")
	var text string
	if how == "env" {
		set := false
		if text, set = os.LookupEnv(name); !set {
			return "", fmt.Errorf("the environment variable %s is not set", name)
		}
	} else {
		var err error
		if text, err = readPrivate(name, maxSecret); err != nil {
			return "", err
		}
	}
	secret := Secret(strings.TrimSpace(text))
	if !secret.Sendable() {
		return "", fmt.Errorf("%s does not hold a secret: it is 1 to 4,096 visible ASCII characters without blanks", r)
	}
	return secret, nil
}

// readPrivate reads a file that others cannot read.
func readPrivate(path string, limit int64) (string, error) {
	text, mode, err := readRegular(path, limit)
	if err == nil {
		err = private(path, mode)
	}
	return text, err
}

// private refuses a file that others can read. Windows has no such bits.
func private(path string, mode os.FileMode) error {
	if runtime.GOOS != "windows" && mode.Perm()&0o077 != 0 {
		return fmt.Errorf("others can read the file %s (mode %04o): chmod 600 %[1]s", path, mode.Perm())
	}
	return nil
}

// readRegular reads a regular file of at most limit bytes. A pipe could keep
// whoever starts waiting for ever.
func readRegular(path string, limit int64) (string, os.FileMode, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", 0, err
	case !info.Mode().IsRegular():
		return "", 0, fmt.Errorf("%s is not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil { // again: of what was opened
		return "", 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes", path, limit)
	}
	return string(data), info.Mode(), err
}
