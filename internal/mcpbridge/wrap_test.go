package mcpbridge

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
	"github.com/parleyhq/parley/internal/response"
)

// wrapWith is the configuration of a response_config.json, as text.
func wrapWith(t *testing.T, config string) *response.Source {
	t.Helper()
	file := filepath.Join(t.TempDir(), response.FileName)
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	s := response.NewSource(response.SourceOptions{Getenv: func(string) string { return "" }, File: file})
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestWrapping holds whole results: what a server answers, and what a caller
// gets of it.
func TestWrapping(t *testing.T) {
	long := strings.Repeat("word ", 200)
	for _, c := range []struct {
		name, config, theirs string
		envelope             string // structuredContent, and the first text
		beside               string // blocks behind the text
		members              string // of the result beside content, structuredContent and _meta
	}{
		{name: "a text", theirs: `{"content":[{"type":"text","text":"hi"}]}`, envelope: `{"data":"hi"}`},
		{name: "texts", theirs: `{"content":[{"type":"text","text":"a"},{"type":"text","text":"{\"b\":1}"}]}`, envelope: `{"data":["a",{"b":1}]}`},
		{name: "nothing", theirs: `{"content":[]}`, envelope: `{"data":null}`},
		{name: "not even content", theirs: `{}`, envelope: `{"data":null}`},
		{name: "a text that is an object", theirs: `{"content":[{"type":"text","text":"{\n  \"n\": 9007199254740993, \"e\": 1E400\n}"}]}`, envelope: `{"data":{"n":9007199254740993,"e":1E400}}`},
		{name: "a text that is an array", theirs: `{"content":[{"type":"text","text":"[1, 2]"}]}`, envelope: `{"data":[1,2]}`},
		{name: "a file of JSON", theirs: `{"content":[{"type":"text","text":"{ \"a\": 1 }\n"}]}`, envelope: `{"data":"{ \"a\": 1 }\n"}`},
		{name: "a number stays a text", theirs: `{"content":[{"type":"text","text":"12"}]}`, envelope: `{"data":"12"}`},
		{name: "almost JSON", theirs: `{"content":[{"type":"text","text":"{\"a\":1,\"a\":2}"}]}`, envelope: `{"data":"{\"a\":1,\"a\":2}"}`},
		{name: "structured content", theirs: `{"structuredContent":{"z":1,"a":[]},"content":[{"type":"text","text":"{\"a\": [], \"z\": 1.0}"}]}`, envelope: `{"data":{"z":1,"a":[]}}`},
		{name: "structured content and what it holds as text", theirs: `{"content":[{"type":"text","text":"line\n"}],"structuredContent":{"content":"line\n"}}`, envelope: `{"data":{"content":"line\n"}}`},
		{name: "structured content and another text", theirs: `{"content":[{"type":"text","text":"# Title"}],"structuredContent":{"n":1}}`, envelope: `{"data":{"n":1}}`, beside: `{"type":"text","text":"# Title"}`},
		{name: "structured null is none", theirs: `{"content":[{"type":"text","text":"x"}],"structuredContent":null}`, envelope: `{"data":"x"}`},
		{name: "another long id", theirs: `{"content":[{"type":"text","text":"{\"id\":9007199254740993}"}],"structuredContent":{"id":9007199254740992}}`,
			envelope: `{"data":{"id":9007199254740992}}`, beside: `{"type":"text","text":"{\"id\":9007199254740993}"}`},
		{name: "structured and no object", theirs: `{"content":[],"structuredContent":[1]}`, envelope: `{"data":[1]}`},
		{name: "an image", theirs: `{"content":[{"type":"text","text":"see"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"odd","x":1},7]}`,
			envelope: `{"data":"see"}`, beside: `{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"odd","x":1},7`},
		{name: "other members", theirs: `{"x":9007199254740993,"content":[],"isError":false,"resultType":"complete"}`, envelope: `{"data":null}`,
			members: `"x":9007199254740993,"isError":false,"resultType":"complete"`},

		{name: "an error", theirs: `{"isError":true,"content":[{"type":"text","text":"ENOENT"}]}`,
			envelope: `{"error":{"error":"internal error","error_code":"internal_error"},"data":"ENOENT"}`, members: `"isError":true`},
		{name: "an error without a word", theirs: `{"isError":true,"content":[]}`, envelope: `{"error":{"error":"internal error","error_code":"internal_error"}}`, members: `"isError":true`},
		{name: "a code at the beginning", theirs: `{"isError":true,"content":[{"type":"text","text":"not_found: no x\nlook elsewhere"}]}`,
			envelope: `{"error":{"error":"no x\nlook elsewhere","error_code":"not_found"}}`, members: `"isError":true`},
		{name: "a code and more", theirs: `{"isError":true,"content":[{"type":"text","text":"forbidden: no"},{"type":"text","text":"more"}]}`,
			envelope: `{"error":{"error":"no","error_code":"forbidden"},"data":"more"}`, members: `"isError":true`},
		{name: "a code in the middle", theirs: `{"isError":true,"content":[{"type":"text","text":"error: not_found: x"}]}`,
			envelope: `{"error":{"error":"internal error","error_code":"internal_error"},"data":"error: not_found: x"}`, members: `"isError":true`},
		{name: "a code that is none of ours", theirs: `{"isError":true,"content":[{"type":"text","text":"already_exists: x"}]}`,
			envelope: `{"error":{"error":"internal error","error_code":"internal_error"},"data":"already_exists: x"}`, members: `"isError":true`},
		{name: "a code in the second text", theirs: `{"isError":true,"content":[{"type":"text","text":"well"},{"type":"text","text":"not_found: x"}]}`,
			envelope: `{"error":{"error":"internal error","error_code":"internal_error"},"data":["well","not_found: x"]}`, members: `"isError":true`},
		{name: "a long message", theirs: `{"isError":true,"content":[{"type":"text","text":"timeout: ` + long + `"}]}`,
			envelope: `{"error":{"error":"` + long[:509] + `…","error_code":"timeout"},"data":"timeout: ` + long + `"}`, members: `"isError":true`},
		{name: "a structured code", theirs: `{"isError":true,"structuredContent":{"error_code":"too_large","message":"9 MB","most":1},"content":[]}`,
			envelope: `{"error":{"error":"9 MB","error_code":"too_large"},"data":{"error_code":"too_large","message":"9 MB","most":1}}`, members: `"isError":true`},
		{name: "a code within error", theirs: `{"isError":true,"structuredContent":{"error":{"code":"timeout","message":"30 s","error_details":{"s":30}}},"content":[]}`,
			envelope: `{"error":{"error":"30 s","error_code":"timeout","error_details":{"s":30}},"data":{"error":{"code":"timeout","message":"30 s","error_details":{"s":30}}}}`, members: `"isError":true`},
		{name: "a code in a text of JSON", theirs: `{"isError":true,"content":[{"type":"text","text":"{\"code\":\"forbidden\"}"}]}`,
			envelope: `{"error":{"error":"forbidden","error_code":"forbidden"},"data":{"code":"forbidden"}}`, members: `"isError":true`},
		{name: "a code that is a number", theirs: `{"isError":true,"structuredContent":{"code":404},"content":[]}`,
			envelope: `{"error":{"error":"internal error","error_code":"internal_error"},"data":{"code":404}}`, members: `"isError":true`},
		{name: "a code without an error", theirs: `{"content":[{"type":"text","text":"not_found: x"}]}`, envelope: `{"data":"not_found: x"}`},

		{name: "standard", config: `{"global":{"profile":"standard"}}`, theirs: `{"content":[{"type":"text","text":"hi"}]}`, envelope: `{"tool_id":"answer","data":"hi"}`},
		{name: "debug", config: `{"global":{"profile":"debug"}}`, theirs: `{"isError":true,"content":[{"type":"text","text":"no"}]}`,
			envelope: `{"tier":"community","tool_version":"1.5","tool_id":"answer","request_id":"r-1","capabilities":["envelope-v1"],"duration_ms":27,` +
				`"error":{"error":"the server's tool failed and gave none of the codes; data is what it says of that","error_code":"internal_error","error_details":null},"upgrade_hints":[],"data":"no"}`,
			members: `"isError":true`},
		{name: "overrides", config: `{"tool_overrides":{"answer":{"exclude_fields":["raw"],"exclude_when_tier":{"community":["paid"]}}},"global":{"exclude_null_values":true}}`,
			theirs: `{"content":[{"type":"text","text":"{\"raw\":1,\"a\":2,\"paid\":3,\"n\":null}"}]}`, envelope: `{"data":{"a":2}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			source := wrapWith(t, cmp.Or(c.config, "{}"))
			apart := takeApart(jsontext.Value(c.theirs))
			w := wrapping{shape: source.Config().Shape("answer", response.Community), answer: apart.answer("answer", "1.5")}
			w.answer.Duration, w.answer.RequestID = 27*time.Millisecond, "r-1"
			got, used := w.result(jsontext.Value(c.theirs), apart)
			if s := string(parley.Member(got, "structuredContent")); s != c.envelope {
				t.Errorf("the envelope is\n%s, want\n%s", s, c.envelope)
			}
			text, _ := json.Marshal(c.envelope)
			content := `[{"type":"text","text":` + string(text) + `}`
			if c.beside != "" {
				content += "," + c.beside
			}
			if s := string(parley.Member(got, "content")); s != content+"]" {
				t.Errorf("the content is\n%s, want\n%s", s, content+"]")
			}
			var others []string
			for name, v := range parley.Members(got) {
				if name != "content" && name != "structuredContent" && name != "_meta" {
					others = append(others, fmt.Sprintf("%q:%s", name, v))
				}
			}
			if s := strings.Join(others, ","); s != c.members {
				t.Errorf("beside it has %s, want %s", s, c.members)
			}
			if !got.IsValid() {
				t.Errorf("it is not valid: %s", got)
			}
			if read, told := ReadUsage(got); !told || read != used || used.Profile == response.Minimal && (used.Tokens == 0 || used.Saved < 30) {
				t.Errorf("it tells %+v, %v of %+v", read, told, used)
			}
		})
	}
}

// TestNoToolResult sees that what is no tool's result stays what it is.
func TestNoToolResult(t *testing.T) {
	for _, v := range []string{`[]`, `"x"`, `null`, `{"content":"x"}`, `{"content":{}}`} {
		if takeApart(jsontext.Value(v)) != nil {
			t.Errorf("%s was taken for one", v)
		}
	}
	for v, want := range map[string]bool{
		`{}`: true, `{"resultType":"complete"}`: true, `{"resultType":"input_required"}`: false,
		`{"resultType":7}`: false, `{"task":{"taskId":"1"}}`: false,
	} {
		if isAnswer(jsontext.Value(v)) != want {
			t.Errorf("%s: not %v", v, want)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"1.5": "1.5", "": "", strings.Repeat("é", 100_000): strings.Repeat("é", maxVersion/2),
		"x" + strings.Repeat("é", 100): "x" + strings.Repeat("é", maxVersion/2-1),
	} {
		for _, raw := range []string{`{"serverInfo":{"version":"` + version + `"}}`, `{"_meta":{"` + mcpwords.MetaServerInfo + `":{"version":"` + version + `"}}}`} {
			if got := versionOf(Info{Raw: jsontext.Value(raw)}); got != want {
				t.Errorf("%.60s: %q", raw, got)
			}
		}
	}
}

func TestReadUsage(t *testing.T) {
	for said, want := range map[string]Usage{
		`{"profile":"debug","tokens":12,"saved":3}`:     {"debug", 12, 3},
		`{"profile":"mine","tokens":-1,"saved":-1e300}`: {"mine", 0, 0},
		`{"tokens":1e300,"saved":1e999}`:                {"", 60, maxSaved},
		`{"profile":"minimal","tokens":"9","saved":[]}`: {"minimal", 0, 0},
	} {
		result := jsontext.Value(`{"_meta":{"parley/response":` + said + `}}`)
		if want.Tokens == 60 {
			want.Tokens = len(result)
		}
		if got, told := ReadUsage(result); !told || got != want {
			t.Errorf("%s: %+v, %v", said, got, told)
		} else if p := got.ofTheirs().Profile; p != got.Profile && p != otherLabel {
			t.Errorf("%s counts as %s", said, p)
		}
	}
	for _, result := range []string{`{}`, `{"_meta":7}`, `{"_meta":{"parley/response":true}}`} {
		if _, told := ReadUsage(jsontext.Value(result)); told {
			t.Errorf("%s tells of its usage", result)
		}
	}
}

// TestUsageOfLongAnswers sees that a long answer counts like a short one.
func TestUsageOfLongAnswers(t *testing.T) {
	shape := wrapWith(t, `{"tool_overrides":{"t":{"exclude_fields":["left"]}}}`).Config().Shape("t", response.Community)
	for _, n := range []int{100, 100_000} {
		a := &response.Answer{Tool: "t", Version: "1", Tier: response.Community, RequestID: "1",
			Data: jsontext.Value(`{"left":"` + strings.Repeat("word ", n/5) + `","kept":"` + strings.Repeat("word ", n/5) + `"}`)}
		w := wrapping{shape: shape, answer: a}
		u := w.usage(shape.Append(nil, a))
		if least, most := n/5, n/4+60; u.Tokens < least || u.Tokens > most || u.Saved < least || u.Saved > most+60 {
			t.Errorf("%d bytes took %d and saved %d tokens, not %d to %d", n, u.Tokens, u.Saved, least, most)
		}
	}
}

// canned is a server whose tool answers what its caller wants it to.
func canned() {
	lines := newScanner(os.Stdin)
	for lines.Scan() {
		line := jsontext.Value(strings.TrimSpace(lines.Text()))
		method, _ := parley.MemberString(line, "method")
		reply := func(result string) {
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", parley.Member(line, "id"), result)
		}
		switch method {
		case "initialize":
			reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"canned","version":"1.5"}}`)
		case "tools/list":
			reply(cannedTools)
		case "tasks/result":
			reply(cannedTask)
		case "tools/call":
			reply(string(parley.Member(parley.Member(parley.Member(line, "params"), "arguments"), "result")))
		}
	}
}

const cannedTools = `{"tools":[ {"name":"answer","inputSchema":{"type":"object"},"x":9007199254740993},` +
	`{"name":"typed","outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false},"inputSchema":{"type":"object"}} ]}`

const cannedTask = `{"content":[ {"type":"text","text":"done"} ]}`

func askFor(tool, result, meta string) jsontext.Value {
	return jsontext.Value(`{"name":"` + tool + `","arguments":{"result":` + result + `},"_meta":` + cmp.Or(meta, "{}") + `}`)
}

// TestNotWrapped sees that nothing is changed where nobody asked for that.
func TestNotWrapped(t *testing.T) {
	b := bridge(t, testServer(t, "canned"), Join{})
	you := b.dial("you")
	for _, result := range []string{
		`{"content":[ {"type":"text" , "text":"\u00e9\/"} ],"structuredContent":{"n":9007199254740993},"isError":true}`,
		`{"content":[],"_meta":{"parley/response":{"profile":"minimal","tokens":1,"saved":2}}}`,
	} {
		reply, err := you.Request(t.Context(), "files", "tools/call", askFor("answer", result, ""))
		if err != nil || string(reply.Result) != result {
			t.Errorf("got %s, %v", reply.Result, err)
		}
	}
	reply, err := you.Request(t.Context(), "files", "tools/list", nil)
	if err != nil || string(reply.Result) != cannedTools {
		t.Errorf("got %s, %v", reply.Result, err)
	}
}

// TestWrappedInARoom goes the whole way.
func TestWrappedInARoom(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	b := bridge(t, testServer(t, "canned"), Join{Wrap: wrapWith(t, `{"global":{"profile":"debug"}}`), Metrics: NewMetrics(reg, "files")})
	you, agent := b.dial("you"), b.dial("agent")
	call := func(result, meta string) jsontext.Value {
		t.Helper()
		reply, err := you.Request(t.Context(), "files", "tools/call", askFor("answer", result, meta))
		if err != nil {
			t.Fatal(err)
		}
		return reply.Result
	}
	got := parley.Member(call(`{"content":[{"type":"text","text":"hi"}]}`, `{"request_id":"mine-1"}`), "structuredContent")
	for name, want := range map[string]string{
		"request_id": `"mine-1"`, "tool_version": `"1.5"`, "tool_id": `"answer"`, "tier": `"community"`, "error": `null`, "data": `"hi"`,
	} {
		if v := string(parley.Member(got, name)); v != want {
			t.Errorf("%s is %s, want %s", name, v, want)
		}
	}
	// An id that is not fit to be repeated is refused before the server hears of
	// the call, as Parley's own tools do.
	for _, id := range []string{`"two\nlines"`, `""`, `7`, `"` + strings.Repeat("x", 257) + `"`} {
		got = parley.Member(call(`{"content":[]}`, `{"request_id":`+id+`}`), "structuredContent")
		if code, _ := parley.MemberString(parley.Member(got, "error"), "error_code"); code != "invalid_argument" {
			t.Errorf("the id %s: %s", id, got)
		}
	}
	if id, _ := parley.MemberString(parley.Member(call(`{"content":[{"type":"text","text":"x"}]}`, ""), "structuredContent"), "request_id"); len(id) != 36 {
		t.Errorf("a call without an id has %q", id)
	}
	ours := `{"content":[],"structuredContent":{"data":1},"_meta":{"parley/response":{"profile":"minimal","tokens":7,"saved":70}}}`
	if got := call(ours, ""); string(got) != ours {
		t.Errorf("it was wrapped twice: %s", got)
	}
	// A claim alone makes no envelope.
	const claim = `"_meta":{"parley/response":{"profile":"minimal","tokens":7,"saved":70}}`
	for theirs, data := range map[string]string{
		`"content":[{"type":"text","text":"hi"}]`:                    `"hi"`,
		`"content":[],"structuredContent":{"n":1}`:                   `{"n":1}`,
		`"content":[],"structuredContent":{"error":"no","tier":"x"}`: `{"error":"no","tier":"x"}`,
		`"content":[],"structuredContent":{"data":1,"more":2}`:       `{"data":1,"more":2}`,
	} {
		got := call("{"+theirs+","+claim+"}", "")
		if v := parley.Member(parley.Member(got, "structuredContent"), "data"); string(v) != data {
			t.Errorf("%s: not wrapped: %s", theirs, got)
		}
		if used, _ := ReadUsage(got); used.Profile != response.Debug || used.Saved != 0 {
			t.Errorf("%s: the claim holds: %+v", theirs, used)
		}
	}
	for _, result := range []string{`{"task":{"taskId":"1","status":"working"}}`, `{"content":"odd"}`} {
		if got := call(result, ""); string(got) != result {
			t.Errorf("%s became %s", result, got)
		}
	}
	// The end of a task is no answer of this call.
	ended, err := you.Request(t.Context(), "files", "tasks/result", jsontext.Value(`{"taskId":"1"}`))
	if err != nil || string(ended.Result) != cannedTask {
		t.Errorf("the task ended with %s, %v", ended.Result, err)
	}
	p, err := agent.Propose(t.Context(), "files", "tools/call", askFor("answer", `{"content":[{"type":"text","text":"approved"}]}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := you.Fulfil(t.Context(), p.Envelope); err != nil {
		t.Fatal(err)
	}
	outcome, err := p.Wait(t.Context())
	if v := parley.Member(parley.Member(outcome.Reply.Result, "structuredContent"), "data"); err != nil || string(v) != `"approved"` {
		t.Errorf("the proposer got %s, %v", outcome.Reply.Result, err)
	}
	body := scrape(reg)
	for _, want := range []string{
		`parley_tool_answers_total{participant="you",profile="debug",server="files",tool="answer"} 10`,
		`parley_tool_answers_total{participant="agent",profile="debug",server="files",tool="answer"} 1`,
		`parley_tool_answers_total{participant="you",profile="minimal",server="files",tool="answer"} 1`,
		`parley_tool_answer_tokens_total{participant="you",profile="minimal",server="files",tool="answer"} 7`,
		`parley_tool_answer_tokens_saved_total{participant="you",profile="minimal",server="files",tool="answer"} 70`,
		`parley_tool_answer_tokens_saved_total{participant="you",profile="debug",server="files",tool="answer"} 0`,
	} {
		if !strings.Contains(body, want+"\n") {
			t.Errorf("no %s in\n%s", want, body)
		}
	}
}

// TestWrappedWithinBounds sees that an answer which fits into a room fits into it
// in its envelope, too.
func TestWrappedWithinBounds(t *testing.T) {
	b := bridge(t, testServer(t, "canned"), Join{Wrap: wrapWith(t, `{}`)})
	you := b.dial("you")
	text := strings.Repeat("x", 700<<10)
	reply, err := you.Request(t.Context(), "files", "tools/call", askFor("answer", `{"content":[{"type":"text","text":"`+text+`"},{"type":"image","data":""}]}`, ""))
	if err != nil {
		t.Fatal(err)
	}
	if got := string(parley.Member(reply.Result, "structuredContent")); got != `{"data":"`+text+`"}` {
		t.Errorf("the envelope has %d bytes", len(got))
	}
	if got := string(parley.Member(reply.Result, "content")); got != `[{"type":"text","text":"`+onlyStructured+`"},{"type":"image","data":""}]` {
		t.Errorf("the content is %.200s", got)
	}
	deep := strings.Repeat("[", 1_000) + strings.Repeat("]", 1_000)
	reply, err = you.Request(t.Context(), "files", "tools/call", askFor("answer", `{"content":[{"type":"text","text":"`+deep+`"}]}`, ""))
	if got := string(parley.Member(reply.Result, "structuredContent")); err != nil || got != `{"data":"`+deep+`"}` {
		t.Errorf("got %.200s, %v", got, err)
	}
	edge := strings.Repeat("[", 124) + strings.Repeat("]", 124)
	reply, err = you.Request(t.Context(), "files", "tools/call", askFor("answer", `{"content":[{"type":"text","text":"`+edge+`"}]}`, ""))
	if got := string(parley.Member(reply.Result, "structuredContent")); err != nil || got != `{"data":`+edge+`}` {
		t.Errorf("got %.200s, %v", got, err)
	}
}

// TestAnswerSeriesAreBounded sees that a server with names without end makes no
// figures without end.
func TestAnswerSeriesAreBounded(t *testing.T) {
	reg := prometheus.NewRegistry()
	m := NewMetrics(reg, "files")
	for i := range 3 * maxAnswerSeries {
		m.answer(fmt.Sprint("tool", i), "you", Usage{"minimal", 1, 2})
	}
	m.answer(strings.Repeat("x", 1_000), "\xff", Usage{"minimal", 1, 2})
	body := scrape(reg)
	if n := strings.Count(body, "\nparley_tool_answers_total{"); n != maxAnswerSeries+1 {
		t.Errorf("there are %d series", n)
	}
	want := fmt.Sprintf(`parley_tool_answer_tokens_saved_total{participant="other",profile="other",server="files",tool="other"} %d`, 2*(2*maxAnswerSeries+1))
	if !strings.Contains(body, want+"\n") {
		t.Errorf("not %s", want)
	}
}

// schemas are the output schemas that a server's tools have in a room.
func schemas(t *testing.T, b *bridged) map[string]*jsonschema.Resolved {
	t.Helper()
	all := map[string]*jsonschema.Resolved{}
	reply, err := b.dial("boss").Request(t.Context(), "files", "tools/list", nil)
	if err != nil {
		t.Fatal(err)
	}
	offer, err := b.OfferFor(t.Context(), "boss", nil)
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for tool := range parley.Elements(parley.Member(reply.Result, "tools")) {
		if string(offer.Tools[i]) != string(tool) {
			t.Errorf("one is listed %s and another offered %s", tool, offer.Tools[i])
		}
		i++
		name, _ := parley.MemberString(tool, "name")
		var s jsonschema.Schema
		if err := s.UnmarshalJSON(parley.Member(tool, "outputSchema")); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if all[name], err = s.Resolve(nil); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return all
}

// TestWrappedSchemas holds what typed tools may and may not answer.
func TestWrappedSchemas(t *testing.T) {
	b := bridge(t, testServer(t, "canned"), Join{Wrap: wrapWith(t, `{}`)})
	of := schemas(t, b)
	for _, c := range []struct {
		tool, envelope string
		valid          bool
	}{
		{"answer", `{"data":"x"}`, true},
		{"typed", `{"data":{"n":1}}`, true},
		{"typed", `{"data":{}}`, true}, // a member may be excluded
		{"typed", `{"data":{"n":"x"}}`, false},
		{"typed", `{"data":"x"}`, false},
		{"typed", `{"error":null,"data":"x"}`, false},
		{"typed", `{"error":{"error":"x","error_code":"internal_error"},"data":"x"}`, true},
		{"typed", `{"error":{"error":"x","error_code":"internal_error"},"data":{"code":1}}`, true},
	} {
		var v any
		if err := json.Unmarshal([]byte(c.envelope), &v); err != nil {
			t.Fatal(err)
		}
		if err := of[c.tool].Validate(v); (err == nil) != c.valid {
			t.Errorf("%s: %s: %v", c.tool, c.envelope, err)
		}
	}
	for _, tool := range []string{wrappedOnce(t, `{"name":"a"}`), `{"name":"a","outputSchema":7}`, `7`} {
		if again := string(wrapTool(jsontext.Value(tool))); strings.Contains(tool, "upgrade_hints") && again != tool {
			t.Errorf("%s became %s", tool, again)
		}
	}
}

func wrappedOnce(t *testing.T, tool string) string {
	t.Helper()
	once := string(wrapTool(jsontext.Value(tool)))
	if !strings.Contains(once, "upgrade_hints") {
		t.Fatalf("got %s", once)
	}
	return once
}

// TestWrappedFileTool has a real server answer, well and badly, in every
// profile, and holds each answer against what is said of it.
func TestWrappedFileTool(t *testing.T) {
	for _, profile := range []string{response.Minimal, response.Standard, response.Verbose, response.Debug} {
		t.Run(profile, func(t *testing.T) {
			server := testServer(t, "files")
			server.Env["FILES"] = t.TempDir()
			b := bridge(t, server, Join{Wrap: wrapWith(t, `{"global":{"profile":"`+profile+`"}}`)})
			of := schemas(t, b)
			you := b.dial("you")
			for _, c := range []struct{ tool, args, code string }{
				{"write_file", `{"path":"a.txt","content":"hello\n"}`, ""},
				{"read_file", `{"path":"a.txt"}`, ""},
				{"list_directory", `{"path":"."}`, ""},
				{"search_files", `{"pattern":"*.txt"}`, ""},
				{"read_file", `{"path":"none"}`, "not_found"},
				{"read_file", `{"path":"../x"}`, "forbidden"},
				{"read_file", `{}`, "invalid_argument"},
				{"create_directory", `{"path":"a.txt"}`, "internal_error"}, // already_exists is not one of the codes
			} {
				reply, err := you.Request(t.Context(), "files", "tools/call", jsontext.Value(`{"name":"`+c.tool+`","arguments":`+c.args+`}`))
				if err != nil {
					t.Fatal(err)
				}
				envelope := parley.Member(reply.Result, "structuredContent")
				code, _ := parley.MemberString(parley.Member(envelope, "error"), "error_code")
				if failed := string(parley.Member(reply.Result, "isError")) == "true"; code != c.code || failed != (c.code != "") {
					t.Errorf("%s %s: %s", c.tool, c.args, reply.Result)
				}
				var v any
				if err := json.Unmarshal(envelope, &v); err != nil {
					t.Fatal(err)
				}
				if err := of[c.tool].Validate(v); err != nil {
					t.Errorf("%s %s: %s: %v", c.tool, c.args, envelope, err)
				}
				n := 0
				for range parley.Elements(parley.Member(reply.Result, "content")) {
					n++
				}
				if c.tool == "read_file" && n != 1 {
					t.Errorf("%s %s: it is told twice: %s", c.tool, c.args, reply.Result)
				}
			}
		})
	}
}

// TestWrappedServers wraps servers by other people's hands.
func TestWrappedServers(t *testing.T) {
	b := bridge(t, npmServer(t, "mcp-server-everything", "stdio"), Join{Wrap: wrapWith(t, `{}`)})
	of := schemas(t, b)
	you := b.dial("you")
	call := func(tool, args string, opts ...client.SendOption) jsontext.Value {
		t.Helper()
		reply, err := you.Request(t.Context(), "files", "tools/call", jsontext.Value(`{"name":"`+tool+`","arguments":`+args+`}`), opts...)
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(parley.Member(reply.Result, "structuredContent"), &v); err != nil {
			t.Fatalf("%s: %v", reply.Result, err)
		}
		if err := of[tool].Validate(v); err != nil {
			t.Errorf("%s: %s: %v", tool, reply.Result, err)
		}
		return reply.Result
	}
	if got := call("echo", `{"message":"hi"}`); string(parley.Member(got, "structuredContent")) != `{"data":"Echo: hi"}` {
		t.Errorf("got %s", got)
	}
	got := call("get-structured-content", `{"location":"Chicago"}`)
	if data := parley.Member(parley.Member(got, "structuredContent"), "data"); parley.Member(data, "temperature") == nil {
		t.Errorf("got %s", got)
	}
	if got := call("get-tiny-image", `{}`); !strings.Contains(string(parley.Member(got, "content")), `"image/png"`) {
		t.Errorf("got %.300s", got)
	}
	reports := 0
	call("trigger-long-running-operation", `{"duration":0.2,"steps":2}`, client.OnProgress(func(client.Progress) { reports++ }))
	if reports != 2 {
		t.Errorf("%d reports of progress", reports)
	}
	// What the protocol refuses is no tool's answer.
	reply, err := you.Request(t.Context(), "files", "tools/call", jsontext.Value(`{"name":"no-such-tool","arguments":{}}`))
	if code, _ := parley.MemberString(parley.Member(parley.Member(reply.Result, "structuredContent"), "error"), "error_code"); err == nil && code != "internal_error" {
		t.Errorf("got %s", reply.Result)
	}
}

// TestWrappedRounds sees that questions to the caller pass as they are, and that
// the answer at their end is wrapped.
func TestWrappedRounds(t *testing.T) {
	b := bridge(t, anyEra(testServer(t, "sdk")), Join{Wrap: wrapWith(t, `{"global":{"profile":"verbose"}}`)})
	you := b.dial("you")
	params := capable("model", "", samples)
	r, err := you.Request(t.Context(), "files", "tools/call", params)
	if kind, _ := parley.MemberString(r.Result, "resultType"); err != nil || kind != mcpwords.InputRequired || parley.Member(r.Result, "structuredContent") != nil {
		t.Fatalf("got %s, %v", r.Result, err)
	}
	params = mcpwords.SetMember(params, "inputResponses", jsontext.Value(`{"model":{"role":"assistant","model":"m","content":{"type":"text","text":"mine"}}}`))
	r, err = you.Request(t.Context(), "files", "tools/call", params, client.Correlate(r.Envelope.Correlation.IDs...))
	if err != nil {
		t.Fatal(err)
	}
	envelope := parley.Member(r.Result, "structuredContent")
	version, _ := parley.MemberString(envelope, "tool_version")
	if string(parley.Member(envelope, "data")) != `"mine"` || version != "1" || string(parley.Member(r.Result, "resultType")) != `"complete"` {
		t.Errorf("got %s", r.Result)
	}
}

// TestWrappingIsLinear sees that many texts beside many members cost no more than
// their bytes.
func TestWrappingIsLinear(t *testing.T) {
	var texts, members strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&texts, `{"type":"text","text":"{\"x\":%d}"},`, i)
		fmt.Fprintf(&members, `"m%d":{"y":%d},`, i, i)
	}
	result := jsontext.Value(`{"content":[` + texts.String() + `7],"structuredContent":{` + members.String() + `"m":{"x":3}}}`)
	apart := takeApart(result)
	began := time.Now()
	apart.answer("t", "1")
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if !apart.blocks[3].used || apart.blocks[4].used {
		t.Error("another text was taken for a repetition")
	}
}
