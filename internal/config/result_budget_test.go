package config

import "testing"

// TestResultBudget holds which budget is meant where several are written.
func TestResultBudget(t *testing.T) {
	s := &Space{
		Participants: map[string]*Participant{
			"small": {ResultBudget: 1_000}, "large": {ResultBudget: 9_000}, "off": {ResultBudget: NoBudget}, "silent": {},
		},
		MCPServers: map[string]*MCPServer{
			"files":  {ResultBudgets: map[string]ResultBudget{"*": 4_000, "image": NoBudget, "grep": 500}},
			"some":   {ResultBudgets: map[string]ResultBudget{"grep": 500}},
			"open":   {ResultBudgets: map[string]ResultBudget{"*": NoBudget, "grep": 500}},
			"silent": {},
		},
	}
	for _, c := range []struct {
		participant, server, tool string
		want                      int
	}{
		{"small", "files", "read", 1_000},
		{"large", "files", "read", 4_000},
		{"silent", "files", "read", 4_000},
		{"off", "files", "read", 4_000},
		{"small", "files", "grep", 500},
		{"small", "files", "image", 0},
		{"large", "some", "read", 9_000},
		{"large", "some", "grep", 500},
		{"silent", "some", "read", 0},
		{"off", "some", "read", 0},
		{"small", "open", "read", 0},
		{"small", "open", "grep", 500},
		{"small", "silent", "read", 1_000},
		{"small", "elsewhere", "read", 1_000},
		{"small", "open", "", 1_000},
		{"silent", "files", "", 0},
		{"nobody", "files", "read", 4_000},
		{"nobody", "nothing", "read", 0},
	} {
		if got := s.ResultBudget(c.participant, c.server, c.tool); got != c.want {
			t.Errorf("%s of %s for %s: %d tokens, want %d", c.tool, c.server, c.participant, got, c.want)
		}
	}
}
