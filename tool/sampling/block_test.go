package sampling_test

import (
	stdjson "encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley/tool/sampling"
)

// messages are written as this package writes them, so that the same bytes come
// back. What is told of each: what somebody could lose.
var messages = map[string]string{
	"text":                 `{"role":"user","content":{"type":"text","text":"hello"}}`,
	"text in a list":       `{"role":"user","content":[{"type":"text","text":"hello"}]}`,
	"no blocks":            `{"role":"user","content":[]}`,
	"no text":              `{"role":"assistant","content":{"type":"text","text":""}}`,
	"annotations":          `{"role":"user","content":{"type":"text","text":"a","annotations":{"priority":0.50,"audience":["user"], "new":1e2}}}`,
	"meta":                 `{"role":"user","content":{"type":"text","text":"a","_meta":{"x/y":9007199254740993}},"_meta":{"z":null}}`,
	"unknown members":      `{"role":"user","content":{"type":"text","text":"a","cache_control":{"b":1,"a":[ ]},"\u0041":"\u00e9"},"turn":12345678901234567890}`,
	"image":                `{"role":"user","content":[{"type":"image","data":"aGVsbG8=","mimeType":"image/png","annotations":{}},{"type":"text","text":"?"}]}`,
	"image of nothing":     `{"role":"user","content":{"type":"image","data":"","mimeType":""}}`,
	"audio":                `{"role":"user","content":{"type":"audio","data":"AAEC","mimeType":"audio/wav","_meta":{}}}`,
	"resource with text":   `{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","mimeType":"text/plain","text":"x","_meta":{"k":1},"more":true}}}`,
	"resource with none":   `{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","text":""}}}`,
	"resource with a blob": `{"role":"user","content":{"type":"resource","resource":{"uri":"a:b","blob":""},"annotations":{"lastModified":"2025-01-12T15:00:58Z"}}}`,
	"resource link":        `{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n","title":"t","description":"d","mimeType":"m","size":0,"icons":[{"src":"s","theme":"dark"}]}}`,
	"size as a fraction":   `{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n","size":1e3}}`,
	"an empty title":       `{"role":"user","content":{"type":"resource_link","uri":"a:b","name":"n","title":""}}`,
	"tool use":             `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{"z":9007199254740993,"a":0.10,"nested":{"y":[1, 2]}},"_meta":{"cache":true}}]}`,
	"one tool use":         `{"role":"assistant","content":{"type":"tool_use","id":"1","name":"f","input":{}}}`,
	"tool result":          `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"4"},{"type":"resource_link","uri":"u","name":"n"}],"structuredContent":{"b":1.0,"a":2},"isError":true,"_meta":{"k":0}}]}`,
	"tool result of list":  `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[],"structuredContent":[1],"isError":false}]}`,
	"unknown type":         `{"role":"assistant","content":[{"sig":"x==", "type":"thinking","thinking" : "\u0068m","n":1.50},{"type":"text","text":"so"}]}`,
	"unknown in a result":  `{"role":"user","content":[{"type":"tool_result","toolUseId":"1","content":[{"type":"chart","d":[ 1 ]}]}]}`,
}

func TestMessagesAreKept(t *testing.T) {
	for name, doc := range messages {
		t.Run(name, func(t *testing.T) {
			var m sampling.Message
			if err := m.UnmarshalJSON([]byte(" " + doc + "\n")); err != nil {
				t.Fatal(err)
			}
			got, err := m.MarshalJSON()
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != doc {
				t.Errorf("\n got %s\nwant %s", got, doc)
			}
		})
	}
}

// The types of the SDK lose something of these, which is why there are others.
func TestWhatTheSDKLoses(t *testing.T) {
	for _, name := range []string{
		"text in a list", "annotations", "meta", "unknown members", "resource with text", "resource with none", "resource link",
		"tool use", "tool result", "tool result of list", "unknown type", "unknown in a result",
	} {
		t.Run(name, func(t *testing.T) {
			//lint:ignore SA1019 what MCP retires is what servers of today send
			var m mcp.SamplingMessageV2
			if err := stdjson.Unmarshal([]byte(messages[name]), &m); err != nil {
				return // refused whole
			}
			got, err := stdjson.Marshal(&m)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) == messages[name] {
				t.Errorf("it keeps %s", got)
			}
		})
	}
}

// What the SDK writes is read, and the other way about.
func TestTheSDKUnderstands(t *testing.T) {
	theirs := []mcp.Content{
		&mcp.TextContent{Text: "a"}, &mcp.ImageContent{Data: []byte("x"), MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("y"), MIMEType: "audio/wav"},
		//lint:ignore SA1019 what MCP retires is what servers of today send
		&mcp.ToolUseContent{ID: "1", Name: "f", Input: map[string]any{"a": 1.0}},
	}
	//lint:ignore SA1019 what MCP retires is what servers of today send
	data, err := stdjson.Marshal(&mcp.CreateMessageWithToolsResult{Role: "assistant", Model: "m", StopReason: "toolUse", Content: theirs})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := sampling.ReadResult(data)
	if err != nil {
		t.Fatal(err)
	}
	back, err := reply.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	//lint:ignore SA1019 what MCP retires is what servers of today send
	var again mcp.CreateMessageWithToolsResult
	if err := stdjson.Unmarshal(back, &again); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again.Content, theirs) || again.Model != "m" || again.StopReason != "toolUse" {
		t.Errorf("it comes back as %s", back)
	}
}

