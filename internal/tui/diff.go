package tui

import "strings"

// change is a line of a difference: ' ' stays, '-' goes, '+' comes.
type change struct {
	sign byte
	line string
}

// mostCompared bounds the table in which lines are compared with each other. Beyond
// it what differs is shown as gone, and as new.
const mostCompared = 1_000_000

// difference compares two texts line by line.
func difference(before, after string) []change {
	a, b := strings.Split(before, "\n"), strings.Split(after, "\n")
	var head, tail []change
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, change{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, change{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	all := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		all = append(all, tail[i])
	}
	return all
}

// middle is the shortest difference, by the longest common subsequence.
func middle(a, b []string) []change {
	var out []change
	if len(a)*len(b) > mostCompared {
		for _, line := range a {
			out = append(out, change{'-', line})
		}
		for _, line := range b {
			out = append(out, change{'+', line})
		}
		return out
	}
	same := make([][]int, len(a)+1)
	for i := range same {
		same[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				same[i][j] = same[i+1][j+1] + 1
			} else {
				same[i][j] = max(same[i+1][j], same[i][j+1])
			}
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			out = append(out, change{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && same[i+1][j] >= same[i][j+1]:
			out = append(out, change{'-', a[i]})
			i++
		default:
			out = append(out, change{'+', b[j]})
			j++
		}
	}
	return out
}
