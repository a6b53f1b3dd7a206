package digest

import (
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/tokens"
)

// header writes what stands before the text of an entry, with the brace before
// it.
type header func(b []byte, rec *journal.Record) []byte

func proposalHeader(b []byte, rec *journal.Record) []byte {
	b = named(b, rec)
	b = appendKind(b, rec)
	b = appendQuote(append(b, `,"from":`...), rec.From)
	return appendTo(b, rec.To)
}

// appendTo writes to whom it is, and of how many there is no more said.
func appendTo(b []byte, to []string) []byte {
	b = append(b, `,"to":[`...)
	room, left := mostTo, len(to)
	for i, id := range to {
		if room -= tokens.Count(id) + 1; room < 0 {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendQuote(b, id)
		left--
	}
	b = append(b, ']')
	if left > 0 {
		b = strconv.AppendInt(append(b, `,"to_omitted":`...), int64(left), 10)
	}
	return b
}

func appendKind(b []byte, rec *journal.Record) []byte {
	return appendQuote(append(b, `,"kind":`...), shorten(rec.Effective, mostKind))
}

func conclusionHeader(b []byte, rec *journal.Record) []byte {
	b = appendQuote(append(named(b, rec), `,"from":`...), rec.From)
	return appendTime(b, rec)
}

func messageHeader(b []byte, rec *journal.Record) []byte {
	b = appendQuote(append(named(b, rec), `,"from":`...), rec.From)
	return appendTime(appendKind(b, rec), rec)
}

func named(b []byte, rec *journal.Record) []byte {
	b = strconv.AppendUint(append(b, `{"seq":`...), rec.Seq, 10)
	return appendQuote(append(b, `,"id":`...), shorten(rec.ID, mostID))
}

func appendTime(b []byte, rec *journal.Record) []byte {
	return rec.TS.UTC().AppendFormat(append(b, `,"ts":`...), `"2006-01-02T15:04:05.000Z"`)
}

func appendQuote(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, s) // invalid UTF-8 is replaced
	return b
}

const (
	leastText = 12    // tokens, below which a text that is cut says nothing
	mostText  = 1_000 // tokens of one text, however large the budget is
)

// What a header may take of what its sender chooses, in tokens. What people and
// programs write is shorter: an id of ours has about 25.
const (
	mostID   = 40
	mostKind = 40
	mostTo   = 48 // all names together
)

// fit writes an entry whose text has at most so many tokens, and that takes no
// more than there is room for; nil where that cannot be.
func fit(rec *journal.Record, head header, text, room int) (entry []byte, cost int) {
	before := head(nil, rec)
	// A token has a byte at least. Most headers need not be counted, and what has no
	// room is told before its text is read, which may be long.
	if len(before) > room && tokens.Count(string(before)) > room {
		return nil, 0
	}
	text = min(max(text, leastText), mostText)
	whole := Text(rec)
	for text >= leastText {
		short := shorten(whole, text)
		entry = append(appendQuote(append(before[:len(before):len(before)], `,"text":`...), short), '}')
		cost = tokens.Count(string(entry)) + 1 // and what stands between two
		if cost <= room {
			return entry, cost
		}
		text = min(text, tokens.Count(short)) - max(cost-room, 1)
	}
	return nil, 0
}

// shorten cuts a text to about so many tokens, and says then how much is
// missing.
func shorten(text string, most int) string {
	if len(text) <= most {
		return text // a token has a byte at least
	}
	n := min(len(text), most*bytesLooked)
	for n > 0 {
		n = wholeRunes(text, n)
		is := tokens.Count(text[:n])
		if is <= most {
			break
		}
		n = min(n-1, n*most/is)
	}
	if n == len(text) {
		return text
	}
	return text[:n] + fmt.Sprintf(" … (%d more bytes)", len(text)-n)
}

// bytesLooked is how many bytes of a text are looked at for each token that it
// may have: more than prose has.
const bytesLooked = 6

func wholeRunes(text string, n int) int {
	for n > 0 && n < len(text) && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}
