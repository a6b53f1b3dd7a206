package sampling_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/parleyhq/parley/tool/sampling"
)

var requests = map[string]string{
	"the least": `{"messages":[],"maxTokens":0}`,
	"all": `{"messages":[{"role":"user","content":{"type":"text","text":"hi"}}],"systemPrompt":"s","maxTokens":4096,"temperature":0,` +
		`"stopSequences":["\n","END"],"modelPreferences":{"hints":[{"name":"sonnet","x":1},{}],"costPriority":0.3,"speedPriority":1,"intelligencePriority":0.8,"y":2},` +
		`"tools":[{"name":"f","title":"F","description":"d","inputSchema":{"type":"object","properties":{"z":{},"a":{}}},"annotations":{"readOnlyHint":true},"_meta":{}}],` +
		`"toolChoice":{"mode":"required","z":3},"includeContext":"none","metadata":{"user":12345678901234567890},"_meta":{"progressToken":1},"task":{"ttl":60000}}`,
	"there and empty": `{"messages":[],"maxTokens":1,"systemPrompt":"","stopSequences":[],"modelPreferences":{},"tools":[],"toolChoice":{},"includeContext":""}`,
	"priorities of 0": `{"messages":[],"maxTokens":1,"modelPreferences":{"costPriority":0,"hints":[]}}`,
}

func TestRequestsAreKept(t *testing.T) {
	for name, doc := range requests {
		r, err := sampling.ReadRequest([]byte(doc))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got, err := r.MarshalJSON(); err != nil || string(got) != doc {
			t.Errorf("%s\n got %s (%v)\nwant %s", name, got, err, doc)
		}
	}
}

// A field that somebody sets takes the place of what was read.
func TestFieldsAreSetAfterReading(t *testing.T) {
	r, err := sampling.ReadRequest([]byte(requests["there and empty"]))
	if err != nil {
		t.Fatal(err)
	}
	r.SystemPrompt = "now"
	r.ToolChoice.Mode = sampling.Auto
	want := `{"messages":[],"systemPrompt":"now","maxTokens":1,"toolChoice":{"mode":"auto"},"stopSequences":[],"modelPreferences":{},"tools":[],"includeContext":""}`
	if got, err := r.MarshalJSON(); err != nil || string(got) != want {
		t.Errorf("got %s (%v)\nwant %s", got, err, want)
	}
}

func TestRequestsAreRead(t *testing.T) {
	r, err := sampling.ReadRequest([]byte(requests["all"]))
	if err != nil {
		t.Fatal(err)
	}
	if r.MaxTokens != 4096 || *r.Temperature != 0 || r.SystemPrompt != "s" || !reflect.DeepEqual(r.StopSequences, []string{"\n", "END"}) ||
		r.Preferences.Hints[0].Name != "sonnet" || r.Preferences.Intelligence != 0.8 || r.Tools[0].Name != "f" ||
		r.ToolChoice.Mode != sampling.Required || r.Messages[0].Text() != "hi" || string(r.Rest) != `{"task":{"ttl":60000}}` {
		t.Errorf("read as %+v", r)
	}
}

func TestWrongRequests(t *testing.T) {
	with := func(members string) string { return `{"messages":[],"maxTokens":1,` + members + `}` }
	for doc, want := range map[string]string{
		`{"maxTokens":1}`:                   "messages: is missing: expected a list",
		`{"messages":{},"maxTokens":1}`:     "messages: expected a list, got an object",
		`{"messages":[]}`:                   "maxTokens: is missing: expected a number",
		`{"messages":[],"maxTokens":-1}`:    "maxTokens: expected a whole number of at least 0",
		`{"messages":[],"maxTokens":1.5}`:   "maxTokens: expected a whole number of at least 0",
		`{"messages":[],"maxTokens":1e999}`: "maxTokens: expected a whole number of at least 0",
		`{"messages":[],"maxTokens":"1"}`:   "maxTokens: expected a number, got a string",
		`{"messages":[{"role":"user","content":[]},{"role":"user","content":[{"type":"text"}]}],"maxTokens":1}`: "messages[1].content[0] (text): text: is missing: expected a string",
		with(`"temperature":"hot"`):                                                       "temperature: expected a number, got a string",
		with(`"temperature":1e999`):                                                       "temperature: expected a number that fits into 64 bits",
		with(`"stopSequences":[1]`):                                                       "stopSequences[0]: expected a string, got a number",
		with(`"modelPreferences":{"costPriority":"low"}`):                                 "modelPreferences: costPriority: expected a number, got a string",
		with(`"modelPreferences":{"hints":[{"name":1}]}`):                                 "modelPreferences.hints[0]: name: expected a string, got a number",
		with(`"tools":[{"inputSchema":{}}]`):                                              "tools[0]: name: is missing: expected a string",
		with(`"tools":[{"name":"f"}]`):                                                    "tools[0]: inputSchema: is missing: expected an object",
		with(`"tools":[{"name":"f","inputSchema":true}]`):                                 "tools[0]: inputSchema: expected an object, got true or false",
		with(`"toolChoice":"auto"`):                                                       "toolChoice: expected an object, got a string",
		with(`"metadata":1`):                                                              "metadata: expected an object, got a number",
		with(`"tools":[` + strings.Repeat(`{"name":"f","inputSchema":{}},`, 512) + `{}]`): "tools: more than 512 elements",
	} {
		_, err := sampling.ReadRequest([]byte(doc))
		if _, ok := errors.AsType[*sampling.DecodeError](err); !ok || err.Error() != "sampling: "+want {
			t.Errorf("%.100s\n got %v\nwant %s", doc, err, want)
		}
	}
}

func TestReplies(t *testing.T) {
	for _, doc := range []string{
		`{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`,
		`{"role":"assistant","content":[],"model":"","stopReason":"endTurn"}`,
		`{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}],"model":"m","stopReason":"vendor:odd","_meta":{"u":1},"usage":{"in":10}}`,
		`{"role":"assistant","content":[],"model":"m","stopReason":""}`,
	} {
		r, err := sampling.ReadResult([]byte(doc))
		if err != nil {
			t.Errorf("%s: %v", doc, err)
			continue
		}
		if got, err := r.MarshalJSON(); err != nil || string(got) != doc {
			t.Errorf("got %s (%v)\nwant %s", got, err, doc)
		}
	}
	for doc, want := range map[string]string{
		`{"role":"assistant","content":[]}`:                                                                "model: is missing: expected a string",
		`{"role":"user","content":[],"model":"m"}`:                                                         `role: a model's reply has the role "assistant"`,
		`{"role":"assistant","content":[],"model":"m","stopReason":1}`:                                     "stopReason: expected a string, got a number",
		`{"role":"assistant","content":[{"type":"tool_result","toolUseId":"1","content":[]}],"model":"m"}`: "content: a model's reply holds no tool_result",
	} {
		if _, err := sampling.ReadResult([]byte(doc)); err == nil || err.Error() != "sampling: "+want {
			t.Errorf("%s\n got %v\nwant %s", doc, err, want)
		}
	}
}
