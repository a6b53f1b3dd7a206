// Package nearest finds what somebody meant who mistyped a word.
//
//	nearest.To("excludeEmptyArays", []string{"exclude_empty_arrays", "profile"}) // exclude_empty_arrays
//
// # Concurrency
//
// There is no state.
package nearest

import "strings"

// longest bounds the words that are compared, in bytes: what was mistyped is
// often hostile, and the work grows with the product of the lengths.
const longest = 64

// To is the known word that somebody who wrote s most likely meant, or empty
// where none is near. Of two that are as near it is the first.
func To(s string, known []string) string {
	s = fold(s)
	if len(s) > longest {
		return ""
	}
	best, least := "", max(1, len(s)/3)+1
	for _, k := range known {
		folded := fold(k)
		if len(folded) > longest {
			continue
		}
		if d := distance(s, folded); d < least {
			best, least = k, d
		}
	}
	return best
}

// Same says whether two words differ in their spelling only: mcpServers,
// mcp-servers and mcp_servers are the same.
func Same(a, b string) bool { return fold(a) == fold(b) }

func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is how many bytes have to be inserted, deleted, replaced or swapped
// with their neighbour to make b out of a. Neither is longer than longest.
func distance(a, b string) int {
	// Rows from what was read of a to each beginning of b.
	var rows [3][longest + 1]int
	before, row, next := &rows[0], &rows[1], &rows[2]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := row[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, row[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
