package mcpfront_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/gateway"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/space"
	"github.com/parleyhq/parley/internal/tokens"
)

// budgeted is a site where agent is given at most so many tokens at once.
func budgeted(t testing.TB, most int) *site {
	t.Helper()
	s := begin(t, mcpfront.Options{}, nil)
	s.budget = map[string]int{"agent": most}
	s.serve("files")
	return s
}

// answers is a call whose result is what it says.
func answers(result string) request { return tool("files__answer", `{}`, `{"with":`+result+`}`, "") }

func textResult(text string) string {
	return `{"content":[{"type":"text","text":` + string(quote(text)) + `}]}`
}

// asked is a call of parley__result.
func asked(as, arguments string) request {
	q := tool("parley__result", `{}`, arguments, "")
	q.as = as
	return q
}

// blocks are the texts of a tool's result.
func blocks(t testing.TB, message string) (texts []string) {
	t.Helper()
	for v := range parley.Elements(jsontext.Value(member(t, message, "result", "content"))) {
		text, ok := parley.MemberString(v, "text")
		if !ok {
			t.Fatalf("a block is no text: %s", v)
		}
		texts = append(texts, text)
	}
	return texts
}

// given is what a cut result gives: the piece, and what it says of itself.
func given(t testing.TB, message string) (piece, note string, meta jsontext.Value) {
	t.Helper()
	texts := blocks(t, message)
	meta = jsontext.Value(member(t, message, "result", "_meta", "parley/result"))
	if len(texts) != 2 || meta == nil || !strings.HasPrefix(texts[1], "[") || member(t, message, "result", "structuredContent") != "" {
		t.Fatalf("not a piece and a note: %.2000s", message)
	}
	return texts[0], texts[1], meta
}

func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d: the quick brown fox 🦊 jumps over the lazy dog\n", i+1)
	}
	return b.String()
}

// TestOversized holds that of a result above the budget the head is given, in both
// eras, and that the whole of it can be read by its handle, by anybody in the room.
func TestOversized(t *testing.T) {
	t.Parallel()
	const budget = 400
	s := budgeted(t, budget)
	whole := lines(200)
	in := s.session("/mcp/demo", "agent", `{}`)
	legacy := request{headers: []string{in}, body: call(1, "tools/call", `{"name":"files__answer","arguments":{"with":`+textResult(whole)+`}}`)}
	for _, q := range []request{answers(textResult(whole)), legacy} {
		last := s.do(q).last()
		head, note, meta := given(t, last)
		if !strings.HasPrefix(whole, head) || len(head) < 500 || !strings.HasSuffix(head, "\n") || tokens.Count(head+"\n"+note) > budget {
			t.Errorf("%d tokens: %q %s", tokens.Count(head+note), head, note)
		}
		handle, _ := parley.MemberString(meta, "handle")
		want := fmt.Sprintf(`{"handle":%q,"bytes":%d,"tokens":%d,"counted":"o200k_base","budget":400,"characters":%d,"lines":200,"given":%d}`,
			handle, len(textResult(whole)), tokens.Count(whole), utf8.RuneCountInString(whole), utf8.RuneCountInString(head))
		if string(meta) != want || !strings.Contains(note, handle) || member(t, last, "result", "isError") != "" {
			t.Errorf("%s\nwant %s, note %s", meta, want, note)
		}
		boss := s.join("boss", client.Options{})
		e, err := boss.API().Envelope(t.Context(), handle)
		if err != nil || parley.SplitKind(e.Kind).Type != parley.TypeResponse || e.From != "files" || e.Correlation.IDs[0] != member(t, last, "result", "_meta", "parley/envelope") {
			t.Errorf("%s is not the answer: %v %v", handle, e, err)
		}
		s.readAll(t, "agent", handle, head, whole, budget)
		s.readAll(t, "agent", e.Correlation.IDs[0], "", whole, budget) // the request's id does as well
		s.readAll(t, "silent", handle, "", whole, 0)
	}
}

