package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// Move is what both sides answer with: the model by the tool __schema__, the
// human by a form.
type Move struct {
	Cell int    `json:"cell" minimum:"1" maximum:"9" jsonschema:"the number of a free cell"`
	Why  string `json:"why,omitempty" jsonschema:"what the move is for, in a few words"`
}

// ask asks a side for its move. trouble is what was wrong with the one before;
// "" is nothing. What was said goes into the one history of the game, whoever said
// it: the model sees the human's moves as calls that it made and that were
// answered.
func (m *match) ask(ctx context.Context, who side, trouble string) (Move, error) {
	if who == human {
		return m.askHuman(ctx, trouble)
	}
	return m.askModel(ctx, trouble)
}

func (m *match) askModel(ctx context.Context, trouble string) (Move, error) {
	x, err := tool.SampleAs[Move](ctx, m.call, sampling.Request{
		SystemPrompt: fmt.Sprintf(rules, m.mark(model), m.mark(human), formKey),
		Messages:     sampling.Append(m.call.Messages(), sampling.UserText(m.situation(trouble))),
		MaxTokens:    1000,
	})
	m.call.Remember(x.Messages...)
	return x.Parsed, err
}

const rules = `You play tic-tac-toe against a human, and you play to win. You are %v, the human is %v. ` +
	`The cells are numbered from 1 to 9, row by row; three in a row, a column or a diagonal win. ` +
	`Calls of %s in this conversation are the human's moves, each with the board before it. ` +
	`Answer with the number of a free cell, and with a few words on why.`

// position is what the human's form is about, for the model to see later.
type position struct {
	Board   string `json:"board"`
	Trouble string `json:"trouble,omitempty"`
}

func (m *match) askHuman(ctx context.Context, trouble string) (Move, error) {
	x, err := tool.Elicit[Move](ctx, m.call, sampling.Elicitation[position]{
		Key:     formKey,
		Message: fmt.Sprintf("You are %v, the model is %v. ", m.mark(human), m.mark(model)) + m.situation(trouble),
		Context: position{m.board.String(), trouble},
	})
	if x.Messages != nil {
		told, failed := x.WithArguments(func(p position) any { return p })
		if failed != nil {
			return Move{}, failed
		}
		m.call.Remember(told.Messages...)
	}
	return x.Parsed, err
}

// situation is what a side has to know to move.
func (m *match) situation(trouble string) string {
	var text strings.Builder
	if trouble != "" {
		fmt.Fprintf(&text, "That was not played: %s. Choose another cell.", trouble)
	} else {
		text.WriteString("It is your turn.")
	}
	free := strings.Trim(strings.ReplaceAll(fmt.Sprint(m.board.Free()), " ", ", "), "[]")
	fmt.Fprintf(&text, "\n\n%v\n\nFree cells: %s.", m.board, free)
	return text.String()
}
