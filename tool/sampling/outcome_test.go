package sampling_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

func say(text string) sampling.Block { return sampling.Text{Text: text} }

func call(id, name, input string) sampling.Block {
	return sampling.ToolUse{ID: id, Name: name, Input: jsontext.Value(input)}
}

func answer(id, input string) sampling.Block { return call(id, sampling.SchemaTool, input) }

func reply(stop sampling.StopReason, content ...sampling.Block) *sampling.Result {
	return &sampling.Result{Role: sampling.Assistant, Model: "m", StopReason: stop, Content: content}
}

func TestTypedOutcomes(t *testing.T) {
	type row struct {
		name  string
		reply *sampling.Result
		want  sampling.Kind
		cell  int
	}
	rows := []row{
		{"as it should be", reply("toolUse", answer("1", `{"cell":4}`)), sampling.OK, 4},
		{"with words", reply("toolUse", say("Here:"), answer("1", `{"cell":4}`), say("Well.")), sampling.OK, 4},
		{"the first that fits", reply("toolUse", answer("1", `{"cell":9}`), answer("2", `{"cell":3}`), answer("3", `{"cell":5}`)), sampling.OK, 3},
		{"among other calls", reply("toolUse", call("1", "look", `{}`), answer("2", `{"cell":1}`)), sampling.OK, 1},
		{"none that fits", reply("toolUse", answer("1", `{"cell":9}`), answer("2", `{}`)), sampling.Invalid, 0},
		{"no input", reply("toolUse", answer("1", "")), sampling.Invalid, 0},
		{"another tool", reply("toolUse", call("1", "look", `{"cell":4}`)), sampling.WrongTool, 0},
		{"almost the name", reply("toolUse", call("1", "__Schema__", `{"cell":4}`)), sampling.WrongTool, 0},
		{"text", reply("endTurn", say("The centre.")), sampling.TextOnly, 0},
		{"JSON as text", reply("endTurn", say(`{"cell":4}`)), sampling.TextOnly, 0},
		{"a picture", reply("endTurn", sampling.Image{Data: []byte("x"), MIMEType: "image/png"}), sampling.TextOnly, 0},
		{"a refusal", reply("refusal", say("I cannot play.")), sampling.Refused, 0},
		{"a refusal in the middle", reply("refusal", answer("1", `{"cell":9}`)), sampling.Refused, 0},
		{"a filter", reply("content_filter"), sampling.Refused, 0},
		{"cut text", reply("maxTokens", say("I think that")), sampling.Truncated, 0},
		{"cut call", reply("maxTokens", answer("1", `{}`)), sampling.Truncated, 0},
		{"cut other call", reply("length", call("1", "look", `{}`)), sampling.Truncated, 0},
		{"cut before a word", reply("max_tokens"), sampling.Truncated, 0},
		{"nothing", reply("endTurn"), sampling.Silent, 0},
		{"space", reply("endTurn", say(" \n"), nil), sampling.Silent, 0},
		{"no reply", nil, sampling.Silent, 0},
	}
	// Whyever the model stopped, an answer that fits is one.
	for _, stop := range []sampling.StopReason{"", "endTurn", "stopSequence", "maxTokens", "toolUse", "refusal", "tool_calls", "vendor:odd"} {
		rows = append(rows, row{"stopped by " + string(stop), reply(stop, answer("1", `{"cell":8}`)), sampling.OK, 8})
	}
	s := newSchema[move](t, sampling.SchemaOptions{})
	for _, r := range rows {
		t.Run(r.name, func(t *testing.T) {
			o := s.Read(r.reply)
			if o.Kind != r.want || o.Value.Cell != r.cell {
				t.Fatalf("got %s with %+v, want %s with %d", o.Kind, o.Value, r.want, r.cell)
			}
			if r.reply != nil && o.Reply != r.reply {
				t.Error("the reply is lost")
			}
			e, failed := errors.AsType[*sampling.ParseError](o.Err())
			if failed == o.Good() || failed && (e.Kind != r.want || e.Reply != o.Reply || !strings.HasPrefix(e.Error(), "sampling: the model")) {
				t.Errorf("the error is %v", o.Err())
			}
			if hasProblems := r.want == sampling.Invalid || r.name == "cut call"; hasProblems != (len(o.Problems) > 0) {
				t.Errorf("the problems are %q", o.Problems)
			}
		})
	}
}

