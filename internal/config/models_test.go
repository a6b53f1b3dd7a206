package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/parleyhq/parley/internal/modelspec"
)

const modelsKey = "sk-not-to-be-seen-0123456789"

func modelsEnv(name string) (string, bool) {
	if name == "MODEL_KEY" {
		return modelsKey, true
	}
	return lookup(name)
}

func parseModels(t *testing.T, text string) (*Config, error) {
	t.Helper()
	return Parse("parley.yaml", []byte(text), Env{Dir: t.TempDir(), Lookup: modelsEnv})
}

func TestModels(t *testing.T) {
	c, err := parseModels(t, `
spaces:
  demo:
    participants:
      agent: {token: "${env:AGENT_TOKEN}", capabilities: [chat]}
    models:
      llm:
        models:
          - {name: sonnet, kind: anthropic, model: claude-sonnet-4, key: "${env:MODEL_KEY}", cost: 0.7, intelligence: 1, max_tokens: 8192}
          - {kind: openai-chat, model: qwen3, url: "http://127.0.0.1:8080/v1", speed: 0}
        requests_per_minute: 30
        tokens_per_day: 1000000
        participants:
          agent: {requests_per_minute: off, tokens_per_hour: 5000}
        retries: 0
        fallback: on
        concurrency: 4
      local: {models: [{kind: ollama, model: "llama3.2:3b"}]}
`)
	if err != nil {
		t.Fatal(err)
	}
	s := c.Spaces["demo"]
	want := modelspec.Settings{
		Models: []modelspec.Model{
			{Name: "sonnet", Kind: modelspec.Anthropic, Model: "claude-sonnet-4", Key: modelsKey, Cost: new(0.7), Intelligence: new(1.0), MaxTokens: 8192},
			{Name: "qwen3", Kind: modelspec.OpenAIChat, Model: "qwen3", URL: "http://127.0.0.1:8080/v1", Speed: new(0.0)},
		},
		Budget:       modelspec.Budget{RequestsPerMinute: 30, TokensPerDay: 1_000_000},
		Participants: map[string]modelspec.Budget{"agent": {RequestsPerMinute: modelspec.Off, TokensPerHour: 5000}},
		Retries:      new(0), Fallback: true, Concurrency: 4,
	}
	if got := s.Models["llm"].Settings(); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant %+v", got, want)
	}
	if got := s.Models["local"].Settings(); !reflect.DeepEqual(got, modelspec.Settings{Models: []modelspec.Model{{Name: "llama3.2:3b", Kind: modelspec.Ollama, Model: "llama3.2:3b"}}}) {
		t.Errorf("%+v", got)
	}
	if names := s.Models["llm"].Names(); !reflect.DeepEqual(names, []string{"sonnet", "qwen3"}) {
		t.Error(names)
	}
	if ids := s.IDs(); !ids["llm"] || !ids["local"] {
		t.Error(ids)
	}
	if len(c.Warnings) > 0 {
		t.Error(c.Warnings)
	}
	// What the reader makes is what the program takes.
	d := modelspec.Document{URL: "http://127.0.0.1:1", Token: "t", Settings: s.Models["llm"].Settings()}
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	shown, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%v %+v %#v %+v %s", c, s, s.Models["llm"], s.Models["llm"].Settings(), shown); strings.Contains(text, modelsKey) {
		t.Error("the key shows")
	}
}

