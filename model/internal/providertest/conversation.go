package providertest

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/parleyhq/parley/tool/sampling"
)

// A Move is what the models of [Conversation] are asked for.
type Move struct {
	Cell int `json:"cell" minimum:"0" maximum:"8"`
}

// Conversation draws a request as a run's would be after it has asked models and
// people a few times, in exchanges that sampling.Append has put together: with
// answers of other models, whose ids and names are anything, with retries, and
// with media of the types that all endpoints take that take pictures.
func Conversation(t *rapid.T) *sampling.Request {
	moves, err := sampling.NewSchema[Move](sampling.SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &run{T: t, moves: moves}
	for range rapid.IntRange(0, 5).Draw(t, "steps") {
		switch rapid.IntRange(0, 3).Draw(t, "step") {
		case 0:
			r.text()
		case 1:
			r.calls()
		case 2:
			r.typed()
		case 3:
			r.elicited()
		}
	}
	return r.next()
}

type run struct {
	*rapid.T
	moves   *sampling.Schema[Move]
	history []sampling.Message
	retry   bool // the history ends with what a model is told to try again
}

// names are those that tools of others have.
var names = []string{"look", "fs.read", "fs_read", "a b/c", "größe", "a-" + strings.Repeat("long-", 30), sampling.SchemaTool + "x"}

func (r *run) name() string { return rapid.SampledFrom(names).Draw(r.T, "name") }

func (r *run) id() string {
	return rapid.SampledFrom([]string{"", "1", "call_2", "functions.x:0", "functions_x_0", strings.Repeat("ä", 128)}).Draw(r.T, "id")
}

// asked is a question that goes on from the history.
func (r *run) asked() sampling.Request {
	question := sampling.UserText("question")
	if rapid.Bool().Draw(r.T, "media") {
		question.Content = append(question.Content, r.media()...)
	}
	tools := []sampling.Tool{}
	for _, name := range names {
		tools = append(tools, sampling.Tool{Name: name, InputSchema: jsontext.Value(`{"type":"object","properties":{"n":true}}`)})
	}
	return sampling.Request{Messages: sampling.Append(r.history, question), Tools: tools, MaxTokens: 100}
}

func (r *run) media() []sampling.Block {
	return rapid.SliceOfN(rapid.SampledFrom([]sampling.Block{
		sampling.Image{Data: []byte{0x89, 'P', 'N', 'G'}, MIMEType: "image/png"},
		sampling.Resource{Contents: sampling.Contents{URI: "file:///a.txt", Text: ""}},
		sampling.ResourceLink{URI: "file:///b", Name: "b"},
	}), 0, 3).Draw(r.T, "blocks")
}

func (r *run) reply(stop sampling.StopReason, content ...sampling.Block) *sampling.Result {
	if rapid.Bool().Draw(r.T, "words") {
		content = append([]sampling.Block{sampling.Text{Text: "Well. \n"}}, content...)
	}
	return &sampling.Result{Role: sampling.Assistant, Model: "other", StopReason: stop, Content: content}
}

func keep[T any](r *run, outcome sampling.Outcome[T], asked sampling.Request, results ...sampling.ToolResult) {
	if !outcome.Good() {
		next, again := outcome.Retry(asked.Messages)
		if again && rapid.Bool().Draw(r.T, "retry") {
			r.history, r.retry = next, true
		}
		return
	}
	e, err := outcome.Exchange(asked, results...)
	if err != nil {
		r.Fatal(err)
	}
	r.history = sampling.Append(r.history, e.Messages...)
}

func (r *run) text() {
	keep(r, sampling.ReadText(r.reply(sampling.EndTurn, sampling.Text{Text: " an answer\n"})), r.asked())
}

func (r *run) calls() {
	asked := r.asked()
	var uses []sampling.Block
	for range rapid.IntRange(1, 3).Draw(r.T, "calls") {
		uses = append(uses, sampling.ToolUse{ID: r.id(), Name: r.name(), Input: jsontext.Value(`{"n":12345678901234567890}`)})
	}
	outcome := sampling.ReadCalls(asked, r.reply(sampling.ToolUseWanted, uses...))
	var results []sampling.ToolResult
	for _, use := range outcome.Value {
		results = append(results, r.result(use.ID))
	}
	keep(r, outcome, asked, results...)
}

func (r *run) result(id string) sampling.ToolResult {
	result := sampling.ToolResult{ToolUseID: id, IsError: rapid.Bool().Draw(r.T, "failed"), Content: r.media()}
	switch rapid.IntRange(0, 3).Draw(r.T, "result") {
	case 0:
		result.Content = append(result.Content, sampling.Text{Text: "seen"})
	case 1:
		result.StructuredContent = jsontext.Value(`{"seen":true}`)
	case 2:
		result.Content = append(result.Content, sampling.Text{Text: " "})
	}
	return result
}

func (r *run) typed() {
	asked := r.asked()
	asked.Tools = nil
	sent, err := r.moves.Request(asked)
	if err != nil {
		r.Fatal(err)
	}
	cell := rapid.IntRange(7, 9).Draw(r.T, "cell") // 9 does not fit
	use := sampling.ToolUse{ID: r.id(), Name: sampling.SchemaTool, Input: fmt.Appendf(nil, `{"cell":%d}`, cell)}
	outcome := r.moves.Read(r.reply(sampling.ToolUseWanted, use))
	if !outcome.Good() {
		asked = sent
	}
	keep(r, outcome, asked)
}

func (r *run) elicited() {
	action := rapid.SampledFrom([]sampling.Action{sampling.Accept, sampling.Decline, sampling.Cancel}).Draw(r.T, "action")
	e, err := sampling.Answered(sampling.Elicitation[struct{}]{ID: "e", Key: "pick_move", Message: "Your move?"}, action, jsontext.Value(`{"cell":1}`), Move{Cell: 1})
	if err != nil {
		r.Fatal(err)
	}
	r.history = sampling.Append(r.history, e.Messages...)
}

// next is what is asked after all that.
func (r *run) next() *sampling.Request {
	asked := r.asked()
	goOn := len(r.history) > 0 && (r.retry || rapid.Bool().Draw(r.T, "go on"))
	if goOn && r.history[len(r.history)-1].Role == sampling.User {
		asked.Messages = r.history
	}
	asked.ToolChoice.Mode = rapid.SampledFrom([]sampling.ToolMode{"", sampling.Auto, sampling.Required, sampling.None}).Draw(r.T, "mode")
	switch rapid.IntRange(0, 3).Draw(r.T, "tools") {
	case 0:
		asked.Tools, asked.ToolChoice.Mode = nil, ""
	case 1:
		asked.Tools = asked.Tools[:1]
	case 2:
		asked.Tools = nil
		fallthrough
	case 3:
		typed, err := r.moves.Request(asked)
		if err != nil {
			r.Fatal(err)
		}
		return &typed
	}
	return &asked
}
