package main

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

var errorCode = regexp.MustCompile(`^{"error":{.*"error_code":"([a-z_]+)"`)

// A million brackets, ten deep, are more work than what people write: each call is
// answered, by a file or by a code, and others are answered meanwhile and afterwards.
func TestMillionBracketsStallNobody(t *testing.T) {
	t.Setenv("PARLEY_RESPONSE_CONFIG", "testdata/minimal.json")
	session, interrupt := serving(t)
	defer interrupt()
	codes := make(chan string)
	languages := []string{"go", "python", "javascript", "typescript"}
	for _, language := range languages {
		for _, b := range []string{"()", "[]", "{}"} {
			code := strings.Repeat(strings.Repeat(b[:1], 10)+strings.Repeat(b[1:], 10), 50_000)
			go func() { codes <- codeOf(t, session, map[string]any{"language": language, "code": code}) }()
		}
	}
	small := map[string]any{"path": "a.py"}
	if got := codeOf(t, session, small); got != "ok" {
		t.Errorf("meanwhile: %s", got)
	}
	for range 3 * len(languages) {
		if got := <-codes; !slices.Contains([]string{"ok", "too_large", "timeout"}, got) {
			t.Errorf("a million brackets: %s", got)
		}
	}
	if got := codeOf(t, session, small); got != "ok" {
		t.Errorf("afterwards: %s", got)
	}
}

// codeOf is the code of analyze_code's error, or "ok".
func codeOf(t *testing.T, session *mcp.ClientSession, arguments map[string]any) string {
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "analyze_code", Arguments: arguments})
	if err != nil {
		return err.Error()
	}
	text := res.Content[0].(*mcp.TextContent).Text
	switch match := errorCode.FindStringSubmatch(text); {
	case match != nil && res.IsError:
		return match[1]
	case strings.HasPrefix(text, `{"data":`) && !res.IsError:
		return "ok"
	}
	return text
}
