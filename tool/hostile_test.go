package tool

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/tool/sampling"
)

// Clients that answer otherwise than they should: what they get is an error that
// says why, what the tool gets is an error with a reason, and nobody waits.

type cell struct {
	Cell int `json:"cell" minimum:"0" maximum:"8"`
}

// victims are tools that ask: "sample" a model, "form" a human, "both" the one
// and then the other.
func victims(t testing.TB) *Server {
	t.Helper()
	s, err := NewServer(quiet(Options{NoUsage: true}))
	if err != nil {
		t.Fatal(err)
	}
	s.now = func() time.Time { return time.Unix(0, 0) }
	sample := func(ctx context.Context, c *Call, _ struct{}) (string, error) {
		x, err := c.Sample(ctx, sampling.Request{Messages: []sampling.Message{sampling.UserText("Hello?")}})
		return x.Parsed, err
	}
	form := func(ctx context.Context, c *Call, _ struct{}) (string, error) {
		x, err := Elicit[cell](ctx, c, sampling.Elicitation[any]{Key: "cell", Message: "Which one?"})
		return fmt.Sprint(x.Parsed.Cell), err
	}
	Add(s, Tool{Name: "sample", Needs: []Ability{Sampling}, Timeout: time.Hour}, sample)
	Add(s, Tool{Name: "form", Needs: []Ability{Elicitation}, Timeout: time.Hour}, form)
	Add(s, Tool{Name: "both", Needs: []Ability{Sampling, Elicitation}}, func(ctx context.Context, c *Call, in struct{}) (string, error) {
		a, err := sample(ctx, c, in)
		if err != nil {
			return "", err
		}
		b, err := form(ctx, c, in)
		return a + b, err
	})
	Add(s, Tool{Name: "linger", Needs: []Ability{Elicitation}}, func(ctx context.Context, c *Call, in struct{}) (string, error) {
		if _, err := form(ctx, c, in); err != nil {
			return "", err
		}
		c.Progress(ctx, 1, 2, "lingering")
		<-ctx.Done()
		return "", ctx.Err()
	})
	return s
}

// connectLines makes a client that speaks to the server line by line.
func connectLines(t testing.TB, s *Server) *lines {
	return newLines(t, func(in io.ReadCloser, out io.WriteCloser) error {
		return s.Serve(context.Background(), &mcp.IOTransport{Reader: in, Writer: out})
	})
}

const (
	good    = `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`
	goodFor = `{"action":"accept","content":{"cell":4}}`
)

// replies are what comes of answers to each of the questions: the data, or the
// reason of the error.
var replies = []struct{ tool, answer, data, reason string }{
	{"sample", good, `"hi"`, ""},
	{"sample", `{"role":"assistant","content":[{"type":"hologram"},{"type":"text","text":"a"}],"model":"m","stopReason":"x"}`, `"a"`, ""},
	{"sample", `{"role":"assistant","content":{"type":"text","text":"hi"},"model":"m","_meta":{"parley/raw":"` + `eyJyb2xlIjoiYXNzaXN0YW50In0=` + `"}}`, `"hi"`, ""},
	{"sample", `{"role":"user","content":{"type":"text","text":"hi"},"model":"m"}`, "", "garbled"},
	{"sample", `{"role":"assistant","content":{"type":"text","text":7},"model":"m"}`, "", "garbled"},
	{"sample", `{"role":"assistant","role":"assistant","content":{"type":"text","text":"hi"},"model":"m"}`, "", "garbled"},
	{"sample", `{"role":"assistant","content":{"type":"tool_result","toolUseId":"1","content":[]},"model":"m"}`, "", "garbled"},
	{"sample", `{"role":"assistant","content":[],"model":"m"}`, "", "silent"},
	{"sample", `{"role":"assistant","content":{"type":"text","text":"no"},"model":"m","stopReason":"refusal"}`, "", "refused"},
	{"sample", goodFor, "", "garbled"},
	{"sample", `{"roots":[]}`, "", "garbled"},
	{"sample", `{}`, "", "garbled"},
	{"sample", `[]`, "", "garbled"},
	{"sample", `null`, "", "garbled"},
	{"sample", `"hi"`, "", "garbled"},
	{"sample", `7`, "", "garbled"},
	{"form", goodFor, `"4"`, ""},
	{"form", `{"content":{"cell":4.0},"action":"accept","x":1}`, `"4"`, ""},
	{"form", `{"action":"decline","content":{"cell":4}}`, "", "declined"},
	{"form", `{"action":"cancel"}`, "", "cancelled"},
	{"form", `{"action":"accept"}`, "", "garbled"},
	{"form", `{"action":"accept","content":{}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":"4"}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":4.5}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":9}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":9007199254740993}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":4,"more":1}}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":4,"cell":5}}`, "", "garbled"},
	{"form", `{"action":"accept","content":[4]}`, "", "garbled"},
	{"form", `{"action":"accept","content":{"cell":null}}`, "", "garbled"},
	{"form", `{"action":"Accept","content":{"cell":4}}`, "", "garbled"},
	{"form", `{"action":["accept"],"content":{"cell":4}}`, "", "garbled"},
	{"form", good, "", "garbled"},
	{"form", `{}`, "", "garbled"},
	{"form", `null`, "", "garbled"},
	{"form", `true`, "", "garbled"},
}

