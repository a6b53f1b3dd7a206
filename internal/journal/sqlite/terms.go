package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/parleyhq/parley/internal/journal"
)

// What the index knows a record by: its words, and a term for each of its
// names. A name's term is a hash behind a sign that no word contains, so that
// names of any characters pass the tokenizer whole. Whatever the index finds is
// compared with the row itself, so a hash that two names share does no harm.
const (
	termID          = "§i"
	termFrom        = "§f"
	termTo          = "§t"
	termCorrelation = "§r"
	termContext     = "§c"
	termNote        = "§m" // brings metadata of its context, and is no summary of it
)

func term(sign, name string) string { return string(appendTerm(nil, sign, name)) }

func appendTerm(dst []byte, sign, name string) []byte {
	sum := sha256.Sum256([]byte(name))
	return hex.AppendEncode(append(dst, sign...), sum[:8])
}

// appendTerms appends the text that a record is indexed by. seen is room to
// note which words it has already.
func appendTerms(dst []byte, r *journal.Record, seen map[string]struct{}) []byte {
	name := func(sign, name string) { dst = append(appendTerm(dst, sign, name), ' ') }
	name(termID, r.ID)
	name(termFrom, r.From)
	name(termContext, r.Context)
	if r.Context != "" && r.HasContextMetadata() {
		name(termNote, r.Context)
	}
	for _, to := range r.To {
		name(termTo, to)
	}
	for _, id := range r.Correlations {
		name(termCorrelation, id)
	}
	clear(seen)
	for w := range journal.RecordWords(r) {
		if _, again := seen[w]; !again {
			seen[w] = struct{}{}
			dst = append(append(dst, w...), ' ')
		}
	}
	return dst
}

// mostContexts is how many the index is asked for; of more, each row is looked at.
const mostContexts = 256

// terms is what to ask the index for, in the syntax of FTS5, or nothing where
// the query has no condition that the index knows.
func terms(q journal.Query) string {
	var all []string
	name := func(sign, name string) {
		if name != "" {
			all = append(all, quote(term(sign, name)))
		}
	}
	name(termID, q.ID)
	name(termFrom, q.From)
	name(termTo, q.To)
	name(termCorrelation, q.Correlation)
	if n := len(q.Contexts); n > 0 && n <= mostContexts {
		var any []string
		for _, c := range q.Contexts {
			any = append(any, quote(term(termContext, c)))
		}
		all = append(all, "("+strings.Join(any, " OR ")+")")
	}
	for _, w := range journal.Words(q.Text) {
		all = append(all, quote(w))
	}
	return strings.Join(all, " AND ")
}

// quote makes a string of FTS5's, in which nothing has a meaning.
func quote(term string) string { return `"` + strings.ReplaceAll(term, `"`, `""`) + `"` }
