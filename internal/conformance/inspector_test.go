package conformance

import (
	"bytes"
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

// call is a call of a tool of one of npm's servers: its arguments, in which
// FOLDER is a folder that the filesystem server may touch, and what its result holds.
type call struct{ tool, arguments, want string }

var calls = map[string][]call{
	"everything": {
		{"echo", `{"message": "grüß dich"}`, "Echo: grüß dich"},
		{"get-annotated-message", `{"messageType": "success", "includeImage": true}`, `"priority":0.7`},
		{"get-env", `{}`, "PATH"},
		{"get-resource-links", `{"count": 2}`, `"resource_link"`},
		{"get-resource-reference", `{"resourceType": "Text", "resourceId": 1}`, "Resource 1: This is a plaintext resource"},
		{"get-structured-content", `{"location": "Chicago"}`, `"structuredContent":{"temperature"`},
		{"get-sum", `{"a": 2, "b": 40}`, "42"},
		{"get-tiny-image", `{}`, `"mimeType":"image/png"`},
		{"gzip-file-as-resource", `{"name": "a.gz", "data": "data:text/plain;base64,SGVsbG8=", "outputType": "resource"}`, `"mimeType":"application/gzip"`},
		{"toggle-simulated-logging", `{}`, "simulated"},
		{"toggle-subscriber-updates", `{}`, "simulated resource update"},
		{"trigger-long-running-operation", `{"duration": 0.1, "steps": 2}`, "Long running operation completed"},
		{"simulate-research-query", `{"topic": "rooms"}`, "task"}, // runs as a task only, which a room does not know
	},
	"files": {
		{"create_directory", `{"path": "FOLDER/made"}`, "Successfully created directory"},
		{"directory_tree", `{"path": "FOLDER"}`, "three.txt"},
		{"edit_file", `{"path": "FOLDER/edit.txt", "edits": [{"oldText": "before", "newText": "after"}]}`, "+after"},
		{"get_file_info", `{"path": "FOLDER/three.txt"}`, "isFile: true"},
		{"list_allowed_directories", `{}`, "Allowed directories"},
		{"list_directory", `{"path": "FOLDER"}`, "[FILE] three.txt"},
		{"list_directory_with_sizes", `{"path": "FOLDER"}`, "three.txt"},
		{"move_file", `{"source": "FOLDER/move.txt", "destination": "FOLDER/moved.txt"}`, "Successfully moved"},
		{"read_file", `{"path": "FOLDER/three.txt", "head": 1}`, `"text":"one"`},
		{"read_media_file", `{"path": "FOLDER/dot.png"}`, `"mimeType":"image/png"`},
		{"read_multiple_files", `{"paths": ["FOLDER/three.txt", "FOLDER/other.txt"]}`, "something else"},
		{"read_text_file", `{"path": "FOLDER/three.txt", "tail": 1}`, `"text":"three"`},
		{"search_files", `{"path": "FOLDER", "pattern": "*hree*"}`, "three.txt"},
		{"write_file", `{"path": "FOLDER/written.txt", "content": "new"}`, "Successfully wrote"},
	},
}

// fill puts into a folder what the calls read, change and move.
func fill(t *testing.T, folder string) {
	t.Helper()
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"three.txt": "one\ntwo\nthree", "other.txt": "something else\n", "edit.txt": "before\n", "move.txt": "here\n", "dot.png": "no image, but who looks",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// inspector is the inspector of MCP as it reaches a room: with the arguments
// that come before a method, and those that come last.
type inspector struct {
	node, script string
	before, last []string
}

// ask runs one method, and tells what came of it in one line.
func (i inspector) ask(t *testing.T, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, i.node, slices.Concat([]string{i.script, "--cli", "--quiet", "--format", "json"}, i.before, args, i.last)...)
	cmd.Env = append(os.Environ(), "HOME="+scratch, "NODE_COMPILE_CACHE="+scratch)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	_ = cmd.Run() // an error of the tool's is for the caller to judge, which is in what it printed
	return strings.TrimSpace(out.String())
}

// tools are those that are listed, by the name under which a room shows them.
func (i inspector) tools(t *testing.T) (names []string) {
	t.Helper()
	said := i.ask(t, "--method", "tools/list")
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(said), &list); err != nil {
		t.Fatalf("%v in: %s", err, said)
	}
	for _, tool := range list.Result.Tools {
		if !strings.HasPrefix(tool.Name, "parley__") {
			names = append(names, tool.Name)
		}
	}
	slices.Sort(names)
	return names
}

