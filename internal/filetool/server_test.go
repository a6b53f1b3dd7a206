package filetool

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("FILETOOL_TEST_SERVE"); dir != "" {
		serveForTest(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// A room is a served folder and a client of it.
type room struct {
	t    testing.TB
	dir  string
	call *mcp.ClientSession
}

func newRoom(t testing.TB, opts *Options) *room {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "served")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s, err := New(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return &room{t: t, dir: dir, call: connect(t, s)}
}

func connect(t testing.TB, s *mcp.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	serving, err := s.Connect(context.Background(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	session, err := client.Connect(context.Background(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		session.Close()
		serving.Wait()
	})
	return session
}

type args = map[string]any

// do calls a tool and returns the raw result.
func (r *room) do(tool string, a args) *mcp.CallToolResult {
	r.t.Helper()
	res, err := r.call.CallTool(context.Background(), &mcp.CallToolParams{Name: tool, Arguments: a})
	if err != nil {
		r.t.Fatalf("%s %v: %v", tool, a, err)
	}
	return res
}

// ok calls a tool that must succeed and decodes its structured result.
func ok[Out any](r *room, tool string, a args) Out {
	r.t.Helper()
	res := r.do(tool, a)
	if res.IsError {
		r.t.Fatalf("%s %v: %s", tool, a, text(res))
	}
	raw, err := json.Marshal(res.StructuredContent)
	if err != nil {
		r.t.Fatal(err)
	}
	var out Out
	if err := json.Unmarshal(raw, &out); err != nil {
		r.t.Fatalf("%s: %v in %s", tool, err, raw)
	}
	return out
}

// refused calls a tool that must refuse with the code, and returns its text.
func (r *room) refused(code string, tool string, a args) string {
	r.t.Helper()
	res := r.do(tool, a)
	got := text(res)
	if !res.IsError || !strings.HasPrefix(got, code+": ") {
		r.t.Fatalf("%s %v: got %q (isError %v), want code %s", tool, a, got, res.IsError, code)
	}
	if strings.Contains(got, r.dir) && !strings.Contains(got, "is absolute") {
		r.t.Errorf("%s tells where the folder lies: %q", tool, got)
	}
	if res.StructuredContent != nil {
		r.t.Errorf("%s: a refusal with structured content: %v", tool, res.StructuredContent)
	}
	return got
}

func text(res *mcp.CallToolResult) string {
	var b strings.Builder
	for _, c := range res.Content {
		if t, ok := c.(*mcp.TextContent); ok {
			b.WriteString(t.Text)
		}
	}
	return b.String()
}

func (r *room) put(name, content string) {
	r.t.Helper()
	p := filepath.Join(r.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

func (r *room) get(name string) string {
	r.t.Helper()
	b, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(name)))
	if err != nil {
		r.t.Fatal(err)
	}
	return string(b)
}

func TestToolsAreDescribed(t *testing.T) {
	r := newRoom(t, nil)
	readOnly := map[string]bool{
		"read_file": true, "list_directory": true, "search_files": true, "get_file_info": true,
		"write_file": false, "create_directory": false, "move_file": false, "delete_file": false,
	}
	destructive := map[string]bool{"write_file": true, "move_file": true, "delete_file": true}
	seen := 0
	for tool, err := range r.call.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		seen++
		want, known := readOnly[tool.Name]
		if !known {
			t.Errorf("tool %s is not one of ours", tool.Name)
			continue
		}
		a := tool.Annotations
		if a == nil || a.ReadOnlyHint != want || *a.DestructiveHint != destructive[tool.Name] || *a.OpenWorldHint {
			t.Errorf("%s: annotations %+v", tool.Name, a)
		}
		if tool.Description == "" || tool.InputSchema == nil || tool.OutputSchema == nil {
			t.Errorf("%s: not described", tool.Name)
		}
		checkProperties(t, tool)
	}
	if seen != len(readOnly) {
		t.Errorf("%d tools, want %d", seen, len(readOnly))
	}
}

// checkProperties wants every argument explained.
func checkProperties(t *testing.T, tool *mcp.Tool) {
	t.Helper()
	raw, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct {
		Type       string
		Properties map[string]struct{ Description string }
	}
	if err := json.Unmarshal(raw, &schema); err != nil || schema.Type != "object" {
		t.Fatalf("%s: %v, type %q", tool.Name, err, schema.Type)
	}
	for name, p := range schema.Properties {
		if p.Description == "" {
			t.Errorf("%s: argument %s is not explained", tool.Name, name)
		}
	}
}

func TestArgumentsThatDoNotFitTheSchema(t *testing.T) {
	r := newRoom(t, nil)
	for _, c := range []struct {
		tool string
		args args
		says string
	}{
		{"read_file", nil, "path"},
		{"read_file", args{"path": 7}, "path"},
		{"write_file", args{"path": "a"}, "content"},
		{"write_file", args{"path": "a", "content": "x", "mode": "0777"}, "mode"},
		{"move_file", args{"source": "a"}, "destination"},
	} {
		if got := r.refused("invalid_argument", c.tool, c.args); !strings.Contains(got, c.says) {
			t.Errorf("%s %v: %q does not name %s", c.tool, c.args, got, c.says)
		}
	}
}

func TestUnknownToolIsAFaultOfTheProtocol(t *testing.T) {
	r := newRoom(t, nil)
	if _, err := r.call.CallTool(t.Context(), &mcp.CallToolParams{Name: "format_disk"}); err == nil {
		t.Error("no error")
	}
}

func TestNewRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		dir  string
		opts *Options
		want string
	}{
		{"", nil, "invalid_argument: "},
		{file, nil, "invalid_argument: "},
		{file + "-absent", nil, "not_found: "},
		{t.TempDir(), &Options{MaxBytes: -1}, "invalid_argument: "},
	} {
		if _, err := New(c.dir, c.opts); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("New(%q, %+v): %v, want %s", c.dir, c.opts, err, c.want)
		}
	}
}

func TestServerNamesItsVersion(t *testing.T) {
	for _, c := range []struct{ opts, want string }{{"", "devel"}, {"1.2.3", "1.2.3"}} {
		r := newRoom(t, &Options{Version: c.opts})
		if got := r.call.InitializeResult().ServerInfo.Version; got != c.want {
			t.Errorf("version %q, want %q", got, c.want)
		}
	}
}
