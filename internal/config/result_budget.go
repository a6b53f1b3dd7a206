package config

import "fmt"

// ResultBudget is how many tokens a tool's result may have that an MCP client is
// given whole: 0 where nothing is said, [NoBudget] where it is said that there is
// no bound.
type ResultBudget int

// NoBudget is what off means.
const NoBudget ResultBudget = -1

// The bounds of a result_budget. Below the least there is no room for a handle
// beside the head of a result.
const (
	minResultBudget = 256
	maxResultBudget = many
)

// anyTool stands for the tools of a server that are not named.
const anyTool = "*"

// ResultBudget is how many tokens a result of a server's tool may have that is
// given whole to a participant's MCP clients; 0 is no bound. Of the
// participant's budget and the tool's the smaller holds; off at the tool lets
// its results pass, whoever calls it. tool is its own name, "" for what is no
// tool's result.
func (s *Space) ResultBudget(participant, server, tool string) int {
	var own, of ResultBudget
	if p := s.Participants[participant]; p != nil {
		own = max(0, p.ResultBudget)
	}
	if m := s.MCPServers[server]; m != nil && tool != "" {
		of = m.ResultBudgets[anyTool]
		if named, ok := m.ResultBudgets[tool]; ok {
			of = named
		}
	}
	switch {
	case of == NoBudget:
		return 0
	case of == 0, own > 0 && own < of:
		return int(own)
	}
	return int(of)
}

// resultBudget is a number of tokens, or off.
func (r *reader) resultBudget(v value) ResultBudget {
	text, ok := r.text(v)
	switch {
	case !ok:
		return 0
	case text == "off":
		return NoBudget
	}
	n := 0
	before := len(r.problems)
	r.count(v, &n, minResultBudget, maxResultBudget)
	if len(r.problems) > before {
		r.problems[len(r.problems)-1].Hint = fmt.Sprintf("write how many tokens, as %s: 4000, or off", resultBudgetKey)
	}
	return ResultBudget(n)
}

const resultBudgetKey = "result_budget"

// resultBudgets is one budget for all tools of a server, or one for each that is
// named, and "*" for the others.
func (r *reader) resultBudgets(v value) map[string]ResultBudget {
	if v.written() && v.kind != mapNode {
		if b := r.resultBudget(v); b != 0 {
			return map[string]ResultBudget{anyTool: b}
		}
		return nil
	}
	budgets := map[string]ResultBudget{}
	for _, tool := range r.all(v) {
		if tool.name == "" {
			r.failKey(tool, `write a tool's name, or "*" for all that are not named`, "%s names no tool", v.title())
			continue
		}
		if b := r.resultBudget(tool); b != 0 {
			budgets[tool.name] = b
		}
	}
	if len(budgets) == 0 {
		return nil
	}
	return budgets
}
