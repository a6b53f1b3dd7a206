package mcpfront_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/tokens"
)

// amends approves the one proposal that is open with other params. Done is told
// what the tool answered.
func amends(t testing.TB, boss *client.Room, params string) (proposal string, done <-chan error) {
	t.Helper()
	until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
	id := proposals(t, boss, client.ProposalOpen)[0].ID
	e, err := boss.API().Envelope(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		_, err := boss.Amend(t.Context(), e, jsontext.Value(params))
		ended <- err
	}()
	return id, ended
}

// asksAnswer is asker's call whose result is what it says, in one era and another.
func (s *site) asksAnswer(arguments string) (modern, legacy, alone request) {
	modern = tool("files__answer", `{}`, arguments, "")
	modern.as = "asker"
	in := s.session("/mcp/demo", "asker", `{}`)
	legacy = request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__answer","arguments":`+arguments+`}`)}
	alone = tool("answer", `{}`, arguments, "")
	alone.as, alone.path = "asker", "/mcp/demo/files"
	return modern, legacy, alone
}

const (
	toldAnswer   = `{"content": [ {"type":"text","text":"did it"} ], "structuredContent": {"n" : 9007199254740993},"isError":false,"x":1.50}`
	amendedTo    = `{"with":` + toldAnswer + `,"n":911}`
	amendedCall  = `{"name":"answer","arguments":` + amendedTo + `}`
	amendedNote  = `[This call was changed by "boss" before it was made. The arguments that were sent: ` + amendedTo + `]`
	originalCall = `{"with":{"content":[]},"n":910}`
)

// checkAmended holds a result against what is told of amendedCall.
func checkAmended(t *testing.T, boss *client.Room, proposal, last string) {
	t.Helper()
	record, err := boss.API().Proposal(t.Context(), proposal)
	if err != nil || record.State != client.ProposalState(client.Amended) {
		t.Fatal(err, record)
	}
	texts := blocks(t, last)
	if len(texts) != 2 || texts[0] != "did it" || texts[1] != amendedNote {
		t.Errorf("%q", texts)
	}
	if got, want := member(t, last, "result", "_meta", "parley/amended"), `{"by":"boss","envelope":"`+record.Closed.ID+`","arguments":`+amendedTo+`}`; got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	if !strings.Contains(last, `,{"type":"text","text":`) || !strings.Contains(last, `"structuredContent": {"n" : 9007199254740993},"isError":false,"x":1.50`) ||
		member(t, last, "result", "_meta", "parley/proposal") != proposal {
		t.Errorf("%s", last)
	}
}

// TestAmendedIsTold holds that a client hears that its call was changed, and how,
// while what the tool answered stays as it is.
func TestAmendedIsTold(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	modern, legacy, alone := s.asksAnswer(originalCall)
	for _, q := range []request{modern, legacy, alone} {
		st := s.open(q)
		id, done := amends(t, boss, amendedCall)
		got := st.ended()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		checkAmended(t, boss, id, got[len(got)-1])
	}
	// As it was proposed, there is nothing to tell.
	st := s.open(modern)
	until(t, "it is proposed", func() bool { return len(proposals(t, boss, client.ProposalOpen)) == 1 })
	if _, err := boss.FulfilID(t.Context(), proposals(t, boss, client.ProposalOpen)[0].ID); err != nil {
		t.Fatal(err)
	}
	if got := st.ended(); strings.Contains(got[0], "amended") || member(t, got[0], "result", "content") != "[]" {
		t.Errorf("%s", got)
	}
}

// TestAmendedIsToldLate holds the same for who comes back for the result.
func TestAmendedIsToldLate(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	modern, legacy, alone := s.asksAnswer(originalCall)
	for _, q := range []request{modern, legacy, alone} {
		id, _ := s.approved(boss, q, amendedCall)
		checkAmended(t, boss, id, s.fetch(q, id))
		checkAmended(t, boss, id, s.fetch(awaiting(id), id))
	}
	// Nothing quotes what was redacted.
	id, f := s.approved(boss, modern, amendedCall)
	s.redact(boss, f)
	last := s.fetch(modern, id)
	if texts := blocks(t, last); len(texts) != 2 || texts[1] != `[This call was changed by "boss" before it was made. What was sent has been redacted since.]` ||
		member(t, last, "result", "_meta", "parley/amended") != `{"by":"boss","envelope":"`+f+`","redacted":true}` || member(t, last, "result", "_meta", "parley/proposal") != id {
		t.Errorf("%s", last)
	}
}

