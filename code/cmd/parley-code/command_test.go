package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// program runs the program with arguments until it ends.
func program(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(t.Context(), args, io.NopCloser(strings.NewReader("")), &out, &errs)
	return code, out.String(), errs.String()
}

func TestCommandLine(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.py")
	if err := os.WriteFile(file, []byte("def f(): pass\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"--version"}, exitOK, "parley-code ", ""},
		{[]string{"--help"}, exitOK, "Serve the source code below DIR", ""},
		{nil, exitUsage, "", "which folder?"},
		{[]string{"a", "b"}, exitUsage, "", "2 folders are named"},
		{[]string{"--nonsense", dir}, exitUsage, "", "--nonsense"},
		{[]string{"--cache", "-1", dir}, exitUsage, "", "--cache -1"},
		{[]string{filepath.Join(dir, "missing")}, exitError, "", "cannot be served"},
		{[]string{file}, exitError, "", "cannot be served"},
		{[]string{"--tier", "gold", dir}, exitError, "", "one of community, pro, enterprise"},
		{[]string{"--licence-key", filepath.Join(dir, "missing"), dir}, exitError, "", "the key of licences"},
		{[]string{dir}, exitOK, "", ""}, // stdin ends at once
	} {
		code, stdout, stderr := program(t, c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) {
			t.Errorf("%q: %d\n%s\n%s", c.args, code, stdout, stderr)
		}
	}
}

// No cache is what --cache 0 says; in [codetools.Options] 0 is the default.
func TestCacheBytes(t *testing.T) {
	for mib, want := range map[int]int64{0: -1, 1: 1 << 20, 1 << 20: 1 << 40} {
		if got := (flags{cacheMiB: mib}).cacheBytes(); got != want {
			t.Errorf("--cache %d: %d bytes, want %d", mib, got, want)
		}
	}
}

// A client is told at once of every tool there is.
func TestInstructionsNameEveryTool(t *testing.T) {
	session, interrupt := serving(t)
	said := session.InitializeResult().Instructions
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if !strings.Contains(said, tool.Name) {
			t.Errorf("%s is not in %q", tool.Name, said)
		}
	}
	interrupt()
}

// serving runs the program with a client, whose folder has one file.
func serving(t *testing.T, args ...string) (session *mcp.ClientSession, interrupt func() int) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.py"), []byte("import os\n\ndef f(x):\n    return os.path.join(x)\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, append(args, dir), in, out, t.Output()) }()
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session, func() int {
		stop()
		code := <-ended
		out.Close()
		session.Close()
		return code
	}
}

func TestServes(t *testing.T) {
	t.Setenv("PARLEY_RESPONSE_CONFIG", filepath.Join("testdata", "minimal.json"))
	session, interrupt := serving(t, "--tier", "community")
	for _, c := range []struct {
		tool      string
		arguments map[string]any
		want      string
	}{
		{"analyze_code", map[string]any{"path": "a.py"}, `{"data":{"path":"a.py","language":"python","functions":[{"name":"f",`},
		{"extract_code", map[string]any{"path": "a.py", "symbol": "f"}, `"code":"def f(x):\n    return os.path.join(x)","imports":["import os"],"tokens":`},
		{"extract_code", map[string]any{"path": "a.py", "symbol": "ff"}, `{"error":{"error":"there is no function, class or variable \"ff\" in the file","error_code":"not_found","error_details":{"did_you_mean":["f"]}}}`},
		{"extract_code", map[string]any{"path": "a.py", "symbol": "f", "cross_file_dependencies": true}, `"error_code":"upgrade_required"`},
		{"extract_code", map[string]any{"path": 1}, `"error_code":"invalid_argument"`},
		{"extract_code", map[string]any{"path": "../a.py", "symbol": "f"}, `"error_code":"invalid_path"`},
	} {
		res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.arguments})
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Content[0].(*mcp.TextContent).Text; !strings.Contains(got, c.want) || res.IsError != strings.Contains(c.want, "error") {
			t.Errorf("%s %v: %s", c.tool, c.arguments, got)
		}
	}
	if code := interrupt(); code != exitOK {
		t.Errorf("interrupted, it ends with %d", code)
	}
}
