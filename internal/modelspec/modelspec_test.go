package modelspec

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const key = "sk-not-to-be-seen-0123456789"

func document() *Document {
	return &Document{
		URL: "http://127.0.0.1:7717", Space: "demo", Token: "parley_token-of-the-model", Supervised: true,
		Settings: Settings{
			Models: []Model{
				{Name: "sonnet", Kind: Anthropic, Model: "claude-sonnet-4", Key: key, Cost: new(0.9), Intelligence: new(0.0)},
				{Name: "local", Kind: Ollama, Model: "llama3.2:3b", MaxTokens: 500},
			},
			Budget:       Budget{RequestsPerMinute: 30},
			Participants: map[string]Budget{"agent": {TokensPerDay: 1000, RequestsPerMinute: Off}},
			Retries:      new(0), Fallback: true, Concurrency: 2,
		},
	}
}

func TestDocumentIsReadAsItWasWritten(t *testing.T) {
	d := document()
	if err := d.Check(); err != nil {
		t.Fatal(err)
	}
	text, err := d.Write()
	if err != nil || bytes.Count(text, []byte("\n")) != 1 || !bytes.HasSuffix(text, []byte("\n")) {
		t.Fatalf("%v %s", err, text)
	}
	again, err := Read(text)
	if err != nil || !reflect.DeepEqual(again, d) {
		t.Errorf("%v\n%s", err, text)
	}
}

func TestSecretsDoNotShow(t *testing.T) {
	d := document()
	var logged bytes.Buffer
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("m", "document", d.Models[0].Key, "token", d.Token)
	shown := fmt.Sprintf("%v %+v %#v %v %q %x %s", d, *d, d, d.Models, d.Models[0].Key, d.Models[0].Key, d.Token) + logged.String()
	for _, secret := range append(d.Secrets(), fmt.Sprintf("%x", key)) {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is in %s", secret, shown)
		}
	}
	if got := d.Secrets(); len(got) != 2 || got[0] != key {
		t.Errorf("%q", got)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{
		`{"url":1}`, `{"modells":[]}`, `{"models":[{"key":["` + key + `"]}]}`, `{"models":[{"keys":"` + key + `"}]}`,
		`{"url":"a","url":"b"}`, `{"token":"` + key, `[]`, ``, `{} {}`,
	} {
		d, err := Read([]byte(text))
		if err == nil || d != nil || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v %v", text, d, err)
		}
	}
}

