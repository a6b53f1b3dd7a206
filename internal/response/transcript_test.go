package response

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write what is sent into the transcripts")

// TestTranscripts plays testdata/*.txt: configurations and answers in, whole
// envelopes out. What is indented is what is sent; everything else is the play:
//
//	== TITLE                 a new case: nothing is configured
//	config TEXT              a line of response_config.json; may be repeated
//	answer NAME {…}          what there is to tell of a call, see told
//	send NAME TOOL TIER      the envelope of that answer
//	walk NAME …              the envelopes of answers, in each profile, for the
//	                         tools plain and special, at each tier
//	env NAME=VALUE           of the environment
//
// Every envelope is held against the output schema as well.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := playFile(t, string(want))
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			compareLines(t, file, got, string(want))
		})
	}
}

func compareLines(t *testing.T, file, got, want string) {
	t.Helper()
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		var a, b string
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			t.Fatalf("%s:%d\n got %q\nwant %q\n(run with -update to accept)", file, i+1, a, b)
		}
	}
}

// playFile plays every case and returns the text with what is sent.
func playFile(t *testing.T, text string) string {
	var out strings.Builder
	p := newPlay(t)
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "  ") {
			continue // sent the last time
		}
		out.WriteString(line + "\n")
		if strings.HasPrefix(line, "== ") {
			p = newPlay(t)
		} else if line != "" && !strings.HasPrefix(line, "#") {
			for _, sent := range p.do(line) {
				out.WriteString("  " + sent + "\n")
			}
		}
	}
	return out.String()
}

// play is one case under way.
type play struct {
	t       *testing.T
	text    string
	env     map[string]string
	answers map[string]*Answer
	schema  *jsonschema.Resolved
}

func newPlay(t *testing.T) *play {
	return &play{
		t: t, env: map[string]string{}, answers: map[string]*Answer{},
		schema: resolved(t, OutputSchema(jsontext.Value(`{"properties":{"risk":{"type":"string"}},"required":["risk","functions"]}`))),
	}
}

func (p *play) do(line string) []string {
	p.t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	words := strings.Fields(rest)
	switch verb {
	case "config":
		p.text += rest + "\n"
		return nil
	case "env":
		name, value, _ := strings.Cut(rest, "=")
		p.env[name] = value
		return nil
	case "answer":
		name, text, _ := strings.Cut(rest, " ")
		p.answers[name] = answerOf(p.t, text)
		return nil
	case "send":
		return []string{p.send(p.config(""), words[0], words[1], Tier(words[2]))}
	case "walk":
		return p.walk(words)
	}
	p.t.Fatalf("nothing is known of %q", line)
	return nil
}

// config is what was configured, with another global profile where one is named.
func (p *play) config(profile string) *Config {
	p.t.Helper()
	text := p.text
	if text == "" {
		text = "{}"
	}
	r, problems := parse([]byte(text))
	if len(problems) > 0 {
		p.t.Fatalf("%s: %v", p.text, problems)
	}
	if profile != "" {
		r.profile = profile
	}
	c := build(r)
	if forced(func(name string) string { return p.env[name] }) {
		c = c.inDebug()
	}
	return c
}

func (p *play) send(c *Config, answer, tool string, tier Tier) string {
	p.t.Helper()
	a := p.answers[answer]
	if a == nil {
		p.t.Fatalf("there is no answer %q", answer)
	}
	told := *a
	told.Tool, told.Tier = tool, tier
	sent := c.Shape(tool, tier).Append(nil, &told)
	var value any
	if err := json.Unmarshal(sent, &value); err != nil {
		p.t.Errorf("%s: %v", sent, err)
	} else if err := p.schema.Validate(value); err != nil {
		p.t.Errorf("%s is not what the output schema says: %v", sent, err)
	}
	return string(sent)
}

func (p *play) walk(answers []string) (lines []string) {
	for _, profile := range p.config("").Profiles() {
		c := p.config(profile)
		for _, answer := range answers {
			for _, tool := range []string{"plain", "special"} {
				for _, tier := range tiers {
					lines = append(lines, fmt.Sprintf("%s %s %s %s: %s", profile, answer, tool, tier, p.send(c, answer, tool, tier)))
				}
			}
		}
	}
	return lines
}

// told is an answer as a transcript writes it.
type told struct {
	Version      string   `json:"version"`
	RequestID    string   `json:"request_id"`
	Asked        bool     `json:"asked"`
	Capabilities []string `json:"capabilities"`
	MS           int64    `json:"ms"`
	Data         jsontext.Value
	Error        *struct {
		Message string `json:"message"`
		Code    Code   `json:"code"`
		Details jsontext.Value
	}
	Hints []struct {
		Feature string
		Tier    Tier
		Reason  string
	}
}

func answerOf(t *testing.T, text string) *Answer {
	t.Helper()
	var in told
	if err := json.Unmarshal([]byte(text), &in, json.MatchCaseInsensitiveNames(true), json.RejectUnknownMembers(true)); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	a := &Answer{
		Version: in.Version, RequestID: in.RequestID, Asked: in.Asked, Capabilities: in.Capabilities,
		Duration: time.Duration(in.MS) * time.Millisecond, Data: in.Data,
	}
	if in.Error != nil {
		a.Error = &Error{Message: in.Error.Message, Code: in.Error.Code, Details: in.Error.Details}
	}
	for _, h := range in.Hints {
		a.Hints = append(a.Hints, Hint(h))
	}
	return a
}

func resolved(t testing.TB, text []byte) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	r, err := s.Resolve(nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}
