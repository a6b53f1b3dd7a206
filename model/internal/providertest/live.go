package providertest

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/tool/sampling"
)

// Wanted says whether tests may ask real endpoints, which costs money:
// PARLEY_LIVE_TESTS is 1. Then what a variable of the environment says is needed,
// and a test without it fails: one that asked nobody would look like one that
// passed.
func Wanted(t testing.TB, variable string) (value string, ok bool) {
	t.Helper()
	if os.Getenv("PARLEY_LIVE_TESTS") != "1" {
		return "", false
	}
	if value = os.Getenv(variable); value == "" {
		t.Fatalf("PARLEY_LIVE_TESTS=1 asks the real endpoint, for which %s is not set", variable)
	}
	return value, true
}

// Connection is a client whose connections end with the test.
func Connection(t *testing.T) *http.Client {
	client := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment, ForceAttemptHTTP2: true}}
	t.Cleanup(client.CloseIdleConnections)
	return client
}

// Live asks a real endpoint a few things, of the kinds that the cases play.
func Live(t *testing.T, p provider.Provider) {
	for name, ask := range map[string]func(*testing.T, provider.Provider){
		"text": liveText, "typed": liveTyped, "calls": liveCalls, "cut off": liveCutOff,
	} {
		t.Run(name, func(t *testing.T) { ask(t, p) })
	}
}

// enough is room for models that think before they answer.
const enough = 2000

func liveText(t *testing.T, p provider.Provider) {
	var heard provider.Progress
	reply, err := p.Ask(t.Context(), &sampling.Request{
		Messages:     []sampling.Message{sampling.UserText("Say the word blue, and nothing else.")},
		SystemPrompt: "You are brief.", MaxTokens: enough, Temperature: new(0.0),
	}, func(at provider.Progress) { heard = at })
	if err != nil {
		t.Fatal(err)
	}
	outcome := sampling.ReadText(reply)
	if !strings.Contains(strings.ToLower(outcome.Value), "blue") || reply.Model == "" || reply.StopReason != sampling.EndTurn || heard.Bytes == 0 {
		t.Errorf("the reply is %+v, of which %+v was heard", reply, heard)
	}
}

func liveTyped(t *testing.T, p provider.Provider) {
	moves, err := sampling.NewSchema[Move](sampling.SchemaOptions{})
	if err != nil {
		t.Fatal(err)
	}
	asked := sampling.Request{Messages: []sampling.Message{sampling.UserText("Pick the cell in the middle of a board whose cells are numbered from 0 to 8.")}, MaxTokens: enough}
	for range 2 { // the second with the first in its history
		sent, err := moves.Request(asked)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := p.Ask(t.Context(), &sent, nil)
		if err != nil {
			t.Fatal(err)
		}
		exchange, err := moves.Read(reply).Exchange(asked)
		if err != nil {
			t.Fatal(err)
		}
		asked.Messages = sampling.Append(nil, exchange.Messages...)
		asked.Messages = sampling.Append(asked.Messages, sampling.UserText("And another one."))
	}
}

func liveCalls(t *testing.T, p provider.Provider) {
	asked := sampling.Request{
		Messages:  []sampling.Message{sampling.UserText("What is the temperature in Rome, in degrees? Use the tool.")},
		MaxTokens: enough,
		Tools: []sampling.Tool{{
			Name: "get_temperature", Description: "The temperature at a place, in degrees.",
			InputSchema: jsontext.Value(`{"type":"object","properties":{"place":{"type":"string"}},"required":["place"]}`),
		}},
	}
	reply, err := p.Ask(t.Context(), &asked, nil)
	if err != nil {
		t.Fatal(err)
	}
	outcome := sampling.ReadCalls(asked, reply)
	var results []sampling.ToolResult
	for _, use := range outcome.Value {
		results = append(results, sampling.ToolResult{ToolUseID: use.ID, Content: []sampling.Block{sampling.Text{Text: "31"}}})
	}
	exchange, err := outcome.Exchange(asked, results...)
	if err != nil {
		t.Fatal(err)
	}
	asked.Messages = exchange.Messages
	if reply, err = p.Ask(t.Context(), &asked, nil); err != nil {
		t.Fatal(err)
	}
	if text := reply.Message().Text(); !strings.Contains(text, "31") {
		t.Errorf("the model says %q", text)
	}
}

func liveCutOff(t *testing.T, p provider.Provider) {
	reply, err := p.Ask(t.Context(), &sampling.Request{Messages: []sampling.Message{sampling.UserText("Count from 1 to 1000.")}, MaxTokens: 20}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !reply.StopReason.CutOff() {
		t.Errorf("the model stopped for %q", reply.StopReason)
	}
}
