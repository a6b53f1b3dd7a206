package config

import "strings"

// nearest is the known word that somebody who wrote s most likely meant, or
// empty where none is near.
func nearest(s string, known []string) string {
	best, least := "", max(1, len(s)/3)+1
	for _, k := range known {
		d := distance(fold(s), fold(k))
		if d < least {
			best, least = k, d
		}
	}
	return best
}

// fold makes mcpServers and mcp-servers the same as mcp_servers.
func fold(s string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s))
}

// distance is how many letters have to be inserted, deleted, replaced or
// swapped with their neighbour to make b out of a.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			d := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d = min(d, rows[i-2][j-2]+1)
			}
			rows[i][j] = d
		}
	}
	return rows[len(a)][len(b)]
}
