package excerpt

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/tokens"
)

// TestOf holds what is read out of the answers of servers.
func TestOf(t *testing.T) {
	for _, c := range []struct{ method, payload, want string }{
		{"tools/call", `{"result":{"content":[{"type":"text","text":"a"},{"type":"text","text":"b\n"}]}}`, "a\n\nb\n"},
		{"tools/call", `{"result":{"content":[]}}`, ""},
		{"tools/call", `{"result":{}}`, ""},
		{"tools/call", `{"result":{"content":"loose"}}`, `"loose"`},
		{"tools/call", `{"result":{"content":[],"structuredContent":{"n": 9007199254740993}}}`, `{"n": 9007199254740993}`},
		{"tools/call", `{"result":{"content":[{"type":"text","text":"{\n \"b\": [1],\n \"a\": 2\n}"}],"structuredContent":{"a":2,"b":[1]}}}`, "{\n \"b\": [1],\n \"a\": 2\n}"},
		{"tools/call", `{"result":{"content":[{"type":"text","text":"{\"n\":9007199254740992}"}],"structuredContent":{"n":9007199254740993}}}`,
			"{\"n\":9007199254740992}\n\n{\"n\":9007199254740993}"},
		{"tools/call", `{"result":{"content":[{"type":"text","text":"three"}],"structuredContent":{"n":3}}}`, "three\n\n{\"n\":3}"},
		{"tools/call", `{"result":{"content":[{"type":"text","text":"a text of some length"}],"structuredContent":{"n":1,"result":"a text of some\u0020length","l":["a text of some length"],"m":9007199254740993}}}`,
			"a text of some length\n\n" + `{"n":1,"result":"(the text above)","l":["a text of some length"],"m":9007199254740993}`},
		{"tools/call", `{"result":{"content":[{"type":"text","text":"short"}],"structuredContent":{"result":"short"}}}`, "short\n\n" + `{"result":"short"}`},
		{"tools/call", `{"result":{"content":[{"type":"image","mimeType":"image/png","data":"AAAA"}]}}`, "[image, image/png: 6 bytes in base64, not shown]"},
		{"tools/call", `{"result":{"content":[{"type":"audio","mimeType":"audio/\u0007wav","data":"AAAA"}]}}`, "[audio, audio/wav: 6 bytes in base64, not shown]"},
		{"tools/call", `{"result":{"content":[{"type":"resource","resource":{"uri":"file:///a","text":"in\nit"}}]}}`, "[resource file:///a]\nin\nit"},
		{"tools/call", `{"result":{"content":[{"type":"resource","resource":{"uri":"file:///a","mimeType":"x/y","blob":"AA=="}}]}}`,
			"[resource file:///a, x/y: 6 bytes in base64, not shown]"},
		{"tools/call", `{"result":{"content":[{"type":"resource_link","uri":"file:///a"},17,{"type":"text","text":1}]}}`,
			`{"type":"resource_link","uri":"file:///a"}` + "\n\n17\n\n" + `{"type":"text","text":1}`},
		{"tools/call", `{"error":{"code":-1,"message":"no"}}`, `{"code":-1,"message":"no"}`},
		{"resources/read", `{"result":{"contents":[]}}`, `{"contents":[]}`},
		{"tools/call", `{"result":7}`, `7`},
	} {
		text, ok := Of(c.method, jsontext.Value(c.payload))
		if text.String() != c.want || !ok {
			t.Errorf("%s\n got %q, %t\nwant %q", c.payload, text.String(), ok, c.want)
		}
	}
	for _, payload := range []string{`{"redacted":true}`, `{}`, `[]`, `null`} {
		if text, ok := Of("tools/call", jsontext.Value(payload)); ok || text.String() != "" {
			t.Errorf("%s holds an answer: %q", payload, text.String())
		}
	}
}

// TestTokens holds how answers are counted.
func TestTokens(t *testing.T) {
	long := strings.Repeat("a", tokens.MostExact+1)
	for _, c := range []struct {
		result string
		n      int
		how    string
	}{
		{`{"content":[{"type":"text","text":"hello world"}]}`, 2, "o200k_base"},
		{`{"content":[{"type":"text","text":"` + long + `"}]}`, (len(long) + 3) / 4, "bytes/4"},
		{`{"content":[{"type":"image","mimeType":"i/p","data":"` + long + `"}]}`,
			tokens.Count(fmt.Sprintf("[image, i/p: %d bytes in base64, not shown]", len(long)+2)) + (len(long)+5)/4, "o200k_base and bytes/4"},
	} {
		if n, how := ofResult(jsontext.Value(c.result)).Tokens(); n != c.n || how != c.how {
			t.Errorf("%.60s: %d by %s, want %d by %s", c.result, n, how, c.n, c.how)
		}
	}
}