func TestMadeMessages(t *testing.T) {
	size := int64(3)
	for want, m := range map[string]sampling.Message{
		`{"role":"user","content":{"type":"text","text":"hi"}}`:                                    sampling.UserText("hi"),
		`{"role":"assistant","content":{"type":"text","text":"hi\ufffd"}}`:                         sampling.AssistantText("hi\xff"),
		`{"role":"","content":[]}`:                                                                 {},
		`{"role":"user","content":[{"type":"tool_result","toolUseId":"","content":[]}]}`:           sampling.Results(sampling.ToolResult{}),
		`{"role":"assistant","content":[{"type":"tool_use","id":"","name":"","input":{}}]}`:        {Role: sampling.Assistant, Content: []sampling.Block{sampling.ToolUse{}}},
		`{"role":"","content":{"type":"text","text":""}}`:                                          {Content: []sampling.Block{sampling.Text{}}},
		`{"role":"","content":{"type":"image","data":"","mimeType":""}}`:                           {Content: []sampling.Block{sampling.Image{}}},
		`{"role":"","content":{"type":"audio","data":"","mimeType":""}}`:                           {Content: []sampling.Block{sampling.Audio{}}},
		`{"role":"","content":{"type":"resource","resource":{"uri":"","text":""}}}`:                {Content: []sampling.Block{sampling.Resource{}}},
		`{"role":"","content":{"type":"resource_link","uri":"","name":"","size":3}}`:               {Content: []sampling.Block{sampling.ResourceLink{Size: &size}}},
		`{"role":"","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"_meta":{}}`: {Content: []sampling.Block{sampling.Text{Text: "a"}, sampling.Text{Text: "b"}}, Meta: jsontext.Value("{}")},
		`{"role":"","content":{"type":"text","text":"new","b":1}}`:                                 {Content: []sampling.Block{sampling.Text{Text: "new", Extra: sampling.Extra{Rest: jsontext.Value(`{"text":"old","b":1}`)}}}},
	} {
		got, err := m.MarshalJSON()
		if want = strings.ReplaceAll(want, `\ufffd`, "\ufffd"); err != nil || string(got) != want {
			t.Errorf("got %s (%v)\nwant %s", got, err, want)
		}
	}
}

func TestWhatIsNotJSONIsNotWritten(t *testing.T) {
	for name, block := range map[string]sampling.Block{
		"meta":                    sampling.Text{Extra: sampling.Extra{Meta: jsontext.Value(`{`)}},
		"rest":                    sampling.Text{Extra: sampling.Extra{Rest: jsontext.Value(`[1]`)}},
		"rest, twice":             sampling.Text{Extra: sampling.Extra{Rest: jsontext.Value(`{"a":1,"a":2}`)}},
		"input":                   sampling.ToolUse{Input: jsontext.Value(`{"a":`)},
		"unknown block":           sampling.Unknown{Type: "x"},
		"no block":                nil,
		"another member in it":    sampling.ToolUse{Input: jsontext.Value(`{},"more":1`)},
		"rest without braces":     sampling.Text{Extra: sampling.Extra{Rest: jsontext.Value(`"more":1`)}},
		"unknown block, of two":   sampling.Unknown{Type: "x", Raw: jsontext.Value(`{},{}`)},
		"unknown block in result": sampling.ToolResult{Content: []sampling.Block{sampling.Unknown{}}},
	} {
		m := sampling.Message{Role: sampling.User, Content: []sampling.Block{block}}
		got, err := m.MarshalJSON()
		if _, ok := errors.AsType[*sampling.DecodeError](err); !ok {
			t.Errorf("%s: wrote %s (%v)", name, got, err)
		}
	}
}

