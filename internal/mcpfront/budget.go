package mcpfront

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/mcpfront/excerpt"
	"github.com/parleyhq/parley/internal/tokens"
)

// A result that is larger than its caller's budget stays in the journal, where it
// is anyway. The caller gets its head, and how to read on with parley__result.
// There is no structured content then, and none is promised: a head would not fit
// the tool's schema, and clients refuse what does not fit.

// metaResult is the key of _meta that tells programs what the note tells models.
const metaResult = "parley/result"

// budget is how many tokens a flight's result may have to be given whole; 0 for
// any number. In a pass-through it is any: nobody could read on there.
func (x *exchange) budget(fl *flight) int {
	if x.target != "" || x.msg.Method != "tools/call" {
		return 0
	}
	return x.front.house.ResultBudget(x.place, fl.server, fl.tool)
}

// cuts says, as 0 or 1, whether results of an entry may be cut.
func (x *exchange) cuts(e *entry) int {
	if e.section == sectionTools && x.front.house.ResultBudget(x.place, e.server, e.own) > 0 {
		return 1
	}
	return 0
}

// toolOf is the own name of the tool that is called; "" where none is.
func toolOf(method string, params jsontext.Value) string {
	if method != "tools/call" {
		return ""
	}
	name, _ := parley.MemberString(params, "name")
	return name
}

// within is an answer's result as the caller is given it. request is the id of
// what was asked.
func (x *exchange) within(fl *flight, request string, reply *client.Reply) jsontext.Value {
	budget := x.budget(fl)
	// A token has a byte at least, so most results need not be counted.
	spare := fl.amended.cost()
	if budget == 0 || len(reply.Result)+spare <= budget || reply.Result.Kind() != '{' || asksForInput(reply.Result) {
		return reply.Result
	}
	text, _ := excerpt.Of(fl.method, reply.Envelope.Payload)
	l := large{text: text, handle: handleOf(reply.Envelope, request), bytes: len(reply.Result), budget: budget, spare: spare}
	if l.tokens, l.counted = text.Tokens(); l.tokens+spare <= budget {
		return reply.Result
	}
	fl.cut = true
	return l.result(string(member(reply.Result, "isError")) == "true")
}

// handleOf is by what an answer is named in a note: its id, unless its sender chose
// one that takes room or is hard to repeat.
func handleOf(answer *parley.Envelope, request string) string {
	if len(answer.ID) > 64 || strings.ContainsAny(answer.ID, "\"\\`<>[]{}") {
		return request
	}
	return answer.ID
}

// large is an answer that is larger than its reader's budget.
type large struct {
	text    excerpt.Text
	handle  string
	bytes   int
	tokens  int
	counted string // how
	budget  int
	spare   int // of it, for what is said besides
}

// result is its head, and the note.
func (l *large) result(failed bool) jsontext.Value {
	head, note := fill(max(1, l.budget-l.spare), func(room int) (string, int, string) {
		head, n := excerpt.Head(l.text.String(), room)
		return head, n, l.note("result", head)
	})
	b := textBlocks(head, note)
	if failed {
		b = append(b, `,"isError":true`...)
	}
	return mcp.SetMeta(append(b, '}'), metaResult, l.meta(head))
}

// note says what a head is the head of, and how to read on.
func (l *large) note(what, head string) string {
	h := excerpt.Whole(head)
	s := fmt.Sprintf("[This %s has %d tokens (%s; %d bytes), and you are given at most %d at once.", what, l.tokens, l.counted, l.bytes, l.budget)
	if len(head) == len(l.text.String()) {
		return s + fmt.Sprintf(" Above is all of its text; what is not shown are %d bytes of images and the like.]", l.text.Hidden())
	}
	return s + fmt.Sprintf(" Above: the first %d of %d characters, %d of %d lines. parley__result with {\"handle\": %s, \"offset\": %d} reads on; with \"search\": \"TEXT\" in place of offset it finds text.]",
		h.Characters(), l.text.Characters(), h.Lines(), l.text.Lines(), mcp.Quote(l.handle), h.Characters())
}

func (l *large) meta(head string) jsontext.Value {
	return fmt.Appendf(nil, `{"handle":%s,"bytes":%d,"tokens":%d,"counted":%s,"budget":%d,"characters":%d,"lines":%d,"given":%d}`,
		mcp.Quote(l.handle), l.bytes, l.tokens, mcp.Quote(l.counted), l.budget, l.text.Characters(), l.text.Lines(), excerpt.Whole(head).Characters())
}

// fill composes a text and a note that together have as many tokens as there is
// room for, 0 for any number. The text gets what the note leaves.
func fill(budget int, compose func(room int) (text string, n int, note string)) (text, note string) {
	if budget == 0 {
		text, _, note = compose(0)
		return text, note
	}
	const usualNote = 130
	spare := 2 + budget/100 // a text is counted in parts, which may miss some
	for room := max(1, budget-usualNote); ; {
		var n int
		text, n, note = compose(room)
		over := n + tokens.Count(note) + spare - budget
		if over <= 0 || room == 1 {
			return text, note
		}
		room = max(1, room-over)
	}
}

// textBlocks is the beginning of a tool's result with some texts.
func textBlocks(texts ...string) jsontext.Value {
	b := jsontext.Value(`{"content":[`)
	for i, text := range texts {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, `{"type":"text","text":`...), mcp.Quote(text)...), '}')
	}
	return append(b, ']')
}

// errorWithin is a server's error as the caller is given it.
func (x *exchange) errorWithin(fl *flight, request string, err error) error {
	rpc, ok := errors.AsType[*client.RPCError](err)
	budget := x.budget(fl)
	spare := fl.amended.cost()
	if !ok || budget == 0 || len(rpc.Message)+len(rpc.Data)+spare <= budget {
		return err
	}
	l := large{handle: request, bytes: len(rpc.Message) + len(rpc.Data), budget: budget}
	l.text = excerpt.Whole(rpc.Message + "\n" + string(rpc.Data))
	if l.tokens, l.counted = l.text.Tokens(); l.tokens+spare <= budget {
		return err
	}
	head, note := fill(max(1, budget-spare), func(room int) (string, int, string) {
		head, n := excerpt.Head(rpc.Message, room)
		return head, n,
			fmt.Sprintf("[This error has %d tokens (%s), and you are given at most %d at once. parley__result with {\"handle\": %s} has all of it.]", l.tokens, l.counted, budget, mcp.Quote(request))
	})
	data := append(append(jsontext.Value(`{"`+metaResult+`":`), l.meta(head)...), '}')
	return &client.RPCError{Code: rpc.Code, Message: head + "\n" + note, Data: data}
}