// texts are what is hard to cut.
func texts() map[string]string {
	return map[string]string{
		"empty":      "",
		"prose":      strings.Repeat("The quick brown fox jumps over the lazy dog.\n", 150),
		"solid":      strings.Repeat("x", 70_000),
		"blanks":     strings.Repeat(" ", 4_000),
		"line feeds": strings.Repeat("\n", 4_000),
		"family":     strings.Repeat("👩‍👩‍👧‍👦", 300),
		"tones":      strings.Repeat("👍🏽👎🏿", 500),
		"flags":      strings.Repeat("🇩🇪🇫🇷", 500),
		"wales":      strings.Repeat("🏴󠁧󠁢󠁷󠁬󠁳󠁿", 200),
		"accents":    strings.Repeat("e\u0301a\u0308\u0323 ", 800),
		"zalgo":      "e" + strings.Repeat("\u0301", 5_000),
		"hangul":     strings.Repeat("\u1112\u1161\u11ab", 800),
		"windows":    strings.Repeat("line\r\n", 1_500),
		"cjk":        strings.Repeat("漢字かな交じり文", 800),
		"numbers":    strings.Repeat("0.8314159265 ", 1_000),
	}
}

// TestHead holds that beginnings have as many tokens as there is room for, and
// are cut where one may cut.
func TestHead(t *testing.T) {
	for name, s := range texts() {
		for _, most := range []int{1, 7, 150, 3_000} {
			head, about := Head(s, most)
			n := tokens.Count(head)
			if n > about+1+about/100 {
				t.Errorf("%s: %d tokens, said to be %d", name, n, about)
			}
			if !strings.HasPrefix(s, head) || !utf8.ValidString(head) {
				t.Fatalf("%s, %d: no beginning", name, most)
			}
			if n > most+most/50+1 && len(head) > utf8.UTFMax {
				t.Errorf("%s: %d tokens, the bound is %d", name, n, most)
			}
			if len(head) < len(s) && most > 100 && n < most*2/3 {
				t.Errorf("%s: %d tokens only, the bound is %d", name, n, most)
			}
			if s != "" && head == "" {
				t.Errorf("%s, %d: nothing", name, most)
			}
			if name != "zalgo" && most > 100 && len(head) < len(s) && joined(s, len(head)) {
				t.Errorf("%s, %d: cut between %q and %q", name, most, head[len(head)-4:], s[len(head):len(head)+4])
			}
		}
	}
}

// TestPages holds that pages, one after the other, are the whole text.
func TestPages(t *testing.T) {
	for name, s := range texts() {
		text := Text{all: s}
		for _, first := range []Range{{}, {Lines: true}, {Limit: 1_000}, {Limit: 333, Lines: true}} {
			var got strings.Builder
			r, characters, line := first, 0, 1
			for n := 0; ; n++ {
				p, err := text.Page(r, 2_000)
				if err != nil || n > len(s)/100+10 {
					t.Fatalf("%s %+v, page %d: %v", name, first, n, err)
				}
				if p.From != characters || p.To-p.From != utf8.RuneCountInString(p.Text) || p.FirstLine != line {
					t.Fatalf("%s %+v: %d–%d from line %d, want to go on at %d in line %d", name, first, p.From, p.To, p.FirstLine, characters, line)
				}
				if !utf8.ValidString(p.Text) || tokens.Count(p.Text) > 2_040 {
					t.Fatalf("%s %+v: a page of %d bytes and %d tokens", name, first, len(p.Text), tokens.Count(p.Text))
				}
				characters, line = p.To, line+strings.Count(p.Text, "\n")
				got.WriteString(p.Text)
				if !p.More {
					break
				}
				r.Offset, r.Lines = p.Next.Offset, p.Next.Lines
			}
			if got.String() != s {
				t.Errorf("%s %+v: the pages are %d bytes, the text %d", name, first, got.Len(), len(s))
			}
		}
	}
}