// judge holds a call's result against what should have come of it.
func judge(t *testing.T, about string, m rpc.Message, data, reason string) {
	t.Helper()
	var r struct {
		StructuredContent struct {
			Data  jsontext.Value `json:"data"`
			Error struct {
				Details struct {
					Reason string `json:"reason"`
				} `json:"error_details"`
			} `json:"error"`
		} `json:"structuredContent"`
	}
	if m.Result == nil {
		t.Errorf("%s: %+v", about, m.Error)
		return
	}
	if err := json.Unmarshal(m.Result, &r); err != nil {
		t.Errorf("%s: %s: %v", about, m.Result, err)
		return
	}
	if e := r.StructuredContent; string(e.Data) != data || e.Error.Details.Reason != reason {
		t.Errorf("%s: %s; want %s %s", about, m.Result, data, reason)
	}
}

// Whatever a client answers, the tool hears of it, in every era and way.
func TestHostileAnswers(t *testing.T) {
	t.Run("2025-11-25", func(t *testing.T) {
		l := connectLines(t, victims(t))
		l.initialize(bothAbilities)
		for i, c := range replies {
			l.call(i, c.tool)
			l.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, l.next().ID, c.answer)
			judge(t, c.tool+" "+c.answer, l.answered(fmt.Sprint(i)), c.data, c.reason)
		}
	})
	t.Run("2026-07-28", func(t *testing.T) {
		l := connectLines(t, victims(t))
		for i, c := range replies {
			round := l.begin(i, c.tool)
			l.retry(i, c.tool, round.State, fmt.Sprintf("{%q:%s}", round.only(t), c.answer))
			judge(t, c.tool+" "+c.answer, l.answered(fmt.Sprint(i)), c.data, c.reason)
		}
	})
	t.Run("2026-07-28 over HTTP", func(t *testing.T) {
		w := serveHTTP(t, victims(t))
		for _, c := range replies {
			round := w.modern(t, c.tool, "", "").round(t)
			m := w.modern(t, c.tool, round.State, fmt.Sprintf("{%q:%s}", round.only(t), c.answer))
			judge(t, c.tool+" "+c.answer, m.Message, c.data, c.reason)
		}
	})
}

// call calls a tool as a legacy client.
func (l *lines) call(id any, tool string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{}}}`, id, tool)
}

// begin calls a tool as a modern client, and returns what it asks first.
func (l *lines) begin(id any, tool string) inputAsked {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{},%s}}`, id, tool, modernMeta)
	return roundOf(l.t, l.answered(fmt.Sprint(id)))
}

// retry goes on with a call.
func (l *lines) retry(id any, tool, state, answers string) {
	l.t.Helper()
	l.send(`{"jsonrpc":"2.0","id":%v,"method":"tools/call","params":{"name":%q,"arguments":{},"requestState":%q,"inputResponses":%s,%s}}`, id, tool, state, answers, modernMeta)
}