func TestTextThatIsJSON(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{AcceptText: true})
	for _, c := range []struct {
		name  string
		reply *sampling.Result
		want  sampling.Kind
	}{
		{"JSON", reply("endTurn", say(`{"cell":4}`)), sampling.OKText},
		{"with space", reply("endTurn", say("\n {\"cell\":4}\n")), sampling.OKText},
		{"in two blocks", reply("", say(`{"cell":`), say(`4}`)), sampling.OKText},
		{"fenced", reply("endTurn", say("```json\n{\"cell\":4}\n```")), sampling.OKText},
		{"stopped by the limit behind it", reply("maxTokens", say(`{"cell":4}`)), sampling.OKText},
		{"that does not fit", reply("endTurn", say(`{"cell":9}`)), sampling.Invalid},
		{"among words", reply("endTurn", say(`It is {"cell":4}`)), sampling.TextOnly},
		{"behind words", reply("endTurn", say("It is:\n```\n{\"cell\":4}\n```")), sampling.TextOnly},
		{"given twice", reply("endTurn", say(`{"cell":4}{"cell":4}`)), sampling.TextOnly},
		{"a name twice", reply("endTurn", say(`{"cell":4,"cell":4}`)), sampling.TextOnly},
		{"cut", reply("maxTokens", say(`{"cell":`)), sampling.Truncated},
		{"a number", reply("endTurn", say(`4`)), sampling.TextOnly},
		{"fences alone", reply("endTurn", say("```")), sampling.TextOnly},
		{"with another call", reply("toolUse", say(`{"cell":4}`), call("1", "look", `{}`)), sampling.WrongTool},
		{"of a refusal", reply("refusal", say(`{"cell":4}`)), sampling.Refused},
	} {
		if o := s.Read(c.reply); o.Kind != c.want || o.Good() != (o.Value.Cell == 4) {
			t.Errorf("%s: got %s with %+v, want %s", c.name, o.Kind, o.Value, c.want)
		}
	}
}

func TestReadText(t *testing.T) {
	for _, c := range []struct {
		reply *sampling.Result
		want  sampling.Kind
		text  string
	}{
		{reply("endTurn", say("a"), say("b")), sampling.OK, "a\nb"},
		{reply("maxTokens", say("a")), sampling.OK, "a"},
		{reply("stopSequence", say("a")), sampling.OK, "a"},
		{reply("endTurn", sampling.Audio{}), sampling.OK, ""},
		{reply("maxTokens"), sampling.Truncated, ""},
		{reply("endTurn", say("")), sampling.Silent, ""},
		{reply("refusal", say("no")), sampling.Refused, ""},
		{reply("toolUse", call("1", "f", "{}")), sampling.WrongTool, ""},
		{nil, sampling.Silent, ""},
	} {
		if o := sampling.ReadText(c.reply); o.Kind != c.want || o.Value != c.text {
			t.Errorf("%+v: got %s with %q", c.reply, o.Kind, o.Value)
		}
	}
}

func TestReadCalls(t *testing.T) {
	asked := sampling.Request{Messages: history("u"), Tools: []sampling.Tool{{Name: "f"}, {Name: "g"}}}
	for _, c := range []struct {
		reply *sampling.Result
		want  sampling.Kind
		calls int
	}{
		{reply("toolUse", say("so"), call("1", "f", "{}"), call("2", "g", "{}")), sampling.OK, 2},
		{reply("toolUse", call("1", "f", "{}"), call("1", "f", "{}")), sampling.OK, 2},
		{reply("toolUse", call("1", "f", "{}"), call("2", "h", "{}")), sampling.WrongTool, 0},
		{reply("toolUse", answer("1", "{}")), sampling.WrongTool, 0},
		{reply("endTurn", say("no need")), sampling.TextOnly, 0},
		{reply("maxTokens", say("I")), sampling.Truncated, 0},
		{reply("refusal"), sampling.Refused, 0},
		{nil, sampling.Silent, 0},
	} {
		o := sampling.ReadCalls(asked, c.reply)
		if o.Kind != c.want || len(o.Value) != c.calls {
			t.Errorf("%+v: got %s with %v", c.reply, o.Kind, o.Value)
		}
		ids := map[string]bool{}
		for _, use := range o.Value {
			ids[use.ID] = true
		}
		if len(ids) != c.calls {
			t.Errorf("two calls have one id: %v", o.Value)
		}
	}
}

