package sampling_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/parleyhq/parley/tool/sampling"
)

// turn is a message as a model's endpoint reads it, from the wire and not from
// our types.
type turn struct {
	Role    string
	Content []map[string]any
}

// turnsOf reads messages from their wire form, and combines what one role says
// in several, as Anthropic's Messages API documents.
func turnsOf(messages []sampling.Message) (turns []turn, err error) {
	for _, m := range messages {
		data, err := m.MarshalJSON()
		if err != nil {
			return nil, err
		}
		var read struct {
			Role    string
			Content any
		}
		if err := json.Unmarshal(data, &read); err != nil {
			return nil, err
		}
		blocks, ok := read.Content.([]any)
		if !ok {
			blocks = []any{read.Content}
		}
		if len(blocks) == 0 {
			return nil, errors.New("content is empty")
		}
		if len(turns) == 0 || turns[len(turns)-1].Role != read.Role {
			turns = append(turns, turn{Role: read.Role})
		}
		last := &turns[len(turns)-1]
		for _, b := range blocks {
			last.Content = append(last.Content, b.(map[string]any))
		}
	}
	return turns, nil
}

// combining is a strict endpoint that takes two roles in turns: the first
// is the user's, each tool_use has an id of its own and is answered at the
// beginning of the next turn, and no text is empty.
func combining(messages []sampling.Message) error {
	turns, err := turnsOf(messages)
	if err != nil {
		return err
	}
	ids := map[string]bool{}
	open := map[string]bool{}
	for i, t := range turns {
		if want := []string{"user", "assistant"}[i%2]; t.Role != want {
			return fmt.Errorf("turn %d is the %s's", i, t.Role)
		}
		texts := false
		for _, b := range t.Content {
			switch b["type"] {
			case "text":
				texts = true
				if !printable(b["text"]) {
					return fmt.Errorf("turn %d has an empty text", i)
				}
			case "tool_use":
				id := b["id"].(string)
				if t.Role != "assistant" || id == "" || ids[id] {
					return fmt.Errorf("turn %d calls with the id %q", i, id)
				}
				ids[id], open[id] = true, true
			case "tool_result":
				for _, inner := range b["content"].([]any) {
					if !printable(inner.(map[string]any)["text"]) {
						return fmt.Errorf("turn %d has a result with an empty text", i)
					}
				}
				id := b["toolUseId"].(string)
				if t.Role != "user" || !open[id] || texts {
					return fmt.Errorf("turn %d has a result for %q", i, id)
				}
				delete(open, id)
			}
		}
		if t.Role == "user" && len(open) > 0 {
			return fmt.Errorf("turn %d leaves %v open", i, slices.Collect(maps.Keys(open)))
		}
	}
	if len(open) > 0 {
		return errors.New("calls are open at the end")
	}
	return nil
}

// strictPairs is an endpoint that reads message by message, as OpenAI's chat
// completions do: each call of an assistant's message is answered by the messages with
// role tool right behind it, and by nothing else; and MCP's rule, that such a
// message holds nothing else.
func strictPairs(messages []sampling.Message) error {
	var pending []string
	for i, m := range messages {
		turns, err := turnsOf([]sampling.Message{m})
		if err != nil {
			return err
		}
		var results, others int
		var calls []string
		for _, b := range turns[0].Content {
			switch b["type"] {
			case "tool_use":
				calls = append(calls, b["id"].(string))
				others++
			case "tool_result":
				results++
				at := slices.Index(pending, b["toolUseId"].(string))
				if at < 0 {
					return fmt.Errorf("message %d answers %q, which nobody waits for", i, b["toolUseId"])
				}
				pending = slices.Delete(pending, at, at+1)
			default:
				others++
			}
		}
		if results > 0 && others > 0 {
			return fmt.Errorf("message %d mixes", i)
		}
		if len(pending) > 0 {
			return fmt.Errorf("message %d leaves %q open", i, pending)
		}
		pending = calls
	}
	if len(pending) > 0 {
		return fmt.Errorf("%q are open at the end", pending)
	}
	return nil
}