// inputAsked is what a modern client is asked.
type inputAsked struct {
	Type     string                    `json:"resultType"`
	Requests map[string]jsontext.Value `json:"inputRequests"`
	State    string                    `json:"requestState"`
}

func roundOf(t testing.TB, m rpc.Message) (r inputAsked) {
	t.Helper()
	if err := json.Unmarshal(m.Result, &r); err != nil || r.Type != "input_required" || r.State == "" {
		t.Fatalf("%s %+v asks nothing: %v", m.Result, m.Error, err)
	}
	return r
}

// only is the name of the only question.
func (r inputAsked) only(t testing.TB) (name string) {
	t.Helper()
	if len(r.Requests) != 1 {
		t.Fatalf("%d questions: %v", len(r.Requests), r.Requests)
	}
	for name = range r.Requests {
	}
	return name
}

// served is a server's handler under an address.
func serveHTTP(t testing.TB, s *Server) *web {
	t.Helper()
	w := &web{t: t, handler: s.Handler(HandlerOptions{})}
	w.listen(w.handler)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		s.Wait()
	})
	return w
}

type reaction struct {
	rpc.Message
	status int
}

func (r reaction) round(t testing.TB) inputAsked { return roundOf(t, r.Message) }

// modern makes a request of a call over HTTP; an empty state begins it.
func (w *web) modern(t testing.TB, tool, state, answers string, headers ...string) reaction {
	t.Helper()
	more := ""
	if state != "" {
		more += fmt.Sprintf(`,"requestState":%q`, state)
	}
	if answers != "" {
		more += `,"inputResponses":` + answers
	}
	return w.modernBody(t, tool, `{"name":"`+tool+`","arguments":{}`+more+`,`+modernMeta+`}`, headers...)
}

func (w *web) modernBody(t testing.TB, tool, params string, headers ...string) reaction {
	t.Helper()
	status, text := w.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+params+`}`, append(headers, modernHeaders("tools/call", tool)...)...)
	if _, data, ok := strings.Cut(text, "data: "); ok {
		text, _, _ = strings.Cut(data, "\n")
	}
	list, err := rpc.Decode([]byte(text))
	if err != nil || len(list) != 1 {
		t.Fatalf("%d %s: %v", status, text, err)
	}
	return reaction{list[0], status}
}

// Answers that nobody waits for change nothing: another session's, those to
// unknown questions, second ones, and late ones.
func TestHostileLegacyAnswers(t *testing.T) {
	s := victims(t)
	anna, bert := connectLines(t, s), connectLines(t, s)
	anna.initialize(bothAbilities)
	bert.initialize(bothAbilities)

	anna.call(1, "form")
	q := anna.asked(methodElicit)
	for _, id := range []string{string(q.ID), `"` + string(q.ID) + `"`, "99", `"x"`} {
		bert.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":8}}}`, id)
		bert.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, id)
	}
	bert.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
	bert.send(`{"jsonrpc":"2.0","id":2,"method":"ping"}`) // by whose answer all of this has been read
	bert.answered("2")
	anna.send(`{"jsonrpc":"2.0","id":"%s-","result":{"action":"accept","content":{"cell":7}}}`, q.ID)
	anna.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":3}}}`, q.ID)
	anna.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":2}}}`, q.ID)
	anna.send(`{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no"}}`, q.ID)
	judge(t, "the first answer", anna.answered("1"), `"3"`, "")

	anna.call(2, "form")
	next := anna.asked(methodElicit)
	anna.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":1}}}`, q.ID)
	anna.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":5}}}`, next.ID)
	judge(t, "the second question", anna.answered("2"), `"5"`, "")
}

