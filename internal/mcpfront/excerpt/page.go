package excerpt

import (
	"strings"
	"unicode/utf8"

	"github.com/parleyhq/parley"
)

// Range says which part of a text is wanted. The zero value is all of it.
type Range struct {
	Offset int  // how much to leave out at the beginning
	Limit  int  // how much to return at most; 0 is no limit
	Lines  bool // both count lines, else characters
}

// Page is a part of a text.
type Page struct {
	Text      string
	From, To  int   // characters of the whole text, To exclusive
	FirstLine int   // from 1
	LastLine  int   // that the page has something of; FirstLine-1 for none
	Next      Range // what comes behind it; its Limit is 0
	More      bool  // something does
	Tokens    int   // about how many it has; 0 where there was no bound
}

// Page is a part of a text, or as much of it as has so many tokens; 0 is no bound.
// The error is an invalid_argument where the range lies behind the end.
func (t Text) Page(r Range, most int) (Page, error) {
	start := at(t.all, r.Offset, r.Lines)
	if start < 0 {
		return Page{}, behindTheEnd(t, r)
	}
	end := len(t.all)
	if r.Limit > 0 {
		if n := at(t.all[start:], r.Limit, r.Lines); n >= 0 {
			end = start + n
		}
		if b := boundary(t.all, end); b > start {
			end = b
		}
	}
	text := t.all[start:end]
	n := 0
	if most > 0 {
		text, n = Head(text, most)
	}
	if r.Lines && start+len(text) < end {
		if nl := strings.LastIndexByte(text, '\n'); nl >= 0 {
			text = text[:nl+1]
		}
	}
	p := t.page(start, start+len(text), r.Lines)
	p.Tokens = n
	return p, nil
}

// page is the one between two places.
func (t Text) page(start, end int, lines bool) Page {
	p := Page{Text: t.all[start:end], From: utf8.RuneCountInString(t.all[:start])}
	p.To = p.From + utf8.RuneCountInString(p.Text)
	p.FirstLine = 1 + strings.Count(t.all[:start], "\n")
	p.LastLine = p.FirstLine - 1 + Text{all: p.Text}.Lines()
	if p.More = end < len(t.all); p.More {
		p.Next = Range{Offset: p.To}
		if lines && strings.HasSuffix(p.Text, "\n") {
			p.Next = Range{Offset: p.LastLine, Lines: true}
		}
	}
	return p
}

// at is where so many characters or lines of a text end; -1 where it has fewer.
func at(s string, n int, lines bool) int {
	if n == 0 {
		return 0
	}
	if n > len(s) {
		return -1
	}
	if !lines {
		return afterRunes(s, n)
	}
	pos := 0
	for range n {
		if pos == len(s) {
			return -1
		}
		nl := strings.IndexByte(s[pos:], '\n')
		if nl < 0 {
			pos = len(s)
			continue
		}
		pos += nl + 1
	}
	return pos
}

func afterRunes(s string, n int) int {
	for i := range s {
		if n == 0 {
			return i
		}
		n--
	}
	if n > 0 {
		return -1
	}
	return len(s)
}

func behindTheEnd(t Text, r Range) error {
	has, what := t.Characters(), "characters"
	if r.Lines {
		has, what = t.Lines(), "lines"
	}
	return parley.Errorf(parley.InvalidArgument, "offset %d is behind the end: there are %d %s", r.Offset, has, what)
}