func TestPage(t *testing.T) {
	text := Text{all: "one\ntwo\nthrée\nfour"}
	for _, c := range []struct {
		r        Range
		want     string
		from, to int
		lines    string
		next     Range
		more     bool
	}{
		{Range{}, text.all, 0, 18, "1–4", Range{}, false},
		{Range{Offset: 10, Limit: 3}, "rée", 10, 13, "3–3", Range{Offset: 13}, true},
		{Range{Offset: 1, Limit: 2, Lines: true}, "two\nthrée\n", 4, 14, "2–3", Range{Offset: 3, Lines: true}, true},
		{Range{Offset: 3, Limit: 9, Lines: true}, "four", 14, 18, "4–4", Range{}, false},
		{Range{Offset: 4, Lines: true}, "", 18, 18, "4–3", Range{}, false},
		{Range{Offset: 18}, "", 18, 18, "4–3", Range{}, false},
	} {
		p, err := text.Page(c.r, 100)
		lines := fmt.Sprintf("%d–%d", p.FirstLine, p.LastLine)
		if err != nil || p.Text != c.want || p.From != c.from || p.To != c.to || p.Next != c.next || p.More != c.more || lines != c.lines {
			t.Errorf("%+v: %+v, %v; want %q %d–%d lines %s next %+v %t", c.r, p, err, c.want, c.from, c.to, c.lines, c.next, c.more)
		}
	}
	for r, want := range map[Range]string{
		{Offset: 19}:                   "there are 18 characters",
		{Offset: 5, Lines: true}:       "there are 4 lines",
		{Offset: 1 << 62}:              "behind the end",
		{Offset: 1 << 40, Lines: true}: "behind the end",
	} {
		if _, err := text.Page(r, 100); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// TestSearch holds what a search shows.
func TestSearch(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	lines := b.String()
	solid := strings.Repeat("x", 500) + "Needle" + strings.Repeat("y", 500) + "needle" + strings.Repeat("é", 500)
	for _, c := range []struct {
		name, text string
		q          Search
		want       string
		matches    int
		next       int // -1 for no more
	}{
		{"one", lines, Search{Text: "LINE 7", Matches: 5, Around: 1}, "6-line 6\n7:line 7\n8-line 8", 1, -1},
		{"neighbours", lines, Search{Text: "line 1\n", Matches: 5, Around: 1}, "1:line 1\nline 2\n3-line 3", 1, -1},
		{"groups", lines, Search{Text: "line 2", Matches: 3, Around: 1}, "1-line 1\n2:line 2\n3-line 3\n--\n19-line 19\n20:line 20\n21:line 21", 3, 159},
		{"from", lines, Search{Text: "line 2", Matches: 2, Offset: 150}, "21:line 21\n22:line 22", 2, 167},
		{"from a line", lines, Search{Text: "line 2", Matches: 2, Offset: 20, Lines: true}, "21:line 21\n22:line 22", 2, 167},
		{"meta", "a.b\na+b\naxb", Search{Text: "a+b", Matches: 5}, "2:a+b", 1, -1},
		{"case", "ÄPFEL, İ, K\näpfel", Search{Text: "äPFEL", Matches: 5}, "1:ÄPFEL, İ, K\n2:äpfel", 2, -1},
		{"case of another length", "a\n\u212aelvin", Search{Text: "\u212aELVIN", Matches: 5}, "2:\u212aelvin", 1, -1},
		{"nothing", lines, Search{Text: "absent", Matches: 5}, "", 0, -1},
		{"solid", solid, Search{Text: "needle", Matches: 5, Around: 3},
			"1@500:…" + strings.Repeat("x", 100) + "Needle" + strings.Repeat("y", 100) + "…\n1@1006:…" + strings.Repeat("y", 100) + "needle" + strings.Repeat("é", 50) + "…", 2, -1},
		{"around a long line", solid + "\nend\n", Search{Text: "needleé", Matches: 5, Around: 1}, "1@1006:…" + strings.Repeat("y", 100) + "needle" + strings.Repeat("é", 51) + "…\n2-end", 1, -1},
		{"long neighbours", solid + "\nend\n", Search{Text: "end", Matches: 5, Around: 1}, "1-" + strings.Repeat("x", 240) + "…\n2:end", 1, -1},
		{"several in a line", "a a a\nb a", Search{Text: "a", Matches: 5}, "1:a a a\n2:b a", 2, -1},
		{"at the end", "a\nb", Search{Text: "b", Matches: 5, Around: 2}, "1-a\n2:b", 1, -1},
		{"empty", "", Search{Text: "b", Matches: 5}, "", 0, -1},
	} {
		found, err := Text{all: c.text}.Search(c.q, 0)
		if !found.More {
			found.Next = -1
		}
		if err != nil || found.Text != c.want || found.Matches != c.matches || found.Next != c.next {
			t.Errorf("%s: %v %+v\ngot  %q\nwant %q", c.name, err, found, found.Text, c.want)
		}
	}
	if _, err := (Text{all: "a"}).Search(Search{Text: "a", Matches: 1, Offset: 2}, 0); !errors.Is(err, &parley.Error{Code: parley.InvalidArgument}) {
		t.Error(err)
	}
}

// TestSearchWithin holds that a search keeps to its bound and can be gone on with
// until everything was seen.
func TestSearchWithin(t *testing.T) {
	var b strings.Builder
	for i := range 500 {
		fmt.Fprintf(&b, "%03d needle 🇩🇪 %s\n", i, strings.Repeat("é", i%200))
	}
	text, q, seen := Text{all: b.String()}, Search{Text: "needle", Matches: 100}, 0
	for {
		found, err := text.Search(q, 300)
		if err != nil || found.Matches == 0 || tokens.Count(found.Text) > 310 || !utf8.ValidString(found.Text) {
			t.Fatalf("%v, %d matches of %d tokens: %q", err, found.Matches, tokens.Count(found.Text), found.Text)
		}
		for line := range strings.Lines(found.Text) {
			if !strings.Contains(line, fmt.Sprintf("%03d needle", seen)) {
				t.Fatalf("want the one with %03d: %q", seen, line)
			}
			seen++
		}
		if q.Offset = found.Next; !found.More {
			break
		}
	}
	if seen != 500 {
		t.Errorf("%d were seen", seen)
	}
	// What is too large by itself is cut.
	found, err := Text{all: strings.Repeat("🏴󠁧󠁢󠁷󠁬󠁳󠁿", 500) + "needle"}.Search(Search{Text: "needle", Matches: 1}, 20)
	if err != nil || found.Matches != 1 || !utf8.ValidString(found.Text) || tokens.Count(found.Text) > 21 {
		t.Errorf("%v %+v", err, found)
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("a\nb needle\nc", "needle", 0, 3, 1, 40)
	f.Add(strings.Repeat("é", 400)+"\n"+strings.Repeat("y", 300), "y", 7, 9, 2, 0)
	f.Add("\n\n\n", "\n", 1, 9, 3, 5)
	f.Fuzz(func(t *testing.T, s, wanted string, offset, matches, around, most int) {
		if !utf8.ValidString(s) || !utf8.ValidString(wanted) || wanted == "" || offset < 0 || matches < 1 || matches > 100 || around < 0 || around > 20 {
			t.Skip()
		}
		found, err := Text{all: s}.Search(Search{Text: wanted, Offset: offset, Matches: matches, Around: around}, max(0, most))
		if err != nil {
			return
		}
		if found.Matches > matches || !utf8.ValidString(found.Text) || found.More && found.Next < offset {
			t.Errorf("%+v", found)
		}
		if want := strings.Contains(s, wanted) && offset == 0; want && found.Matches == 0 {
			t.Errorf("%q is not found in %q", wanted, s)
		}
	})
}

func FuzzPage(f *testing.F) {
	f.Add("a\r\nb\u0301\n👍🏽", 0, 3, true, 2)
	f.Fuzz(func(t *testing.T, s string, offset, limit int, lines bool, most int) {
		if !utf8.ValidString(s) || offset < 0 || limit < 0 || most < 1 {
			t.Skip()
		}
		p, err := Text{all: s}.Page(Range{offset, limit, lines}, most)
		if err != nil {
			return
		}
		if !utf8.ValidString(p.Text) || !strings.Contains(s, p.Text) || p.Text == "" && p.More {
			t.Errorf("%+v", p)
		}
	})
}

// BenchmarkHostile is what a search of a text takes that is almost found
// everywhere, and a page at the end of it.
func BenchmarkHostile(b *testing.B) {
	text := Text{all: strings.Repeat("x", 1<<20)}
	b.Run("search", func(b *testing.B) {
		for b.Loop() {
			if found, err := text.Search(Search{Text: strings.Repeat("X", 255) + "y", Matches: 10}, 4_000); err != nil || found.Matches > 0 {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("page", func(b *testing.B) {
		for b.Loop() {
			if _, err := text.Page(Range{Offset: 1_000_000}, 4_000); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func FuzzOf(f *testing.F) {
	f.Add([]byte(`{"result":{"content":[{"type":"text","text":"{}"},{"type":"image","data":"A"},{"type":"resource","resource":{"uri":"u","text":"t"}}],"structuredContent":{"a":1}}}`), 3)
	f.Add([]byte(`{"error":{"code":-1,"message":"m"}}`), 1)
	f.Fuzz(func(t *testing.T, payload []byte, most int) {
		if !jsontext.Value(payload).IsValid() || most < 1 {
			t.Skip()
		}
		text, _ := Of("tools/call", payload)
		n, how := text.Tokens()
		head, _ := Head(text.String(), most)
		if !utf8.ValidString(text.String()) || !utf8.ValidString(head) || n < 0 || how == "" || text.Characters() < text.Lines() {
			t.Errorf("%q: %d by %s, %q", text.String(), n, how, head)
		}
	})
}