// Errors in all shapes that JSON-RPC has for them.
func TestHostileLegacyErrors(t *testing.T) {
	l := connectLines(t, victims(t))
	l.initialize(bothAbilities)
	for i, c := range []struct{ err, reason string }{
		{`{"code":-1,"message":"no"}`, "declined"},
		{`{"code":-32000,"message":"no more","data":{"code":"resource_exhausted","retry_after_ms":1}}`, "over_budget"},
		{`{"code":-32601,"message":"?"}`, "missing"},
		{`{"code":-32602,"message":"?"}`, "failed"},
		{`{"code":0,"message":""}`, "failed"},
		{`{}`, "failed"},
		{`{"code":-32005,"message":"what the SDK says of its own transport"}`, "failed"},
		{`{"code":-32004,"message":"what the SDK says at its end"}`, "failed"},
		{`{"code":-1,"message":"` + strings.Repeat("a", 100_000) + `","data":[[[[]]]]}`, "declined"},
		{`{"code":-1,"message":"\u001b[2J","data":{"code":7}}`, "declined"},
	} {
		l.call(i, "sample")
		l.send(`{"jsonrpc":"2.0","id":%s,"error":%s}`, l.asked(methodSample).ID, c.err)
		m := l.answered(fmt.Sprint(i))
		judge(t, c.err[:min(len(c.err), 80)], m, "", c.reason)
		if len(m.Result) > 10_000 || strings.Contains(string(m.Result), "\x1b") {
			t.Errorf("%d bytes are told: %.200s", len(m.Result), m.Result)
		}
	}
}

// A client that speaks no JSON-RPC any more is not spoken to any more, and its
// calls end.
func TestHostileLegacyGarbage(t *testing.T) {
	for _, garbage := range []string{`{"jsonrpc":"2.0","id":%s,"error":7}`, `{"jsonrpc":"2.0","id":%s,"result":}`, `{"id":%s,"result":{}}`, `]%s`} {
		t.Run(garbage, func(t *testing.T) {
			s := victims(t)
			l := connectLines(t, s)
			l.initialize(bothAbilities)
			l.call(1, "sample")
			l.send(garbage, l.asked(methodSample).ID)
			if err := l.end(); err == nil {
				t.Error("nobody noticed")
			}
			s.Wait()
		})
	}
}

