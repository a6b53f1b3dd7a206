package provider

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool/sampling"
)

func TestTokens(t *testing.T) {
	for _, c := range []struct{ config, asked, want int64 }{
		{0, 0, 0}, {0, 5, 5}, {7, 0, 7}, {7, 5, 5}, {5, 7, 5}, {-1, -1, 0},
	} {
		if got := (Config{MaxTokens: c.config}).Tokens(&sampling.Request{MaxTokens: c.asked}); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestAlias(t *testing.T) {
	long := strings.Repeat("a", 64)
	for name, kept := range map[string]bool{
		"look": true, "fs_read-2": true, sampling.SchemaTool: true, long: true,
		"": false, "fs.read": false, "größe": false, long + "a": false, "a b": false,
	} {
		if got := Alias(name, 64); (got == name) != kept {
			t.Errorf("%q becomes %q", name, got)
		}
	}
	tools := []sampling.Tool{{Name: "fs.read"}, {Name: "fs/read"}, {Name: "look"}}
	names := NamesOf(tools, 64)
	if len(names) != len(tools) {
		t.Fatalf("%v", names)
	}
	for _, tool := range tools {
		if got := names.Original(Alias(tool.Name, 64)); got != tool.Name {
			t.Errorf("%q comes back as %q", tool.Name, got)
		}
	}
	if got := names.Original("unknown"); got != "unknown" {
		t.Errorf("what was not offered becomes %q", got)
	}
}

func FuzzAlias(f *testing.F) {
	f.Add("fs.read", "fs_read", uint8(64))
	f.Add("", "a", uint8(16))
	f.Add(strings.Repeat("ä", 100), strings.Repeat("ä", 101), uint8(40))
	f.Fuzz(func(t *testing.T, a, b string, longest uint8) {
		most := max(int(longest), 16)
		x, y := Alias(a, most), Alias(b, most)
		if len(x) == 0 || len(x) > most || countTaken(x) != len(x) || Alias(x, most) != x {
			t.Errorf("%q becomes %q", a, x)
		}
		if a != b && x == y {
			t.Errorf("%q and %q become %q", a, b, x)
		}
	})
}

func TestStructured(t *testing.T) {
	typed, other := sampling.Tool{Name: sampling.SchemaTool}, sampling.Tool{Name: "other"}
	for _, c := range []struct {
		tools []sampling.Tool
		mode  sampling.ToolMode
		want  bool
	}{
		{nil, "", false},
		{[]sampling.Tool{typed}, sampling.Required, true},
		{[]sampling.Tool{typed}, "", true},
		{[]sampling.Tool{typed}, sampling.None, false},
		{[]sampling.Tool{other}, sampling.Required, false},
		{[]sampling.Tool{typed, other}, sampling.Required, false},
	} {
		if _, got := Structured(&sampling.Request{Tools: c.tools, ToolChoice: sampling.ToolChoice{Mode: c.mode}}); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

func TestAnswer(t *testing.T) {
	for text, want := range map[string]string{
		` {"a": 12345678901234567890} `: `{"a": 12345678901234567890}`,
		``:                              "",
		` `:                             "",
		`[]`:                            "",
		`{"a":1`:                        "",
		`{"a":1,"a":2}`:                 "",
		"{\"a\":\"\xff\"}":              "",
		"```json\n{}\n```":              "",
		`{} {}`:                         "",
	} {
		use, ok := Answer(text)
		if string(use.Input) != want || ok != (want != "") || ok && (use.Name != sampling.SchemaTool || use.ID == "") {
			t.Errorf("%q: %+v, %v", text, use, ok)
		}
	}
	a, _ := Answer("{}")
	if b, _ := Answer("{}"); a.ID == b.ID {
		t.Error("two answers have one id")
	}
	if v, ok := Object(" \n"); !ok || string(v) != "{}" {
		t.Errorf("no arguments are %s, %v", v, ok)
	}
}

func TestUsage(t *testing.T) {
	if got := Usage(0, 0); got != nil {
		t.Errorf("nothing told is %s", got)
	}
	if got := Usage(3, -1); string(got) != `{"parley/usage":{"input_tokens":3,"output_tokens":0}}` {
		t.Errorf("got %s", got)
	}
}

func TestMeter(t *testing.T) {
	var told []Progress
	m := Meter{Tell: func(p Progress) { told = append(told, p) }}
	for _, n := range []int{3, 0, MaxReply - 3} {
		if err := m.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Add(1); err == nil || err.Error() != "garbled: the reply is longer than 8 MiB" {
		t.Errorf("got %v", err)
	}
	if want := []Progress{{1, 3}, {2, 3}, {3, MaxReply}}; !slices.Equal(told, want) {
		t.Errorf("told was %v", told)
	}
	if err := (&Meter{}).Add(1); err != nil {
		t.Error(err)
	}
}

func TestWords(t *testing.T) {
	for want, b := range map[string]sampling.Block{
		"hi":                                  sampling.Text{Text: "hi"},
		"Resource file:///a (text/plain):\nA": sampling.Resource{Contents: sampling.Contents{URI: "file:///a", MIMEType: "text/plain", Text: "A"}},
		"Link to a resource: file:///b\nb\nB": sampling.ResourceLink{URI: "file:///b", Name: "b", Title: "B"},
	} {
		if got, ok := Words(b); got != want || !ok {
			t.Errorf("%q, %v", got, ok)
		}
	}
	for _, b := range []sampling.Block{
		sampling.Image{}, sampling.Audio{}, sampling.ToolUse{}, sampling.ToolResult{}, sampling.Unknown{Type: "x"},
		sampling.Resource{Contents: sampling.Contents{Blob: []byte{}}},
	} {
		if _, ok := Words(b); ok {
			t.Errorf("%T can be read", b)
		}
	}
}

func TestContent(t *testing.T) {
	text, image := sampling.Text{Text: "x"}, sampling.Image{MIMEType: "image/png"}
	data := jsontext.Value(`{"a":1}`)
	for _, c := range []struct{ result, want sampling.ToolResult }{
		{sampling.ToolResult{Content: []sampling.Block{text}}, sampling.ToolResult{Content: []sampling.Block{text}}},
		{sampling.ToolResult{Content: []sampling.Block{text}, StructuredContent: data}, sampling.ToolResult{Content: []sampling.Block{text}}},
		{sampling.ToolResult{StructuredContent: data}, sampling.ToolResult{Content: []sampling.Block{sampling.Text{Text: `{"a":1}`}}}},
		{sampling.ToolResult{Content: []sampling.Block{image}, StructuredContent: data}, sampling.ToolResult{Content: []sampling.Block{sampling.Text{Text: `{"a":1}`}, image}}},
		{sampling.ToolResult{}, sampling.ToolResult{}},
	} {
		if got := Content(c.result); !reflect.DeepEqual(got, c.want.Content) {
			t.Errorf("%+v: %+v", c.result, got)
		}
	}
}

func TestSpoken(t *testing.T) {
	use := func(id, name, input string) sampling.Block {
		return sampling.ToolUse{ID: id, Name: name, Input: jsontext.Value(input)}
	}
	said := func(blocks ...sampling.Block) sampling.Message {
		return sampling.Message{Role: sampling.Assistant, Content: blocks}
	}
	result := func(id, text string) sampling.ToolResult {
		return sampling.ToolResult{ToolUseID: id, Content: []sampling.Block{sampling.Text{Text: text}}}
	}
	question := sampling.UserText("?")
	other := said(use("o", "other", `{}`), use("p", sampling.SchemaTool, `{}`))
	for name, c := range map[string]struct {
		history []sampling.Message
		want    []string
	}{
		"taken": {
			[]sampling.Message{question, said(use("a", sampling.SchemaTool, `{"n":1}`)), sampling.Results(result("a", sampling.Acknowledgement)), question},
			[]string{"0 user ?", `1 assistant {"n":1}`, "3 user ?"},
		},
		"several, with words": {
			[]sampling.Message{question, said(sampling.Text{Text: "Well."}, use("a", sampling.SchemaTool, `{"n":1}`), use("b", sampling.SchemaTool, ``)), sampling.Results(result("a", "ok"), result("b", "ok")), question},
			[]string{"0 user ?", "1 assistant Well.\n{\"n\":1}\n{}", "3 user ?"},
		},
		"not taken": {
			[]sampling.Message{question, said(use("a", sampling.SchemaTool, `{}`)), sampling.Results(result("a", "no")), question},
			[]string{"0 user ?", "1 assistant {}", "2 user no", "3 user ?"},
		},
		"at the end": {
			[]sampling.Message{question, said(use("a", sampling.SchemaTool, `{}`)), sampling.Results(result("a", "ok"))},
			[]string{"0 user ?", "1 assistant {}", "2 user ok"},
		},
		"at the end, without a word": {
			[]sampling.Message{question, said(use("a", sampling.SchemaTool, `{}`)), sampling.Results(sampling.ToolResult{ToolUseID: "a"})},
			[]string{"0 user ?", "1 assistant {}", "2 user ok"},
		},
		"beside others": {
			[]sampling.Message{question, other, sampling.Results(result("o", "x"), result("p", "ok"))},
			[]string{"0 user ?", "1 assistant [2 calls]", "2 user [2 results]"},
		},
	} {
		var got []string
		for i, m := range Spoken(c.history) {
			text := m.Text()
			if n := len(m.ToolUses()); n > 0 {
				text = fmt.Sprintf("[%d calls]", n)
			}
			if n := len(m.ToolResults()); n > 0 {
				text = fmt.Sprintf("[%d results]", n)
			}
			got = append(got, fmt.Sprintf("%d %s %s", i, m.Role, text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	for i := range Spoken([]sampling.Message{question, question}) {
		if i > 0 {
			t.Error("who has heard enough hears more")
		}
		break
	}
}
