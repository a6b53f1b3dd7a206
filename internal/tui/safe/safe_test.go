package safe

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                       "",
		"plain\ntext":            "plain\ntext",
		"ünï 漢字 é no\u00a0break": "ünï 漢字 é no\u00a0break",
		"👩‍💻 ❤️ 👍🏽 👩🏻‍❤️‍💋‍👩🏽 🇨🇭": "👩‍💻 ❤️ 👍🏽 👩🏻‍❤️‍💋‍👩🏽 🇨🇭",
		"a\r\nb\rc\td":                     "a\nb⟨U+000D⟩c    d",
		"\x1b[31mred":                      "⟨U+001B⟩[31mred",
		"\u009b31m\x9b31m":                 "⟨U+009B⟩31m⟨0x9B⟩31m",
		"\u202egnp.exe":                    "⟨U+202E⟩gnp.exe",
		"a\u200bb\u2066c\ufeff\u00ad":      "a⟨U+200B⟩b⟨U+2066⟩c⟨U+FEFF⟩⟨U+00AD⟩",
		"a\u200db\ufe0f":                   "a⟨U+200D⟩b⟨U+FE0F⟩",
		"\ufe0f\u200d":                     "⟨U+FE0F⟩⟨U+200D⟩",
		"x\U000e0041\U000e0100":            "x⟨U+E0041⟩⟨U+E0100⟩",
		"\u3164\uffa0\u115f\u2028":         "⟨U+3164⟩⟨U+FFA0⟩⟨U+115F⟩⟨U+2028⟩",
		"\ue0b0\U0010ffff\u0378":           "⟨U+E0B0⟩⟨U+10FFFF⟩⟨U+0378⟩",
		"Z" + strings.Repeat("\u0301", 50): "Z" + strings.Repeat("\u0301", 9) + "⟨+41⟩",
		"\u0301on its own":                 "◌\u0301on its own",
		"a\n\u0301":                        "a\n◌\u0301",
		"replaced \ufffd is shown":         "replaced \ufffd is shown",
		"เก็บ ก็ שָׁלוֹם हिन्दी": "เก็บ ก็ שָׁלוֹם हिन्दी",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLine(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"plain", 80, "plain"},
		{"plain", 5, "plain"},
		{"plain", 4, "pla…"},
		{"plain", 1, "…"},
		{"plain", 0, ""},
		{"plain", -3, ""},
		{"a\nb\r\nc\td", 80, "a ⏎ b ⏎ c d"},
		{"宽宽宽", 6, "宽宽宽"},
		{"宽宽宽", 5, "宽宽…"},
		{"宽宽宽", 4, "宽…"},
		{"👩‍💻👩‍💻", 3, "👩‍💻…"},
		{"\u202eabc", 9, "⟨U+202E⟩…"},
		{"ab\u202e", 5, "ab…"},
		{"e\u0301e\u0301e\u0301", 2, "e\u0301…"},
		{strings.Repeat("a", 1<<20), 3, "aa…"},
		{strings.Repeat("\u0301", 1<<20), 3, "…"},
	} {
		got := Line(c.in, c.width)
		if got != c.want {
			t.Errorf("Line(%.40q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestOneLine(t *testing.T) {
	long := strings.Repeat("ä\n", 1000)
	if got, want := OneLine(long), strings.Repeat("ä ⏎ ", 1000); got != want {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

// Both consoles hide the same characters.
func TestHiddenIsTheWebConsoles(t *testing.T) {
	js, err := os.ReadFile("../../console/static/base/text.js")
	if err != nil {
		t.Fatal(err)
	}
	class := regexp.MustCompile(`(?s)const hidden =\s*/\[(.*?)\]/gu`).FindSubmatch(js)
	if class == nil {
		t.Fatal("text.js has no such class of characters")
	}
	theirs := map[rune]bool{}
	char := `\\u\{?([0-9a-f]+)\}?`
	for _, m := range regexp.MustCompile(char+"(?:-"+char+")?").FindAllSubmatch(class[1], -1) {
		from, _ := strconv.ParseUint(string(m[1]), 16, 32)
		to, err := strconv.ParseUint(string(m[2]), 16, 32)
		if err != nil {
			to = from
		}
		for r := from; r <= to; r++ {
			theirs[rune(r)] = !unicode.Is(unicode.Cs, rune(r)) // halves of pairs are bytes here
		}
	}
	for r := range rune(unicode.MaxRune) {
		if ours := unicode.Is(hidden, r); ours != theirs[r] {
			t.Errorf("%U is hidden: %v here, %v there", r, ours, theirs[r])
		}
	}
}

func FuzzText(f *testing.F) {
	for _, s := range []string{"a\x1b[2J", "👩‍💻", "\u202e\u0301\u0301", "\x9b\xff", "1\ufe0f\u20e3", "ᄀᄀᄀ가각\u1160", "\u0600a", "宽\tb\r\n"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		text, line, cut := Text(s), OneLine(s), Line(s, width)
		for _, got := range []string{text, line, cut} {
			if i := strings.IndexFunc(got, func(r rune) bool { return !isShown(r) && r != '\n' && !joins(r) }); i >= 0 || !utf8.ValidString(got) {
				t.Errorf("%q became %q", s, got)
			}
			for g := graphemes.FromString(got); g.Next(); {
				if n := utf8.RuneCountInString(g.Value()); n > maxCluster+1 {
					t.Errorf("%q became %q, where %d characters are one", s, got, n)
				}
			}
		}
		if again := Text(text); again != text {
			t.Errorf("%q became %q, and then %q", s, text, again)
		}
		if again := OneLine(line); again != line {
			t.Errorf("%q became %q, and then %q", s, line, again)
		}
		if strings.ContainsAny(line+cut, "\n\t") {
			t.Errorf("%q became %q and %q", s, line, cut)
		}
		if w := Width(cut); w > max(width, 0) {
			t.Errorf("%q at %d became %q, which is %d wide", s, width, cut, w)
		}
		if width > 0 && Width(line) <= width && cut != line {
			t.Errorf("%q at %d became %q, though %q fits", s, width, cut, line)
		}
	})
}