func TestCheckTellsAll(t *testing.T) {
	d := document()
	d.URL, d.Token, d.Concurrency, d.Retries = "ftp://x", "", 5000, new(11)
	d.Budget.TokensPerHour = -2
	d.Participants["Bad Id"] = Budget{RequestsPerMinute: 2_000_000}
	d.Models = append(d.Models,
		Model{Name: "SONNET", Kind: "openai", Model: "gpt-5"},
		Model{Name: "-", Kind: "gemini", Model: " x", URL: "http://u:" + key + "@h/", Key: "a b", MaxTokens: -1, Cost: new(1.5)},
		Model{Name: "c", Kind: OpenAIChat, Model: "m", URL: "http://127.0.0.1:1/v1?key=x", Key: "k", KeyFrom: "env:K"},
		Model{Name: "d", Kind: OpenAIChat, Model: "m", KeyFrom: Reference(key)},
	)
	err := d.Check()
	if err == nil {
		t.Fatal("all is well")
	}
	got := err.Error()
	for _, want := range []string{
		"url: it is not the address of a gateway", "token: there is none", "concurrency: ", "retries: ", "\ntokens_per_hour: ",
		`participants: "Bad Id"`, "participants.Bad Id.requests_per_minute: ",
		"models[2]: name: another model has it", "models[2]: key: the endpoint takes no request without one; OPENAI_API_KEY",
		"models[3]: name: a name is", "models[3]: kind: it is openai, openai-chat, anthropic or ollama", "models[3]: model: ",
		"models[3]: the url holds a user name", "models[3]: key: it is 1 to 4,096", "models[3]: max_tokens: ", "models[3]: cost: ",
		"models[4]: the url has a part after ?", "models[4]: key, key_from: one of them", "models[5]: key_from: a secret is not written out",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(got, key) {
		t.Error("it quotes a secret")
	}
	if t.Failed() {
		t.Log(got)
	}
	if err := (&Document{URL: "http://h", TokenFrom: "x", Settings: Settings{}}).Check(); err == nil || !strings.Contains(err.Error(), "token_from: ") || !strings.Contains(err.Error(), "models: there are 0") {
		t.Error(err)
	}
}

func TestParseModel(t *testing.T) {
	for text, want := range map[string]string{
		"anthropic:claude-sonnet-4":                   "anthropic claude-sonnet-4 ",
		"ollama:llama3.2:3b":                          "ollama llama3.2:3b ",
		"openai-chat:a@b@http://127.0.0.1:8080/v1":    "openai-chat  ",
		"openai-chat:org/m@https://127.0.0.1:8080/v1": "openai-chat org/m https://127.0.0.1:8080/v1",
		"openai-chat:m@http://u:p@h/":                 "refused",
		"openai-chat:@http://h/":                      "refused",
		"openai-chat:m@http:///x":                     "refused",
		"gpt-5":                                       "refused",
		"openai:":                                     "refused",
		"gemini:x":                                    "refused",
		"openai:a b":                                  "refused",
	} {
		m, err := ParseModel(text)
		got := fmt.Sprintf("%s %s %s", m.Kind, m.Model, m.URL)
		if err != nil {
			got = "refused"
		}
		if strings.Contains(text, "a@b") { // an @ is no part of a name that the room sees
			want = "refused"
		}
		if got != want || err == nil && m.Name != m.Model {
			t.Errorf("%s: %s (%v)", text, got, err)
		}
	}
}

func TestReferences(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) Reference {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		return Reference("file:" + path)
	}
	t.Setenv("MODEL_KEY", key)
	t.Setenv("EMPTY_KEY", "")
	for _, r := range []Reference{"env:MODEL_KEY", write("good", key+"\r\n", 0o600)} {
		if secret, err := r.Resolve(); err != nil || secret.Reveal() != key {
			t.Errorf("%s: %v", r, err)
		}
	}
	for r, want := range map[Reference]string{
		"env:NO_SUCH_KEY":                "NO_SUCH_KEY is not set",
		"env:EMPTY_KEY":                  "does not hold a secret",
		"env:":                           "write env:NAME or file:PATH",
		Reference(key):                   "write env:NAME or file:PATH",
		write("open", key, 0o644):        "chmod 600",
		write("two", key+" "+key, 0o600): "does not hold a secret",
		write("long", strings.Repeat("k", maxSecret+1), 0o600): "longer than",
		Reference("file:" + dir):                               "not a regular file",
		Reference("file:" + dir + "/none"):                     "no such file",
	} {
		if secret, err := r.Resolve(); err == nil || secret != "" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v", want, err)
		}
	}
	d := document()
	d.Models[0].Key, d.Models[0].KeyFrom, d.Token, d.TokenFrom = "", "env:MODEL_KEY", "", "env:NO_SUCH_KEY"
	if err := d.Resolve(); err == nil || !strings.HasPrefix(err.Error(), "token: ") || d.Models[0].Key != key {
		t.Error(err)
	}
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "llm.json")
	write := func(text string, mode os.FileMode) {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"token_from":"env:TOKEN"}`, 0o644)
	if d, err := ReadFile(path); err != nil || d.TokenFrom != "env:TOKEN" {
		t.Error(err)
	}
	for text, want := range map[string]string{`{"token":"` + key + `"}`: "chmod 600", `{"tokens":"` + key + `"}`: "no such member"} {
		write(text, 0o644)
		if _, err := ReadFile(path); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), key) {
			t.Error(err)
		}
	}
	write(`{"token":"`+key+`"}`, 0o600)
	if d, err := ReadFile(path); err != nil || d.Token != key {
		t.Error(err)
	}
	if _, err := ReadFile(path + "x"); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestBudgetOfAParticipant(t *testing.T) {
	d := document()
	for who, want := range map[string]Budget{
		"agent": {RequestsPerMinute: Off, TokensPerHour: Off, TokensPerDay: 1000},
		"other": {RequestsPerMinute: 30, TokensPerHour: Off, TokensPerDay: Off},
	} {
		if got := d.For(who); got != want {
			t.Errorf("%s: %+v", who, got)
		}
	}
	if got := new(Settings).For("x").RequestsPerMinute; got != DefaultRequestsPerMinute {
		t.Error(got)
	}
}

func TestInTheClear(t *testing.T) {
	for address, want := range map[string]bool{
		"http://127.0.0.1:1/": false, "http://localhost/": false, "http://[::1]/": false, "https://example.org/": false,
		"http://example.org/": true, "http://10.0.0.1/": true, "": false,
	} {
		if InTheClear(address) != want {
			t.Error(address)
		}
	}
}

func FuzzRead(f *testing.F) {
	text, _ := document().Write()
	f.Add(text)
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Read(text)
		if err != nil || d.Check() != nil {
			return
		}
		written, err := d.Write()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Read(written); err != nil || again.Check() != nil {
			t.Errorf("%v: %s", err, written)
		}
	})
}