// readAll reads a result page by page, behind what is known of it.
func (s *site) readAll(t *testing.T, as, handle, known, whole string, budget int) {
	t.Helper()
	got, unit, offset := known, "characters", utf8.RuneCountInString(known)
	for n := 0; got != whole; n++ {
		last := s.do(asked(as, fmt.Sprintf(`{"handle":%q,"offset":%d,"unit":%q}`, handle, offset, unit))).last()
		page, note, meta := given(t, last)
		if page == "" || n > 1_000 || !strings.HasPrefix(whole, got+page) {
			t.Fatalf("%s, at %d: %.2000s", as, offset, last)
		}
		if n := tokens.Count(page + "\n" + note); budget > 0 && n > budget {
			t.Errorf("%s, at %d: %d tokens", as, offset, n)
		}
		got += page
		next := string(parley.Member(parley.Member(meta, "next"), "offset"))
		if next == "" != (got == whole) {
			t.Fatalf("%s, at %d: next is %q after %s", as, offset, next, note)
		}
		if next != "" {
			unit, _ = parley.MemberString(parley.Member(meta, "next"), "unit")
			offset, _ = strconv.Atoi(next)
		}
	}
}

// TestWithinBudget holds what is not cut.
func TestWithinBudget(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	s.budget["agent echo"], s.budget["agent rounds"] = 0, 1
	words := strings.Repeat("word ", 390)
	for name, q := range map[string]request{
		"many bytes, few tokens":  answers(textResult(words)),
		"said twice":              answers(`{"content":[{"type":"text","text":"{\"a\":\"` + words + `\"}"}],"structuredContent":{"a":"` + words + `"}}`),
		"another's":               {as: "other", headers: answers(``).headers, body: answers(textResult(lines(200))).body},
		"a tool without a budget": {headers: append([]string{"Mcp-Param-Region: x"}, tool("files__echo", `{}`, `{}`, "").headers...), body: tool("files__echo", `{}`, `{"region":"x","more":`+string(quote(lines(200)))+`}`, "").body},
		"one server alone": {path: "/mcp/demo/files", headers: modern(1, "tools/call", `{}`, `{"name":"answer"}`).headers,
			body: modern(1, "tools/call", `{}`, `{"name":"answer","arguments":{"with":`+textResult(lines(200))+`}}`).body},
		"what is asked back": tool("files__rounds", `{"elicitation":{}}`, `{"times":1}`, ""),
	} {
		last := s.do(q).last()
		if strings.Contains(last, "parley/result") || member(t, last, "result", "isError") != "" || member(t, last, "result") == "" {
			t.Errorf("%s: %.600s", name, last)
		}
	}
}

// TestOversizedKinds holds what is given of what is not plain text.
func TestOversizedKinds(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 300)
	image := `{"type":"image","mimeType":"image/png","data":"` + strings.Repeat("A", 40_000) + `"}`
	for _, c := range []struct{ name, result, head, note string }{
		{"structured", `{"content":[],"structuredContent":{"n":9007199254740993,"l":"` + strings.Repeat("word ", 900) + `"}}`, `{"n":9007199254740993,"l":"word word`, "reads on"},
		{"an image", `{"content":[{"type":"text","text":"see:"},` + image + `]}`, "see:\n\n[image, image/png: 40002 bytes in base64, not shown]", "Above is all of its text; what is not shown are 40002 bytes"},
		{"a file", `{"content":[{"type":"resource","resource":{"uri":"file:///w/a","mimeType":"text/plain","text":` + string(quote(lines(100))) + `}}]}`, "[resource file:///w/a]\n1: the quick", "reads on"},
		{"no blocks", `{"content":"` + strings.Repeat("word ", 900) + `"}`, `"word word`, "reads on"},
		{"emoji", textResult(strings.Repeat("👩‍👩‍👧‍👦", 2_000)), "👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "reads on"},
		{"solid", textResult(strings.Repeat("x", 900_000)), "xxxx", "bytes/4"},
	} {
		head, note, _ := given(t, s.do(answers(c.result)).last())
		if !strings.HasPrefix(head, c.head) || !strings.Contains(note, c.note) || tokens.Count(head+"\n"+note) > 300 || !utf8.ValidString(head) {
			t.Errorf("%s: %d tokens, %.200q %s", c.name, tokens.Count(head+note), head, note)
		}
		if c.name == "emoji" && len(head)%len("👩‍👩‍👧‍👦") != 0 {
			t.Errorf("a family was parted: %q", head)
		}
	}
	failed := `{"content":[{"type":"text","text":` + string(quote(lines(100))) + `}],"isError":true}`
	last := s.do(answers(failed)).last()
	if head, _, _ := given(t, last); member(t, last, "result", "isError") != "true" || !strings.HasPrefix(head, "1: the") {
		t.Errorf("%s", last)
	}
	s.budget["agent fail"] = 10 // as if its short error were long
	last = s.do(tool("files__fail", `{}`, `{}`, "")).last()
	request := member(t, last, "error", "data", "parley/result", "handle")
	if member(t, last, "error", "code") != "-31000" || !strings.HasPrefix(member(t, last, "error", "message"), "no\n[This error has") {
		t.Fatalf("%s", last)
	}
	if page := blocks(t, s.do(asked("other", `{"handle":"`+request+`"}`)).last()); !strings.HasPrefix(page[0], `{"code":-31000,"message":"no","data":{"why":9007199254740993}}`) {
		t.Errorf("%q", page)
	}
}

