package main

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/parleyhq/parley/examples/tictactoe/game"
	"github.com/parleyhq/parley/tool"
)

// formKey is what the human's form is called, in the tool's declaration and in
// the model's history.
const formKey = "your_move"

var declaration = tool.Tool{
	Name:  "play_tictactoe",
	Title: "Tic-tac-toe",
	Description: "A game of tic-tac-toe between a language model and a human, move by move: the model is asked by sampling, " +
		"the human by forms. It takes as long as the human does, and answers who has won, with all moves and the board.",
	Needs:   []tool.Ability{tool.SamplingTools, tool.Elicitation},
	Elicits: []string{formKey},
	Tokens:  100_000, // a game takes 5,000, and what the model thinks
	// It changes nothing anywhere, but two games are not the same.
	Annotations: tool.Annotations{ReadOnly: true},
}

// A side is one of the two who play.
type side string

const (
	model side = "model"
	human side = "human"
)

func (s side) other() side {
	if s == model {
		return human
	}
	return model
}

// An ending is how a game came to its end.
type ending string

const (
	won       ending = "won"
	drawn     ending = "drawn"
	forfeited ending = "forfeited"  // a side gave no legal move, as often as it was asked
	resigned  ending = "resigned"   // the human declined the form
	brokenOff ending = "broken_off" // the human closed the form, or somebody refused to let the model be asked
)

// input are the tool's arguments.
type input struct {
	First side `json:"first,omitempty" enum:"model,human" jsonschema:"who moves first, and is X; drawn if left out"`
}

// opening is what is settled before anybody is asked.
type opening struct {
	First side `json:"first"`
}

// move is one that was played.
type move struct {
	By   side   `json:"by" enum:"model,human"`
	Cell int    `json:"cell" jsonschema:"from 1 to 9, row by row"`
	Why  string `json:"why,omitempty" jsonschema:"what the side said of it"`
}

// course is what happened between the two.
type course struct {
	Moves []move `json:"moves"`
	End   ending `json:"end"`
	By    side   `json:"by,omitempty"` // who won, forfeited, resigned, or was to move
}

// result is the tool's answer.
type result struct {
	Outcome ending `json:"outcome" enum:"won,drawn,forfeited,resigned,broken_off"`
	Winner  side   `json:"winner,omitempty" enum:"model,human" jsonschema:"absent where nobody has won"`
	First   side   `json:"first" enum:"model,human" jsonschema:"who moved first, and was X"`
	Moves   []move `json:"moves"`
	Board   string `json:"board" jsonschema:"at the end, as text; a free cell shows its number"`
	Summary string `json:"summary" jsonschema:"all that in a sentence"`
}

// A table is where games are played. The zero value is none.
type table struct {
	draw  func() side // who moves first, where the caller does not say
	tries int         // how often a side is asked for one move, until it forfeits the game
}

func newTable(tries int) table {
	return table{draw: toss, tries: tries}
}

func toss() side {
	if rand.IntN(2) == 0 {
		return model
	}
	return human
}

// handoff is the game in its three parts. Chance is in the first, which is
// started once: the second is run again where the server was restarted in the
// middle of a game, with the answers that were given, and has to come to the
// same questions.
func (t table) handoff() tool.Handoff[input, opening, course, result] {
	return tool.Handoff[input, opening, course, result]{
		Before: t.before,
		Client: t.play,
		After:  t.after,
	}
}

func (t table) before(_ context.Context, _ *tool.Call, in input) (opening, error) {
	first := in.First
	if first == "" {
		first = t.draw()
	}
	return opening{first}, nil
}

func (t table) after(_ context.Context, _ *tool.Call, o opening, c course, _ input) (result, error) {
	var board game.Board
	for _, m := range c.Moves {
		var err error
		if board, err = board.Play(m.Cell); err != nil {
			return result{}, fmt.Errorf("the moves are no game: %w", err)
		}
	}
	return result{
		Outcome: c.End, Winner: c.winner(), First: o.First, Moves: c.Moves, Board: board.String(), Summary: c.summary(o),
	}, nil
}

// winner is who has won; "" is nobody.
func (c course) winner() side {
	switch c.End {
	case won:
		return c.By
	case forfeited, resigned:
		return c.By.other()
	}
	return ""
}

// summary is the game in a sentence.
func (c course) summary(o opening) string {
	moves := fmt.Sprintf("%d moves", len(c.Moves))
	if len(c.Moves) == 1 {
		moves = "1 move"
	}
	by := fmt.Sprintf("he %s (%v)", c.By, o.mark(c.By))
	switch c.End {
	case won:
		return fmt.Sprintf("T%s has won after %s.", by, moves)
	case drawn:
		return "Nobody has won: the board is full."
	case forfeited:
		return fmt.Sprintf("After %s, t%s gave no legal move, and forfeits the game.", moves, by)
	case resigned:
		return fmt.Sprintf("After %s, t%s resigned.", moves, by)
	}
	return fmt.Sprintf("After %s, when t%s was to move, the game was broken off.", moves, by)
}

// mark is what a side plays.
func (o opening) mark(s side) game.Mark {
	if s == o.First {
		return game.X
	}
	return game.O
}

// side is who plays a mark.
func (o opening) side(m game.Mark) side {
	if m == game.X {
		return o.First
	}
	return o.First.other()
}
