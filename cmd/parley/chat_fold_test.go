package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFolded(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"short\n", "short\n"},
		{"", ""},
		{"exactly nineteen ch\n", "exactly nineteen ch\n"},
		{"it goes on here for a while\n", "it goes on here\n    for a while\n"},
		{"no end and then another\nline\n", "no end and then\n    another\nline\n"},
		{"aaaaaaaaaaaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaaaaa\n    aaaaaa"},
		{"  | " + strings.Repeat(" ", 15) + "bob asks you", "  | " + strings.Repeat(" ", 14) + "\n  | bob asks you"},
		{"  | aaaaaaaaaaaaaaaaaaaaaaaaa", "  | aaaaaaaaaaaaaaa\n  | aaaaaaaaaa"},
		{"  1) aaaaaaaaaaaaaaaaaa", "  1) aaaaaaaaaaaaaa\n      aaaa"},
		{"\x1b[1mbob\x1b[0m\x1b[33m asks you\x1b[39m", "\x1b[1mbob\x1b[0m\x1b[33m asks you\x1b[39m"},
		{"\x1b[1mbobo\x1b[0m says much to all", "\x1b[1mbobo\x1b[0m says much to\n    all"},
		{`{"seq":1,"from":"bob","kind":"chat"}` + "\n", `{"seq":1,"from":"bob","kind":"chat"}` + "\n"},
		{"宽宽宽宽宽宽宽宽宽宽宽", "宽宽宽宽宽宽宽宽宽\n    宽宽"},
		{"\xff\xfe" + strings.Repeat("a", 20), "\xff\xfe" + strings.Repeat("a", 15) + "\n    aaaaa"},
	} {
		if got := string(folded([]byte(c.text), 20)); got != c.want {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
	if long := strings.Repeat("a", 99); string(folded([]byte(long), 0)) != long {
		t.Error("a screen of no known width folds")
	}
}

// Nothing is lost, and what follows in a line never begins at the edge.
func FuzzFolded(f *testing.F) {
	f.Add("  | what is it 宽宽 for, and why\nso", 20)
	f.Fuzz(func(t *testing.T, text string, columns int) {
		if columns < narrowest || columns > 500 || strings.Contains(text, "\x1b") || !utf8.ValidString(text) {
			return
		}
		without := func(s string) string { return strings.NewReplacer(" ", "", "\n", "", "|", "").Replace(s) }
		for line := range strings.Lines(text) {
			got := folded([]byte(line), columns)
			if without(string(got)) != without(line) {
				t.Errorf("%q became %q", line, got)
			}
			for i, part := range bytes.Split(bytes.TrimSuffix(got, []byte("\n")), []byte("\n")) {
				if columnsOf(part) >= columns && line[0] != '{' || i > 0 && part[0] != ' ' {
					t.Errorf("%q at %d: %q", line, columns, part)
				}
			}
		}
	})
}
