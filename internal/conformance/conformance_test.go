package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// The versions of MCP whose requirements the suite knows, one of each era.
const (
	legacy = "2025-11-25"
	modern = "2026-07-28"
)

// required is how many scenarios of the suite each version scores. It runs
// others as well, which hold too.
var required = map[string]struct{ scored, others int }{
	legacy: {30, 3},
	modern: {37, 3},
}

// ways lead to the SDK's server: directly, and through a room that runs it over
// stdio, or reaches it over HTTP.
var ways = map[string]func(t *testing.T, version string) string{
	"direct": direct,
	"stdio":  throughStdio,
	"http":   throughHTTP,
}

// serverName is what the SDK's server calls itself, also through a room.
const serverName = "mcp-conformance-test-server"

func TestConformance(t *testing.T) {
	results := newTable(t, "version", "way", "scored", "others", "failed checks")
	for version := range required {
		for way, open := range ways {
			t.Run(version+"/"+way, func(t *testing.T) {
				t.Parallel()
				url := open(t, version)
				answers(t, url, version, serverName)
				o := runSuite(t, url, version)
				failed := judge(t, version, o)
				scored, others := count(o.scenarios)
				results.add(version, way, scored.String(), others.String(), failed)
			})
		}
	}
}

func direct(t *testing.T, version string) string {
	port := freePort(t)
	run(t, t.TempDir(), fetched(t, "bin/everything-server"),
		"-http", fmt.Sprint("127.0.0.1:", port), fmt.Sprint("-stateless=", version == modern))
	return fmt.Sprintf("http://127.0.0.1:%d/mcp", port)
}

func throughStdio(t *testing.T, version string) string {
	// By a name of its own, which tells whether it is left behind.
	command := filepath.Join(t.TempDir(), "server")
	if err := os.Symlink(fetched(t, "bin/everything-server"), command); err != nil {
		t.Fatal(err)
	}
	alone(t, command)
	return room(t, fmt.Sprintf("{command: %q, era: %s, roots: true}", command, era(version)))
}

func throughHTTP(t *testing.T, version string) string {
	url := direct(t, version)
	answers(t, url, version, serverName)
	return room(t, fmt.Sprintf("{url: %q, era: %s, roots: true}", url, era(version)))
}

// era is what the server is to be spoken to in. The SDK's server over stdio
// knows both, and asks its client in mid-call only in the legacy one.
func era(version string) string {
	if version == modern {
		return "modern"
	}
	return "legacy"
}

// room starts a gateway with a room of a tester and a server, and tells the
// address at which the server's own names count.
func room(t *testing.T, server string) string {
	dir, port := t.TempDir(), freePort(t)
	alone(t, dir)
	conf := fmt.Sprintf(`listen: 127.0.0.1:%d
spaces:
  room:
    mcp: {anonymous: tester}
    participants:
      tester: {capabilities: ["mcp/*", chat]}
    mcp_servers:
      everything: %s
`, port, server)
	path := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, program(t), "up", "--config", path)
	return fmt.Sprintf("http://127.0.0.1:%d/mcp/room/everything", port)
}

// outcome is what became of a run of the suite.
type outcome struct {
	scenarios []scenario
	dir       string // with a file for each
}

// suiteTime is far more than a run takes.
const suiteTime = 2 * time.Minute

func runSuite(t *testing.T, url, version string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), suiteTime)
	defer cancel()
	dir := t.TempDir()
	cmd := exec.CommandContext(ctx, node(t), fetched(t, "npm-conformance/node_modules/@modelcontextprotocol/conformance/dist/index.js"),
		"server", "--url", url, "--requirements", version, "--output-dir", dir)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	scenarios, unread := readSummary(string(out))
	if unread != nil {
		t.Fatalf("%v, %v; it ended so:\n%s", unread, err, end(string(out), 20))
	}
	return outcome{scenarios, dir}
}

// judge fails the test where a scenario did, and tells the checks.
func judge(t *testing.T, version string, o outcome) (failed string) {
	t.Helper()
	want := required[version]
	scored, others := count(o.scenarios)
	if scored.passed != want.scored || scored.run != want.scored || others.passed != want.others {
		t.Errorf("scored %v, want %d; others %v, want %d", scored, want.scored, others, want.others)
	}
	for _, s := range o.scenarios {
		if !s.ok() && s.unscored != "extension" {
			why := failures(t, o.dir, s.name)
			t.Errorf("%s: %d checks failed\n    %s", s.name, s.failed, strings.Join(why, "\n    "))
			failed += s.name + ": " + strings.Join(why, "; ") + ". "
		}
	}
	return failed
}

// failures tells the checks of a scenario that failed, from the files that the
// suite writes.
func failures(t *testing.T, dir, name string) (lines []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "server-"+name+"-2*", "checks.json"))
	if err != nil || len(files) != 1 {
		t.Errorf("the suite left %q of %s, %v", files, name, err)
		return nil
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var checks []struct{ ID, Status, ErrorMessage string }
	if err := json.Unmarshal(text, &checks); err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if line := c.ID + ": " + c.ErrorMessage; c.Status == "FAILURE" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return lines
}
