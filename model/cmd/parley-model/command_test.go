package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"go.uber.org/goleak"

	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/modelspec"
	"github.com/parleyhq/parley/parleytest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const secret = "sk-not-to-be-seen-0123456789"

// plain is an environment without anything of ours.
func plain(t *testing.T) {
	for _, name := range []string{"PARLEY_URL", "PARLEY_TOKEN", "PARLEY_SPACE", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"} {
		t.Setenv(name, "")
	}
}

// file writes a file that nobody else may read.
func file(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// nobody is an address where nobody listens.
func nobody(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return "http://" + l.Addr().String()
}

func TestCommandLine(t *testing.T) {
	plain(t)
	t.Setenv("KEY", secret)
	token := file(t, "token-of-llm\n")
	notParley := httptest.NewServer(http.NotFoundHandler())
	defer notParley.Close()
	model := []string{"--model", "ollama:llama3.2", "--token-file", token}
	for _, c := range []struct {
		args   []string
		code   int
		stdout string
		stderr string
	}{
		{[]string{"--version"}, exitOK, "parley-model ", ""},
		{[]string{"--help"}, exitOK, "  parley-model --model anthropic:claude-sonnet-4 ", ""},
		{nil, exitUsage, "", "which model?"},
		{[]string{"http://a", "http://b"}, exitUsage, "", "2 gateways are named"},
		{[]string{"--nonsense"}, exitUsage, "", "--nonsense"},
		{[]string{"--model", "gpt-5"}, exitUsage, "", "is not KIND:MODEL"},
		{[]string{"--model", "openai:gpt-5", "--token-file", token}, exitUsage, "", "OPENAI_API_KEY usually holds it"},
		{append(model, "--key", secret), exitUsage, "", "write env:NAME or file:PATH"},
		{append(model, "--key", "openai="+secret), exitUsage, "", "write env:NAME or file:PATH"},
		{append(model, "--key", "env:KEY", "--key", "env:KEY"), exitUsage, "", "--key is given twice"},
		{append(model, "--key", "env:NO_SUCH_KEY"), exitError, "", "the environment variable NO_SUCH_KEY is not set"},
		{append(model, "--requests-per-minute", "-2"), exitUsage, "", "requests_per_minute: it can be 1 to"},
		{append(model, "--retries", "many"), exitUsage, "", "--retries"},
		{append(model, "--model", "ollama:llama3.2"), exitUsage, "", "another model has it"},
		{append(model, "ftp://x"), exitUsage, "", "it is not the address of a gateway"},
		{append(model, nobody(t)), exitError, "", "no gateway answers"},
		{append(model, notParley.URL), exitError, "", "is there a Parley gateway?"},
		{append(model, "--space", "demo", nobody(t)), exitError, "", "joining http://127.0.0.1:"},
		{append(model, "--config", "x.json"), exitError, "", "x.json"},
		{[]string{"--config", file(t, `{"modells":1}`)}, exitError, "", "there is no such member"},
		{[]string{"--config", file(t, `{"models":[],"token":"t"}`)}, exitError, "", "models: there are 0"},
		{[]string{"--config", file(t, `{"supervised":true}`)}, exitError, "", "supervised is for documents on standard input"},
		{[]string{"--config", file(t, `{}`), "--retries", "1"}, exitUsage, "", "--retries stands in the file"},
		{[]string{"--config", "-"}, exitError, "", "standard input does not hold a document"},
		{[]string{"--config", "-", "--token-file", "-"}, exitError, "", "standard input"},
		{[]string{"--model", "ollama:llama3.2"}, exitError, "", "give --token-file FILE or set PARLEY_TOKEN"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), c.args, strings.NewReader(""), &out, &errs)
		if code != c.code || !strings.Contains(out.String(), c.stdout) || !strings.Contains(errs.String(), c.stderr) {
			t.Errorf("%q: %d\n%s\n%s", c.args, code, &out, &errs)
		}
		if strings.Contains(out.String()+errs.String(), secret) {
			t.Errorf("%q: a secret shows", c.args)
		}
	}
}

