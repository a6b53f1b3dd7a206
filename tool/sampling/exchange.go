package sampling

import (
	"errors"
	"fmt"
)

// Acknowledgement is what an exchange answers a call with whose input was
// the answer: the data stands once, in the call.
const Acknowledgement = "ok"

// An Exchange is what a question to a model and its answer add to a history.
//
//	text:  request, response
//	typed: request, response with tool_use, tool_result "ok" for each of them
//	calls: request, response with tool_use, their results
//
// It represents the flow of data, not all that went over the wire: attempts that
// failed, and the hints that followed them, are not in it.
type Exchange[T any] struct {
	Request  Message   // the last of the user's messages that was asked with
	Response Message   // the model's, as it came
	Messages []Message // what to put into a history, mostly by [Append]
	Parsed   T         // what was wanted
	Input    []Message // all messages that were asked with
}

// Exchange makes an exchange of a good outcome. asked is what the caller wanted
// to know: where there were retries, as it was before them. results are
// for outcomes of [ReadCalls], one for each call; texts in them that say nothing
// are left out.
//
// An outcome that is not good makes no exchange: the error is its [ParseError]. It is
// a [*PairingError] where asked or the results do not go together.
func (o Outcome[T]) Exchange(asked Request, results ...ToolResult) (Exchange[T], error) {
	if err := o.Err(); err != nil {
		return Exchange[T]{}, err
	}
	request, ok := asked.lastUser()
	if !ok {
		return Exchange[T]{}, errors.New("sampling: an exchange answers a user's message, and there is none")
	}
	if err := asked.Check(); err != nil {
		return Exchange[T]{}, err
	}
	response := o.Reply.Message()
	answered := []Message{response.tidy()}
	if o.closes {
		results = acknowledged(answered[0].ToolUses())
	}
	if len(results) > 0 {
		answered = append(answered, Results(results...).tidyResults())
	}
	if err := Check(answered); err != nil {
		return Exchange[T]{}, fmt.Errorf("sampling: the exchange would not be well-formed: %w", err)
	}
	return Exchange[T]{request, response, append([]Message{request}, answered...), o.Value, asked.Messages}, nil
}

func acknowledged(uses []ToolUse) (results []ToolResult) {
	for _, use := range uses {
		results = append(results, ToolResult{ToolUseID: use.ID, Content: []Block{Text{Text: Acknowledgement}}})
	}
	return results
}