// TestAmendedOfAnotherMethod holds that parley__await tells of it beside what is no
// tool's result.
func TestAmendedOfAnotherMethod(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	s.serve("files")
	boss := s.join("boss", client.Options{})
	prompt := modern(1, "prompts/get", `{}`, `{"name":"files__greet","arguments":{"whom":"a"}}`)
	prompt.as = "asker"
	s.do(prompt)
	id, done := amends(t, boss, `{"name":"greet","arguments":{"whom":"b"}}`)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	last := s.fetch(awaiting(id), id)
	if texts := blocks(t, last); len(texts) != 2 || texts[1] != `[This call was changed by "boss" before it was made. The arguments that were sent: {"whom":"b"}]` {
		t.Errorf("%s", last)
	}
}

// TestAmendedRuns holds that it is told as well while the tool is at it.
func TestAmendedRuns(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(10*time.Millisecond))
	files := s.serve("files")
	boss := s.join("boss", client.Options{})
	q := tool("files__hang", `{}`, `{"n":1}`, "")
	q.as = "asker"
	s.do(q)
	_, done := amends(t, boss, `{"name":"hang","arguments":{"n":2}}`)
	until(t, "the call arrives", func() bool { return len(files.requests("tools/call")) == 1 })
	until(t, "it is told", func() bool {
		return strings.HasPrefix(blocks(t, s.do(q).last())[0], `This call was changed and approved by "boss" and is being made`)
	})
	close(files.release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}

// TestAddText holds that a result which others read as well is left alone.
func TestAddText(t *testing.T) {
	result := `{"content": [ 1` + strings.Repeat(" ", 100) + `] }`
	whole := jsontext.Value(result)
	if got := string(mcpfront.AddText(whole, "x")); got != `{"content": [ 1,{"type":"text","text":"x"}] }` || string(whole) != result {
		t.Errorf("%s of %s", got, whole)
	}
}

// TestAmendedWithoutContent holds what is told where a result has no content to add
// to: one of another method, of a tool that gives none, an error.
func TestAmendedWithoutContent(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	prompt := modern(1, "prompts/get", `{}`, `{"name":"files__greet","arguments":{"whom":"a"}}`)
	prompt.as = "asker"
	fail := tool("files__fail", `{}`, `{"n":1}`, "")
	fail.as = "asker"
	for name, c := range map[string]struct {
		q      request
		params string
		check  func(last string) bool
	}{
		"a prompt": {prompt, `{"name":"greet","arguments":{"whom":"b"}}`, func(last string) bool {
			return member(t, last, "result", "_meta", "parley/amended", "arguments") == `{"whom":"b"}` && member(t, last, "result", "content") == ""
		}},
		"no content": {answersAs("asker", `{"n":1}`), `{"name":"answer","arguments":{"with":{"structuredContent":{}}}}`, func(last string) bool {
			return len(blocks(t, last)) == 1 && member(t, last, "result", "structuredContent") == "{}"
		}},
		"another content": {answersAs("asker", `{"n":2}`), `{"name":"answer","arguments":{"with":{"content":7}}}`, func(last string) bool {
			return member(t, last, "result", "content") == "7" && member(t, last, "result", "_meta", "parley/amended", "by") == "boss"
		}},
		"an empty one": {answersAs("asker", `{"n":3}`), `{"name":"answer","arguments":{"with":{"content":[ ]}}}`, func(last string) bool {
			return len(blocks(t, last)) == 1
		}},
		"an error": {fail, `{"name":"fail"}`, func(last string) bool {
			return member(t, last, "error", "message") == "no\n[This call was changed by \"boss\" before it was made. It was sent without arguments.]" &&
				member(t, last, "error", "code") == "-31000" && member(t, last, "error", "data") == `{"why":9007199254740993}`
		}},
	} {
		st := s.open(c.q)
		_, done := amends(t, boss, c.params)
		got := st.ended()
		<-done // with what the tool failed with
		if last := got[len(got)-1]; !c.check(last) {
			t.Errorf("%s: %s", name, last)
		}
	}
}

// answersAs is answers of somebody else, with a name of its own.
func answersAs(who, result string) request {
	q := answers(result)
	q.as = who
	return q
}

