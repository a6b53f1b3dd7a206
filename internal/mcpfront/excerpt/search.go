package excerpt

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parleyhq/parley/internal/tokens"
)

// Search says what is looked for.
type Search struct {
	Text    string // as it stands, but for upper and lower case; not empty
	Offset  int    // characters to leave out at the beginning
	Lines   bool   // the offset counts lines
	Matches int    // how many to return at most
	Around  int    // lines to show before and behind each
}

// Found is what came of a search.
//
// Its text has a row for each match, NUMBER:LINE, and NUMBER-LINE for the lines
// around. Of a long line there is what is around the match, as
// NUMBER@CHARACTER:…TEXT…, where CHARACTER is that of the whole text.
type Found struct {
	Text    string
	Matches int  // rows of matches: several in one line of usual length are one
	More    bool // there are others
	Next    int  // the character where they begin
	Tokens  int  // about how many the text has; 0 where there was no bound
}

const (
	shownLine  = 240 // bytes; of a longer line there is what is around the match
	aroundText = 100 // bytes to either side
)

// Search finds something in a text, and shows as much of it as has so many
// tokens; 0 is no bound. The error is that of [Text.Page].
func (t Text) Search(q Search, most int) (Found, error) {
	start := at(t.all, q.Offset, q.Lines)
	if start < 0 {
		return Found{}, behindTheEnd(t, Range{Offset: q.Offset, Lines: q.Lines})
	}
	hits := find(t.all, start, q)
	s := shower{text: t.all, around: q.Around}
	for i, h := range hits {
		next := len(t.all)
		if i+1 < len(hits) {
			next = hits[i+1].line
		}
		if i == q.Matches || !s.show(h, next, most, i == 0) {
			return Found{Text: s.result(), Matches: i, More: true, Next: utf8.RuneCountInString(t.all[:h.begin]), Tokens: s.used}, nil
		}
	}
	return Found{Text: s.result(), Matches: len(hits), Tokens: s.used}, nil
}

// hit is a match, and what of its line, or lines, is shown.
type hit struct {
	begin, end int
	line, eol  int // where its lines begin and end
	from, upTo int // what is shown
}

// find finds one match more than is wanted.
func find(s string, pos int, q Search) (hits []hit) {
	in, wanted := strings.Map(fold, s), strings.Map(fold, q.Text)
	for len(hits) <= q.Matches && pos < len(s) {
		found := strings.Index(in[pos:], wanted)
		if found < 0 {
			break
		}
		h := hit{begin: pos + found, end: pos + found + len(wanted)}
		h.line, _ = lineAt(s, h.begin)
		_, h.eol = lineAt(s, h.end)
		h.from, h.upTo = h.line, h.eol
		if h.eol-h.line > shownLine {
			h.from = max(h.line, boundary(s, h.begin-min(h.begin, aroundText)))
			h.upTo = max(h.end, boundary(s, min(h.eol, h.end+aroundText)))
		}
		hits = append(hits, h)
		pos = max(h.upTo, h.end, pos+1)
	}
	return hits
}

// fold makes a character a small one, if that takes as many bytes: so that what is
// found stands at the same place in the text.
func fold(r rune) rune {
	if small := unicode.ToLower(r); utf8.RuneLen(small) == utf8.RuneLen(r) {
		return small
	}
	return r
}

// shower writes hits down.
type shower struct {
	text   string
	around int

	out     strings.Builder
	done    int // up to where lines were shown
	used    int // tokens
	counted int // up to where lines were counted
	lines   int // that end before there
}

func (s *shower) result() string { return strings.TrimSuffix(s.out.String(), "\n") }

// show writes a hit with the lines around it, up to where the next one's line
// begins; false where there is no room, but the first is cut to what there is.
func (s *shower) show(h hit, next, most int, first bool) bool {
	text, done := s.compose(h, next)
	if most > 0 {
		n := tokens.Count(text)
		switch {
		case s.used+n <= most:
		case !first:
			return false
		default:
			text, n = Head(text, most)
		}
		s.used += n
	}
	s.out.WriteString(text)
	s.done = done
	return true
}

func (s *shower) compose(h hit, next int) (text string, done int) {
	var b strings.Builder
	begin := h.line
	for range s.around {
		if begin <= s.done {
			break
		}
		begin, _ = lineAt(s.text, begin-1)
	}
	if s.out.Len() > 0 && begin > s.done {
		b.WriteString("--\n")
	}
	for begin < h.line {
		begin = s.row(&b, begin)
	}
	s.hit(&b, h)
	done = min(h.eol+1, len(s.text))
	for range s.around {
		if done >= min(next, len(s.text)) {
			break
		}
		done = s.row(&b, done)
	}
	return b.String(), done
}

// row writes one of the lines around a hit, and returns where the next begins.
func (s *shower) row(b *strings.Builder, line int) (next int) {
	_, eol := lineAt(s.text, line)
	shown := s.text[line:eol]
	if len(shown) > shownLine {
		shown = shown[:boundary(shown, shownLine)] + "…"
	}
	b.WriteString(strconv.Itoa(s.number(line)) + "-" + shown + "\n")
	return min(eol+1, len(s.text))
}

func (s *shower) hit(b *strings.Builder, h hit) {
	b.WriteString(strconv.Itoa(s.number(h.line)))
	if h.from > h.line || h.upTo < h.eol {
		b.WriteString("@" + strconv.Itoa(utf8.RuneCountInString(s.text[:h.begin])))
	}
	b.WriteByte(':')
	if h.from > h.line {
		b.WriteString("…")
	}
	b.WriteString(s.text[h.from:h.upTo])
	if h.upTo < h.eol {
		b.WriteString("…")
	}
	b.WriteByte('\n')
}

// number is that of the line that begins at a place.
func (s *shower) number(line int) int {
	if line < s.counted {
		s.lines -= strings.Count(s.text[line:s.counted], "\n")
	} else {
		s.lines += strings.Count(s.text[s.counted:line], "\n")
	}
	s.counted = line
	return s.lines + 1
}

// lineAt is where the line begins that a place is in, and where it ends.
func lineAt(s string, i int) (begin, end int) {
	begin = strings.LastIndexByte(s[:i], '\n') + 1
	end = strings.IndexByte(s[i:], '\n')
	if end < 0 {
		return begin, len(s)
	}
	return begin, i + end
}
