package mcpbridge

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// npmServer is one of npm's servers, installed by scripts/fetch-test-deps.
func npmServer(t *testing.T, name string, args ...string) Server {
	t.Helper()
	dir := os.Getenv("PARLEY_TEST_NPM")
	if dir == "" {
		dir = filepath.Join("..", "..", ".cache", "npm")
	}
	path, err := filepath.Abs(filepath.Join(dir, "node_modules", ".bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed; scripts/fetch-test-deps does that", name)
	}
	return Server{Command: path, Args: args}
}

func TestFilesystemServer(t *testing.T) {
	dir := t.TempDir()
	u := open(t, npmServer(t, "mcp-server-filesystem", dir), nil)
	file := filepath.Join(dir, "hello.txt")
	params, err := jsontext.AppendQuote([]byte(`{"name":"write_file","arguments":{"content":"grüß\n","path":`), file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := u.Call(t.Context(), "tools/call", append(params, "}}"...), nil); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "grüß\n" {
		t.Errorf("the file holds %q, %v", got, err)
	}
	list, err := u.Call(t.Context(), "tools/list", nil, nil)
	if err != nil || !strings.Contains(string(list), `"read_text_file"`) {
		t.Errorf("got %s, %v", list, err)
	}
	// No roots were declared, so the folder of its command line counts.
	allowed, err := u.Call(t.Context(), "tools/call", jsontext.Value(`{"name":"list_allowed_directories","arguments":{}}`), nil)
	if err != nil || !strings.Contains(string(allowed), filepath.Base(dir)) {
		t.Errorf("got %s, %v", allowed, err)
	}
}

func TestEverythingServer(t *testing.T) {
	u := open(t, npmServer(t, "mcp-server-everything", "stdio"), &Options{OnNotification: func(context.Context, string, jsontext.Value) {}})
	if name, _ := parley.MemberString(parley.Member(u.Info().Raw, "serverInfo"), "name"); !strings.Contains(name, "everything") {
		t.Errorf("info %s", u.Info().Raw)
	}
	if _, err := u.Call(t.Context(), "tools/call", jsontext.Value(`{"name":"echo","arguments":{"message":"hi"}}`), nil); err != nil {
		t.Error(err)
	}
	var steps []string
	_, err := u.Call(t.Context(), "tools/call",
		jsontext.Value(`{"name":"trigger-long-running-operation","arguments":{"duration":0.2,"steps":2},"_meta":{"progressToken":"mine"}}`),
		func(p jsontext.Value) {
			token, _ := parley.MemberString(p, "progressToken")
			steps = append(steps, token+" "+string(parley.Member(p, "progress")))
		})
	if err != nil || strings.Join(steps, ", ") != "mine 1, mine 2" {
		t.Errorf("got %q, %v", steps, err)
	}
}
