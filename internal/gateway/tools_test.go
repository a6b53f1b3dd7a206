package gateway

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

func TestDifferences(t *testing.T) {
	long := strings.Repeat("x", mostValue+10)
	for _, c := range []struct{ name, before, after, want string }{
		{"the same, spelled otherwise", `{"a":1,"b":[1.0,"é"]}`, `{"b":[1,"\u00e9"],"a":1}`, ``},
		{"a text", `{"description":"reads"}`, `{"description":"deletes"}`, `{"path":"/description","before":"reads","after":"deletes"}`},
		{"deep down", `{"s":{"p":{"x":{"type":"string"}}}}`, `{"s":{"p":{"x":{"type":"number"}}}}`, `{"path":"/s/p/x/type","before":"string","after":"number"}`},
		{"added and gone", `{"a":1,"b":2}`, `{"b":2,"c":{"d":3}}`, `{"path":"/a","before":1} {"path":"/c","after":{"d":3}}`},
		{"another type", `{"a":{"b":1}}`, `{"a":[1]}`, `{"path":"/a","before":{"b":1},"after":[1]}`},
		{"arrays", `[1,2,3]`, `[1,4]`, `{"path":"/1","before":2,"after":4} {"path":"/2","before":3}`},
		{"a longer array", `[1]`, `[1,null]`, `{"path":"/1","after":null}`},
		{"numbers by exact value", `[9007199254740993]`, `[9007199254740992]`, `{"path":"/0","before":9007199254740993,"after":9007199254740992}`},
		{"escaped names", `{"a/b~c":1}`, `{"a/b~c":2}`, `{"path":"/a~1b~0c","before":1,"after":2}`},
		{"everything", `1`, `"1"`, `{"path":"","before":1,"after":"1"}`},
		{"true and false", `true`, `false`, `{"path":"","before":true,"after":false}`},
		{"a long value", `"a"`, `"` + long + `"`, `{"path":"","before":"a","after":"\"` + long[:mostValue-1] + `…","clipped":true}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, more := differences(jsontext.Value(c.before), jsontext.Value(c.after), 64<<10)
			var got []string
			for _, d := range list {
				text := d.append(nil)
				if !jsontext.Value(text).IsValid() {
					t.Errorf("%s is no JSON", text)
				}
				got = append(got, string(text))
			}
			if strings.Join(got, " ") != c.want || more {
				t.Errorf("got %s %v, want %s", strings.Join(got, " "), more, c.want)
			}
		})
	}
}

func TestDifferencesAreBounded(t *testing.T) {
	var before, after []string
	for i := range 200 {
		before = append(before, fmt.Sprintf(`"k%d":%d`, i, i))
		after = append(after, fmt.Sprintf(`"k%d":%d`, i, i+1))
	}
	object := func(members []string) jsontext.Value { return jsontext.Value("{" + strings.Join(members, ",") + "}") }
	list, more := differences(object(before), object(after), 64<<10)
	if len(list) != mostDifferences || !more {
		t.Errorf("%d differences, more is %v", len(list), more)
	}
	if s := summarize(list, more); len(s) > space.MaxToolChange || !strings.HasSuffix(s, "; and more") {
		t.Errorf("%d bytes: %s", len(s), s)
	}
	list, more = differences(object(before), object(after), 200)
	if len(list) == 0 || len(list) > 5 || !more {
		t.Errorf("in 200 bytes: %d differences, more is %v", len(list), more)
	}
	wide := jsontext.Value(`{"` + strings.Repeat("n\\u0001", 2_000) + `":"` + strings.Repeat(`\"`, 3_000) + `"}`)
	list, more = differences(wide, jsontext.Value(`{}`), 64<<10)
	if s := summarize(list, more); len(s) > space.MaxToolChange || strings.Contains(s, "\x01") {
		t.Errorf("%d bytes: %q", len(s), s)
	}
}

// FuzzDifferences holds the comparison against the digests: nothing is different
// exactly where they are the same, and what is written is JSON.
func FuzzDifferences(f *testing.F) {
	f.Add(`{"a":[1,{"b":2}],"c":"x"}`, `{"c":"y","a":[1.0]}`)
	f.Add(`[[],{}]`, `[{},[]]`)
	f.Fuzz(func(t *testing.T, one, other string) {
		before, after := jsontext.Value(one), jsontext.Value(other)
		if !before.IsValid() || !after.IsValid() || nesting(before) > toolNesting || nesting(after) > toolNesting {
			return
		}
		list, more := differences(before, after, 64<<10)
		same := parley.DigestParams(before) == parley.DigestParams(after)
		if same != (len(list) == 0 && !more) {
			t.Errorf("%d differences, more is %v, the same is %v", len(list), more, same)
		}
		written := (&definition{name: one, json: after}).appendChange(nil, parley.Digest{}, before, 64<<10)
		if !jsontext.Value(written).IsValid() {
			t.Errorf("no JSON: %s", written)
		}
		summary, _ := parley.MemberString(written, "summary")
		if len(summary) > space.MaxToolChange || (summary == "") != same {
			t.Errorf("the summary is %q", summary)
		}
	})
}

func TestNesting(t *testing.T) {
	for v, want := range map[string]int{`1`: 0, `{}`: 1, `{"a":[{}]}`: 3, `["[[[","\"[{"]`: 1, `[[],[[]]]`: 3} {
		if got := nesting(jsontext.Value(v)); got != want {
			t.Errorf("%s: %d, want %d", v, got, want)
		}
	}
}

// tool is one of a list, with a description.
func tool(name, description string) Tool {
	return Tool{name, jsontext.Value(fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, description))}
}

func (h *harness) list(participant string, tools ...Tool) {
	h.t.Helper()
	if err := h.g.ToolsListed(h.t.Context(), "demo", participant, tools); err != nil {
		h.t.Fatal(err)
	}
}

// told are the payloads of the notices of tools that are on record.
func (h *harness) told(event string) (payloads []jsontext.Value) {
	h.t.Helper()
	log, err := h.g.Record("demo")
	if err != nil {
		h.t.Fatal(err)
	}
	for rec, err := range log.Read(h.t.Context(), journal.Query{Kinds: []string{parley.KindNotice}}) {
		if err != nil {
			h.t.Fatal(err)
		}
		payload := noticeOf(rec)
		if got, _ := parley.MemberString(payload, "event"); got == event {
			payloads = append(payloads, payload)
		}
	}
	return payloads
}

func TestToolsListed(t *testing.T) {
	j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	h := start(t, Options{Journal: j})
	h.list("ann", tool("read", "reads"), tool("write", "writes"), tool("read", "lies"))
	seen := h.told(space.NoticeToolsSeen)
	if len(seen) != 1 || strings.Contains(string(seen[0]), "lies") || !strings.Contains(string(seen[0]), `"definition":{"name":"read","description":"reads"`) {
		t.Fatalf("%s", seen)
	}
	h.list("ann", tool("write", "writes"))
	h.list("ann", tool("read", "reads"))
	h.list("bob", tool("read", "reads other things"))
	if n := len(h.told(space.NoticeToolsSeen)); n != 2 || len(h.told(space.NoticeToolsChanged)) != 0 {
		t.Errorf("%d notices", n)
	}
	h.list("ann", tool("read", "deletes"))
	changed := h.told(space.NoticeToolsChanged)
	if len(changed) != 1 || !strings.Contains(string(changed[0]), `"summary":"/description: \"reads\" → \"deletes\"","difference":[{"path":"/description","before":"reads","after":"deletes"}],"definition":`) {
		t.Fatalf("%s", changed)
	}

	// A gateway that starts again knows all of it, and finds the definition before.
	h.stop()
	j.Close()
	h = start(t, Options{Journal: j})
	t.Cleanup(func() { j.Close() })
	h.list("ann", tool("read", "deletes"), tool("write", "writes"))
	if n := len(h.told(space.NoticeToolsChanged)); n != 1 {
		t.Errorf("%d notices of changes after a start", n)
	}
	h.list("ann", tool("read", "deletes all"), tool("write", "overwrites"))
	changed = h.told(space.NoticeToolsChanged)
	if len(changed) != 2 || !strings.Contains(string(changed[1]), `"before":"deletes","after":"deletes all"`) || !strings.Contains(string(changed[1]), `"before":"writes","after":"overwrites"`) {
		t.Errorf("%s", changed)
	}
}

func TestToolsListedOfWhatServersDo(t *testing.T) {
	h := start(t, Options{})
	deep := strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500)
	h.list("ann",
		Tool{"twice", jsontext.Value(`{"a":1,"a":2}`)},
		Tool{"garbage", jsontext.Value("\xff{")},
		Tool{"deep", jsontext.Value(deep)},
		Tool{"large", jsontext.Value(`"` + strings.Repeat("x", 65<<10) + `"`)},
		Tool{"nothing", nil},
		Tool{strings.Repeat("long", 100), jsontext.Value(`{}`)},
		Tool{"", jsontext.Value(`{}`)},
		Tool{"line\nfeed", jsontext.Value(`{}`)},
		Tool{"\U0001F600 smile", jsontext.Value(`{"$ref":"#"}`)},
	)
	seen := h.told(space.NoticeToolsSeen)
	if len(seen) != 1 || !seen[0].IsValid() {
		t.Fatalf("%s", seen)
	}
	var names []string
	for el := range parley.Elements(parley.Member(seen[0], "tools")) {
		name, _ := parley.MemberString(el, "name")
		if size := parley.Member(el, "size"); size != nil {
			name += " " + string(size)
		}
		names = append(names, name)
	}
	if got, want := strings.Join(names, ", "), "twice 13, garbage 2, deep 3001, large 66562, nothing 0, \U0001F600 smile"; got != want {
		t.Errorf("recorded %s, want %s", got, want)
	}
	h.list("ann", Tool{"large", jsontext.Value(`{}`)}, Tool{"twice", jsontext.Value(`{"a":2,"a":2}`)})
	changed := fmt.Sprintf("%s", h.told(space.NoticeToolsChanged))
	if !strings.Contains(changed, "the definition before is not on record in full") || !strings.Contains(changed, "of 13 bytes, cannot be shown") {
		t.Error(changed)
	}
	err := h.g.ToolsListed(t.Context(), "demo", "nobody", nil)
	if e, ok := err.(*parley.Error); !ok || e.Code != parley.NotFound {
		t.Error(err)
	}
}

// A list of 5,000 tools becomes notices that everybody can take.
func TestToolsListedOfThousands(t *testing.T) {
	h := start(t, Options{})
	var tools []Tool
	for i := range 5_000 {
		tools = append(tools, tool(fmt.Sprint("tool-", i), strings.Repeat("does much. ", 40)))
	}
	h.list("ann", tools...)
	seen, count := h.told(space.NoticeToolsSeen), 0
	for _, payload := range seen {
		if len(payload) > mostToolNotice {
			t.Errorf("a notice of %d bytes", len(payload))
		}
		for range parley.Elements(parley.Member(payload, "tools")) {
			count++
		}
	}
	if count != 5_000 || len(seen) < 2 {
		t.Errorf("%d tools in %d notices", count, len(seen))
	}
	h.list("ann", tools...)
	if n := len(h.told(space.NoticeToolsSeen)); n != len(seen) {
		t.Errorf("%d notices of what is known", n-len(seen))
	}
}

// Where retention has dropped the definition before, that is what is said.
func TestToolsChangeAfterRetention(t *testing.T) {
	s := demo("ann", "bob")
	s.Retention = Retention{Bytes: 20_000}
	k := keep(t, Options{RetainEvery: time.Hour, Spaces: []Space{s}})
	list := func(description string) {
		t.Helper()
		if err := k.g.ToolsListed(t.Context(), "demo", "bob", []Tool{tool("w", description)}); err != nil {
			t.Fatal(err)
		}
	}
	list("writes")
	for range 100 {
		k.send("ann", chat(strings.Repeat("x", 500)))
	}
	if err := k.room().retain(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.restart()
	list("writes")
	list("mails")
	h := &harness{t: t, g: k.g}
	if n := len(h.told(space.NoticeToolsSeen)); n != 0 {
		t.Errorf("%d notices that should have been dropped", n)
	}
	if got := fmt.Sprintf("%s", h.told(space.NoticeToolsChanged)); !strings.Contains(got, `"summary":"the definition before is not on record in full","definition"`) {
		t.Error(got)
	}
	k.verify()
}

// While the journal cannot be written the list is refused, and taken when it is
// told again.
func TestToolsListedWhileTheJournalIsDown(t *testing.T) {
	h := start(t, Options{})
	r := h.g.rooms["demo"]
	if err := r.do(t.Context(), func() { r.draining = true }); err != nil {
		t.Fatal(err)
	}
	err := h.g.ToolsListed(t.Context(), "demo", "ann", []Tool{tool("w", "writes")})
	if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Error(err)
	}
	if err := r.do(t.Context(), func() { r.draining = false }); err != nil {
		t.Fatal(err)
	}
	h.list("ann", tool("w", "writes"))
	if n := len(h.told(space.NoticeToolsSeen)); n != 1 {
		t.Errorf("%d notices", n)
	}
}

func TestToolsOverHTTP(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Pins = map[string]bool{"files": true} })
	list := func(participant string, tools ...Tool) {
		t.Helper()
		if err := h.ToolsListed(t.Context(), "demo", participant, tools); err != nil {
			t.Fatal(err)
		}
	}
	list("files", tool("read", "reads"), tool("write", "writes"))
	list("agent", tool("read", "reads"))
	list("files", tool("read", "reads all"))
	if err := h.ToolsListed(t.Context(), "lazy", "reader", []Tool{tool("read", "reads")}); err != nil {
		t.Error(err)
	}
	h.ask("both", "GET", "/v1/spaces/lazy/tools", "").ok(200).shows(t, `{"items":[]}`)
	var all struct {
		Items []struct {
			Participant, Tool, Digest, Changed string
			Accepted                           bool
			Notice                             uint64
		}
	}
	h.get("agent", "tools?participant=files").into(&all)
	if n := all.Items; len(n) != 2 || n[0].Accepted || n[0].Changed != `/description: "reads" → "reads all"` || !n[1].Accepted || n[0].Notice == 0 {
		t.Errorf("%+v", n)
	}
	h.join("files")
	call := `{"kind":"mcp/request:tools/call:read","to":["files"],"payload":{"method":"tools/call","params":{"name":"read"}}}`
	h.ask("human", "POST", "/v1/spaces/demo/envelopes", call).refused(403, parley.CapabilityViolation)
	h.post("human", "envelopes", fmt.Sprintf(`{"kind":"space/accept-tool","payload":{"participant":"files","tool":"read","digest":%q}}`, all.Items[0].Digest))
	h.post("human", "envelopes", call)
	all.Items = nil
	h.get("agent", "tools").into(&all)
	if n := all.Items; len(n) != 3 || n[0].Participant != "agent" || !n[1].Accepted || n[1].Changed != "" {
		t.Errorf("%+v", n)
	}
	h.ask("agent", "GET", "/v1/spaces/demo/tools?of=files", "").refused(400, parley.InvalidArgument)
}

// shows checks an answer word by word.
func (r reply) shows(t *testing.T, want string) {
	t.Helper()
	if got := strings.TrimSpace(r.body); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// What is collected is said once, also after a start; what was not is found.
func TestCollect(t *testing.T) {
	j := journal.NewMemory(journal.MemoryOptions{Epoch: "e1"})
	h := start(t, Options{Journal: j})
	send := func(from, text string) {
		t.Helper()
		if _, err := h.g.Submit(t.Context(), "demo", from, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	params := jsontext.Value(`{"name":"w","arguments":{"a":1},"_meta":{"progressToken":7}}`)
	kind := parley.Kind{Type: parley.TypeRequest, Method: "tools/call", Subject: "w"}
	find := func() string {
		t.Helper()
		p, found, err := h.g.Uncollected(t.Context(), "demo", "ann", kind, "bob", params)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return ""
		}
		return p.ID + " " + string(p.State)
	}
	send("ann", `{"id":"p","to":["bob"],"kind":"mcp/proposal:tools/call:w","payload":{"method":"tools/call","params":{"arguments":{"a":1},"name":"w"},"collect":true}}`)
	if got := find(); got != "p open" {
		t.Error(got)
	}
	if err := h.g.Collected(t.Context(), "demo", "p"); err == nil {
		t.Error("an open proposal was collected")
	}
	send("cy", `{"kind":"mcp/reject:tools/call:w","correlation_id":"p","payload":{"reason":"no"}}`)
	h.stop()
	j.Close()
	h = start(t, Options{Journal: j})
	t.Cleanup(func() { j.Close() })
	if got := find(); got != "p rejected" {
		t.Error(got)
	}
	for range 2 {
		if err := h.g.Collected(t.Context(), "demo", "p"); err != nil {
			t.Error(err)
		}
	}
	if got := find(); got != "" {
		t.Error(got)
	}
	if n := len(h.told("result_collected")); n != 1 {
		t.Errorf("%d notices", n)
	}
	if err := h.g.Collected(t.Context(), "demo", "nothing"); err == nil {
		t.Error("nothing was collected")
	}

	send("ann", `{"id":"r1","to":["bob"],"kind":"mcp/request:tools/list","payload":{"method":"tools/list"}}`)
	send("ann", `{"id":"r2","to":["bob"],"kind":"mcp/request:tools/list","payload":{"method":"tools/list"}}`)
	send("bob", `{"kind":"mcp/response:tools/list","correlation_id":"r1","payload":{"result":{}}}`)
	open, err := h.g.OpenRequests(context.Background(), "demo", "bob")
	if err != nil || len(open) != 1 || open[0].ID != "r2" || open[0].From != "ann" || open[0].Seq == 0 {
		t.Errorf("%+v %v", open, err)
	}
}
