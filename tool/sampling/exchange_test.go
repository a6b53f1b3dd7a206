package sampling_test

import (
	"errors"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

// wire is what messages are on the wire, one a line.
func wire(t *testing.T, messages []sampling.Message) (lines string) {
	t.Helper()
	for _, m := range messages {
		line, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		lines += string(line) + "\n"
	}
	return lines
}

func TestTypedExchange(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{})
	asked := sampling.Request{Messages: append(history("u a"), sampling.UserText("Pick your move"))}
	came := reply("toolUse", say(" "), answer("xxx", `{ "cell": 4 }`), call("yyy", "look", `{}`))
	e, err := s.Read(came).Exchange(asked)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"role":"user","content":{"type":"text","text":"Pick your move"}}
{"role":"assistant","content":[{"type":"tool_use","id":"xxx","name":"__schema__","input":{ "cell": 4 }},{"type":"tool_use","id":"yyy","name":"look","input":{}}]}
{"role":"user","content":[{"type":"tool_result","toolUseId":"xxx","content":[{"type":"text","text":"ok"}]},{"type":"tool_result","toolUseId":"yyy","content":[{"type":"text","text":"ok"}]}]}
`
	if got := wire(t, e.Messages); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if e.Parsed != (move{Cell: 4}) || e.Request.Text() != "Pick your move" || len(e.Input) != 3 || len(e.Response.Content) != 3 {
		t.Errorf("the exchange is %+v", e)
	}
}

func TestTypedExchangeFromText(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{AcceptText: true})
	e, err := s.Read(reply("endTurn", say(`{"cell":4}`))).Exchange(sampling.Request{Messages: history("u")})
	if err != nil || e.Parsed.Cell != 4 || len(e.Messages) != 2 || e.Messages[1].Text() != `{"cell":4}` {
		t.Errorf("the exchange is %+v (%v)", e, err)
	}
}

func TestTextExchange(t *testing.T) {
	e, err := sampling.ReadText(reply("endTurn", say("Hello."))).Exchange(sampling.Request{Messages: append(history("u a"), sampling.UserText("Hi!"))})
	if err != nil || e.Parsed != "Hello." {
		t.Fatal(e, err)
	}
	want := `{"role":"user","content":{"type":"text","text":"Hi!"}}
{"role":"assistant","content":{"type":"text","text":"Hello."}}
`
	if got := wire(t, e.Messages); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestCallsExchange(t *testing.T) {
	asked := sampling.Request{Messages: history("u"), Tools: []sampling.Tool{{Name: "f"}}}
	o := sampling.ReadCalls(asked, reply("toolUse", call("1", "f", `{"a":1}`), call("2", "f", `{"a":2}`)))
	four := sampling.ToolResult{ToolUseID: "2", Content: []sampling.Block{say("4")}}
	one := sampling.ToolResult{ToolUseID: "1", Content: []sampling.Block{say("1")}}
	e, err := o.Exchange(asked, four, one)
	if err != nil || len(e.Messages) != 3 || len(e.Parsed) != 2 || sampling.Check(e.Messages) != nil {
		t.Errorf("the exchange is %+v (%v)", e, err)
	}
	for name, results := range map[string][]sampling.ToolResult{"none": nil, "too few": {one}, "twice": {one, one, four}, "strange": {one, four, {ToolUseID: "3"}}} {
		_, err := o.Exchange(asked, results...)
		if _, ok := errors.AsType[*sampling.PairingError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The model goes on from the results, which are in the history already.
	all := sampling.Append(nil, e.Messages...)
	next, err := sampling.ReadText(reply("endTurn", say("5"))).Exchange(sampling.Request{Messages: all})
	if err != nil {
		t.Fatal(err)
	}
	if all = sampling.Append(all, next.Messages...); len(all) != 4 || sampling.Check(all) != nil {
		t.Errorf("the history is %+v", all)
	}
}

func TestFailuresMakeNoExchange(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{})
	asked := sampling.Request{Messages: history("u")}
	for _, came := range []*sampling.Result{
		nil, reply("endTurn"), reply("endTurn", say("4")), reply("refusal", say("no")), reply("maxTokens", say("I")),
		reply("toolUse", call("1", "look", `{}`)), reply("toolUse", answer("1", `{"cell":9}`)),
	} {
		e, err := s.Read(came).Exchange(asked)
		if _, ok := errors.AsType[*sampling.ParseError](err); !ok || e.Messages != nil {
			t.Errorf("%+v made %+v (%v)", came, e, err)
		}
	}
	good := s.Read(reply("toolUse", answer("1", `{"cell":4}`)))
	for _, short := range []string{"", "a", "u a[?1] u"} {
		if e, err := good.Exchange(sampling.Request{Messages: history(short)}); err == nil || e.Messages != nil {
			t.Errorf("%q made %+v", short, e)
		}
	}
	// Results are the user's, whatever a reply that nobody has read strictly says.
	if e, err := sampling.ReadText(reply("endTurn", say("a"), sampling.ToolResult{ToolUseID: "1"})).Exchange(asked); err == nil {
		t.Errorf("a reply with a result made %+v", e)
	}
}

type board struct{ Cells string }

func TestElicitExchange(t *testing.T) {
	asked := sampling.Elicitation[board]{ID: "e1", Key: "pick_move", Message: "Your move?", Context: board{"x.o"}}
	for action, want := range map[sampling.Action]string{
		sampling.Accept:  `{"role":"user","content":[{"type":"tool_result","toolUseId":"e1","content":[{"type":"text","text":"{\"cell\":4}"}]}]}`,
		sampling.Decline: `{"role":"user","content":[{"type":"tool_result","toolUseId":"e1","content":[{"type":"text","text":"The user declined to answer."}],"isError":true}]}`,
		sampling.Cancel:  `{"role":"user","content":[{"type":"tool_result","toolUseId":"e1","content":[{"type":"text","text":"The user cancelled."}],"isError":true}]}`,
	} {
		e, err := sampling.Answered(asked, action, jsontext.Value(`{"cell":4}`), move{Cell: 4})
		if err != nil {
			t.Fatal(err)
		}
		request := `{"role":"assistant","content":[{"type":"tool_use","id":"e1","name":"pick_move","input":{"message":"Your move?"}}]}` + "\n"
		if got := wire(t, e.Messages); got != request+want+"\n" {
			t.Errorf("%s is\n%s\nwant\n%s", action, got, request+want)
		}
		if e.Context != asked.Context || (e.Parsed.Cell == 4) != (action == sampling.Accept) || sampling.Check(e.Messages) != nil {
			t.Errorf("%s is %+v", action, e)
		}
		shown, err := e.WithArguments(func(b board) any { return map[string]string{"board": b.Cells} })
		if err != nil {
			t.Fatal(err)
		}
		request = `{"role":"assistant","content":[{"type":"tool_use","id":"e1","name":"pick_move","input":{"board":"x.o"}}]}` + "\n"
		if got := wire(t, shown.Messages); got != request+want+"\n" {
			t.Errorf("with arguments %s is\n%s", action, got)
		}
		if got := string(e.Messages[0].ToolUses()[0].Input); got != `{"message":"Your move?"}` {
			t.Errorf("the exchange has changed: %s", got)
		}
	}
}

func TestWrongElicitations(t *testing.T) {
	asked := func(id, key string) sampling.Elicitation[board] { return sampling.Elicitation[board]{ID: id, Key: key} }
	for name, err := range map[string]error{
		"no id":        second(sampling.Answered(asked("", "k"), sampling.Accept, jsontext.Value("{}"), 0)),
		"no key":       second(sampling.Answered(asked("1", ""), sampling.Accept, jsontext.Value("{}"), 0)),
		"a wrong key":  second(sampling.Answered(asked("1", "a b"), sampling.Accept, jsontext.Value("{}"), 0)),
		"no action":    second(sampling.Answered(asked("1", "k"), "", jsontext.Value("{}"), 0)),
		"no content":   second(sampling.Answered(asked("1", "k"), sampling.Accept, nil, 0)),
		"half content": second(sampling.Answered(asked("1", "k"), sampling.Accept, jsontext.Value(`{"a"`), 0)),
		"a list":       second(sampling.Answered(asked("1", "k"), sampling.Accept, jsontext.Value(`[]`), 0)),
		"zero value":   second(sampling.ElicitExchange[int, board]{}.WithArguments(func(board) any { return board{} })),
	} {
		if err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	e, err := sampling.Answered(asked("1", "k"), sampling.Accept, jsontext.Value("{}"), 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, arguments := range []any{[]int{1}, "x", nil, func() {}} {
		if _, err := e.WithArguments(func(board) any { return arguments }); err == nil {
			t.Errorf("the arguments %v are taken", arguments)
		}
	}
}

func second[T any](_ T, err error) error { return err }
