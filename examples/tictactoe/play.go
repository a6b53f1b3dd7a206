package main

import (
	"context"
	"errors"

	"github.com/parleyhq/parley/examples/tictactoe/game"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// A match is a game under way.
type match struct {
	call *tool.Call
	opening
	tries int
	board game.Board
	moves []move
}

// play asks the two in turns until the game is over. It does nothing but ask and
// compute: no chance, no clock.
func (t table) play(ctx context.Context, c *tool.Call, o opening) (course, error) {
	m := &match{call: c, opening: o, tries: t.tries, moves: []move{}}
	for !m.board.Over() {
		who := m.side(m.board.Turn())
		end, err := m.turn(ctx, who)
		if err != nil || end != "" {
			return course{m.moves, end, who}, err
		}
		c.Progress(ctx, float64(len(m.moves)), game.Cells, "")
	}
	if w := m.board.Winner(); w != game.None {
		return course{m.moves, won, m.side(w)}, nil
	}
	return course{m.moves, drawn, ""}, nil
}

// turn is one move of one side: asked for, told what was wrong with it, asked
// for again. An ending says that there was none.
func (m *match) turn(ctx context.Context, who side) (ending, error) {
	trouble := ""
	for range m.tries {
		answer, err := m.ask(ctx, who, trouble)
		if err == nil {
			err = m.put(who, answer)
		}
		if err == nil {
			return "", nil
		}
		if end := endingBy(who, err); end != "" {
			return end, nil
		}
		if trouble = troubleBy(err); trouble == "" {
			return "", err
		}
	}
	return forfeited, nil
}

// put plays a move, if it is legal.
func (m *match) put(who side, answer Move) error {
	board, err := m.board.Play(answer.Cell)
	if err != nil {
		return err
	}
	m.board = board
	m.moves = append(m.moves, move{who, answer.Cell, brief(answer.Why)})
	return nil
}

// endingBy is how somebody's no ends the game; "" where err is none.
func endingBy(who side, err error) ending {
	switch {
	case errors.Is(err, tool.Declined) && who == human:
		return resigned
	case errors.Is(err, tool.Declined), errors.Is(err, tool.Cancelled):
		return brokenOff
	}
	return ""
}

// troubleBy is what a side is told of its own mistake; "" where err is none.
func troubleBy(err error) string {
	if e, ok := errors.AsType[*game.IllegalError](err); ok {
		return e.Reason
	}
	if _, ok := errors.AsType[*sampling.ParseError](err); ok || errors.Is(err, tool.Garbled) {
		return "there was no move in the answer"
	}
	return ""
}

// brief is the beginning of what somebody said, so that a talkative model makes
// no long answer.
func brief(text string) string {
	const most = 200
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