// An answer after its time is none, and the session goes on.
func TestHostileLegacyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := victims(t)
		l := connectLines(t, s)
		l.initialize(bothAbilities)
		l.call(1, "form")
		q := l.asked(methodElicit)
		var told []string
		for range 2 { // that it is over, and that the question is
			m := l.next()
			told = append(told, m.Method)
			if m.Method == "" {
				if !strings.Contains(string(m.Result), `"error_code":"timeout"`) {
					t.Errorf("no answer in time: %s %s", m.Result, m.Error)
				}
			}
		}
		if strings.Join(told, "") != "notifications/cancelled" {
			t.Errorf("told %q", told)
		}
		l.send(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"cell":1}}}`, q.ID)
		l.call(2, "sample")
		l.send(`{"jsonrpc":"2.0","id":%s,"result":%s}`, l.asked(methodSample).ID, good)
		judge(t, "afterwards", l.answered("2"), `"hi"`, "")
	})
}

// What is wrong with a modern client's retry is told as an error of the protocol,
// and the run waits on for the right one.
func TestHostileRetries(t *testing.T) {
	for _, way := range []string{"lines", "HTTP"} {
		t.Run(way, func(t *testing.T) {
			s := victims(t)
			send := overLines(t, s)
			if way == "HTTP" {
				w := serveHTTP(t, s)
				send = func(tool, params string) rpc.Message { return w.modernBody(t, tool, params).Message }
			}
			params := func(tool, more string) string { return `{"name":"` + tool + `",` + more + `,` + modernMeta + `}` }
			mine := roundOf(t, send("form", params("form", `"arguments":{}`)))
			others := roundOf(t, send("sample", params("sample", `"arguments":{}`)))
			key := mine.only(t)
			for _, c := range []struct{ name, tool, more string }{
				{"a state of nobody", "form", `"arguments":{},"requestState":"x"`},
				{"a state that was changed", "form", `"arguments":{},"requestState":"` + mine.State + `-changed","inputResponses":{"` + key + `":` + goodFor + `}`},
				{"the beginning of a state", "form", `"arguments":{},"requestState":"` + mine.State[:10] + `"`},
				{"a long state", "form", `"arguments":{},"requestState":"` + strings.Repeat("x", 100_000) + `"`},
				{"a state in other letters", "form", `"arguments":{},"requestState":"` + strings.ToLower(mine.State) + `"`},
				{"another call's state", "form", `"arguments":{},"requestState":"` + others.State + `","inputResponses":{"` + others.only(t) + `":` + good + `}`},
				{"a state for another tool", "sample", `"arguments":{},"requestState":"` + mine.State + `","inputResponses":{"` + key + `":` + goodFor + `}`},
				{"a state with other arguments", "form", `"arguments":{"a":1},"requestState":"` + mine.State + `","inputResponses":{"` + key + `":` + goodFor + `}`},
				{"a state that is a number", "form", `"arguments":{},"requestState":7`},
				{"answers that are a list", "form", `"arguments":{},"requestState":"` + mine.State + `","inputResponses":[` + goodFor + `]`},
				{"thousands of answers", "form", `"arguments":{},"requestState":"` + mine.State + `","inputResponses":{` + strings.Repeat(`"k":1,`, maxAnswers) + `"k":1}`},
				{"an answer that is a text", "form", `"arguments":{},"requestState":"` + mine.State + `","inputResponses":"` + key + `"`},
			} {
				m := send(c.tool, params(c.tool, c.more))
				// Over HTTP the SDK finds no name in params that it cannot read.
				if m.Error == nil || !strings.Contains(string(m.Error), `-32602`) && !strings.Contains(string(m.Error), `-32020`) {
					t.Errorf("%s: %s %s", c.name, m.Result, m.Error)
				}
			}
			for _, nothing := range []string{`{}`, `null`, `{"other":` + goodFor + `}`, `{"` + others.only(t) + `":` + good + `}`, `{"":` + goodFor + `}`} {
				again := roundOf(t, send("form", params("form", `"arguments":{},"requestState":"`+mine.State+`","inputResponses":`+nothing)))
				if again.only(t) != key {
					t.Errorf("after %s it asks %v, and not %s", nothing, again.Requests, key)
				}
				mine.State = again.State
			}
			done := params("form", `"arguments":{},"requestState":"`+mine.State+`","inputResponses":{"`+key+`":`+goodFor+`}`)
			judge(t, "the right one", send("form", done), `"4"`, "")
			judge(t, "the right one once more", send("form", done), `"4"`, "")
			otherwise := strings.Replace(done, `"cell":4`, `"cell":5`, 1)
			judge(t, "another answer to what was answered", send("form", otherwise), `"4"`, "")
		})
	}
}

func overLines(t testing.TB, s *Server) func(tool, params string) rpc.Message {
	l := connectLines(t, s)
	n := 0
	return func(_, params string) rpc.Message {
		n++
		l.send(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, n, params)
		return l.answered(fmt.Sprint(n))
	}
}

// Of several retries at once with several answers, one counts, and all get what
// came of it.
func TestHostileRetriesAtOnce(t *testing.T) {
	w := serveHTTP(t, victims(t))
	round := w.modern(t, "form", "", "").round(t)
	key := round.only(t)
	results := make([]string, 9)
	var wg sync.WaitGroup
	for i := range results {
		wg.Go(func() {
			m := w.modern(t, "form", round.State, fmt.Sprintf(`{%q:{"action":"accept","content":{"cell":%d}}}`, key, i))
			results[i] = string(m.Result)
		})
	}
	wg.Wait()
	for _, r := range results {
		if r != results[0] || !strings.Contains(r, `"data"`) {
			t.Errorf("%s, and %s", r, results[0])
		}
	}
}

// An old state is the run's as well, and what was answered is not asked again.
func TestHostileOldStates(t *testing.T) {
	s := victims(t)
	l := connectLines(t, s)
	first := l.begin(1, "both")
	l.retry(2, "both", first.State, fmt.Sprintf("{%q:%s}", first.only(t), good))
	second := roundOf(t, l.answered("2"))
	if second.State == first.State || second.only(t) == first.only(t) {
		t.Errorf("the second round is %+v after %+v", second, first)
	}
	l.retry(3, "both", first.State, fmt.Sprintf("{%q:%s}", first.only(t), good))
	if again := roundOf(t, l.answered("3")); again.only(t) != second.only(t) {
		t.Errorf("the first round once more leads to %+v", again)
	}
	l.retry(4, "both", second.State, fmt.Sprintf("{%q:%s}", second.only(t), goodFor))
	judge(t, "the end", l.answered("4"), `"hi4"`, "")
}

// A client that cancels while its call goes on cannot go on with it any more.
func TestHostileRetryAfterCancel(t *testing.T) {
	s := victims(t)
	l := connectLines(t, s)
	first := l.begin(1, "linger")
	l.send(`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"linger","arguments":{},"requestState":%q,"inputResponses":{%q:%s},%s}}`,
		first.State, first.only(t), goodFor, strings.Replace(modernMeta, "{", `{"progressToken":"p",`, 1))
	if m := l.next(); m.Method != "notifications/progress" {
		t.Fatalf("%s %s %s", m.Method, m.Result, m.Error)
	}
	l.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`)
	if m := l.answered("2"); m.Error == nil {
		t.Errorf("the cancelled request is answered with %s", m.Result)
	}
	s.Wait()
	l.retry(3, "linger", first.State, "{}")
	if m := l.answered("3"); m.Error == nil || !strings.Contains(string(m.Error), "outcome_unknown") {
		t.Errorf("%s %s", m.Result, m.Error)
	}
}