func printable(text any) bool {
	s, _ := text.(string)
	for _, r := range s {
		if r > ' ' {
			return true
		}
	}
	return false
}

// The endpoints refuse what they have to, or the property below shows nothing.
func TestStrictEndpoints(t *testing.T) {
	for short, both := range map[string][2]bool{
		"u": {true, true}, "u a u": {true, true}, "u a[?1?2] u[!1!2] u": {true, true}, "u a a[?1] u[!1] u": {true, true},
		"a": {false, true}, "a[?1] u[!1]": {false, true}, "u a[?1]": {false, false}, "u a[?1] u": {false, false}, "u[!1]": {false, false},
		"u a[?1] u[!1!1]": {false, false}, "u a[?1] u[t!1]": {false, false}, "u a[?1] u[!1] a[?1] u[!1]": {false, true}, "u a[_]": {false, true},
		"u a[]": {false, false}, "u a[?1] u u[!1]": {false, false}, "u a[?1?2] u[!1] u[!2]": {true, false},
	} {
		for i, endpoint := range []func([]sampling.Message) error{combining, strictPairs} {
			if err := endpoint(history(short)); (err == nil) != both[i] {
				t.Errorf("endpoint %d says %v to %s", i, err, short)
			}
		}
	}
}

// accepted fails where a history is not well-formed, alone or with the question that
// comes next.
func accepted(t *rapid.T, history []sampling.Message) {
	for _, h := range [][]sampling.Message{history, sampling.Append(history, sampling.UserText("next"))} {
		for name, endpoint := range map[string]func([]sampling.Message) error{"Check": sampling.Check, "combining": combining, "strictPairs": strictPairs} {
			if err := endpoint(h); err != nil {
				t.Fatalf("%s refuses: %v\n%s", name, err, told(h))
			}
		}
	}
}

func told(history []sampling.Message) (lines string) {
	for _, m := range history {
		data, err := m.MarshalJSON()
		lines += fmt.Sprintln(string(data), err)
	}
	return lines
}

// A script is a model that says anything, in few ids, so that they meet.
func anyReply(t *rapid.T) *sampling.Result {
	block := rapid.Custom(func(t *rapid.T) sampling.Block {
		id := rapid.SampledFrom([]string{"", "1", "2", "call", "1-2"}).Draw(t, "id")
		switch rapid.IntRange(0, 7).Draw(t, "block") {
		case 0:
			return say("words")
		case 1:
			return say(rapid.SampledFrom([]string{"", " \n"}).Draw(t, "blank"))
		case 2:
			return call(id, "look", `{}`)
		case 3:
			return answer(id, `{"cell":9}`)
		case 4:
			return call(id, "stranger", `{}`)
		case 5:
			return sampling.Unknown{Type: "thinking", Raw: jsontext.Value(`{"type":"thinking"}`)}
		case 6:
			return say(`{"cell":2}`)
		}
		return answer(id, `{"cell":4}`)
	})
	stop := rapid.SampledFrom([]sampling.StopReason{"endTurn", "toolUse", "maxTokens", "stopSequence", "refusal", ""}).Draw(t, "stop")
	return reply(stop, rapid.SliceOfN(block, 0, 4).Draw(t, "reply")...)
}

// A player runs, as a tool's body would, and holds what it has accumulated.
type player struct {
	schema  *sampling.Schema[move]
	history []sampling.Message
	count   int
}

func (p *player) asked(t *rapid.T) sampling.Request {
	p.count++
	r := sampling.Request{Messages: sampling.Append(p.history, sampling.UserText(fmt.Sprint("question ", p.count))), Tools: []sampling.Tool{{Name: "look"}}}
	// A loop over tools goes on from their results, without a new question.
	if n := len(p.history); n > 0 && p.history[n-1].Role == sampling.User && rapid.Bool().Draw(t, "go on") {
		r.Messages = p.history
	}
	return r
}

