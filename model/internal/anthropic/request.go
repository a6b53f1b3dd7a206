package anthropic

import (
	"iter"
	"strings"
	"unicode"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

const (
	maxName = 128 // bytes of a tool's name, as the endpoint says
	maxID   = 128 // bytes of a call's id: the endpoint does not say, its own have 30
)

// request is a request as it is sent, and what its reply is read by.
type request struct {
	params sdk.MessageNewParams
	names  provider.Names // of the tools that are offered
	typed  bool           // the answer is a call of SchemaTool
	left   without
	config provider.Config
}

func (m *model) request(q *sampling.Request, left without) (*request, error) {
	if err := q.Check(); err != nil {
		return nil, m.config.Refuse("%v", err)
	}
	r := &request{config: m.config, names: provider.NamesOf(q.Tools, maxName), left: left}
	r.params.Model = m.config.Model
	if r.params.MaxTokens = m.config.Tokens(q); r.params.MaxTokens < 1 {
		return nil, m.config.Refuse("maxTokens is %d: this endpoint has to be told how long a reply may be, at least 1", q.MaxTokens)
	}
	if strings.TrimSpace(q.SystemPrompt) != "" {
		r.params.System = []sdk.TextBlockParam{{Text: q.SystemPrompt}}
	}
	if err := r.limits(q); err != nil {
		return nil, err
	}
	if err := r.tools(q); err != nil {
		return nil, err
	}
	return r, r.messages(q.Messages)
}

// limits are what a request says about the reply, apart from its tools.
func (r *request) limits(q *sampling.Request) error {
	for i, stop := range q.StopSequences {
		if strings.TrimSpace(stop) == "" {
			return r.config.Refuse("stopSequences[%d] is white space, which this endpoint does not stop at", i)
		}
	}
	r.params.StopSequences = q.StopSequences
	switch {
	case q.Temperature == nil || r.left.heat:
	case *q.Temperature < 0:
		return r.config.Refuse("temperature is %v: it has to be 0 or more", *q.Temperature)
	default:
		r.params.Temperature = sdk.Float(min(*q.Temperature, 1))
	}
	return nil
}

// messages are told in turns.
func (r *request) messages(messages []sampling.Message) error {
	if messages[0].Role == sampling.Assistant {
		r.turn(sampling.User, []part{sdk.NewTextBlock(sampling.Opening)})
	}
	for i, m := range messages {
		content, err := r.content(i, m)
		if err != nil {
			return err
		}
		r.turn(m.Role, content)
	}
	r.trim()
	return nil
}

// turn adds to what is said: to the last turn, where that is of the same role.
func (r *request) turn(role sampling.Role, content []part) {
	turns := r.params.Messages
	if n := len(turns); n > 0 && turns[n-1].Role == sdk.MessageParamRole(role) {
		turns[n-1].Content = append(turns[n-1].Content, content...)
		return
	}
	r.params.Messages = append(turns, sdk.MessageParam{Role: sdk.MessageParamRole(role), Content: content})
}

// trim takes off the white space at the end of a reply that has begun, which the
// endpoint refuses.
func (r *request) trim() {
	last := r.params.Messages[len(r.params.Messages)-1]
	if last.Role != sdk.MessageParamRoleAssistant {
		return
	}
	if text := last.Content[len(last.Content)-1].OfText; text != nil {
		text.Text = strings.TrimRightFunc(text.Text, unicode.IsSpace)
	}
}

// uses are all calls of a history.
func uses(q *sampling.Request) iter.Seq[sampling.ToolUse] {
	return func(yield func(sampling.ToolUse) bool) {
		for _, m := range q.Messages {
			for _, use := range m.ToolUses() {
				if !yield(use) {
					return
				}
			}
		}
	}
}
