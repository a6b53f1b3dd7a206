package safe

import (
	"slices"
	"testing"
)

func TestEscaped(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                    "plain",
		"ünï 漢字 👩‍💻 é":             "ünï 漢字 👩‍💻 é",
		"a\nb\tc\rd":               `a\nb\tc\rd`,
		"\x1b[31mred":              `\u001b[31mred`,
		"\x9b31m":                  `\x9b31m`, // no UTF-8
		"\u009b31m":                `\u009b31m`,
		"\u202egnp.exe":            `\u202egnp.exe`,
		"a\u200bb\u2066c\ufeff":    `a\u200bb\u2066c\ufeff`,
		"\U000e0041":               `\udb40\udc41`,
		"\x00\x7f":                 `\u0000\u007f`,
		"a\u2028b":                 `a\u2028b`,
		"no\u00a0break":            "no\u00a0break",
		"replaced \ufffd is shown": "replaced \ufffd is shown",
	} {
		if got := Escaped(in); got != want {
			t.Errorf("Escaped(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEscapedLines(t *testing.T) {
	if got, want := EscapedLines("a\tb\r\nc\x1b\n\n"), []string{"a    b", `c\u001b`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzEscaped(f *testing.F) {
	f.Add("a\n\x9b\u202e\U000e0041")
	f.Fuzz(func(t *testing.T, s string) {
		got := Escaped(s)
		if !IsPrintable(got) || Escaped(got) != got || IsPrintable(s) != (got == s) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
