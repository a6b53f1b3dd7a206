package conformance

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

const toolServerName = "a-server-of-package-tool"

// toolServer serves the tools that the suite's scenarios of sampling and
// elicitation call, written as anybody would write them, and tells where.
func toolServer(t *testing.T) (url string) {
	s, err := tool.NewServer(tool.Options{Name: toolServerName, Tier: tool.Community, Dir: t.TempDir(), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	addSampling(s)
	addForms(s)
	addTalk(s)
	handler := s.Handler(tool.HandlerOptions{})
	mux := http.NewServeMux()
	mux.Handle("/mcp", handler)
	web := httptest.NewServer(mux)
	t.Cleanup(func() {
		handler.Close()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		web.Close()
		s.Wait()
	})
	return web.URL + "/mcp"
}

// nothing is what a tool without arguments takes.
type nothing struct{}

// describe makes a tool that needs somebody.
func describe(name, description string, needs ...tool.Ability) tool.Tool {
	return tool.Tool{Name: name, Description: description, Needs: needs}
}

func addSampling(s *tool.Server) {
	type input struct {
		Prompt string `json:"prompt"`
	}
	tool.Add(s, describe("test_sampling", "Ask a model.", tool.Sampling), func(ctx context.Context, c *tool.Call, in input) (string, error) {
		return complete(ctx, c, in.Prompt)
	})
	for name, prompt := range map[string]string{
		"test_input_required_result_sampling":     "What is the capital of France?",
		"test_input_required_result_capabilities": "What can you do?",
		"test_missing_capability":                 "Are you there?",
	} {
		tool.Add(s, describe(name, "Ask a model this: "+prompt, tool.Sampling), func(ctx context.Context, c *tool.Call, _ nothing) (string, error) {
			return complete(ctx, c, prompt)
		})
	}
}

func complete(ctx context.Context, c *tool.Call, prompt string) (string, error) {
	x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText(prompt)}, MaxTokens: 100})
	return "LLM response: " + x.Parsed, err
}

type person struct {
	Name string `json:"name"`
}

type consent struct {
	OK bool `json:"ok"`
}

type taste struct {
	Color string `json:"color"`
}

type account struct {
	Username string `json:"username" jsonschema:"User's response"`
	Email    string `json:"email" jsonschema:"User's email address"`
}

// profile is a form with something filled in.
type profile struct {
	Name     string  `json:"name"`
	Age      int     `json:"age"`
	Score    float64 `json:"score"`
	Status   string  `json:"status"`
	Verified bool    `json:"verified"`
}

const profileSchema = `{"type":"object","properties":{
	"name":{"type":"string","default":"John Doe"},
	"age":{"type":"integer","default":30},
	"score":{"type":"number","default":95.5},
	"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},
	"verified":{"type":"boolean","default":true}}}`

// choices is a form with choices of every kind that MCP has.
type choices struct {
	UntitledSingle string   `json:"untitledSingle"`
	TitledSingle   string   `json:"titledSingle"`
	LegacyEnum     string   `json:"legacyEnum"`
	UntitledMulti  []string `json:"untitledMulti"`
	TitledMulti    []string `json:"titledMulti"`
}

const choicesSchema = `{"type":"object","properties":{
	"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},
	"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]},
	"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["One","Two","Three"]},
	"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},
	"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First"},{"const":"value2","title":"Second"},{"const":"value3","title":"Third"}]}}}}`

func schema(text string) tool.SampleOption {
	return tool.WithSchema(sampling.SchemaOptions{Schema: jsontext.Value(text)})
}

func addForms(s *tool.Server) {
	type input struct {
		Message string `json:"message"`
	}
	tool.Add(s, describe("test_elicitation", "Ask for an account.", tool.Elicitation), func(ctx context.Context, c *tool.Call, in input) (string, error) {
		return ask[account](ctx, c, "account", in.Message)
	})
	addForm[person](s, "test_input_required_result_elicitation", "user_name", "What is your name?")
	addForm[person](s, "test_streaming_elicitation", "user_name", "What is your name?")
	addForm[consent](s, "test_input_required_result_request_state", "confirm", "Please confirm")
	addForm[consent](s, "test_input_required_result_tampered_state", "confirm", "Please confirm")
	addForm[profile](s, "test_elicitation_sep1034_defaults", "profile", "Who are you?", schema(profileSchema))
	addForm[choices](s, "test_elicitation_sep1330_enums", "choices", "What do you like?", schema(choicesSchema))
	tool.Add(s, describe("test_input_required_result_multi_round", "Ask for this and that.", tool.Elicitation), func(ctx context.Context, c *tool.Call, _ nothing) (string, error) {
		name, err := ask[person](ctx, c, "step1", "Step 1: What is your name?")
		if err != nil {
			return "", err
		}
		color, err := ask[taste](ctx, c, "step2", "Step 2: What is your favorite color?")
		return name + "; " + color, err
	})
}

// addForm adds a tool that asks for one form.
func addForm[T any](s *tool.Server, name, key, message string, opts ...tool.SampleOption) {
	tool.Add(s, describe(name, "Ask a human this: "+message, tool.Elicitation), func(ctx context.Context, c *tool.Call, _ nothing) (string, error) {
		return ask[T](ctx, c, key, message, opts...)
	})
}

func ask[T any](ctx context.Context, c *tool.Call, key, message string, opts ...tool.SampleOption) (string, error) {
	x, err := tool.Elicit[T](ctx, c, sampling.Elicitation[any]{Key: key, Message: message}, opts...)
	return fmt.Sprintf("Elicitation completed: action=%s, content=%+v", x.Action, x.Parsed), err
}

// addTalk adds tools that tell something while they run.
func addTalk(s *tool.Server) {
	for _, name := range []string{"test_tool_with_logging", "test_logging_tool"} {
		tool.Add(s, describe(name, "Say what goes on."), func(ctx context.Context, c *tool.Call, _ nothing) (string, error) {
			for _, line := range []string{"Tool execution started", "Tool processing data", "Tool execution completed"} {
				c.Log(ctx, slog.LevelInfo, line)
			}
			return "done", nil
		})
	}
	tool.Add(s, describe("test_tool_with_progress", "Say how far it is."), func(ctx context.Context, c *tool.Call, _ nothing) (string, error) {
		for done := 0; done <= 100; done += 50 {
			c.Progress(ctx, float64(done), 100, "")
		}
		return "done", nil
	})
	tool.Add(s, describe("test_error_handling", "Fail."), func(context.Context, *tool.Call, nothing) (string, error) {
		return "", tool.Errorf(tool.Forbidden, "This tool intentionally returns an error for testing")
	})
}
