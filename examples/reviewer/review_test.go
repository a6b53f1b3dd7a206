package main

import (
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/tool"
	"github.com/parleyhq/parley/tool/sampling"
)

// critic is a model that has an opinion on each file, and sums up. It refuses what
// is not well-formed.
type critic struct {
	opinions map[string]string // by file: the input of a call, as JSON; else what it says, or "" for an error
	summary  string            // "" for an error
	used     int64             // tokens that each reply says it took; 0: it says nothing

	mu        sync.Mutex
	questions []tool.Question
	asked     map[string]int // by file; "" is the summary
	fault     error
}

var fileIn = regexp.MustCompile(`The file "([^"]*)"`)

// answer answers sampling/createMessage.
func (c *critic) answer(params jsontext.Value) (jsontext.Value, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, err := sampling.ReadRequest(params)
	if err == nil {
		err = r.Check()
	}
	if err != nil {
		c.fault = err
		return nil, err
	}
	if c.asked == nil {
		c.asked = map[string]int{}
	}
	reply := sampling.Result{Role: sampling.Assistant, Model: "critic", StopReason: sampling.EndTurn}
	if c.used > 0 {
		reply.Meta = jsontext.Value(fmt.Sprintf(`{"parley/usage":{"input_tokens":%d,"output_tokens":0}}`, c.used))
	}
	file, said := "", c.summary
	if found := fileIn.FindStringSubmatch(r.Messages[0].Text()); len(r.Tools) > 0 && found != nil {
		file, said = found[1], c.opinions[found[1]]
	}
	c.asked[file]++
	switch {
	case said == "":
		return nil, &tool.PeerError{Code: -1, Message: "no"}
	case said[0] == '{':
		reply.StopReason = sampling.ToolUseWanted
		reply.Content = []sampling.Block{sampling.ToolUse{ID: "1", Name: sampling.SchemaTool, Input: jsontext.Value(said)}}
	default:
		reply.Content = []sampling.Block{sampling.Text{Text: said}}
	}
	return reply.MarshalJSON()
}

// Can, Ask and Notify make it somebody whom a tool can ask without anything in
// between.
func (c *critic) Can(a tool.Ability) bool { return a != tool.Elicitation }

func (c *critic) Ask(_ context.Context, q tool.Question) (jsontext.Value, error) {
	c.mu.Lock()
	c.questions = append(c.questions, q)
	c.mu.Unlock()
	return c.answer(q.Params)
}

func (c *critic) Notify(context.Context, string, jsontext.Value) error { return nil }

// envelope is the tool's answer, as callers get it.
type envelope struct {
	Data  output `json:"data"`
	Error struct {
		Code string `json:"error_code"`
		Text string `json:"error"`
	} `json:"error"`
	Hints []struct {
		Feature string `json:"feature"`
	} `json:"upgrade_hints"`
}

func decode(t *testing.T, raw jsontext.Value) (e envelope) {
	t.Helper()
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return e
}

