package game

import (
	"errors"
	"slices"
	"testing"
)

// played is the board after these moves, all of which have to be legal.
func played(t *testing.T, cells ...int) (b Board) {
	t.Helper()
	for _, cell := range cells {
		var err error
		if b, err = b.Play(cell); err != nil {
			t.Fatalf("%v after %v: %v", cell, cells, err)
		}
	}
	return b
}

func TestEndings(t *testing.T) {
	for name, c := range map[string]struct {
		cells  []int
		over   bool
		winner Mark
		turn   Mark
	}{
		"nothing yet":           {nil, false, None, X},
		"one move":              {[]int{5}, false, None, O},
		"a row":                 {[]int{1, 4, 2, 5, 3}, true, X, None},
		"a column":              {[]int{1, 3, 2, 6, 4, 9}, true, O, None},
		"a diagonal":            {[]int{1, 2, 5, 3, 9}, true, X, None},
		"the other diagonal":    {[]int{3, 2, 5, 1, 7}, true, X, None},
		"a draw":                {[]int{1, 2, 3, 5, 4, 6, 8, 7, 9}, true, None, None},
		"won with the last one": {[]int{1, 2, 3, 4, 5, 6, 8, 7, 9}, true, X, None},
	} {
		t.Run(name, func(t *testing.T) {
			b := played(t, c.cells...)
			if b.Over() != c.over || b.Winner() != c.winner || b.Turn() != c.turn {
				t.Errorf("over %v, winner %v, turn %v\n%v", b.Over(), b.Winner(), b.Turn(), b)
			}
		})
	}
}

func TestIllegalMoves(t *testing.T) {
	for _, c := range []struct {
		cells []int
		cell  int
		want  string
	}{
		{nil, 0, "there is no cell 0: they go from 1 to 9"},
		{nil, 10, "there is no cell 10: they go from 1 to 9"},
		{nil, -1 << 62, "there is no cell -4611686018427387904: they go from 1 to 9"},
		{[]int{5}, 5, "cell 5 is taken: X is there"},
		{[]int{5, 1}, 1, "cell 1 is taken: O is there"},
		{[]int{1, 4, 2, 5, 3}, 9, "the game is over"},
		{[]int{1, 4, 2, 5, 3}, 1, "the game is over"},
	} {
		before := played(t, c.cells...)
		after, err := before.Play(c.cell)
		if e, ok := errors.AsType[*IllegalError](err); !ok || e.Cell != c.cell || err.Error() != c.want {
			t.Errorf("%d after %v: %v, want %s", c.cell, c.cells, err, c.want)
		}
		if after != before {
			t.Errorf("%d after %v changed the board:\n%v", c.cell, c.cells, after)
		}
	}
}

// All games that there are, which have been counted by others.
func TestAllGames(t *testing.T) {
	ended := map[Mark]int{}
	var all func(Board)
	all = func(b Board) {
		if b.Over() {
			ended[b.Winner()]++
			return
		}
		for _, cell := range b.Free() {
			next, err := b.Play(cell)
			if err != nil {
				t.Fatal(err)
			}
			all(next)
		}
	}
	all(Board{})
	if ended[X] != 131184 || ended[O] != 77904 || ended[None] != 46080 {
		t.Errorf("X wins %d games, O %d, nobody %d", ended[X], ended[O], ended[None])
	}
}

func TestBoardAsText(t *testing.T) {
	const empty = "1 | 2 | 3\n--+---+--\n4 | 5 | 6\n--+---+--\n7 | 8 | 9"
	if got := (Board{}).String(); got != empty {
		t.Errorf("an empty board is\n%s", got)
	}
	b := played(t, 5, 1, 9)
	const want = "O | 2 | 3\n--+---+--\n4 | X | 6\n--+---+--\n7 | 8 | X"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := b.Free(); !slices.Equal(got, []int{2, 3, 4, 6, 7, 8}) {
		t.Errorf("free are %v", got)
	}
}
