package sampling_test

import (
	"fmt"
	"log"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// show prints messages as they are on the wire.
func show(messages ...sampling.Message) {
	for _, m := range messages {
		line, err := m.MarshalJSON()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(line))
	}
}

// A typed answer: the request carries the reserved tool, the reply comes back
// as its call, and the exchange is closed, ready for the history.
func Example() {
	type Move struct {
		Cell int `json:"cell" minimum:"0" maximum:"8"`
	}
	moves, err := sampling.NewSchema[Move](sampling.SchemaOptions{Description: "Your move."})
	if err != nil {
		log.Fatal(err)
	}

	var history []sampling.Message
	asked := sampling.Request{
		Messages:  sampling.Append(history, sampling.UserText("Pick your move")),
		MaxTokens: 4096,
	}
	sent, err := moves.Request(asked)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sent.Tools[0].Name, sent.ToolChoice.Mode)

	reply, err := sampling.ReadResult([]byte(`{
		"role": "assistant",
		"content": [{"type": "tool_use", "id": "xxx", "name": "__schema__", "input": {"cell":4}}],
		"model": "some-model",
		"stopReason": "toolUse"
	}`))
	if err != nil {
		log.Fatal(err)
	}
	exchange, err := moves.Read(reply).Exchange(asked)
	if err != nil {
		log.Fatal(err)
	}

	fmt.Println("cell", exchange.Parsed.Cell)
	history = sampling.Append(history, exchange.Messages...)
	show(history...)
	// Output:
	// __schema__ required
	// cell 4
	// {"role":"user","content":{"type":"text","text":"Pick your move"}}
	// {"role":"assistant","content":[{"type":"tool_use","id":"xxx","name":"__schema__","input":{"cell":4}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"xxx","content":[{"type":"text","text":"ok"}]}]}
}

// A model that gives a wrong answer is told what was wrong with it.
func ExampleOutcome_Retry() {
	moves, err := sampling.NewSchema[move](sampling.SchemaOptions{})
	if err != nil {
		log.Fatal(err)
	}
	asked := sampling.Request{Messages: []sampling.Message{sampling.UserText("Pick your move")}}
	replies := []*sampling.Result{
		reply(sampling.ToolUseWanted, answer("a", `{"cell":12}`)),
		reply(sampling.ToolUseWanted, answer("b", `{"cell":4}`)),
	}
	sent, err := moves.Request(asked)
	if err != nil {
		log.Fatal(err)
	}
	for _, came := range replies {
		outcome := moves.Read(came)
		if next, again := outcome.Retry(sent.Messages); again {
			fmt.Println(outcome.Err())
			show(next[len(sent.Messages):]...)
			sent.Messages = next
			continue
		}
		exchange, err := outcome.Exchange(asked)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("cell", exchange.Parsed.Cell, "in", len(exchange.Messages), "messages")
	}
	// Output:
	// sampling: the model's answer does not fit: /cell: expected an integer from 0 to 8, got 12
	// {"role":"assistant","content":[{"type":"tool_use","id":"a","name":"__schema__","input":{"cell":12}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"a","content":[{"type":"text","text":"This answer was not taken."}],"isError":true}]}
	// {"role":"user","content":{"type":"text","text":"Your answer does not fit its schema:\n- /cell: expected an integer from 0 to 8, got 12\nCall the tool __schema__ again, with an answer that fits."}}
	// cell 4 in 3 messages
}

// Raw sampling: what was said, and what was answered.
func ExampleReadText() {
	asked := sampling.Request{Messages: []sampling.Message{sampling.UserText("Who are you?")}, MaxTokens: 100}
	result, err := sampling.ReadText(reply(sampling.EndTurn, say("A model."))).Exchange(asked)
	if err != nil {
		log.Fatal(err)
	}
	show(result.Messages...)
	// Output:
	// {"role":"user","content":{"type":"text","text":"Who are you?"}}
	// {"role":"assistant","content":{"type":"text","text":"A model."}}
}

// Calls of tools: their results close the exchange.
func ExampleReadCalls() {
	asked := sampling.Request{
		Messages:   []sampling.Message{sampling.UserText("What is on the board?")},
		Tools:      []sampling.Tool{{Name: "look", Description: "Look at a cell."}},
		ToolChoice: sampling.ToolChoice{Mode: sampling.Required},
	}
	outcome := sampling.ReadCalls(asked, reply(sampling.ToolUseWanted, call("1", "look", `{"cell":4}`)))
	if err := outcome.Err(); err != nil {
		log.Fatal(err)
	}
	var results []sampling.ToolResult
	for _, use := range outcome.Value {
		results = append(results, sampling.ToolResult{ToolUseID: use.ID, Content: []sampling.Block{sampling.Text{Text: "x"}}})
	}
	exchange, err := outcome.Exchange(asked, results...)
	if err != nil {
		log.Fatal(err)
	}
	show(exchange.Messages[1:]...)
	// Output:
	// {"role":"assistant","content":[{"type":"tool_use","id":"1","name":"look","input":{"cell":4}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}]}]}
}

// A human's move goes into the model's history with the board that it was made on.
func ExampleElicitExchange_WithArguments() {
	asked := sampling.Elicitation[board]{ID: "e1", Key: "pick_move", Message: "Your move?", Context: board{"x.o"}}
	exchange, err := sampling.Answered(asked, sampling.Accept, jsontext.Value(`{"cell":1}`), move{Cell: 1})
	if err != nil {
		log.Fatal(err)
	}
	exchange, err = exchange.WithArguments(func(b board) any { return map[string]any{"board": b.Cells} })
	if err != nil {
		log.Fatal(err)
	}
	show(sampling.Append([]sampling.Message{sampling.UserText("Let us play."), sampling.AssistantText("Yes!")}, exchange.Messages...)...)
	// Output:
	// {"role":"user","content":{"type":"text","text":"Let us play."}}
	// {"role":"assistant","content":{"type":"text","text":"Yes!"}}
	// {"role":"assistant","content":[{"type":"tool_use","id":"e1","name":"pick_move","input":{"board":"x.o"}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"e1","content":[{"type":"text","text":"{\"cell\":1}"}]}]}
}

// Histories are checked before they are sent; the error says where.
func ExampleCheck() {
	err := sampling.Check([]sampling.Message{
		sampling.UserText("Pick your move"),
		{Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{ID: "xxx", Name: "look"}}},
		sampling.UserText("Well?"),
	})
	fmt.Println(err)
	// Output:
	// sampling: messages[1].content[0] (id "xxx"): missing: the tool_use has no tool_result in the next message
}