func TestWrongMessages(t *testing.T) {
	block := func(members string) string { return `{"role":"user","content":[{` + members + `}]}` }
	for doc, want := range map[string]string{
		``:                                `sampling: expected an object, got no JSON`,
		`[]`:                              `sampling: expected an object, got a list`,
		`{"role":"user"`:                  `sampling: is no JSON that can be understood in one way only`,
		`{"role":"user","content":[]} {}`: `sampling: expected one JSON value, and nothing behind it`,
		`{"role":"user","role":"user"}`:   `sampling: has a name that is given twice, at "/role"`,
		"{\"role\":\"user\",\"content\":\"\xff\"}": `sampling: is no JSON that can be understood in one way only`,
		`{"content":[]}`:                                                                         `sampling: role: is missing: expected a string`,
		`{"Role":"user","content":[]}`:                                                           `sampling: role: is missing: expected a string`,
		`{"role":"system","content":[]}`:                                                         `sampling: role: expected "user" or "assistant"`,
		`{"role":"user"}`:                                                                        `sampling: content: is missing: expected an object or a list`,
		`{"role":"user","content":"hi"}`:                                                         `sampling: content: expected an object or a list, got a string`,
		`{"role":"user","content":["hi"]}`:                                                       `sampling: content[0]: expected an object, got a string`,
		`{"role":"user","content":[],"_meta":[]}`:                                                `sampling: _meta: expected an object, got a list`,
		block(`"text":"a"`):                                                                      `sampling: content[0]: type: is missing: expected a string`,
		block(`"type":"text"`):                                                                   `sampling: content[0] (text): text: is missing: expected a string`,
		block(`"type":"text","text":1`):                                                          `sampling: content[0] (text): text: expected a string, got a number`,
		block(`"type":"text","text":"a","annotations":"x"`):                                      `sampling: content[0] (text): annotations: expected an object, got a string`,
		block(`"type":"text","text":"a","x":{"y":1,"y":2}`):                                      `sampling: has a name that is given twice, at "/content/0/x/y"`,
		block(`"type":"image","mimeType":"m","data":"%%"`):                                       `sampling: content[0] (image): data: expected padded base64 of the standard alphabet, on one line`,
		block(`"type":"image","mimeType":"m","data":"YQ"`):                                       `sampling: content[0] (image): data: expected padded base64 of the standard alphabet, on one line`,
		block(`"type":"image","mimeType":"m","data":"YR=="`):                                     `sampling: content[0] (image): data: expected padded base64 of the standard alphabet, on one line`,
		block(`"type":"image","mimeType":"m","data":"YQ==\n"`):                                   `sampling: content[0] (image): data: expected padded base64 of the standard alphabet, on one line`,
		block(`"type":"audio","data":""`):                                                        `sampling: content[0] (audio): mimeType: is missing: expected a string`,
		block(`"type":"resource","resource":{"uri":"u"}`):                                        `sampling: content[0].resource (resource): text: is missing: expected a string`,
		block(`"type":"resource","resource":{"uri":"u","text":"","blob":""}`):                    `sampling: content[0].resource (resource): blob: a text or a blob, not both`,
		block(`"type":"resource","resource":[]`):                                                 `sampling: content[0] (resource): resource: expected an object, got a list`,
		block(`"type":"resource_link","uri":"u"`):                                                `sampling: content[0] (resource_link): name: is missing: expected a string`,
		block(`"type":"tool_use","id":"","name":"f","input":{}`):                                 `sampling: content[0] (tool_use): id: expected 1 to 256 bytes, got 0`,
		block(`"type":"tool_use","id":"1","name":"` + strings.Repeat("f", 257) + `","input":{}`): `sampling: content[0] (tool_use): name: expected 1 to 256 bytes, got 257`,
		block(`"type":"tool_use","id":"1","name":"f"`):                                           `sampling: content[0] (tool_use): input: is missing: expected an object`,
		block(`"type":"tool_use","id":"1","name":"f","input":"{}"`):                              `sampling: content[0] (tool_use): input: expected an object, got a string`,
		block(`"type":"tool_result","toolUseId":"1"`):                                            `sampling: content[0] (tool_result): content: is missing: expected a list`,
		block(`"type":"tool_result","toolUseId":"1","content":[],"isError":1`):                   `sampling: content[0] (tool_result): isError: expected true or false, got a number`,
		block(`"type":"tool_result","toolUseId":"1","content":[{"type":"text"}]`):                `sampling: content[0].content[0] (text): text: is missing: expected a string`,
		block(`"type":"tool_result","toolUseId":"1","content":[{"type":"tool_result","toolUseId":"1","content":[]}]`):     `sampling: content[0].content[0] (tool_result): a tool's result cannot hold it`,
		`{"role":"user","content":[` + strings.Repeat(`{"type":"text","text":""},`, 1024) + `{"type":"text","text":""}]}`: `sampling: content: more than 1024 elements`,
		block(`"type":"text","text":"` + strings.Repeat("x", sampling.MaxDocument) + `"`):                                 `sampling: more than 16777216 bytes`,
		block(`"type":"text","text":""` + manyMembers(1100)):                                                              `sampling: content[0]: more than 1024 members`,
		strings.Repeat("[", 20_000):                 `sampling: expected an object, got a list`,
		block(`"x":` + strings.Repeat("[", 20_000)): `sampling: is no JSON that can be understood in one way only`,
	} {
		was := sampling.UserText("as it was")
		m := was
		err := m.UnmarshalJSON([]byte(doc))
		if _, ok := errors.AsType[*sampling.DecodeError](err); !ok || !strings.HasPrefix(err.Error(), want) || len(err.Error()) > 400 {
			t.Errorf("%.80s\n got %.300v\nwant %s", doc, err, want)
		}
		if !reflect.DeepEqual(m, was) {
			t.Errorf("%.80s changed the message", doc)
		}
	}
}

func manyMembers(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(`,"x` + strings.Repeat("x", i%7) + string(rune('a'+i%26)) + strings.Repeat("y", i/26) + `":1`)
	}
	return b.String()
}
