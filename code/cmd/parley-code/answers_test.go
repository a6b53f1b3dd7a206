package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The situations of the document that the envelope comes from, as the built program
// answers them about files on the disk: whole answers, but for ids, times and the
// program's version.
func TestAnswersOfTheDocument(t *testing.T) {
	program, dir := filepath.Join(t.TempDir(), "parley-code"), t.TempDir()
	build(t, ".", program, ".")
	for name, text := range map[string]string{
		"safe.py": "def double(x):\n    return 2 * x\n",
		"shop.py": "import sqlite3\nimport sys\n\ndef find():\n    sqlite3.connect('shop').execute('SELECT ' + sys.argv[1])\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const meta = `"request_id":X,"capabilities":["envelope-v1","go","python","javascript","typescript"],"duration_ms":X,`
	for _, c := range []struct {
		name, tier, info, tool string
		arguments              map[string]any
		want                   string
	}{
		{
			"successful response, minimal profile", "pro", "", "security_scan", map[string]any{"path": "shop.py"},
			`{"data":{"path":"shop.py","language":"python","risk_level":"high","vulnerabilities":[` +
				`{"type":"sql_injection","cwe":"CWE-89","severity":"high","confidence":"medium","line":5,"column":37,"function":"find",` +
				`"sink":"sqlite3.connect().execute","source":{"kind":"arguments","name":"sys.argv","line":5},"steps":[5]}]}}`,
		},
		{
			"successful response, debug mode", "pro", "DEBUG", "security_scan", map[string]any{"path": "safe.py"},
			`{"tier":"pro","tool_version":X,"tool_id":"security_scan",` + meta + `"error":null,"upgrade_hints":[],` +
				`"data":{"path":"safe.py","language":"python","risk_level":"none","vulnerabilities":[]}}`,
		},
		{
			"error response, minimal profile", "community", "", "extract_code", map[string]any{"path": "missing.py", "symbol": "double"},
			`{"error":{"error":"\"missing.py\" does not exist","error_code":"not_found"}}`,
		},
		{
			"error response, debug mode", "community", "DEBUG", "extract_code", map[string]any{"path": "missing.py", "symbol": "double"},
			`{"tier":"community","tool_version":X,"tool_id":"extract_code",` + meta +
				`"error":{"error":"\"missing.py\" does not exist","error_code":"not_found","error_details":null},"upgrade_hints":[],"data":null}`,
		},
		{
			"the document's path, which is absolute", "community", "", "extract_code", map[string]any{"path": "/missing.py", "symbol": "double"},
			`{"error":{"error":"\"/missing.py\" is absolute: write a path relative to the folder, such as \"pkg/server.go\"","error_code":"invalid_path"}}`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			session := startsBuilt(t, program, dir, c.tier, c.info)
			got, isError := answered(t, session, c.tool, c.arguments)
			if got != c.want || isError != strings.Contains(c.want, `"error":{`) {
				t.Errorf("isError %t\n got %s\nwant %s", isError, got, c.want)
			}
		})
	}
}

// startsBuilt starts the built program, with nothing of the machine's own
// configuration, and connects to it.
func startsBuilt(t *testing.T, program, dir, tier, info string) *mcp.ClientSession {
	t.Helper()
	cmd := exec.Command(program, "--tier", tier, "--config", filepath.Join("testdata", "minimal.json"), dir)
	cmd.Env = append(os.Environ(), "PARLEY_RESPONSE=", "SCALPEL_MCP_INFO="+info)
	cmd.Stderr = t.Output()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("the program ends: %v", err)
		}
	})
	return session
}

var differs = regexp.MustCompile(`"(tool_version|request_id)":"[^"]+"|"(duration_ms)":[0-9]+`)

// answered calls a tool, and puts X for what differs from call to call.
func answered(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (text string, isError bool) {
	t.Helper()
	res, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	return differs.ReplaceAllString(res.Content[0].(*mcp.TextContent).Text, `"$1$2":X`), res.IsError
}