// knownUsers is in front of a handler, and knows callers by their tokens.
func knownUsers(h http.Handler) http.Handler {
	return auth.RequireBearerToken(func(_ context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
		return &auth.TokenInfo{UserID: token, Expiration: time.Now().Add(time.Hour)}, nil
	}, nil)(h)
}

// Over HTTP, too, a session's questions are its own.
func TestHostileSessions(t *testing.T) {
	w := newWeb(t, HandlerOptions{}, knownUsers)
	const anna, bert = "Authorization: Bearer anna", "Authorization: Bearer bert"
	hers, his := w.session(anna), w.session(bert)
	call := w.call("ask", hers, anna)
	q := call.next()
	answer := func(text, session, user string) int {
		status, _ := w.say(`{"jsonrpc":"2.0","id":`+string(q.ID)+`,"result":"`+text+`"}`, session, user)
		return status
	}
	for _, c := range []struct {
		name, session, user string
		status              int
	}{
		{"in his session", his, bert, http.StatusAccepted},
		{"in hers", hers, bert, http.StatusForbidden},
		{"in his, by her", his, anna, http.StatusForbidden},
		{"in none", "X: y", bert, http.StatusAccepted}, // it begins a session, which ends with it
		{"in one that is not there", hers + "x", bert, http.StatusNotFound},
	} {
		if got := answer("of "+c.name, c.session, c.user); got != c.status {
			t.Errorf("an answer %s: %d, want %d", c.name, got, c.status)
		}
	}
	if got := answer("hers", hers, anna); got != http.StatusAccepted {
		t.Errorf("her own: %d", got)
	}
	if got := <-w.heard; string(got.raw) != `"hers"` {
		t.Errorf("the tool heard %s, %v", got.raw, got.err)
	}
}

// A state is of use to whom it was given, where it is known who that was.
func TestHostileOthersState(t *testing.T) {
	s := victims(t)
	w := &web{t: t, handler: s.Handler(HandlerOptions{})}
	w.listen(knownUsers(w.handler))
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	const anna, bert = "Authorization: Bearer anna", "Authorization: Bearer bert"
	hers := w.modern(t, "form", "", "", anna).round(t)
	answers := fmt.Sprintf("{%q:%s}", hers.only(t), goodFor)
	if m := w.modern(t, "form", hers.State, answers, bert); m.Error == nil || m.status != http.StatusBadRequest {
		t.Errorf("bert gets %d %s", m.status, m.Result)
	}
	judge(t, "anna", w.modern(t, "form", hers.State, answers, anna).Message, `"4"`, "")
	if m := w.modern(t, "form", hers.State, answers, bert); m.Error == nil {
		t.Errorf("bert fetches %s", m.Result)
	}
}