// TestAmendedAtLength holds that long arguments are told by their beginning, within
// what the client's budget has room for, and can be read whole.
func TestAmendedAtLength(t *testing.T) {
	t.Parallel()
	const budget = 400
	s := begin(t, mcpfront.Options{}, nil)
	s.budget = map[string]int{"asker": budget}
	s.serve("files")
	boss := s.join("boss", client.Options{})
	text := strings.Repeat("a line of it, ", 400)
	arguments := `{"with":{"content":[{"type":"text","text":"` + text + `"}]},"text":"` + text + `"}`
	modern, _, alone := s.asksAnswer(originalCall)
	run := func(q request) string {
		t.Helper()
		st := s.open(q)
		_, done := amends(t, boss, `{"name":"answer","arguments":`+arguments+`}`)
		got := st.ended()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		return got[len(got)-1]
	}
	last := run(modern)
	texts := blocks(t, last)
	if len(texts) != 3 || tokens.Count(strings.Join(texts, "\n")) > budget || !strings.Contains(texts[2], `begin so: {"with":{"content":`) {
		t.Errorf("%d tokens: %q", tokens.Count(strings.Join(texts, "\n")), texts)
	}
	meta := member(t, last, "result", "_meta", "parley/amended")
	handle, _ := parley.MemberString(jsontext.Value(meta), "envelope")
	if string(parley.Member(jsontext.Value(meta), "arguments")) != "" || !strings.Contains(texts[2], `parley__result with {"handle": "`+handle+`", "asked": true} has all of them.]`) {
		t.Errorf("%s %s", meta, texts[2])
	}
	whole := s.do(asked("agent", `{"handle":"`+handle+`","asked":true}`)).last()
	if got := blocks(t, whole); got[0] != arguments {
		t.Errorf("%q", got)
	}
	if r := s.do(asked("agent", `{"handle":"`+member(t, last, "result", "_meta", "parley/proposal")+`","asked":true}`)); !strings.Contains(r.last(), "is no call") {
		t.Errorf("%s", r.last())
	}
	s.redact(boss, handle)
	if r := s.do(asked("agent", `{"handle":"`+handle+`","asked":true}`)); !strings.Contains(r.last(), "was redacted") {
		t.Errorf("%s", r.last())
	}
	// Where the room's tools are not, none is named.
	texts = blocks(t, run(alone))
	if note := texts[len(texts)-1]; strings.Contains(note, "parley__") || tokens.Count(note) > 700 || !strings.Contains(note, "on record, in the envelope") {
		t.Errorf("%s", note)
	}
}

// TestAmendedRounds holds that a server's further rounds are of the call as it was
// changed, and that their result says so too.
func TestAmendedRounds(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.serve("files")
	boss := s.join("boss", client.Options{})
	in := s.session("/mcp/demo", "asker", `{"elicitation":{}}`)
	st := s.open(request{as: "asker", headers: []string{in}, body: call(1, "tools/call", `{"name":"files__rounds","arguments":{"times":1,"n":1}}`)})
	_, done := amends(t, boss, `{"name":"rounds","arguments":{"times":1,"n":2}}`)
	q := st.next().data
	s.do(request{as: "asker", headers: []string{in}, body: `{"jsonrpc":"2.0","id":` + member(t, q, "id") + `,"result":{"n":1}}`})
	last := st.next().data
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if member(t, last, "result", "said") != `{"a":{"n":1}}` || len(blocks(t, last)) != 1 || member(t, last, "result", "_meta", "parley/amended", "arguments") != `{"times":1,"n":2}` {
		t.Errorf("%s", last)
	}
	// A client of the other era goes on with what it is told was sent.
	first := tool("files__rounds", `{}`, `{"times":1,"n":3}`, "")
	first.as = "asker"
	st = s.open(first)
	_, done = amends(t, boss, `{"name":"rounds","arguments":{"times":1,"n":4}}`)
	got := st.ended()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	last = got[len(got)-1]
	sent := member(t, last, "result", "_meta", "parley/amended", "arguments")
	if member(t, last, "result", "resultType") != "input_required" || member(t, last, "result", "content") != "" || sent != `{"times":1,"n":4}` {
		t.Errorf("%s", last)
	}
	next := tool("files__rounds", `{}`, sent, `,"requestState":"`+member(t, last, "result", "requestState")+`","inputResponses":{"a":{"n":2}}`)
	next.as = "asker"
	if last = s.do(next).last(); member(t, last, "result", "said") != `{"a":{"n":2}}` || member(t, last, "result", "_meta", "parley/amended", "arguments") != sent {
		t.Errorf("%s", last)
	}
}
