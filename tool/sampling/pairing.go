package sampling

import (
	"fmt"
	"slices"
	"strings"
)

// A Fault is what is wrong with a history.
type Fault string

// The faults that [Check] finds.
const (
	// Missing: the message after a tool_use does not answer it.
	Missing Fault = "missing"
	// Orphaned: a tool_result answers a tool_use that is nowhere.
	Orphaned Fault = "orphaned"
	// Reordered: a tool_result answers a tool_use that is not in the message
	// before it, but elsewhere.
	Reordered Fault = "reordered"
	// Duplicate: two tool_use blocks have one id, or a tool_use has two answers.
	Duplicate Fault = "duplicate"
	// Mixed: a message with tool_result blocks holds something else.
	Mixed Fault = "mixed"
	// WrongRole: a tool_use is the user's, a tool_result the assistant's, or
	// the role is neither.
	WrongRole Fault = "wrong_role"
	// Empty: a message holds nothing, a text block nothing but space, or a
	// tool_use no id. Models' endpoints refuse these.
	Empty Fault = "empty"
)

var faultWords = map[Fault]string{
	Missing:   "the tool_use has no tool_result in the next message",
	Orphaned:  "the tool_result answers no tool_use of this history",
	Reordered: "the tool_result belongs into the message behind its tool_use",
	Duplicate: "the id was used before",
	Mixed:     "a message with tool_result blocks can hold nothing else",
	WrongRole: "this role cannot say it",
	Empty:     "nothing is in it",
}

// A PairingError says which block of which message breaks the pairing rule, or
// is nothing that a model's endpoint would take.
type PairingError struct {
	Fault   Fault
	Message int    // index in the history
	Block   int    // index in the message's content; -1 is the message as a whole
	ID      string // of the tool_use, where it is about one
}

// Error is "sampling: messages[3].content[0] (id "call-1"): missing: …".
func (e *PairingError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sampling: messages[%d]", e.Message)
	if e.Block >= 0 {
		fmt.Fprintf(&b, ".content[%d]", e.Block)
	}
	if e.ID != "" {
		fmt.Fprintf(&b, " (id %q)", clip(e.ID, 64))
	}
	return b.String() + ": " + string(e.Fault) + ": " + faultWords[e.Fault]
}

// Check holds a history against the pairing rule of MCP: an assistant's message
// with tool_use blocks is followed by one of the user that consists of
// tool_result blocks alone, one for each, in any order. It also refuses what
// says nothing. The error is a [*PairingError] about the first fault; a
// history without messages has none.
func Check(history []Message) error {
	c := newChecker(history)
	for i := range history {
		if e := c.check(i); e != nil {
			return e
		}
	}
	return nil
}

type checker struct {
	history []Message
	asked   map[string]int // id of a tool_use: the message that it first stands in
	told    map[string]int // id of a tool_result: the same
}

func newChecker(history []Message) *checker {
	c := &checker{history, map[string]int{}, map[string]int{}}
	for i, m := range history {
		for _, b := range m.Content {
			switch b := b.(type) {
			case ToolUse:
				note(c.asked, b.ID, i)
			case ToolResult:
				note(c.told, b.ToolUseID, i)
			}
		}
	}
	return c
}

func note(first map[string]int, id string, i int) {
	if _, ok := first[id]; !ok {
		first[id] = i
	}
}

func (c *checker) check(i int) *PairingError {
	m := c.history[i]
	if len(m.Content) == 0 {
		return &PairingError{Empty, i, -1, ""}
	}
	if m.Role != User && m.Role != Assistant {
		return &PairingError{WrongRole, i, -1, ""}
	}
	results := len(blocksOf[ToolResult](m.Content))
	seen := map[string]bool{}
	for j, b := range m.Content {
		fault, id := c.checkBlock(i, b, seen)
		if _, ok := b.(ToolResult); fault == "" && results > 0 && !ok {
			fault = Mixed
		}
		if fault != "" {
			return &PairingError{fault, i, j, id}
		}
	}
	return c.unanswered(i, seen)
}

// checkBlock is about one block of message i, of which it has seen some ids.
func (c *checker) checkBlock(i int, b Block, seen map[string]bool) (fault Fault, id string) {
	role := c.history[i].Role
	switch b := b.(type) {
	case nil:
		return Empty, ""
	case Text:
		if blank(b.Text) {
			return Empty, ""
		}
	case ToolUse:
		if fault = c.checkUse(i, b.ID, seen); role != Assistant {
			fault = WrongRole
		}
		return fault, b.ID
	case ToolResult:
		if fault = c.checkResult(i, b.ToolUseID, seen); role != User {
			fault = WrongRole
		}
		return fault, b.ToolUseID
	}
	return "", ""
}

func (c *checker) checkUse(i int, id string, seen map[string]bool) Fault {
	if id == "" {
		return Empty
	}
	if seen[id] || c.asked[id] != i {
		return Duplicate
	}
	seen[id] = true
	return ""
}

func (c *checker) checkResult(i int, id string, seen map[string]bool) Fault {
	at, asked := c.asked[id]
	switch {
	case seen[id]:
		return Duplicate
	case !asked:
		return Orphaned
	case at == i-1:
		seen[id] = true
		return ""
	case c.told[id] < i:
		return Duplicate
	}
	return Reordered
}

// unanswered finds a call of the message before i that i, whose results are
// in seen, does not answer; and where i is the last message, one of its own.
func (c *checker) unanswered(i int, seen map[string]bool) *PairingError {
	if i > 0 {
		if e := c.missing(i-1, seen); e != nil {
			return e
		}
	}
	if i == len(c.history)-1 {
		return c.missing(i, nil)
	}
	return nil
}

func (c *checker) missing(i int, answered map[string]bool) *PairingError {
	if c.history[i].Role != Assistant {
		return nil
	}
	for j, b := range c.history[i].Content {
		use, ok := b.(ToolUse)
		if !ok || answered[use.ID] {
			continue
		}
		if at, told := c.told[use.ID]; told {
			return &PairingError{Reordered, at, resultIndex(c.history[at], use.ID), use.ID}
		}
		return &PairingError{Missing, i, j, use.ID}
	}
	return nil
}

func resultIndex(m Message, id string) int {
	return slices.IndexFunc(m.Content, func(b Block) bool {
		r, ok := b.(ToolResult)
		return ok && r.ToolUseID == id
	})
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }
