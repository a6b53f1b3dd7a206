package tool_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// played is a model and a human that have made up their minds.
type played []string

func (p *played) Can(tool.Ability) bool { return true }

func (p *played) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	answer := (*p)[0]
	*p = (*p)[1:]
	return jsontext.Value(answer), nil
}

func (p *played) Notify(_ context.Context, method string, params jsontext.Value) error {
	fmt.Println(method, string(params))
	return nil
}

func says(text string) string {
	return `{"role":"assistant","model":"some-model","stopReason":"endTurn","content":{"type":"text","text":"` + text + `"}}`
}

func moves(input string) string {
	return `{"role":"assistant","model":"some-model","stopReason":"toolUse","content":[{"type":"tool_use","id":"xxx","name":"__schema__","input":` + input + `}]}`
}

var anything = tool.Tool{Name: "example", Needs: []tool.Ability{tool.SamplingTools, tool.Elicitation}}

type Move struct {
	Cell int `json:"cell" minimum:"0" maximum:"8"`
}

// A tool that has a model write what it answers.
func ExampleCall_Sample() {
	call := tool.NewAskingCall(anything, tool.Community, "", &played{says("Tea, twice.")})
	haiku := func(ctx context.Context, c *tool.Call) (string, error) {
		x, err := c.Sample(ctx, sampling.Prompt("Write a very short poem."))
		return x.Parsed, err
	}
	fmt.Println(haiku(context.Background(), call))
	// Output: Tea, twice. <nil>
}

// A typed answer, and the three messages that it adds to a history.
func ExampleSampleAs() {
	call := tool.NewAskingCall(anything, tool.Community, "", &played{says("The centre!"), moves(`{"cell":4}`)})
	x, err := tool.SampleAs[Move](context.Background(), call, sampling.Prompt("Pick your move"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("cell", x.Parsed.Cell)
	call.Remember(x.Messages...)
	for _, m := range call.Messages() {
		line, _ := m.MarshalJSON()
		fmt.Println(string(line))
	}
	// Output:
	// cell 4
	// {"role":"user","content":{"type":"text","text":"Pick your move"}}
	// {"role":"assistant","content":[{"type":"tool_use","id":"xxx","name":"__schema__","input":{"cell":4}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"xxx","content":[{"type":"text","text":"ok"}]}]}
}

// A model that uses tools: the calls are made here, and their results go back to
// it.
func ExampleCall_SampleTools() {
	call := tool.NewAskingCall(anything, tool.Community, "", &played{
		`{"role":"assistant","model":"some-model","stopReason":"toolUse","content":{"type":"tool_use","id":"1","name":"weather","input":{"at":"Rome"}}}`,
		says("Take a hat."),
	})
	ctx := context.Background()
	ask := sampling.Prompt("What should I wear in Rome?")
	ask.Tools = []sampling.Tool{{Name: "weather", InputSchema: jsontext.Value(`{"type":"object","properties":{"at":{"type":"string"}}}`)}}
	wanted, err := call.SampleTools(ctx, ask)
	if err != nil {
		log.Fatal(err)
	}
	var results []sampling.ToolResult
	for _, use := range wanted.Value {
		fmt.Println("it calls", use.Name, string(use.Input))
		results = append(results, sampling.ToolResult{ToolUseID: use.ID, Content: []sampling.Block{sampling.Text{Text: "sunny"}}})
	}
	x, err := wanted.Exchange(ask, results...)
	if err != nil {
		log.Fatal(err)
	}
	call.Remember(x.Messages...)
	last, err := call.Sample(ctx, sampling.Request{Messages: call.Messages()})
	fmt.Println(last.Parsed, err)
	// Output:
	// it calls weather {"at":"Rome"}
	// Take a hat. <nil>
}

// A form, and what a decline looks like. The board, which the human was not told,
// is put into the history for the model.
func ExampleElicit() {
	call := tool.NewAskingCall(anything, tool.Community, "", &played{`{"action":"accept","content":{"cell":3}}`, `{"action":"decline"}`})
	ctx := context.Background()
	ask := sampling.Elicitation[string]{ID: "move-1", Key: "move", Message: "Your move?", Context: "X.. ... ..."}
	x, err := tool.Elicit[Move](ctx, call, ask)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(x.Action, x.Parsed.Cell)
	x, err = x.WithArguments(func(board string) any { return map[string]string{"board": board} })
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range x.Messages {
		line, _ := m.MarshalJSON()
		fmt.Println(string(line))
	}
	_, err = tool.Elicit[Move](ctx, call, ask)
	fmt.Println(errors.Is(err, tool.Declined), err)
	// Output:
	// accept 3
	// {"role":"assistant","content":[{"type":"tool_use","id":"move-1","name":"move","input":{"board":"X.. ... ..."}}]}
	// {"role":"user","content":[{"type":"tool_result","toolUseId":"move-1","content":[{"type":"text","text":"{\"cell\":3}"}]}]}
	// true elicitation/create: the human declined to answer
}

// A branch for each file, with a limit that it cannot raise.
func ExampleCall_Branch() {
	call := tool.NewAskingCall(anything, tool.Community, "", &played{says("fine"), says("fine, too")})
	ctx := context.Background()
	for _, file := range []string{"a.go", "b.go"} {
		err := call.Branch(ctx, tool.Branch{Type: "reasoning", Fresh: true, Tokens: 5000}, func(ctx context.Context, c *tool.Call) error {
			x, err := c.Sample(ctx, sampling.Prompt("Review "+file))
			c.Progress(ctx, 1, 2, file+": "+x.Parsed)
			return err
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	// Output:
	// notifications/progress {"message":"a.go: fine","progress":1,"total":2}
	// notifications/progress {"message":"b.go: fine, too","progress":1,"total":2}
}

type Order struct {
	Item string `json:"item"`
}

type Hold struct {
	Number string `json:"number"`
}

type Approval struct {
	By string `json:"by" jsonschema:"who approves"`
}

// An order that is reserved once, approved by a human however long that takes, and
// placed once.
func ExampleAddHandoff() {
	server, err := tool.NewServer(tool.Options{Name: "shop", Tier: tool.Community, NoUsage: true,
		ResponseConfig: "testdata/minimal.json", Getenv: func(string) string { return "" }})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	tool.AddHandoff(server, tool.Tool{Name: "order", Needs: []tool.Ability{tool.Elicitation}}, tool.Handoff[Order, Hold, Approval, string]{
		Before: func(ctx context.Context, c *tool.Call, o Order) (Hold, error) {
			return Hold{"R-" + strings.ToUpper(o.Item)}, nil
		},
		Client: func(ctx context.Context, c *tool.Call, h Hold) (Approval, error) {
			x, err := tool.Elicit[Approval](ctx, c, sampling.Elicitation[Hold]{Key: "approve", Message: "Place the order " + h.Number + "?", Context: h})
			return x.Parsed, err
		},
		After: func(ctx context.Context, c *tool.Call, h Hold, a Approval, o Order) (string, error) {
			return h.Number + " placed, approved by " + a.By, nil
		},
	})
	result, err := server.Do(context.Background(), tool.Request{
		Tool: "order", Arguments: jsontext.Value(`{"item":"tea"}`), Peer: &played{`{"action":"accept","content":{"by":"Ann"}}`},
	})
	fmt.Println(string(result), err)
	// Output: {"content":[{"type":"text","text":"{\"data\":\"R-TEA placed, approved by Ann\"}"}],"structuredContent":{"data":"R-TEA placed, approved by Ann"}} <nil>
}
