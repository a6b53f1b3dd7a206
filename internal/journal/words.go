package journal

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Full-text search finds a record by the words of
//
//   - the string values of its payload, at any depth, but no member names,
//   - its kind, written and effective, and its sender.
//
// A word is a run of letters, digits and marks, in lower case; each character
// of the scripts that are written without blanks is a word by itself. Long
// words count by their beginning, and of a very long text its beginning is
// searched.
const (
	maxWord = 64       // bytes of a word that count
	maxText = 64 << 10 // bytes of a record's text that are searched
)

// Words are the words of a text. Whatever else it holds only separates them.
func Words(text string) []string {
	var words []string
	for w := range wordsOf(text) {
		words = append(words, w)
	}
	return words
}

// RecordWords yields the words that a record can be found by, some repeatedly.
// A redacted record has none of its payload.
func RecordWords(r *Record) iter.Seq[string] {
	return func(yield func(string) bool) {
		if r.Type != Admitted {
			return
		}
		header := r.From + " " + r.Kind
		if r.Effective != r.Kind {
			header += " " + r.Effective
		}
		if !each(header, yield) || r.Redacted {
			return
		}
		left := maxText
		for s := range stringValues(parley.Member(r.Body, "payload")) {
			s = s[:min(len(s), left)]
			left -= len(s)
			if !each(s, yield) || left == 0 {
				return
			}
		}
	}
}

func each(text string, yield func(string) bool) bool {
	for w := range wordsOf(text) {
		if !yield(w) {
			return false
		}
	}
	return true
}

func wordsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := -1 // of the word that is being read
		for i, c := range text {
			in := unicode.IsLetter(c) || unicode.IsNumber(c) || unicode.IsMark(c)
			alone := in && unspaced(c)
			if start >= 0 && (!in || alone) {
				if !yield(word(text[start:i])) {
					return
				}
				start = -1
			}
			switch {
			case alone:
				if !yield(string(c)) {
					return
				}
			case in && start < 0:
				start = i
			}
		}
		if start >= 0 {
			yield(word(text[start:]))
		}
	}
}

func word(s string) string {
	s = strings.ToLower(s)
	if len(s) > maxWord {
		end := maxWord
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end]
	}
	return s
}

// unspaced reports whether c belongs to a script that puts no blanks between
// its words.
func unspaced(c rune) bool {
	return c >= 0x0e00 && unicode.In(c, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// stringValues yields the strings of valid JSON that are not member names.
func stringValues(v jsontext.Value) iter.Seq[string] {
	return func(yield func(string) bool) {
		var text []byte
		for i := 0; i < len(v); {
			if v[i] != '"' {
				i++
				continue
			}
			end := stringEnd(v, i)
			raw := v[i:end]
			i = end
			for i < len(v) && (v[i] == ' ' || v[i] == '\n' || v[i] == '\r' || v[i] == '\t') {
				i++
			}
			if i < len(v) && v[i] == ':' {
				continue // it named a member
			}
			var err error
			if text, err = jsontext.AppendUnquote(text[:0], raw); err == nil && !yield(string(text)) {
				return
			}
		}
	}
}

// stringEnd is the index after the string that starts at i.
func stringEnd(v jsontext.Value, i int) int {
	for i++; i < len(v); i++ {
		switch v[i] {
		case '"':
			return i + 1
		case '\\':
			i++
		}
	}
	return len(v)
}