// typed asks for a T, tries again twice, and keeps the exchange if there is one.
func (p *player) typed(t *rapid.T) {
	asked := p.asked(t)
	sent, err := p.schema.Request(asked)
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		outcome := p.schema.Read(anyReply(t))
		if outcome.Good() {
			keep(t, p, outcome, asked)
			return
		}
		if e, err := outcome.Exchange(asked); err == nil {
			t.Fatalf("a failure made %+v", e)
		}
		next, again := outcome.Retry(sent.Messages)
		if !again {
			return
		}
		accepted(t, next)
		sent.Messages = next
	}
}

func (p *player) text(t *rapid.T) {
	asked := p.asked(t)
	if outcome := sampling.ReadText(anyReply(t)); outcome.Good() {
		keep(t, p, outcome, asked)
	}
}

func (p *player) calls(t *rapid.T) {
	asked := p.asked(t)
	outcome := sampling.ReadCalls(asked, anyReply(t))
	if next, again := outcome.Retry(asked.Messages); again {
		accepted(t, next)
	}
	var results []sampling.ToolResult
	for _, use := range outcome.Value {
		results = append(results, sampling.ToolResult{ToolUseID: use.ID, Content: []sampling.Block{say(rapid.SampledFrom([]string{"seen", ""}).Draw(t, "result"))}, IsError: rapid.Bool().Draw(t, "failed")})
	}
	if outcome.Good() {
		keep(t, p, outcome, asked, results...)
	}
}

func keep[T any](t *rapid.T, p *player, outcome sampling.Outcome[T], asked sampling.Request, results ...sampling.ToolResult) {
	e, err := outcome.Exchange(asked, results...)
	if err != nil {
		t.Fatal(err)
	}
	p.history = sampling.Append(p.history, e.Messages...)
}

func (p *player) elicit(t *rapid.T) {
	action := rapid.SampledFrom([]sampling.Action{sampling.Accept, sampling.Decline, sampling.Cancel}).Draw(t, "action")
	id := rapid.SampledFrom([]string{"1", "e"}).Draw(t, "id")
	e, err := sampling.Answered(sampling.Elicitation[board]{ID: id, Key: "pick_move"}, action, jsontext.Value(`{"cell":1}`), move{Cell: 1})
	if err == nil && rapid.Bool().Draw(t, "with arguments") {
		e, err = e.WithArguments(func(b board) any { return b })
	}
	if err != nil {
		t.Fatal(err)
	}
	p.history = sampling.Append(p.history, e.Messages...)
}

// branch is a run inside a run, with or without its parent's messages, whose
// exchanges the parent may put into its own history.
func (p *player) branch(t *rapid.T, depth int) {
	child := &player{schema: p.schema}
	if rapid.Bool().Draw(t, "inherit") {
		child.history = p.history
	}
	inherited := len(child.history)
	was := told(p.history)
	child.run(t, depth-1)
	if told(p.history) != was {
		t.Fatal("a branch has changed its parent's history")
	}
	if rapid.Bool().Draw(t, "merge") {
		p.history = sampling.Append(p.history, child.history[inherited:]...)
	}
}

func (p *player) run(t *rapid.T, depth int) {
	for range rapid.IntRange(0, 6).Draw(t, "steps") {
		switch step := rapid.IntRange(0, 4).Draw(t, "step"); {
		case step == 0:
			p.text(t)
		case step == 1:
			p.calls(t)
		case step == 2:
			p.elicit(t)
		case step == 3 && depth > 0:
			p.branch(t, depth)
		default:
			p.typed(t)
		}
		accepted(t, p.history)
	}
}

// Whatever a run has accumulated is a well-formed history, which strict
// endpoints take.
func TestAccumulatedHistories(t *testing.T) {
	schemas := []*sampling.Schema[move]{newSchema[move](t, sampling.SchemaOptions{}), newSchema[move](t, sampling.SchemaOptions{AcceptText: true})}
	rapid.Check(t, func(t *rapid.T) {
		p := &player{schema: rapid.SampledFrom(schemas).Draw(t, "schema")}
		p.run(t, 2)
	})
}
