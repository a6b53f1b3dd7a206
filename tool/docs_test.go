package tool_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The program in docs/tools.md does what stands there, as a program.
func TestProgramOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/tools.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```go\n")
	source, _, _ := strings.Cut(rest, "```")
	dir := t.TempDir()
	main, program := filepath.Join(dir, "main.go"), filepath.Join(dir, "counter.exe")
	write(t, main, source)
	write(t, filepath.Join(dir, "three.txt"), "1\n2\n3\n")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, main).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}

	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PARLEY_RESPONSE=", "SCALPEL_MCP_INFO=", "PARLEY_RESPONSE_CONFIG=", "XDG_CONFIG_HOME="+dir)
	var log strings.Builder
	cmd.Stderr = &log
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, &log)
	}
	for path, want := range map[string]string{
		"three.txt":    `{"data":{"lines":3}}`,
		"missing.txt":  `{"error":{"error":"there is no file \"missing.txt\"","error_code":"not_found"}}`,
		"../three.txt": `{"error":{"error":"internal error","error_code":"internal_error"}}`,
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "count_lines", Arguments: map[string]any{"path": path}})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*mcp.TextContent).Text; got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
	// It ends by itself when stdin does; the transport would kill it later.
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if !cmd.ProcessState.Success() || !strings.Contains(log.String(), "path escapes") {
		t.Errorf("%v\n%s", cmd.ProcessState, &log)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Each row of the contract in docs/tool-runtime.md leads to tests that are there.
func TestRowsOfTheDocs(t *testing.T) {
	page, err := os.ReadFile("../docs/tool-runtime.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "| what | test |\n| --- | --- |\n")
	link := regexp.MustCompile(`\[(Test\w+)\]\(\.\./(tool/[\w/]+_test\.go)\)`)
	for row := range strings.Lines(table) {
		found := link.FindAllStringSubmatch(row, -1)
		if len(found) == 0 {
			t.Errorf("no test is named: %s", row)
		}
		for _, l := range found {
			source, err := os.ReadFile(filepath.Join("..", l[2]))
			if err != nil || !strings.Contains(string(source), "\nfunc "+l[1]+"(") {
				t.Errorf("%s is not in %s (%v)", l[1], l[2], err)
			}
		}
	}
}