// TestOversizedList holds that no schema is promised where a head may be given.
func TestOversizedList(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	s.budget["agent echo"] = 0
	for as, want := range map[string]int{"agent": 1, "other": 2} { // write has one, too
		q := modern(1, "tools/list", `{}`, `{}`)
		q.as = as
		if last := s.do(q).last(); strings.Count(last, `"outputSchema"`) != want || !strings.Contains(last, `"parley__result"`) {
			t.Errorf("%s sees %d schemas, want %d: %s", as, strings.Count(last, `"outputSchema"`), want, last)
		}
	}
	q := modern(1, "tools/list", `{}`, `{}`)
	q.path = "/mcp/demo/files"
	if last := s.do(q).last(); strings.Count(last, `"outputSchema"`) != 2 || strings.Contains(last, "parley__result") {
		t.Errorf("%s", last)
	}
}

// TestOversizedLater holds that a result that comes after an approval is cut as
// well, whichever way it is fetched, and that of a resource too.
func TestOversizedLater(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, waits(time.Millisecond))
	s.budget = map[string]int{"asker": 300}
	s.serve("files")
	s.serve("wiki")
	boss := s.join("boss", client.Options{})
	fetch := func(q request, await bool) string {
		t.Helper()
		pending := s.do(q).last()
		id := member(t, pending, "result", "_meta", "parley/proposal")
		if id == "" {
			id = member(t, pending, "error", "data", "proposal")
		}
		if _, err := boss.FulfilID(t.Context(), id); err != nil {
			t.Fatal(err, pending)
		}
		if await {
			q = tool("parley__await", `{}`, `{"proposal":"`+id+`","seconds":20}`, "")
			q.as = "asker"
			return s.do(q).last()
		}
		last := ""
		until(t, "it is answered", func() bool {
			last = s.do(q).last()
			return !strings.Contains(last, `"status":"pending"`) && !strings.Contains(last, `"status":"running"`)
		})
		return last
	}
	for _, await := range []bool{true, false} {
		q := asks(fmt.Sprintf("[%t,%s]", await, quote(lines(100))))
		last := fetch(q, await)
		head, note, _ := given(t, last)
		if !strings.HasPrefix(head, `{"name":"write"`) || tokens.Count(head+"\n"+note) > 300 || member(t, last, "result", "_meta", "parley/proposal") == "" {
			t.Errorf("%s", last)
		}
	}
	q := modern(1, "resources/read", `{}`, `{"uri":"parley://wiki/wiki:///`+strings.Repeat("home/", 300)+`"}`)
	q.as = "asker"
	head, note, meta := given(t, fetch(q, true))
	if !strings.HasPrefix(head, `{"method":"resources/read"`) || tokens.Count(head+"\n"+note) > 300 {
		t.Errorf("%s %s", head, note)
	}
	handle, _ := parley.MemberString(meta, "handle")
	if page, _, _ := given(t, s.do(asked("agent", `{"handle":"`+handle+`"}`)).last()); !strings.HasPrefix(page, head) || !strings.HasSuffix(page, "}}") {
		t.Errorf("%q", page)
	}
}