// review has something reviewed.
func review(t *testing.T, ctx context.Context, r *reviewer, p tool.Peer, in input) (envelope, error) {
	t.Helper()
	s, err := tool.NewServer(tool.Options{Name: "reviewer", Tier: tool.Community, Dir: t.TempDir(), Getenv: func(string) string { return "" }, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	tool.Add(s, declaration, r.review)
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	res, err := s.Do(ctx, tool.Request{Tool: declaration.Name, Arguments: raw, Peer: p})
	if err != nil {
		return envelope{}, err
	}
	return decode(t, parley.Member(res, "structuredContent")), nil
}

// must is review without an error of the protocol.
func must(t *testing.T, r *reviewer, p tool.Peer, in input) envelope {
	t.Helper()
	e, err := review(t, t.Context(), r, p, in)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func contents(files ...string) (in input) {
	for i := 0; i < len(files); i += 2 {
		in.Files = append(in.Files, source{files[i], &files[i+1]})
	}
	return in
}

const fine = `{"findings":[]}`

func finds(line int, s severity, message string) string {
	return fmt.Sprintf(`{"findings":[{"line":%d,"severity":%q,"message":%q}]}`, line, s, message)
}

func TestReview(t *testing.T) {
	c := &critic{
		opinions: map[string]string{"b.go": finds(2, warning, "unused"), "a.go": `{"findings":[{"line":7,"severity":"note","message":"no such line"},{"line":1,"severity":"error","message":"wrong"}]}`, "c.go": fine},
		summary:  "It does not work.",
	}
	in := contents("b.go", "x\ny\n", "a.go", "x\n", "c.go", "x\n", "d.bin", "\x00")
	in.Focus = "races"
	got := must(t, &reviewer{atOnce: 2, tokens: 8000}, c, in)
	want := output{
		Summary:  "It does not work.",
		Findings: []finding{{"b.go", 2, warning, "unused"}, {"a.go", 1, grave, "wrong"}, {"a.go", 0, note, "no such line"}},
		Counts:   counts{Files: 4, Reviewed: 3, LeftOut: 1, Errors: 1, Warnings: 1, Notes: 1},
	}
	if c.fault != nil || !slices.Equal(got.Data.Findings, want.Findings) || got.Data.Summary != want.Summary || got.Data.Counts != want.Counts {
		t.Errorf("%v\n got %+v\nwant %+v", c.fault, got, want)
	}
	if got := reasons(got.Data.LeftOut); !slices.Equal(got, []string{"d.bin not_text"}) {
		t.Errorf("left out are %q", got)
	}
	for _, q := range c.questions[:3] {
		if !strings.Contains(string(q.Params), "Look for this above all: races") || strings.Count(string(q.Params), "The file ") != 1 {
			t.Errorf("asked %s", q.Params)
		}
	}
	if last := string(c.questions[3].Params); !strings.Contains(last, `- error in \"a.go\", line 1: wrong`) {
		t.Errorf("summed up %s", last)
	}
}

// The room sees a reasoning, and in it one for each file.
func TestContexts(t *testing.T) {
	c := &critic{opinions: map[string]string{"a": fine, "b": fine}, summary: "Fine."}
	must(t, &reviewer{atOnce: 1, tokens: 8000}, c, contents("a", "x", "b", "x"))
	if len(c.questions) != 3 {
		t.Fatalf("%d questions", len(c.questions))
	}
	outer := c.questions[2].Context
	if outer == nil || outer.Type != reasoning || outer.Parent != "" {
		t.Fatalf("the summary is asked in %+v", outer)
	}
	ids := map[string]bool{outer.ID: true}
	for i, name := range []string{"a", "b"} {
		in := c.questions[i].Context
		if in == nil || in.Type != reasoning || in.Parent != outer.ID || string(in.Metadata) != `{"file":"`+name+`"}` {
			t.Errorf("%s is asked in %+v", name, in)
		}
		ids[in.ID] = true
	}
	if len(ids) != 3 {
		t.Errorf("contexts are %v", ids)
	}
}

// slow is a critic who takes a second for each file.
type slow struct {
	critic

	mu     sync.Mutex
	asking int
	most   int
}

func (s *slow) Ask(ctx context.Context, q tool.Question) (jsontext.Value, error) {
	s.mu.Lock()
	s.asking++
	s.most = max(s.most, s.asking)
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.asking--
	}()
	select {
	case <-time.After(time.Second):
		return s.critic.Ask(ctx, q)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// As many files as may be are reviewed at once, and no more.
func TestAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &slow{critic: critic{opinions: map[string]string{}, summary: "Fine."}}
		var in input
		for i := range 10 {
			name := fmt.Sprint("f", i)
			p.opinions[name] = fine
			in.Files = append(in.Files, source{name, new("x")})
		}
		began := time.Now()
		got := must(t, &reviewer{atOnce: 4, tokens: 8000}, p, in)
		if took := time.Since(began); p.most != 4 || took != 4*time.Second || got.Data.Counts.Reviewed != 10 {
			t.Errorf("%d at once, in %v: %+v", p.most, took, got)
		}
	})
}

// A review that is cancelled ends, whatever is under way.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &slow{critic: critic{opinions: map[string]string{"a": fine, "b": fine}, summary: "Fine."}}
		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond) // in the middle of b
		defer cancel()
		began := time.Now()
		got, err := review(t, ctx, &reviewer{atOnce: 1, tokens: 8000}, p, contents("a", "x", "b", "x"))
		if took := time.Since(began); took != 1500*time.Millisecond || err == nil && got.Error.Code != string(tool.Timeout) {
			t.Errorf("it ended after %v with %+v, %v", took, got, err)
		}
	})
}

// A file on which the tokens of its branch were used up is told, and the others
// have theirs.
func TestOutOfTokens(t *testing.T) {
	c := &critic{
		opinions: map[string]string{"a": "hm", "b": fine, "huge": fine}, // a is asked for again until nothing is left
		summary:  "Fine.",
		used:     3000,
	}
	got := must(t, &reviewer{atOnce: 2, tokens: 4000}, c, contents("a", "x", "b", "y", "huge", strings.Repeat("word ", 4000)))
	if want := []string{"a out_of_tokens", "huge out_of_tokens"}; !slices.Equal(reasons(got.Data.LeftOut), want) {
		t.Errorf("left out are %q, want %q", reasons(got.Data.LeftOut), want)
	}
	if c.asked["a"] != 2 || c.asked["b"] != 1 || c.asked["huge"] != 0 {
		t.Errorf("asked %v", c.asked)
	}
	if got.Error.Code != "" || got.Data.Counts.Reviewed != 1 || got.Data.Counts.LeftOut != 2 || got.Data.Summary != "Fine." {
		t.Errorf("%+v", got)
	}
}