// What flags say is what a document says.
func TestFlagsAreADocument(t *testing.T) {
	plain(t)
	t.Setenv("ANTHROPIC_API_KEY", secret)
	t.Setenv("OTHER_KEY", secret+"-other")
	t.Setenv("PARLEY_URL", "http://gateway:1/")
	t.Setenv("PARLEY_TOKEN", "token-of-llm")
	parse := func(args ...string) *modelspec.Document {
		t.Helper()
		var f flags
		cmd := newCommand(strings.NewReader("from-stdin\n"), io.Discard, io.Discard)
		cmd.ResetFlags()
		f.register(cmd)
		if err := cmd.ParseFlags(args); err != nil {
			t.Fatal(err)
		}
		d, _, err := f.document(cmd.Flags().Changed, strings.NewReader("from-stdin\n"))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for _, c := range []struct {
		args []string
		want modelspec.Document
	}{
		{
			[]string{"--model", "anthropic:claude", "--model", "openai-chat:qwen@http://127.0.0.1:1/v1"},
			modelspec.Document{URL: "http://gateway:1", Token: "token-of-llm", TokenFrom: "env:PARLEY_TOKEN", Settings: modelspec.Settings{Models: []modelspec.Model{
				{Name: "claude", Kind: "anthropic", Model: "claude", Key: secret, KeyFrom: "env:ANTHROPIC_API_KEY"},
				// Another's endpoint is not shown the key of OpenAI's.
				{Name: "qwen", Kind: "openai-chat", Model: "qwen", URL: "http://127.0.0.1:1/v1"},
			}}},
		},
		{
			[]string{
				"--model", "anthropic:claude", "--model", "openai-chat:qwen@http://127.0.0.1:1/v1", "--key", "openai-chat=env:OTHER_KEY", "--key", "env:ANTHROPIC_API_KEY",
				"--url", "http://other:2", "--space", "demo", "--token-file", "-", "--max-tokens", "100", "--requests-per-minute", "-1", "--tokens-per-hour", "2",
				"--tokens-per-day", "3", "--retries", "0", "--fallback", "--concurrency", "4",
			},
			modelspec.Document{URL: "http://other:2", Space: "demo", Token: "from-stdin", Settings: modelspec.Settings{
				Models: []modelspec.Model{
					{Name: "claude", Kind: "anthropic", Model: "claude", Key: secret, KeyFrom: "env:ANTHROPIC_API_KEY", MaxTokens: 100},
					{Name: "qwen", Kind: "openai-chat", Model: "qwen", URL: "http://127.0.0.1:1/v1", Key: secret + "-other", KeyFrom: "env:OTHER_KEY", MaxTokens: 100},
				},
				Budget:  modelspec.Budget{RequestsPerMinute: modelspec.Off, TokensPerHour: 2, TokensPerDay: 3},
				Retries: new(0), Fallback: true, Concurrency: 4,
			}},
		},
		{
			[]string{"--config", file(t, `{"url":"http://file:3","token":"t","models":[{"name":"a","kind":"ollama","model":"a"}],"retries":2}`), "--space", "demo"},
			modelspec.Document{URL: "http://file:3", Space: "demo", Token: "t", Settings: modelspec.Settings{
				Models: []modelspec.Model{{Name: "a", Kind: "ollama", Model: "a"}}, Retries: new(2),
			}},
		},
	} {
		if got := parse(c.args...); !reflect.DeepEqual(*got, c.want) {
			t.Errorf("%q:\n%+v\nwant\n%+v", c.args, *got, c.want)
		}
	}
}

// Whoever supervises the program hears when it is in the room, and ends it by
// ending what it says.
func TestSupervised(t *testing.T) {
	plain(t)
	g := parleytest.Start(t, &parleytest.Options{Participants: map[string][]string{"llm": {"mcp/response:*"}, "agent": {"mcp/*"}}})
	document := &modelspec.Document{
		URL: g.URL, Token: modelspec.Secret(g.Token("llm")), Supervised: true,
		Settings: modelspec.Settings{Models: []modelspec.Model{{Name: "a", Kind: "ollama", Model: "a", URL: nobody(t)}}, Retries: new(0)},
	}
	line, err := document.Write()
	if err != nil {
		t.Fatal(err)
	}
	agent, err := client.Dial(t.Context(), g.URL, &client.Options{Token: g.Token("agent"), Space: g.Space})
	if err != nil {
		t.Fatal(err)
	}
	defer agent.Close()

	// A request that nobody is there to answer yet.
	lost, err := client.NewRequest("llm", "sampling/createMessage", jsontext.Value(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	sent := make(chan struct{})
	go func() {
		for range agent.Envelopes(t.Context()) {
			break
		}
		close(sent)
	}()
	go func() { _, err := agent.Call(t.Context(), lost); answered <- err }()
	<-sent

	in, say := io.Pipe()
	hear, out := io.Pipe()
	ended := make(chan int, 1)
	go func() { ended <- run(t.Context(), []string{"--config", "-"}, in, out, t.Output()) }()
	if _, err := say.Write(line); err != nil {
		t.Fatal(err)
	}
	told, err := bufio.NewReader(hear).ReadString('\n')
	if err != nil || told != `{"event":"joined","participant":"llm"}`+"\n" {
		t.Errorf("%s %v", told, err)
	}
	if _, err := io.WriteString(say, `{"something":"new"}`+"\n"+`{"unanswered":["`+lost.ID+`"]}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "ask again") {
		t.Error(err)
	}
	question := jsontext.Value(`{"messages":[{"role":"user","content":{"type":"text","text":"?"}}],"maxTokens":5}`)
	if _, err := agent.Request(t.Context(), "llm", "sampling/createMessage", question); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Error(err)
	}
	say.Close()
	if code := <-ended; code != exitOK {
		t.Error(code)
	}
}

func TestSpaces(t *testing.T) {
	answer := ""
	g := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer t" || r.URL.Path != "/v1/spaces" {
			http.Error(w, `{"code":"unauthorized","message":"no"}`, http.StatusUnauthorized)
			return
		}
		_, _ = io.WriteString(w, answer)
	}))
	defer g.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for text, want := range map[string]string{
		`{"items":[{"name":"demo","extra":1}]}`:        "demo",
		`{"items":[{"name":"demo"},{"name":"other"}]}`: "invalid_argument: the token belongs to 2 spaces",
		`{"items":[]}`: "invalid_argument: the token belongs to 0 spaces",
		`<html>`:       "does not answer as a Parley gateway does",
	} {
		answer = text
		got, err := onlySpace(t.Context(), g.URL, "t")
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	if _, err := onlySpace(t.Context(), g.URL, "wrong"); err == nil || err.Error() != "unauthorized: no" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := onlySpace(ctx, g.URL, "t"); err == nil {
		t.Error("asked in vain")
	}
}