const testerToken = "a-token-of-the-tester"

// The inspector lists and calls every tool of npm's servers, in both eras,
// over HTTP and by "parley mcp" over stdio.
func TestInspector(t *testing.T) {
	i := inspector{node: node(t), script: fetched(t, "npm-conformance/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")}
	dir, url := npmRoom(t)
	tokenFile := filepath.Join(dir, "token")
	if err := os.WriteFile(tokenFile, []byte(testerToken), 0o600); err != nil {
		t.Fatal(err)
	}
	results := newTable(t, "tool", "edge", "era", "")
	t.Run("edges", func(t *testing.T) { // the room outlives them
		for _, era := range []string{"legacy", "modern"} {
			t.Run(era+"/http", func(t *testing.T) {
				i := i
				i.before = []string{"--protocol-era", era, "--transport", "http", "--server-url", url + "/mcp/room", "--header", "Authorization: Bearer " + testerToken}
				i.every(t, results, era, "http", dir)
			})
			t.Run(era+"/stdio", func(t *testing.T) {
				i := i
				i.before = []string{"--protocol-era", era}
				i.last = []string{"--", program(t), "mcp", "--url", url, "--space", "room", "--token-file", tokenFile}
				i.every(t, results, era, "stdio", dir)
			})
		}
	})
}

// npmRoom is a room with npm's servers, and a folder for one of them.
func npmRoom(t *testing.T) (dir, url string) {
	dir, port := t.TempDir(), freePort(t)
	alone(t, dir)
	bin := func(name string) string { return fetched(t, filepath.Join("npm/node_modules/.bin", name)) }
	conf := fmt.Sprintf(`listen: 127.0.0.1:%d
spaces:
  room:
    participants:
      tester: {token: %s, capabilities: ["mcp/*", chat]}
    mcp_servers:
      everything: {command: %q, args: [stdio], cwd: %q}
      files: {command: %q, args: [%q]}
`, port, testerToken, bin("mcp-server-everything"), dir, bin("mcp-server-filesystem"), dir)
	path := filepath.Join(dir, "parley.yaml")
	if err := os.WriteFile(path, []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, dir, program(t), "up", "--config", path)
	return dir, fmt.Sprint("http://127.0.0.1:", port)
}

// every lists the tools at one edge of the room, and calls them all.
func (i inspector) every(t *testing.T, results *table, era, edge, dir string) {
	t.Parallel()
	folder := filepath.Join(dir, era+"-"+edge)
	fill(t, folder)
	var known []string
	for server, calls := range calls {
		for _, c := range calls {
			known = append(known, server+"__"+c.tool)
		}
	}
	slices.Sort(known)
	i.listed(t, known)
	for server, calls := range calls {
		for _, c := range calls {
			name := server + "__" + c.tool
			said := i.ask(t, "--method", "tools/call", "--tool-name", name, "--tool-args-json", strings.ReplaceAll(c.arguments, "FOLDER", folder))
			verdict := "ok"
			if !strings.Contains(said, c.want) {
				verdict = "failed"
				t.Errorf("%s: no %q in: %s", name, c.want, said)
			}
			results.add(name, edge, era, verdict)
		}
	}
}

// listed waits until the room shows the known tools, and no other: its servers
// take a moment to start.
func (i inspector) listed(t *testing.T, known []string) {
	t.Helper()
	tick, late := time.NewTicker(20*time.Millisecond), time.After(startTime)
	defer tick.Stop()
	for {
		names := i.tools(t)
		if slices.Equal(names, known) {
			return
		}
		select {
		case <-tick.C:
		case <-late:
			t.Fatalf("the room shows %q, want %q", names, known)
		}
	}
}
