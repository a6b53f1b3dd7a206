package sampling

import "slices"

// Opening is the user's message in front of a history that would begin with the
// assistant, which endpoints refuse: an [ElicitExchange] may come first.
const Opening = "(start)"

// Append adds messages, mostly those of an exchange, to a history, which stays
// as it was: runs that branch off from one history do not see each other's
// messages. Where history and messages are well-formed, so is what it returns.
//
// Three things a plain append does not do. An exchange whose request was the
// results of calls that the history ends with does not add them again. Ids of calls
// that the history has already, since some models count from one in each reply,
// get a number behind them. And a history that would begin with the
// assistant begins with [Opening].
func Append(history []Message, messages ...Message) []Message {
	if repeats(history, messages) {
		messages = messages[1:]
	}
	all := slices.Clip(history)
	if len(history) == 0 && len(messages) > 0 && messages[0].Role == Assistant {
		all = append(all, UserText(Opening))
	}
	taken := map[string]bool{}
	for _, m := range history {
		for _, use := range m.ToolUses() {
			taken[use.ID] = true
		}
	}
	renamed := map[string]string{}
	for _, m := range messages {
		all = append(all, m.rename(taken, renamed))
	}
	return all
}

// repeats says whether messages begin with the results that history ends with.
func repeats(history, messages []Message) bool {
	if len(history) == 0 || len(messages) == 0 {
		return false
	}
	ids := resultIDs(messages[0])
	return len(ids) > 0 && slices.Equal(ids, resultIDs(history[len(history)-1]))
}

func resultIDs(m Message) (ids []string) {
	for _, r := range m.ToolResults() {
		ids = append(ids, r.ToolUseID)
	}
	slices.Sort(ids)
	return ids
}

// rename gives calls whose ids are taken new ones, and results those of their
// calls.
func (m Message) rename(taken map[string]bool, renamed map[string]string) Message {
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		switch b := b.(type) {
		case ToolUse:
			id := free(b.ID, taken)
			taken[id] = true
			renamed[b.ID] = id
			b.ID = id
			m.Content[i] = b
		case ToolResult:
			if id, ok := renamed[b.ToolUseID]; ok {
				b.ToolUseID = id
				m.Content[i] = b
			}
		}
	}
	return m
}

// free is an id that is not taken: id itself, or with a number behind it.
func free(id string, taken map[string]bool) string {
	if id == "" {
		id = "call"
	}
	candidate := id
	for n := 2; taken[candidate]; n++ {
		behind := "-" + itoa(n)
		candidate = id[:min(len(id), MaxName-len(behind))] + behind
	}
	return candidate
}

// tidyResults leaves out of results what says nothing. A result without content
// is one.
func (m Message) tidyResults() Message {
	m.Content = slices.Clone(m.Content)
	for i, b := range m.Content {
		r := b.(ToolResult)
		r.Content = slices.DeleteFunc(slices.Clone(r.Content), silent)
		m.Content[i] = r
	}
	return m
}

// silent says whether a block says nothing.
func silent(b Block) bool {
	t, ok := b.(Text)
	return b == nil || ok && blank(t.Text)
}

// tidy is a reply as it goes into a history: without blocks that say nothing, and
// with ids that differ.
func (m Message) tidy() Message {
	m.Role = Assistant
	content := make([]Block, 0, len(m.Content))
	taken := map[string]bool{}
	for _, b := range m.Content {
		if silent(b) {
			continue
		}
		if use, ok := b.(ToolUse); ok {
			use.ID = free(use.ID, taken)
			taken[use.ID] = true
			b = use
		}
		content = append(content, b)
	}
	m.Content = content
	return m
}