// What the model does not answer is left out, and a review without a summary is one.
func TestNoAnswer(t *testing.T) {
	c := &critic{opinions: map[string]string{"a": fine, "b": "hm", "c": `{"findings":[{"line":-1,"severity":"fatal","message":""}]}`}}
	got := must(t, &reviewer{atOnce: 2, tokens: 20_000}, c, contents("a", "x", "b", "y", "c", "z", "d", "?"))
	if want := []string{"b no_answer", "c no_answer", "d declined"}; !slices.Equal(reasons(got.Data.LeftOut), want) {
		t.Errorf("left out are %q, want %q", reasons(got.Data.LeftOut), want)
	}
	if c.asked["b"] != 1+tool.DefaultRetries || c.asked["c"] != 1+tool.DefaultRetries {
		t.Errorf("asked %v", c.asked)
	}
	if got.Error.Code != "" || got.Data.Counts.Reviewed != 1 || got.Data.Summary != "" || got.Data.NoSummary != "somebody refused to have the model asked" {
		t.Errorf("%+v", got)
	}
}

// A review of nothing is no success, but tells what there is to tell.
func TestNothingReviewed(t *testing.T) {
	got := must(t, &reviewer{atOnce: 2, tokens: 8000}, &critic{}, contents("a", "x", "b", "\x00"))
	if want := []string{"b not_text", "a declined"}; got.Error.Code != string(tool.Forbidden) || !slices.Equal(reasons(got.Data.LeftOut), want) || got.Data.Counts.Files != 2 {
		t.Errorf("%+v", got)
	}
	// Where there was nothing to ask, that is the answer.
	if got := must(t, &reviewer{atOnce: 2, tokens: 8000}, &critic{}, contents("b", "\x00")); got.Error.Code != "" || got.Data.NoSummary != "nothing was reviewed" {
		t.Errorf("%+v", got)
	}
	if got := must(t, &reviewer{atOnce: 2, tokens: 8000}, &critic{}, input{}); got.Error.Code != string(tool.InvalidArgument) {
		t.Errorf("%+v", got)
	}
	if got := must(t, &reviewer{atOnce: 2, tokens: 8000}, nil, contents("a", "x")); got.Error.Code != string(tool.DependencyUnavailable) {
		t.Errorf("%+v", got)
	}
}

// A call has as many files reviewed as its tier has, and says what was not.
func TestTooManyFiles(t *testing.T) {
	c := &critic{opinions: map[string]string{}, summary: "Fine."}
	var in input
	for i := range 25 {
		name := fmt.Sprint("f", i)
		c.opinions[name] = fine
		in.Files = append(in.Files, source{name, new("x")})
	}
	got := must(t, &reviewer{atOnce: 3, tokens: 8000}, c, in)
	if got.Data.Counts.Reviewed != 20 || got.Data.Counts.LeftOut != 5 || got.Data.LeftOut[0] != (leftOut{"f20", tooMany, "one call reviews 20 files"}) {
		t.Errorf("%+v", got)
	}
	if len(got.Hints) != 1 || got.Hints[0].Feature != limitFiles {
		t.Errorf("hints are %+v", got.Hints)
	}
}

// Of a diff the model is shown what has changed, and may speak of those lines.
func TestReviewOfADiff(t *testing.T) {
	c := &critic{opinions: map[string]string{"a.go": `{"findings":[{"line":8,"severity":"error","message":"added"},{"line":1,"severity":"note","message":"not shown"}]}`}, summary: "Fine."}
	diff := "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -7,2 +7,2 @@\n seven\n-eight\n+acht\ndiff --git a/i.png b/i.png\nBinary files a/i.png and b/i.png differ\n"
	got := must(t, &reviewer{atOnce: 2, tokens: 8000}, c, input{Diff: diff})
	if want := []finding{{"a.go", 8, grave, "added"}, {"a.go", 0, note, "not shown"}}; !slices.Equal(got.Data.Findings, want) {
		t.Errorf("%+v, want %+v", got.Data.Findings, want)
	}
	if got := reasons(got.Data.LeftOut); !slices.Equal(got, []string{"i.png binary"}) {
		t.Errorf("left out are %q", got)
	}
	if asked := string(c.questions[0].Params); !strings.Contains(asked, `    7   seven\n      - eight\n    8 + acht\n`) {
		t.Errorf("asked %s", asked)
	}
}
