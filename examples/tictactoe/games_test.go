package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A scripted game, with what has to come of it.
type scripted struct {
	first        side
	model, human string // scripts
	want         result // without the reasons
	asked        int    // how often the model is asked
	forms        int    // how many forms the human gets
}

// everyClientPlays are games that everybody plays who can ask: they hold all that
// can go wrong with a move, but what a client of MCP refuses by itself.
var everyClientPlays = map[string]scripted{
	"the model wins": {
		first: model,
		model: "I take the middle.\n" + `{"cell":12}` + "\n5\n1\n3\n7", // no call, no such cell, then taken once
		human: "5\n1\n2",                                               // taken first
		want: result{
			Outcome: won, Winner: model, First: model, Moves: cells(model, 5, 1, 3, 2, 7),
			Board:   "O | O | X\n--+---+--\n4 | X | 6\n--+---+--\nX | 8 | 9",
			Summary: "The model (X) has won after 5 moves.",
		},
		asked: 6, forms: 3,
	},
	"nobody wins": {
		first: human,
		model: "1\n1\n2\n5\n6\n7", // taken twice
		human: "1\n1\n3\n4\n8\n9", // its own cell again
		want: result{
			Outcome: drawn, First: human, Moves: cells(human, 1, 2, 3, 5, 4, 6, 8, 7, 9),
			Board:   "X | O | X\n--+---+--\nX | O | O\n--+---+--\nO | X | X",
			Summary: "Nobody has won: the board is full.",
		},
		asked: 6, forms: 6,
	},
	"the human wins": {
		first: human,
		model: "2\n5",
		human: "1\n4\n7",
		want: result{
			Outcome: won, Winner: human, First: human, Moves: cells(human, 1, 2, 4, 5, 7),
			Board:   "X | O | 3\n--+---+--\nX | O | 6\n--+---+--\nX | 8 | 9",
			Summary: "The human (X) has won after 5 moves.",
		},
		asked: 2, forms: 3,
	},
	"the model forfeits": {
		first: model,
		model: "5\n5\n1\n5",
		human: "1",
		want: result{
			Outcome: forfeited, Winner: human, First: model, Moves: cells(model, 5, 1),
			Board:   "O | 2 | 3\n--+---+--\n4 | X | 6\n--+---+--\n7 | 8 | 9",
			Summary: "After 2 moves, the model (X) gave no legal move, and forfeits the game.",
		},
		asked: 4, forms: 1,
	},
	"the model says nothing that is a move": {
		first: model,
		model: strings.TrimSuffix(strings.Repeat("no\n", 9), "\n"),
		want: result{
			Outcome: forfeited, Winner: human, First: model, Moves: []move{},
			Board:   "1 | 2 | 3\n--+---+--\n4 | 5 | 6\n--+---+--\n7 | 8 | 9",
			Summary: "After 0 moves, the model (X) gave no legal move, and forfeits the game.",
		},
		asked: 9,
	},
	"the human forfeits": {
		first: model,
		model: "9",
		human: "9\n9\n9",
		want: result{
			Outcome: forfeited, Winner: model, First: model, Moves: cells(model, 9),
			Board:   "1 | 2 | 3\n--+---+--\n4 | 5 | 6\n--+---+--\n7 | 8 | X",
			Summary: "After 1 move, the human (O) gave no legal move, and forfeits the game.",
		},
		asked: 1, forms: 3,
	},
	"the human resigns": {
		first: human,
		model: "5",
		human: "1\n5\ndecline",
		want: result{
			Outcome: resigned, Winner: model, First: human, Moves: cells(human, 1, 5),
			Board:   "X | 2 | 3\n--+---+--\n4 | O | 6\n--+---+--\n7 | 8 | 9",
			Summary: "After 2 moves, the human (X) resigned.",
		},
		asked: 1, forms: 3,
	},
	"the human goes away": {
		first: human,
		human: "cancel",
		want: result{
			Outcome: brokenOff, First: human, Moves: []move{},
			Board:   "1 | 2 | 3\n--+---+--\n4 | 5 | 6\n--+---+--\n7 | 8 | 9",
			Summary: "After 0 moves, when the human (X) was to move, the game was broken off.",
		},
		forms: 1,
	},
}

// cells are moves in turns.
func cells(first side, list ...int) []move {
	moves := []move{}
	for i, cell := range list {
		by := first
		if i%2 == 1 {
			by = first.other()
		}
		moves = append(moves, move{By: by, Cell: cell})
	}
	return moves
}

// players are those of the game.
func (g scripted) players() *players { return &players{model: g.model, human: g.human} }

// arguments are those of the call.
func (g scripted) arguments() map[string]any { return map[string]any{"first": string(g.first)} }

// check holds a tool's answer, and what the players have seen, against the script.
func (g scripted) check(t *testing.T, p *players, envelope jsontext.Value) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		t.Fatal(p.fault)
	}
	var answer struct {
		Data  result         `json:"data"`
		Error jsontext.Value `json:"error"`
	}
	if err := json.Unmarshal(envelope, &answer); err != nil || answer.Error != nil {
		t.Fatalf("answered %s, %v", envelope, err)
	}
	got := answer.Data
	for i, m := range got.Moves {
		if m.By == model && m.Why != "the script says so" || m.By == human && m.Why != "" {
			t.Errorf("the %s says of cell %d: %q", m.By, m.Cell, m.Why)
		}
		got.Moves[i].Why = ""
	}
	if !slices.Equal(got.Moves, g.want.Moves) {
		t.Errorf("the moves are %v, want %v", got.Moves, g.want.Moves)
	}
	got.Moves, g.want.Moves = nil, nil
	if got.Outcome != g.want.Outcome || got.Winner != g.want.Winner || got.First != g.want.First || got.Board != g.want.Board || got.Summary != g.want.Summary {
		t.Errorf("\n got %+v\nwant %+v", got, g.want)
	}
	if len(p.requests) != g.asked || len(p.forms) != g.forms {
		t.Errorf("the model was asked %d times, want %d; the human got %d forms, want %d", len(p.requests), g.asked, len(p.forms), g.forms)
	}
}