// TestReadOn holds what parley__result answers.
func TestReadOn(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	_, _, meta := given(t, s.do(answers(textResult(lines(200)))).last())
	handle, _ := parley.MemberString(meta, "handle")
	for _, c := range []struct{ as, arguments, want, note string }{
		{"agent", `"offset":3,"limit":9`, "the quick", "[Characters 3 to 12 of 10092, lines 1 to 1 of 200. {\"offset\": 12, \"unit\": \"characters\"} reads on.]"},
		{"agent", `"offset":198,"unit":"lines"`, "199: the quick brown fox 🦊 jumps over the lazy dog\n200: the quick brown fox 🦊 jumps over the lazy dog\n", "This is the end.]"},
		{"agent", `"offset":0,"limit":1,"unit":"lines","search":"","matches":0`, "1: the quick brown fox 🦊 jumps over the lazy dog\n", `{"offset": 1, "unit": "lines"} reads on.]`},
		{"other", `"offset":10092`, "", "This is the end.]"},
		{"agent", `"search":"150: THE","around":0`, "150:150: the quick brown fox 🦊 jumps over the lazy dog", "[1 match, "},
		{"agent", `"search":"5: the quick","matches":1,"around":1`, "4-4: the quick brown fox 🦊 jumps over the lazy dog\n5:5: the", "There are more: the same search with {\"offset\": 692} goes on.]"},
		{"other", `"search":"wolf"`, "", "[It does not stand there.]"},
		{"other", `"search":"wolf","offset":9`, "", "[It does not stand there from that offset on.]"},
	} {
		page, note, _ := given(t, s.do(asked(c.as, `{"handle":"`+handle+`",`+c.arguments+`}`)).last())
		if !strings.HasPrefix(page, c.want) || c.want == "" && page != "" || !strings.Contains(note, c.note) {
			t.Errorf("%s\ngot  %q %s\nwant %q %s", c.arguments, page, note, c.want, c.note)
		}
	}
	// A search keeps to the budget, whatever it is asked for.
	page, note, _ := given(t, s.do(asked("agent", `{"handle":"`+handle+`","search":"fox","matches":9999,"around":9999}`)).last())
	if n := tokens.Count(page + "\n" + note); n > 400 || n < 200 || !strings.Contains(note, "There are more") {
		t.Errorf("%d tokens: %q %s", n, page, note)
	}
	// Without a budget a page is of a usual size.
	_, _, meta = given(t, s.do(answers(textResult(strings.Repeat("é ", 30_000)))).last())
	handle, _ = parley.MemberString(meta, "handle")
	for arguments, want := range map[string]int{``: 20_000, `,"limit":50000`: 50_000} {
		if page, _, _ := given(t, s.do(asked("other", `{"handle":"`+handle+`"`+arguments+`}`)).last()); utf8.RuneCountInString(page) != want {
			t.Errorf("%s: %d characters, want %d", arguments, utf8.RuneCountInString(page), want)
		}
	}
}

