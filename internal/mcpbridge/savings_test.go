package mcpbridge

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/response"
	"github.com/parleyhq/parley/internal/tokens"
)

// measured are the calls of one server of which it is measured what the profiles
// save. Its files are those of net/http.
type measured struct {
	name   string
	server func(t *testing.T, profile string) (Server, Join)
	calls  []string // TOOL ARGUMENTS
}

var filesOfHTTP = []string{"client", "cookie", "fs", "header", "request", "response", "server", "transport"}

func fileCalls() (calls []string) {
	for _, file := range filesOfHTTP {
		calls = append(calls, `read_file {"limit":1500,"path":"`+file+`.go"}`, `get_file_info {"path":"`+file+`.go"}`)
	}
	return append(calls, `list_directory {"path":"."}`, `search_files {"pattern":"*.go"}`, `read_file {"path":"none.go"}`, `read_file {}`)
}

func codeCalls() (calls []string) {
	for _, file := range filesOfHTTP {
		calls = append(calls, `analyze_code {"path":"`+file+`.go"}`)
	}
	for _, symbol := range []string{"Get", "Client.Do", "Client.checkRedirect", "NoSuchThing"} {
		calls = append(calls, `extract_code {"path":"client.go","symbol":"`+symbol+`"}`)
	}
	return append(calls, `analyze_code {"path":"none.go"}`, `analyze_code {}`)
}

// codeServer is the program of the module in code, where it was built.
func codeServer(t *testing.T) string {
	path := os.Getenv("PARLEY_TEST_CODE")
	if path == "" {
		path = filepath.Join("..", "..", ".cache", "bin", "parley-code")
	}
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		t.Skipf("parley-code is not built; docs/response.md says how")
	}
	return path
}

// TestWhatProfilesSave measures what docs/response.md says: how many tokens an
// answer takes in each profile, on answers of real servers about real code. What
// the servers and the bridge themselves tell of it has to agree.
func TestWhatProfilesSave(t *testing.T) {
	dir := filepath.Join(build.Default.GOROOT, "src", "net", "http")
	for _, m := range []measured{
		{"files", func(t *testing.T, profile string) (Server, Join) {
			s := testServer(t, "files")
			s.Env["FILES"] = dir
			return s, Join{Wrap: wrapWith(t, `{"global":{"profile":"`+profile+`"}}`)}
		}, fileCalls()},
		{"code", func(t *testing.T, profile string) (Server, Join) {
			file := filepath.Join(t.TempDir(), response.FileName)
			if err := os.WriteFile(file, []byte(`{"global":{"profile":"`+profile+`"}}`), 0o600); err != nil {
				t.Fatal(err)
			}
			return Server{Command: codeServer(t), Args: []string{dir, "--config", file}}, Join{}
		}, codeCalls()},
	} {
		t.Run(m.name, func(t *testing.T) {
			of := map[string][]taken{}
			for _, profile := range []string{response.Debug, response.Verbose, response.Standard, response.Minimal} {
				of[profile] = m.measure(t, profile)
			}
			for _, profile := range []string{response.Minimal, response.Standard, response.Verbose} {
				compare(t, profile, of[profile], of[response.Debug])
			}
		})
	}
}

// taken is what one answer took, in tokens.
type taken struct {
	call     string
	envelope int   // once
	result   int   // all of it, as it travels: as text, as structured content
	told     Usage // in the result's _meta
}

func (m *measured) measure(t *testing.T, profile string) (all []taken) {
	server, join := m.server(t, profile)
	b := bridge(t, server, join)
	defer b.end()
	you := b.dial("you")
	for _, call := range m.calls {
		tool, args, _ := strings.Cut(call, " ")
		reply, err := you.Request(t.Context(), "files", "tools/call", jsontext.Value(`{"name":"`+tool+`","arguments":`+args+`}`))
		if err != nil {
			t.Fatalf("%s: %v", call, err)
		}
		one := taken{call: call, envelope: exactly(parley.Member(reply.Result, "structuredContent"))}
		one.result = one.envelope + exactly(parley.Member(reply.Result, "content"))
		var told bool
		if one.told, told = ReadUsage(reply.Result); !told || one.told.Profile != profile {
			t.Errorf("%s: it tells %+v", call, one.told)
		}
		all = append(all, one)
	}
	return all
}

// exactly counts the tokens of what may be too long for [tokens.Count].
func exactly(v jsontext.Value) (n int) {
	for text := string(v); text != ""; {
		piece := text[:min(len(text), tokens.MostExact)]
		n += tokens.Count(strings.ToValidUTF8(piece, ""))
		text = text[len(piece):]
	}
	return n
}

func compare(t *testing.T, profile string, these, debug []taken) {
	t.Helper()
	least, most, once, whole, told := 1<<30, 0, 0, 0, 0
	for i, one := range these {
		saved := debug[i].envelope - one.envelope
		least, most = min(least, saved), max(most, saved)
		once += saved
		whole += debug[i].result - one.result
		told += one.told.Saved
		// Two random ids, that of the answer and that of the estimate, have 24 tokens
		// each, give or take two: they are not sixteen apart in a lifetime of runs.
		if off := one.told.Saved - saved; off < -16 || off > 16 {
			t.Errorf("%s, %s: it tells of %d tokens saved, and %d are", profile, one.call, one.told.Saved, saved)
		}
	}
	mean := func(n int) string { return fmt.Sprintf("%.0f", float64(n)/float64(len(these))) }
	t.Logf("%-8s %d answers: %s tokens saved by one (%d to %d), %s as it travels; told %s", profile, len(these), mean(once), least, most, mean(whole), mean(told))
	if profile == response.Minimal && (least < 40 || most > 120) {
		t.Errorf("docs/response.md says something else of what %s saves", profile)
	}
}
