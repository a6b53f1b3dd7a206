package client

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// tellEnvelope writes an envelope for a model. Words of its own come back as it
// said them, since a model writes on in the style that it finds.
func tellEnvelope(e *parley.Envelope, own bool) string {
	body := tellBody(e)
	if own {
		if e.Kind != parley.KindChat {
			body = "(" + tellKind(e) + ") " + body
		}
		return body
	}
	to := ""
	if len(e.To) > 0 {
		to = " → " + strings.Join(e.To, ", ")
	}
	in := ""
	if e.Context != nil {
		in = " in " + tellContext(e.Context.Type, e.Context.ID)
	}
	return fmt.Sprintf("#%d %s%s%s (%s): %s", e.Seq, e.From, to, in, tellKind(e), indent(body))
}

// tellKind is the kind, with the ids that it takes to answer or to follow it.
func tellKind(e *parley.Envelope) string {
	s := oneLine(e.Kind)
	if parley.SplitKind(e.Kind).Type == parley.TypeProposal {
		s += ", id " + e.ID
	}
	if len(e.Correlation.IDs) > 0 {
		s += ", re " + strings.Join(e.Correlation.IDs, ", ")
	}
	return s
}

// tellContext names a context: its whole id would take more tokens than most
// of what is said in it.
func tellContext(typ, id string) string {
	return strings.TrimSpace(oneLine(typ + " " + id[:min(len(id), 8)]))
}

// tellBody is what an envelope says: its text, where it has one, what is asked
// for, what came of it, else its payload.
func tellBody(e *parley.Envelope) string {
	if name := saying(e.Kind); name != "" {
		if said, ok := parley.MemberString(e.Payload, name); ok && said != "" {
			return said
		}
	}
	body := e.Payload
	for _, name := range []string{"params", "result", "error"} {
		if v := parley.Member(e.Payload, name); v != nil && strings.HasPrefix(e.Kind, "mcp/") {
			body = v
			break
		}
	}
	if body == nil {
		return "(nothing)"
	}
	s := string(compact(body))
	if reason := text(e.Payload, "reason"); reason != "" && parley.SplitKind(e.Kind).Type == parley.TypeProposal {
		s += ", because: " + reason
	}
	return s
}

// saying is the member of a payload that says all there is to it.
func saying(kind string) string {
	switch kind {
	case parley.KindChat:
		return "text"
	case kindReflection:
		return "thought"
	}
	return ""
}

func compact(v jsontext.Value) jsontext.Value {
	c := v.Clone()
	if c.Compact() != nil {
		return v
	}
	return c
}

// tellDigest is the line above what a digest holds.
func tellDigest(d *Digest) string {
	var counts []string
	for _, kind := range slices.Sorted(maps.Keys(d.Kinds)) {
		counts = append(counts, fmt.Sprintf("%d %s", d.Kinds[kind], oneLine(kind)))
	}
	of := ""
	if len(counts) > 0 {
		of = ": " + strings.Join(counts, ", ")
	}
	c := &d.Context
	return fmt.Sprintf("[digest of %s, %s, opened by %s, %d envelopes from #%d to #%d%s]",
		tellContext(c.Type, c.ID), c.State, c.Opener, c.Count, c.First, c.Last, of)
}

// tellEntries writes entries of a digest, the oldest first.
func tellEntries(entries []*DigestEntry) string {
	var b strings.Builder
	for _, e := range slices.SortedFunc(slices.Values(entries), func(a, b *DigestEntry) int { return cmp.Compare(a.Seq, b.Seq) }) {
		kind := oneLine(e.Kind)
		if parley.SplitKind(e.Kind).Type == parley.TypeProposal {
			kind += ", id " + e.ID
		}
		fmt.Fprintf(&b, "\n#%d %s (%s): %s", e.Seq, e.From, kind, indent(e.Text))
	}
	return b.String()
}

// noteText says what a transcript leaves out.
func noteText(omitted int, more bool, digests int, before uint64) string {
	least, summed := "", ""
	if more {
		least = "at least "
	}
	if digests > 0 {
		summed = fmt.Sprintf("; %d contexts of them are summed up", digests)
	}
	return fmt.Sprintf("[%s%d earlier envelopes are not told here%s; to read on, ask for what is before #%d]", least, omitted, summed, before)
}

// indent sets every line but the first apart from those that we wrote.
func indent(s string) string { return lineEnds.Replace(s) }

// oneLine keeps in one line what somebody chose freely.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

var lineEnds = strings.NewReplacer("\r\n", "\n  ", "\n", "\n  ", "\r", "\n  ", "\v", "\n  ", "\f", "\n  ",
	"\u0085", "\n  ", "\u2028", "\n  ", "\u2029", "\n  ")

// estimateTokens is how many tokens a text may have with the tokenizers of the
// day, rather too many. A tokenizer proper would bring megabytes of vocabulary
// into every agent.
func estimateTokens(s string) int {
	n, quarters := 0, 0 // quarters of tokens beyond ASCII
	for i := 0; i < len(s); {
		class := charClass(s[i])
		if class == beyondASCII {
			_, size := utf8.DecodeRuneInString(s[i:])
			quarters += [...]int{2, 2, 2, 4, 12}[size] // a letter, a sign of Chinese, an emoji
			i += size
			continue
		}
		start := i
		for i < len(s) && charClass(s[i]) == class {
			i++
		}
		n += runTokens(class, i-start)
	}
	return n + (quarters+3)/4
}

type asciiClass byte

const (
	letter asciiClass = iota
	digit
	blank
	sign
	beyondASCII
)

func charClass(c byte) asciiClass {
	switch {
	case c >= utf8.RuneSelf:
		return beyondASCII
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z':
		return letter
	case '0' <= c && c <= '9':
		return digit
	case c <= ' ':
		return blank
	}
	return sign
}

// runTokens is for so many characters of one class. A single blank belongs to
// the word that follows.
func runTokens(class asciiClass, n int) int {
	switch class {
	case letter:
		return (n + 3) / 4
	case digit:
		return (n + 1) / 2
	case blank:
		return (n + 2) / 4
	}
	return (n + 1) / 2
}
