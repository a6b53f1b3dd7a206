package mcpfront

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/tokens"
)

// told is an envelope as parley__read tells of it.
type told struct {
	seq  uint64
	line string         // for reading
	json jsontext.Value // for programs
}

// readResult tells of envelopes, the oldest first, within a budget of tokens; 0 is
// no bound. Where there is no room for all, the newest are told where newest says
// so, else the first.
func readResult(list []*parley.Envelope, after uint64, newest bool, budget int) jsontext.Value {
	most := maxReadBytes
	if budget > 0 {
		most = min(most, budget/2)
	}
	all := make([]told, len(list))
	for i, e := range list {
		all[i] = told{e.Seq, lineOf(e, most), objectOf(e, most)}
	}
	shown := withRoom(all, newest, budget)
	var text strings.Builder
	structured := jsontext.Value(`{"items":[`)
	for i, s := range shown {
		after = max(after, s.seq)
		text.WriteString(s.line)
		if i > 0 {
			structured = append(structured, ',')
		}
		structured = append(structured, s.json...)
	}
	switch left := len(all) - len(shown); {
	case len(all) == 0:
		text.WriteString("Nothing new.")
	case left > 0 && newest:
		fmt.Fprintf(&text, "There was no room for %d older ones.", left)
	case left > 0:
		fmt.Fprintf(&text, "There was no room for %d more: after %d they go on.", left, after)
	}
	structured = fmt.Appendf(structured, `],"next":%d}`, after)
	return toolResult(strings.TrimSpace(text.String()), structured, false)
}

// withRoom are those that a budget has room for, one at least.
func withRoom(all []told, newest bool, budget int) []told {
	const frame = 64 // what stands around them
	bytes, n := 0, 0
	for _, s := range all {
		bytes += len(s.line) + len(s.json)
	}
	if budget == 0 || bytes+frame <= budget { // a token has a byte at least
		return all
	}
	in := slices.Clone(all)
	if newest {
		slices.Reverse(in)
	}
	used := frame
	for _, s := range in {
		used += tokens.Count(s.line) + tokens.Count(string(s.json))
		if n > 0 && used > budget {
			break
		}
		n++
	}
	if newest {
		return all[len(all)-n:]
	}
	return all[:n]
}

// lineOf is an envelope for reading, with so many bytes of what it says.
func lineOf(e *parley.Envelope, most int) string {
	to := ""
	if len(e.To) > 0 {
		to = " to " + strings.Join(e.To, ", ")
	}
	text := tame(shorten(saidIn(e), most))
	return fmt.Sprintf("#%d %s %s%s [%s] %s\n", e.Seq, e.TS.Format(time.RFC3339), e.From, to, e.Kind, text)
}

// objectOf is an envelope as JSON: its payload or, where that has more bytes than
// there is room for, an excerpt.
func objectOf(e *parley.Envelope, most int) jsontext.Value {
	b := fmt.Appendf(nil, `{"seq":%d,"id":%s,"ts":%s,"from":%s,"kind":%s`, e.Seq, mcp.Quote(e.ID), mcp.Quote(e.TS.Format(time.RFC3339)), mcp.Quote(e.From), mcp.Quote(e.Kind))
	if len(e.To) > 0 {
		b = append(b, `,"to":[`...)
		for i, id := range e.To {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, mcp.Quote(id)...)
		}
		b = append(b, ']')
	}
	if len(e.Payload) <= most {
		return append(append(append(b, `,"payload":`...), e.Payload...), '}')
	}
	return append(append(append(b, `,"excerpt":`...), mcp.Quote(shorten(saidIn(e), most))...), '}')
}

// saidIn is what an envelope says.
func saidIn(e *parley.Envelope) string {
	if text, ok := parley.MemberString(e.Payload, "text"); ok && e.Kind == parley.KindChat {
		return text
	}
	return string(e.Payload)
}

// tame keeps what somebody said from looking like what somebody else did: its
// further lines are set in, and control characters are left out.
func tame(s string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.ReplaceAll(s, "\n", "\n    "))
}

func shorten(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