func TestRetry(t *testing.T) {
	s := newSchema[move](t, sampling.SchemaOptions{})
	sent := history("u a[?1] u[!1] u")
	wrong := func(id, text string) sampling.ToolResult {
		return sampling.ToolResult{ToolUseID: id, Content: []sampling.Block{say(text)}, IsError: true}
	}
	for _, c := range []struct {
		name  string
		reply *sampling.Result
		adds  []sampling.Message
		again bool
	}{
		{"invalid", reply("toolUse", say(""), answer("7", `{"cell":9}`)), []sampling.Message{
			{Role: sampling.Assistant, Content: []sampling.Block{answer("7", `{"cell":9}`)}},
			sampling.Results(wrong("7", "This answer was not taken.")),
			sampling.UserText("Your answer does not fit its schema:\n- /cell: expected an integer from 0 to 8, got 9\nCall the tool __schema__ again, with an answer that fits."),
		}, true},
		{"an id that was there", reply("toolUse", answer("1", `{"cell":9}`), call("1", "look", `{}`)), []sampling.Message{
			{Role: sampling.Assistant, Content: []sampling.Block{answer("1-2", `{"cell":9}`), call("1-2-2", "look", `{}`)}},
			sampling.Results(wrong("1-2", "This answer was not taken."), wrong("1-2-2", "This tool was not run: only __schema__ was to be called.")),
			sampling.UserText("Your answer does not fit its schema:\n- /cell: expected an integer from 0 to 8, got 9\nCall the tool __schema__ again, with an answer that fits."),
		}, true},
		{"another tool", reply("toolUse", call("7", "look", `{}`)), []sampling.Message{
			{Role: sampling.Assistant, Content: []sampling.Block{call("7", "look", `{}`)}},
			sampling.Results(wrong("7", "This tool was not run: only __schema__ was to be called.")),
			sampling.UserText("Call the tool __schema__, and no other, with your answer."),
		}, true},
		{"text", reply("endTurn", say("The centre.")), []sampling.Message{
			sampling.AssistantText("The centre."),
			sampling.UserText("That was no call. Call the tool __schema__ with your answer."),
		}, true},
		{"cut", reply("maxTokens", answer("7", `{}`)), []sampling.Message{
			{Role: sampling.Assistant, Content: []sampling.Block{answer("7", `{}`)}},
			sampling.Results(wrong("7", "This answer was not taken.")),
			sampling.UserText("Your answer was cut off at the limit of tokens. Call the tool __schema__ again, with a shorter answer."),
		}, true},
		{"nothing", reply("endTurn"), nil, true},
		{"cut before a word", reply("maxTokens"), nil, true},
		{"refused", reply("refusal", say("no")), nil, false},
		{"good", reply("toolUse", answer("7", `{"cell":4}`)), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			next, again := s.Read(c.reply).Retry(sent)
			if again != c.again {
				t.Fatalf("again is %v", again)
			}
			if !again {
				return
			}
			if err := sampling.Check(next); err != nil {
				t.Error(err)
			}
			if !reflect.DeepEqual(next[:len(sent)], sent) || !equal(next[len(sent):], c.adds) {
				t.Errorf("adds %+v\nwant %+v", next[len(sent):], c.adds)
			}
		})
	}
}

func TestRetryOfCalls(t *testing.T) {
	asked := sampling.Request{Messages: history("u"), Tools: []sampling.Tool{{Name: "f"}, {Name: "g"}}}
	next, again := sampling.ReadCalls(asked, reply("toolUse", call("1", "f", "{}"), call("2", "h", "{}"))).Retry(asked.Messages)
	if !again || len(next) != 4 || sampling.Check(next) != nil {
		t.Fatalf("next is %+v", next)
	}
	results := next[2].ToolResults()
	if got := results[0].Content[0].(sampling.Text).Text; got != "This tool was not run, since another call of the same reply could not be." {
		t.Errorf("f is answered with %q", got)
	}
	if got := results[1].Content[0].(sampling.Text).Text; got != `There is no tool "h".` {
		t.Errorf("h is answered with %q", got)
	}
	if got := next[3].Text(); got != `Call at least one of the tools "f", "g", and no other.` {
		t.Errorf("the hint is %q", got)
	}
}

// equal compares what messages say on the wire.
func equal(a, b []sampling.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, errX := a[i].MarshalJSON()
		y, errY := b[i].MarshalJSON()
		if errX != nil || errY != nil || string(x) != string(y) {
			return false
		}
	}
	return true
}
