// Package game is the rules of tic-tac-toe, and nothing else: who moves, what
// is legal, who has won.
//
//	var b game.Board
//	b, err := b.Play(5) // X, who begins, takes the middle
//	…
//	fmt.Println(b)
//	// 1 | 2 | 3
//	// --+---+--
//	// 4 | X | 6
//	// --+---+--
//	// 7 | 8 | 9
//
// Cells are numbered from 1, row by row, as people count: a number that somebody
// forgot to give is 0, and no cell.
//
// # Guarantees
//
// A board that was made by Play alone is one that a game can come to: the two
// move in turns, no cell is taken twice, and nobody moves once it is over.
//
// # Concurrency
//
// A Board is a value. Play returns another one.
package game

import (
	"fmt"
	"strconv"
	"strings"
)

// Cells is how many cells a board has; they are numbered from 1 to Cells.
const Cells = 9

// A Mark is whose a cell is.
type Mark byte

// The marks. X begins.
const (
	None Mark = iota
	X
	O
)

// String is the mark as it stands on a board; of None, nothing.
func (m Mark) String() string { return [...]string{"", "X", "O"}[m] }

// A Board is what the cells hold: b[0] is cell 1. The zero value is an empty one.
type Board [Cells]Mark

// Turn is whose turn it is, and None where the game is over.
func (b Board) Turn() Mark {
	if b.Over() {
		return None
	}
	if len(b.Free())%2 == 1 {
		return X
	}
	return O
}

// Play is the board after whoever's turn it is took a cell. The error is an
// [*IllegalError], and the board then as it was.
func (b Board) Play(cell int) (Board, error) {
	switch {
	case b.Over():
		return b, &IllegalError{cell, "the game is over"}
	case cell < 1 || cell > Cells:
		return b, &IllegalError{cell, fmt.Sprintf("there is no cell %d: they go from 1 to %d", cell, Cells)}
	case b[cell-1] != None:
		return b, &IllegalError{cell, fmt.Sprintf("cell %d is taken: %v is there", cell, b[cell-1])}
	}
	b[cell-1] = b.Turn() // of a copy
	return b, nil
}

// An IllegalError says why a move was not played.
type IllegalError struct {
	Cell   int
	Reason string // for people, and for models: "cell 5 is taken: X is there"
}

// Error is the reason.
func (e *IllegalError) Error() string { return e.Reason }

// Free is the cells that nobody has taken, in their order.
func (b Board) Free() (cells []int) {
	for i, m := range b {
		if m == None {
			cells = append(cells, i+1)
		}
	}
	return cells
}

// rows are the cells that win, by their index.
var rows = [...][3]int{
	{0, 1, 2}, {3, 4, 5}, {6, 7, 8},
	{0, 3, 6}, {1, 4, 7}, {2, 5, 8},
	{0, 4, 8}, {2, 4, 6},
}

// Winner is who has three in a row, and None where nobody has.
func (b Board) Winner() Mark {
	for _, r := range rows {
		if m := b[r[0]]; m != None && m == b[r[1]] && m == b[r[2]] {
			return m
		}
	}
	return None
}

// Over says whether somebody has won or no cell is free.
func (b Board) Over() bool { return b.Winner() != None || len(b.Free()) == 0 }

// String is the board as text, in five lines. A free cell shows its number.
func (b Board) String() string {
	var text strings.Builder
	for i, m := range b {
		if m == None {
			text.WriteString(strconv.Itoa(i + 1))
		} else {
			text.WriteString(m.String())
		}
		switch {
		case i == Cells-1:
		case i%3 == 2:
			text.WriteString("\n--+---+--\n")
		default:
			text.WriteString(" | ")
		}
	}
	return text.String()
}
