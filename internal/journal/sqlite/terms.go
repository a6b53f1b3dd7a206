package sqlite

import (
	"crypto/sha256"
	"encoding/base32"
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
)

func term(sign, name string) string {
	sum := sha256.Sum256([]byte(name))
	return sign + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:8]))
}

// termsOf is the text that a record is indexed by.
func termsOf(r *journal.Record) string {
	seen := map[string]bool{}
	var b strings.Builder
	add := func(t string) {
		if !seen[t] {
			seen[t] = true
			b.WriteString(t)
			b.WriteByte(' ')
		}
	}
	add(term(termID, r.ID))
	add(term(termFrom, r.From))
	add(term(termContext, r.Context))
	for _, to := range r.To {
		add(term(termTo, to))
	}
	for _, id := range r.Correlations {
		add(term(termCorrelation, id))
	}
	for w := range journal.RecordWords(r) {
		add(w)
	}
	return b.String()
}

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
	if len(q.Contexts) > 0 {
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
