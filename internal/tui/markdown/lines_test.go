package markdown

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley/internal/tui/safe"
)

var update = flag.Bool("update", false, "write what is shown into testdata")

// Each file of testdata holds texts, and how they are shown at the width that their
// names say.
func TestLines(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no files:", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i+1 < len(a.Files); i += 2 {
			var width int
			if _, err := fmt.Sscan(a.Files[i].Name, &width); err != nil {
				t.Fatal(a.Files[i].Name, err)
			}
			source := strings.NewReplacer("␛", "\x1b", "␇", "\a", "⇄", "\u202e").Replace(string(a.Files[i].Data))
			var got bytes.Buffer
			for _, line := range checked(t, source, width, Styles{}) {
				fmt.Fprintf(&got, "|%s\n", line)
			}
			if *update {
				a.Files[i+1].Data = got.Bytes()
			} else if want := a.Files[i+1].Data; !bytes.Equal(got.Bytes(), want) {
				t.Errorf("%s, %s: got\n%s\nwant\n%s", file, a.Files[i].Name, got.Bytes(), want)
			}
		}
		if *update {
			if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// checked are lines that a terminal can show.
func checked(t *testing.T, source string, width int, s Styles) []string {
	t.Helper()
	lines := Lines(source, width, s)
	if len(lines) > MaxLines {
		t.Errorf("%.40q has %d lines", source, len(lines))
	}
	for _, line := range lines {
		if text := ansi.Strip(line); safe.OneLine(text) != text {
			t.Fatalf("%.80q at %d shows %q", source, width, line)
		}
		if w := safe.Width(line); w > width {
			t.Fatalf("%.80q at %d shows %q, which is %d wide", source, width, line, w)
		}
	}
	return lines
}

var loud = Styles{
	Strong: lipgloss.NewStyle().Bold(true), Emphasis: lipgloss.NewStyle().Italic(true), Struck: lipgloss.NewStyle().Strikethrough(true),
	Code: lipgloss.NewStyle().Foreground(lipgloss.Cyan), Heading: lipgloss.NewStyle().Bold(true), Quote: lipgloss.NewStyle().Faint(true),
	Marker: lipgloss.NewStyle().Faint(true), Link: lipgloss.NewStyle().Foreground(lipgloss.Blue).Underline(true), Target: lipgloss.NewStyle().Faint(true),
	Warning: lipgloss.NewStyle().Foreground(lipgloss.Red),
}

func TestStyles(t *testing.T) {
	for _, c := range []struct{ source, want string }{
		{"a **b *c*** `d` ~~e~~", "a \x1b[1mb \x1b[m\x1b[1;3mc\x1b[m \x1b[36md\x1b[m \x1b[9me\x1b[m"},
		{"# h", "\x1b[1m# \x1b[m\x1b[1mh\x1b[m"},
		{"> q", "\x1b[2m│\x1b[m q"},
		{"[a b](https://x.y)", "\x1b[4;34;4ma b\x1b[m\x1b[2m (https://x.y)\x1b[m"},
		{"[x.com](https://x.y)", "\x1b[4;34;4mx.com\x1b[m\x1b[31m (! goes to https://x.y)\x1b[m"},
	} {
		if got := strings.Join(checked(t, c.source, 80, loud), "\n"); got != c.want {
			t.Errorf("%q: %q, want %q", c.source, got, c.want)
		}
	}
	// A line that is folded says its styles again.
	if got, want := Lines("**one two**", 4, loud), []string{"\x1b[1mone\x1b[m", "\x1b[1mtwo\x1b[m"}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// Texts that were made to hurt: all of them are shown, or as much as is shown of any.
func TestHostileTexts(t *testing.T) {
	for i, unit := range []string{
		"x", "宽", "👩‍💻", "\u0301", ">", "[", "[a](", "*a ", "*a_ ", "**a", "`a``b```c", "- ", "* a\n", "<a", "![[]()", "|a", "|a|b|\n|-|-|\n", "\\", "&#27;", "<!--",
		"> a\n>> b\n", "\n", "```\n", "~~~~\n", "1. a\n", "\t", "[a]((((", "[a]: u\n", "[a][a]", "a.b.", "\x1b[2J", "\x9b", "* * * ", "#\n", "| a ",
	} {
		n := maxPiece + enough
		switch {
		case i == 0:
			n = 1 << 20
		case unit == "[a](" || unit == ">" || unit == "\n":
			n = MaxMarkdown + maxPiece
		}
		source := strings.Repeat(unit, n/len(unit))
		lines := checked(t, source, 79, Styles{})
		if len(lines) == 0 && strings.Trim(source, "`~ \t\n") != "" {
			t.Errorf("%q repeated shows nothing", unit)
		}
	}
}

func TestFold(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"", 5, ""},
		{"one two three", 7, "one two|three"},
		{"one two three", 8, "one two|three"},
		{"one two three", 6, "one|two|three"},
		{"onetwothree", 4, "onet|woth|ree"},
		{"a onetwothree", 4, "a|onet|woth|ree"},
		{"a\n\nb", 4, "a||b"},
		{"  in", 9, "  in"},
		{"one     two", 4, "one||two"},
		{"宽宽 宽", 4, "宽宽|宽"},
		{"宽", 1, "宽"},
		{"a b c d", 1, "a|b|c|d"},
	} {
		var got []string
		for _, part := range fold(c.text, c.width) {
			got = append(got, c.text[part.from:part.to])
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestDestination(t *testing.T) {
	for _, c := range []struct {
		said, target, want string
		honest             bool
	}{
		{"docs", "https://example.com/a", "https://example.com/a", true},
		{"example.com", "https://www.example.com/", "https://www.example.com/", true},
		{"https://example.com/b", "https://EXAMPLE.com/a", "https://EXAMPLE.com/a", true},
		{"README.md", "https://example.com/x/README.md", "https://example.com/x/README.md", true},
		{"README.md", "docs/README.md", "docs/README.md", true},
		{"notes.txt", "https://example.com/", "https://example.com/", false},
		{"https://bank.com", "https://evil.example", "https://evil.example", false},
		{"safe (https://bank.com)", "https://evil.example", "https://evil.example", false},
		{"b\u0430nk.com", "https://bank.com", "https://bank.com", false},
		{"bank", "https://bank.com@evil.example/x", "evil.example: https://bank.com@evil.example/x", false},
		{"bank", "https://b\u0430nk.com", "https://b\u0430nk.com", false},
		{"bank", "https://xn--bnk-7cd.com", "https://xn--bnk-7cd.com", false},
		{"click", "javascript:alert(1)", "javascript:alert(1)", false},
		{"click", "file:///etc/passwd", "file:///etc/passwd", false},
		{"click", "https://a.example/\u202emoc", "https://a.example/⟨U+202E⟩moc", false},
		{"click", "https://a.example/\x1b]8;;", "https://a.example/⟨U+001B⟩]8;;", false},
		{"click", "http://[::1", "http://[::1", false},
		{"ann@example.com", "mailto:ann@example.com", "mailto:ann@example.com", true},
		{"nothing", "", "nowhere", true},
		{"long", "https://a.example/" + strings.Repeat("x", 1000), "https://a.example/" + strings.Repeat("x", 181) + "…", true},
	} {
		got, honest := destination(c.said, c.target)
		if got != c.want || honest != c.honest {
			t.Errorf("%q to %q: %q, %v, want %q, %v", c.said, c.target, got, honest, c.want, c.honest)
		}
	}
}

func FuzzLines(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.txtar")
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for i := 0; i+1 < len(a.Files); i += 2 {
			f.Add(string(a.Files[i].Data), uint8(40))
		}
	}
	f.Add("~ꨴ~ [ꨴ](u)", uint8(1))
	f.Add("&#27;[2J \\\x1b **\u202e** `\x9b` <b\x00>", uint8(3))
	f.Fuzz(func(t *testing.T, source string, width uint8) {
		plain := checked(t, source, int(max(width, 2)), Styles{})
		coloured := checked(t, source, int(max(width, 2)), loud)
		for i := range min(len(plain), len(coloured)) {
			if a, b := plain[i], ansi.Strip(coloured[i]); a != b {
				t.Fatalf("%q: %q, and in colour %q", source, a, b)
			}
		}
	})
}