// TestReadOnHostile holds what is refused, and how.
func TestReadOnHostile(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	_, _, meta := given(t, s.do(answers(textResult(lines(200)))).last())
	handle, _ := parley.MemberString(meta, "handle")
	boss := s.join("boss", client.Options{})
	chat, err := boss.Chat(t.Context(), "a secret plan")
	if err != nil {
		t.Fatal(err)
	}
	ask := s.open(tool("files__hang", `{}`, `{}`, ""))
	defer ask.hangUp()
	open := ""
	until(t, "a call hangs", func() bool {
		for e := range boss.API().Envelopes(t.Context(), &client.Query{Kind: "mcp/request:tools/call:hang"}) {
			if e != nil {
				open = e.ID
			}
		}
		return open != ""
	})
	for _, c := range []struct{ arguments, code string }{
		{`{"handle":"` + chat.ID + `"}`, "not_found"},
		{`{"handle":"` + open + `"}`, "not_found"},
		{`{"handle":""}`, "not_found"},
		{`{"handle":".."}`, "not_found"},
		{`{"handle":"../../../healthz"}`, "not_found"},
		{`{"handle":"a b"}`, "not_found"},
		{`{"handle":"%2e%2e/chain?x=y#z"}`, "not_found"},
		{`{"handle":"01a200ea-227f-764c-85a8-313f1075c1a8"}`, "not_found"},
		{`{"handle":"` + strings.Repeat("x", 100_000) + `"}`, "not_found"},
		{`{}`, "not_found"},
		{`{"handle":17}`, "invalid_argument"},
		{`[]`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":-1}`, "invalid_argument"},
		{`{"handle":"` + handle + `","limit":-1}`, "invalid_argument"},
		{`{"handle":"` + handle + `","matches":-1}`, "invalid_argument"},
		{`{"handle":"` + handle + `","around":-1}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":99999999999999999999}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":9223372036854775807}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":9223372036854775807,"unit":"lines"}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":1.5}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":10093}`, "invalid_argument"},
		{`{"handle":"` + handle + `","offset":201,"unit":"lines"}`, "invalid_argument"},
		{`{"handle":"` + handle + `","unit":"bytes"}`, "invalid_argument"},
		{`{"handle":"` + handle + `","search":"` + strings.Repeat("(a+)+", 13_000) + `"}`, "invalid_argument"},
		{`{"handle":"` + handle + `","pattern":"x"}`, "invalid_argument"},
	} {
		last := s.do(asked("agent", c.arguments)).last()
		if member(t, last, "result", "isError") != "true" || member(t, last, "result", "structuredContent", "error") != c.code ||
			strings.Contains(last, "secret") || len(last) > 2_000 {
			t.Errorf("%.200s: want %s, got %.600s", c.arguments, c.code, last)
		}
	}
	// In another space there is no such result.
	q := asked("agent", `{"handle":"`+handle+`"}`)
	q.path = "/mcp/annex"
	if last := s.do(q).last(); member(t, last, "result", "structuredContent", "error") != "not_found" {
		t.Errorf("%s", last)
	}
	q.as = "nobody"
	if r := s.do(q); r.status != http.StatusUnauthorized {
		t.Errorf("%d %s", r.status, r.body)
	}
}

// TestRedactedBetweenPages holds that what was taken off the record is gone for
// who has read half of it.
func TestRedactedBetweenPages(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	_, _, meta := given(t, s.do(answers(textResult(lines(200)))).last())
	handle, _ := parley.MemberString(meta, "handle")
	q := asked("agent", `{"handle":"`+handle+`","offset":5000,"limit":10}`)
	if page, _, _ := given(t, s.do(q).last()); utf8.RuneCountInString(page) != 10 {
		t.Fatalf("%q", page)
	}
	boss := s.join("boss", client.Options{})
	if _, err := boss.Send(t.Context(), &parley.Envelope{Kind: parley.KindRedact, Payload: jsontext.Value(`{"id":"` + handle + `","reason":"a key"}`)}); err != nil {
		t.Fatal(err)
	}
	last := ""
	until(t, "it is redacted", func() bool {
		last = s.do(q).last()
		return member(t, last, "result", "isError") == "true"
	})
	if member(t, last, "result", "structuredContent", "error") != "not_found" || !strings.Contains(last, "was redacted") {
		t.Errorf("%s", last)
	}
}

// TestDroppedBetweenPages holds that what retention took off the record is gone for
// who has read half of it, by either of its handles, and what came later is not.
func TestDroppedBetweenPages(t *testing.T) {
	t.Parallel()
	s := beginKeeping(t, mcpfront.Options{}, nil, gateway.Retention{Bytes: 200_000})
	s.budget = map[string]int{"agent": 400}
	s.serve("files")
	whole := s.do(answers(textResult(lines(200)))).last()
	_, _, meta := given(t, whole)
	answer, _ := parley.MemberString(meta, "handle")
	question := member(t, whole, "result", "_meta", "parley/envelope")
	for _, handle := range []string{answer, question} {
		given(t, s.do(asked("agent", `{"handle":"`+handle+`","offset":5000}`)).last())
	}
	boss := s.join("boss", client.Options{})
	for range 8 {
		if _, err := boss.Chat(t.Context(), strings.Repeat("x", 50_000)); err != nil {
			t.Fatal(err)
		}
	}
	for _, handle := range []string{answer, question} {
		last := ""
		until(t, "it is dropped", func() bool {
			last = s.do(asked("agent", `{"handle":"`+handle+`","offset":5400}`)).last()
			return member(t, last, "result", "isError") == "true"
		})
		if member(t, last, "result", "structuredContent", "error") != "not_found" || !strings.Contains(last, "retention") {
			t.Errorf("%s", last)
		}
	}
	given(t, s.do(answers(textResult(lines(200)))).last())
}

// TestReadWithinBudget holds that what is read of the room keeps to the budget, and
// that nothing is lost by it.
func TestReadWithinBudget(t *testing.T) {
	t.Parallel()
	s := budgeted(t, 400)
	boss := s.join("boss", client.Options{})
	in := client.InContext(&parley.Context{ID: "plan/1", Type: "reasoning"})
	for i := range 30 {
		if _, err := boss.Chat(t.Context(), fmt.Sprintf("number %02d %s", i, strings.Repeat("word ", i*20)), in); err != nil {
			t.Fatal(err)
		}
	}
	read := func(as, arguments string) (text, structured string) {
		t.Helper()
		q := tool("parley__read", `{}`, arguments, "")
		q.as = as
		last := s.do(q).last()
		text, structured = blocks(t, last)[0], member(t, last, "result", "structuredContent")
		if n := tokens.Count(text) + tokens.Count(structured); as == "agent" && n > 400 || member(t, last, "result", "isError") != "" {
			t.Errorf("%s: %d tokens: %s", arguments, n, last)
		}
		return text, structured
	}
	text, _ := read("agent", `{"kind":"chat"}`)
	if !strings.Contains(text, "number 29") || strings.Contains(text, "number 00") || !strings.Contains(text, "There was no room for 2") {
		t.Errorf("%s", text)
	}
	seen, after := 0, "0"
	for n := 0; seen < 30 && n < 40; n++ {
		text, structured := read("agent", `{"kind":"chat","after":`+after+`}`)
		for strings.Contains(text, fmt.Sprintf("number %02d", seen)) {
			seen++
		}
		after = member(t, structured, "next")
	}
	if seen != 30 {
		t.Errorf("%d messages were seen", seen)
	}
	if text, _ := read("other", `{"kind":"chat"}`); !strings.Contains(text, "number 00") || strings.Contains(text, "no room") {
		t.Errorf("%s", text)
	}
	if text, _ := read("agent", `{"context":"plan/1","digest":true,"tokens":5000}`); !strings.Contains(text, "number 29") {
		t.Errorf("%s", text)
	}
}

// TestWhoWithinBudget holds that of many participants those are told who matter
// most.
func TestWhoWithinBudget(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, func(r *space.Rules) {
		for i := range 200 {
			r.Participants[fmt.Sprintf("absent-%d", i)] = nil
		}
	})
	s.budget = map[string]int{"agent": 400}
	s.serve("files")
	who := func(as string) string {
		q := tool("parley__who", `{}`, `{}`, "")
		q.as = as
		return s.do(q).last()
	}
	last := who("agent")
	text := blocks(t, last)[0]
	n := tokens.Count(text) + tokens.Count(member(t, last, "result", "structuredContent"))
	if n > 400 || n < 200 || !strings.HasPrefix(text, "agent (here, you)\nfiles (here, an MCP server)\n") || !strings.Contains(text, "There was no room for ") {
		t.Errorf("%d tokens: %s", n, text)
	}
	if text := blocks(t, who("other"))[0]; strings.Count(text, "absent-") != 200 || !strings.HasPrefix(text, "other (here, you)\n") {
		t.Errorf("%s", text)
	}
}