// All mistakes are told, with their places, and none of the keys.
func TestModelsMistakes(t *testing.T) {
	_, err := parseModels(t, `spaces:
  demo:
    participants:
      agent: {token: "${env:AGENT_TOKEN}", capabilities: [chat]}
    mcp_servers:
      files: {command: x}
    models:
      agent: {models: [{kind: ollama, model: m}]}
      files: {models: [{kind: ollama, model: m}]}
      Bad_Id: {models: [{kind: ollama, model: m}]}
      empty: {models: []}
      none: {retries: 11}
      text: sk-not-to-be-seen-0123456789
      list: {models: sk-not-to-be-seen-0123456789}
      llm:
        model: [{kind: ollama, model: m}]
        models:
          - {kind: openai, model: gpt-5}
          - {kind: antropic, model: m}
          - {model: m, kye: sk-not-to-be-seen-0123456789}
          - {kind: ollama}
          - {kind: ollama, model: m, cost: 2, speed: fast, max_tokens: 0}
          - {kind: ollama, model: M}
          - {kind: openai-chat, model: n, url: "http://u:sk-not-to-be-seen-0123456789@h/"}
          - {kind: openai-chat, model: o, url: "http://127.0.0.1/", key: "sk not-to-be-seen"}
          - {kind: openai-chat, model: p, name: "a b"}
          - sk-not-to-be-seen-0123456789
          -
        requests_per_minute: 0
        tokens_per_hour: many
        concurrency: 5000
        participants: {agent: {tokens: 5}}
        token: "${env:AGENT_TOKEN}"
`)
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatal(err)
	}
	got := e.Error()
	for _, want := range []string{
		`8:7: "agent" is a participant already`,
		`9:7: "files" is a participant already`,
		`10:7: "Bad_Id" cannot be a participant's id`,
		`11:7: "empty" has no models`,
		`12:7: "none" has no models`,
		`12:23: retries is out of bounds: it can be 0 to 10`,
		`13:13: text is text, and should be a mapping`,
		`14:22: models is text, and should be a list`,
		`16:9: unknown key "model"`,
		"18:13: a model of kind openai has no key\n    write key: \"${env:OPENAI_API_KEY}\", or",
		"19:20: kind is not openai, openai-chat, anthropic or ollama\n    did you mean \"anthropic\"?",
		`20:13: a model has no kind`,
		"20:24: unknown key \"kye\"\n    did you mean \"key\"?",
		`21:13: a model has no model`,
		`22:44: cost is out of bounds: it can be 0 to 1`,
		`22:54: speed is not a number`,
		`22:72: max_tokens is out of bounds: it can be 1 to 1,000,000,000`,
		`23:13: another model of "llm" is called M`,
		`24:48: the url holds a user name or password`,
		`25:74: key is empty, too long, or has characters`,
		`26:49: "a…" cannot be the name of a model`,
		`27:13: models[9] is text, and should be a mapping`,
		`models[10] has no value`,
		`29:30: requests_per_minute is out of bounds`,
		`30:26: tokens_per_hour is not a whole number`,
		`31:22: concurrency is out of bounds`,
		`32:32: unknown key "tokens"`,
		`33:9: unknown key "token"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %s", want)
		}
	}
	if strings.Contains(got, "sk") && strings.Contains(got, "not-to-be-seen") {
		t.Error("a key shows")
	}
	if strings.Count(got, "has no key") != 2 {
		t.Error("a model whose kind nobody knows needs no key")
	}
	if t.Failed() {
		t.Log(got)
	}
}

func TestModelsWarnings(t *testing.T) {
	path := filepath.Join(t.TempDir(), "parley.yaml")
	text := `spaces:
  demo:
    participants:
      agent: {token: "sha256:` + strings.Repeat("ab", 32) + `", capabilities: [chat]}
    models:
      llm:
        models: [{kind: openai-chat, model: m, url: "http://example.org/v1", key: any-word}]
        participants: {agnet: {tokens_per_day: 5}, llm: {tokens_per_day: 5}, nobody-like-it: {}}
    context_types:
      reasoning: {summarize: on}
`
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, w := range c.Warnings {
		got = append(got, w.Format(""))
	}
	want := []string{
		":7:53: the key goes to another machine over plain HTTP and can be read on the way\n    write https",
		":8:24: there is no participant \"agnet\"\n    did you mean \"agent\"?",
		":8:78: there is no participant \"nobody-like-it\"\n    name who asks: a participant of this space, or an MCP server",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	if _, err := Parse("x", []byte("spaces: {demo: {models: {llm: {models: [{kind: openai, model: m, key: "+modelsKey+"}]}}}}"), Env{}); err == nil ||
		!strings.Contains(err.Error(), "a key stands in the configuration itself") || strings.Contains(err.Error(), modelsKey) {
		t.Error(err)
	}
	if _, err := Parse("x", []byte("spaces: {demo: {models: {summarizer: {models: [{kind: ollama, model: m}]}}, context_types: {reasoning: {summarize: on}}}}"), Env{}); err == nil ||
		!strings.Contains(err.Error(), `"summarizer" is who sums up contexts`) {
		t.Error(err)
	}
}
