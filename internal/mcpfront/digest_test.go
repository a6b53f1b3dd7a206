package mcpfront_test

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
)

// TestReadDigest holds that a model reads a context in short, and is told what
// is wrong with its question.
func TestReadDigest(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	boss := s.join("boss", client.Options{})
	in := client.InContext(&parley.Context{ID: "plan/1", Type: "reasoning"})
	for _, text := range []string{"first things first", "then the rest"} {
		if _, err := boss.Chat(t.Context(), text, in); err != nil {
			t.Fatal(err)
		}
	}
	ask := func(arguments string) (text string, failed bool) {
		t.Helper()
		last := s.do(tool("parley__read", `{}`, arguments, "")).last()
		for v := range parley.Elements(jsontext.Value(member(t, last, "result", "content"))) {
			text, _ = parley.MemberString(v, "text")
		}
		return text, strings.Contains(last, `"isError":true`)
	}
	text, failed := ask(`{"context":"plan/1","digest":true,"tokens":500}`)
	if failed || !strings.HasPrefix(text, "Context plan/1 of boss, open, with 2 envelopes") ||
		strings.Index(text, "first things first") > strings.Index(text, "then the rest") || !strings.Contains(text, "then the rest") {
		t.Errorf("%t %q", failed, text)
	}
	last := s.do(tool("parley__read", `{}`, `{"context":"plan/1","digest":true}`, "")).last()
	for want, path := range map[string][]string{"plan/1": {"context", "id"}, "2000": {"tokens", "budget"}, "2": {"kinds", "chat"}} {
		if got := member(t, last, append([]string{"result", "structuredContent"}, path...)...); got != want {
			t.Errorf("%s is %q, want %q: %s", path, got, want, last)
		}
	}
	for arguments, want := range map[string]string{
		`{"digest":true}`: "none is named",
		`{"digest":true,"context":"plan/1","tokens":7}`: "tokens",
		`{"digest":true,"context":"nothing"}`:           "no context",
	} {
		if text, failed := ask(arguments); !failed || !strings.Contains(text, want) {
			t.Errorf("%s: %t %q", arguments, failed, text)
		}
	}
}
