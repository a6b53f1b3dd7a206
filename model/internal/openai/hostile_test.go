package openai

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/tools/txtar"

	"github.com/parleyhq/parley/model/internal/provider"
	"github.com/parleyhq/parley/model/internal/providertest"
	"github.com/parleyhq/parley/tool/sampling"
)

// Whatever has no end is given up, with little of it in memory.
func TestEnormous(t *testing.T) {
	words := strings.Repeat("word ", 10_000)
	text := func(int) string {
		return `data: {"type":"response.output_text.delta","delta":"` + words + `"}` + "\n\n"
	}
	texts := func(n int) string {
		return fmt.Sprintf(`data: {"type":"response.output_text.delta","output_index":%d,"delta":"a"}`+"\n\n", n)
	}
	chatText := func(int) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + words + `"}}]}` + "\n\n"
	}
	chatCalls := func(n int) string {
		return fmt.Sprintf(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"%d","function":{"name":"f","arguments":"{}"}}]}}]}`+"\n\n", n, n)
	}
	line := func(int) string { return strings.Repeat(" ", 1<<16) }
	lines := func(int) string { return "data: " + strings.Repeat("x", 1<<16) + "\r\n" }
	for name, c := range map[string]struct {
		kind  provider.Kind
		begin string
		next  func(n int) string
		want  string
	}{
		"text":            {provider.OpenAI, "", text, "garbled: the reply is longer than 8 MiB"},
		"outputs":         {provider.OpenAI, "", texts, "garbled: the reply has more than 1024 outputs"},
		"line":            {provider.OpenAI, "data: ", line, "garbled: an event of the stream is longer than 16 MiB"},
		"event":           {provider.OpenAI, "", lines, "garbled: an event of the stream is longer than 16 MiB"},
		"text of a chat":  {provider.OpenAIChat, "", chatText, "garbled: the reply is longer than 8 MiB"},
		"calls of a chat": {provider.OpenAIChat, "", chatCalls, "garbled: the reply has more than 1024 calls"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := askOf(t, c.kind, http.StatusOK, &source{rest: c.begin, next: c.next}, question())
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// A reply that comes whole, in its last event, is bounded as well.
func TestEnormousAtOnce(t *testing.T) {
	message := `{"type":"message","content":[{"type":"output_text","text":"` + strings.Repeat("a", 3<<20) + `"}]}`
	end := `data: {"type":"response.completed","response":{"output":[` + strings.Repeat(message+",", 2) + message + `]}}` + "\n\n"
	_, err := askOf(t, provider.OpenAI, http.StatusOK, strings.NewReader(end), question())
	if failed, ok := errors.AsType[*provider.Error](err); !ok || failed.Kind != provider.Garbled {
		t.Errorf("got %v", err)
	}
}

// An error of any length is cut off.
func TestEnormousError(t *testing.T) {
	for _, kind := range []provider.Kind{provider.OpenAI, provider.OpenAIChat} {
		_, err := askOf(t, kind, http.StatusBadGateway, &source{next: func(int) string { return "much " }}, question())
		if failed, ok := errors.AsType[*provider.Error](err); !ok || failed.Kind != provider.Broken || len(failed.Message) > 300 {
			t.Errorf("got %v", err)
		}
	}
}

// source is a body without an end.
type source struct {
	rest string
	n    int
	next func(n int) string
}

func (s *source) Read(p []byte) (int, error) {
	if s.rest == "" {
		s.rest = s.next(s.n)
		s.n++
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// askOf asks an endpoint that answers with a body, without a network.
func askOf(t testing.TB, kind provider.Kind, status int, body io.Reader, q *sampling.Request) (*sampling.Result, error) {
	t.Helper()
	client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(body), Request: r}, nil
	})}
	p, err := New(provider.Config{Kind: kind, Model: "model-1", Key: providertest.Key, HTTPClient: client})
	if err != nil {
		t.Fatal(err)
	}
	return p.Ask(t.Context(), q, nil)
}

// Whatever an endpoint streams is a reply that the asker can read, or an error
// that can be shown.
func FuzzStream(f *testing.F) {
	for _, k := range kinds(f) {
		f.Add(k.name == "chat", 200, []byte(k.hello), true)
	}
	f.Add(true, 200, []byte(`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{\"a\":"}},{"index":0,"id":"b","function":{"name":"__schema__","arguments":"{}"}}]},"finish_reason":"length"}]}`+"\n\ndata: [DONE]\n\n"), false)
	f.Add(false, 200, []byte(`data: {"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","call_id":"c","name":"f","arguments":"{}"}}`+"\n\n"+`data: {"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"},"usage":{"input_tokens":3,"output_tokens":4}}}`+"\n\n"), false)
	f.Add(false, 200, []byte(`data: {"type":"error","code":"rate_limit_exceeded","message":"`+providertest.Key+`"}`+"\n\n"), false)
	f.Add(true, 429, []byte(`{"error":{"message":"slow","code":429,"param":null}}`), false)
	f.Add(true, 400, []byte(`{"detail":[{"msg":"temperature: unsupported"}]}`), true)
	f.Fuzz(func(t *testing.T, chat bool, status int, body []byte, typed bool) {
		if status < 200 || status > 599 {
			return
		}
		kind, q := provider.OpenAI, question()
		if chat {
			kind = provider.OpenAIChat
		}
		q.Temperature, q.StopSequences = new(0.5), []string{"STOP"}
		q.Tools = []sampling.Tool{{Name: "f"}}
		if typed {
			q.Tools[0] = sampling.Tool{Name: sampling.SchemaTool, InputSchema: jsontext.Value(`{"type":"object"}`)}
		}
		reply, err := askOf(t, kind, status, bytes.NewReader(body), q)
		if err != nil {
			checkError(t, err)
			return
		}
		data, err := reply.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := sampling.ReadResult(data); err != nil {
			t.Errorf("the asker cannot read %s: %v", data, err)
		}
	})
}

// Whatever is asked, a strict endpoint takes it, or it is refused before it is
// sent.
func FuzzRequest(f *testing.F) {
	for _, file := range cases(f) {
		f.Add(file)
	}
	all := kinds(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		q, err := sampling.ReadRequest(data)
		if err != nil || q.Check() != nil || sampling.CheckTools(q.Tools) != nil && q.Tools[0].Name != sampling.SchemaTool {
			return
		}
		if q.Temperature != nil && (*q.Temperature < 0 || *q.Temperature > 2) {
			return // which endpoints refuse by themselves
		}
		for _, k := range all {
			fault := error(nil)
			client := &http.Client{Transport: transport(func(r *http.Request) (*http.Response, error) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					return nil, err
				}
				if fault = k.check(r, body); fault != nil {
					fault = fmt.Errorf("%w\n%s", fault, body)
				}
				return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(k.hello)), Request: r}, nil
			})}
			p, err := k.make(provider.Config{Model: "m", URL: "http://host", Key: providertest.Key, HTTPClient: client})
			if err != nil {
				t.Fatal(err)
			}
			_, err = p.Ask(t.Context(), q, nil)
			if failed, ok := errors.AsType[*provider.Error](err); fault != nil || err != nil && (!ok || failed.Kind != provider.Invalid) {
				t.Errorf("%s: %v, %v", k.name, err, fault)
			}
		}
	})
}

// cases are the requests of testdata.
func cases(t testing.TB) (requests [][]byte) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no cases: ", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range a.Files {
			if f.Name == "request.json" {
				requests = append(requests, f.Data)
			}
		}
	}
	return requests
}

func checkError(t *testing.T, err error) {
	failed, ok := errors.AsType[*provider.Error](err)
	if !ok {
		t.Fatalf("the error is a %T: %v", err, err)
	}
	if len(failed.Message) > 300 || !utf8.ValidString(failed.Message) || strings.Contains(failed.Message, providertest.Key) {
		t.Errorf("the message is %q", failed.Message)
	}
	if i := strings.IndexFunc(failed.Message, unicode.IsControl); i >= 0 {
		t.Errorf("the message has a control character: %q", failed.Message)
	}
}
