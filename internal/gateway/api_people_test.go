package gateway

import (
	"strings"
	"testing"

	"github.com/parleyhq/parley"
)

func TestParticipants(t *testing.T) {
	h := newHouse(t)
	h.join("files")
	const files = `{"id":"files","present":true,"connections":1,"capabilities":["mcp/response:*"],"since":"2026-11-20T12:00:00.000Z"}`
	if got, want := h.get("agent", "participants?present=true").body, `{"items":[`+files+`],"total":1}`+"\n"; got != want {
		t.Errorf("got  %swant %s", got, want)
	}
	if got := h.get("agent", "participants/files").body; got != files+"\n" {
		t.Errorf("got  %swant %s", got, files)
	}
	for query, want := range map[string]string{
		"":                      "agent files hasty human of 4",
		"?present=false":        "agent hasty human of 3",
		"?q=A":                  "agent hasty human of 3",
		"?q=zz":                 " of 0",
		"?limit=2":              "agent files of 4, next files",
		"?limit=2&after=files":  "hasty human of 4",
		"?limit=1&after=agent":  "files of 4, next files",
		"?q=a&limit=1&after=b":  "hasty of 3, next hasty",
		"?after=zz":             " of 4",
		"?present=true&after=f": "files of 1",
	} {
		var list struct {
			Items []struct{ ID string }
			Next  string
			Total int
		}
		h.get("agent", "participants"+query).into(&list)
		var ids []string
		for _, one := range list.Items {
			ids = append(ids, one.ID)
		}
		got := strings.Join(ids, " ") + " of " + string(rune('0'+list.Total))
		if list.Next != "" {
			got += ", next " + list.Next
		}
		if got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	for _, query := range []string{"?present=maybe", "?limit=0", "?limit=1001", "?q=", "?q=a&q=b"} {
		h.ask("agent", "GET", "/v1/spaces/demo/participants"+query, "").refused(400, parley.InvalidArgument)
	}
	h.ask("agent", "GET", "/v1/spaces/demo/participants/nobody", "").refused(404, parley.NotFound)
	h.ask("agent", "GET", "/v1/spaces/lazy/participants/reader", "").refused(404, parley.NotFound)
}

// Grants are told with who gave them and when they end, and without what was
// taken of them.
func TestGrantsAreListed(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Pins = map[string]bool{"files": true} })
	h.post("human", "envelopes", `{"id":"g1","kind":"capability/grant","payload":{"recipient":"agent","capabilities":["mcp/request:tools/call:w","mcp/request:tools/call:x"],"expires":"2026-11-20T13:00:00Z"}}`)
	h.post("human", "envelopes", `{"id":"g2","kind":"capability/grant","payload":{"recipient":"agent","capabilities":[{"kind":"chat","to":["human"]}]}}`)
	h.post("human", "envelopes", `{"kind":"capability/revoke","payload":{"recipient":"agent","capabilities":["mcp/request:tools/call:x"]}}`)
	got := h.get("files", "participants/agent").body
	const want = `"grants":[{"id":"g1","seq":1,"from":"human","capabilities":["mcp/request:tools/call:w"],"expires":"2026-11-20T13:00:00.000Z"},` +
		`{"id":"g2","seq":2,"from":"human","capabilities":[{"kind":"chat","to":["human"]}]}]}`
	if !strings.Contains(got, want) {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if err := h.ToolsListed(t.Context(), "demo", "files", []Tool{{Name: "w", Definition: []byte(`{"name":"w"}`)}}); err != nil {
		t.Fatal(err)
	}
	if got := h.get("human", "participants/files").body; !strings.Contains(got, `"tools":1,"pinned":true`) {
		t.Errorf("got %s", got)
	}
}

func TestMay(t *testing.T) {
	h := newHouse(t)
	for _, c := range []struct{ of, body, want string }{
		{"agent", `{"kind":"chat"}`, `{"participant":"agent","kind":"chat","allowed":true,"by":"chat","why":"this pattern matches, and no denial does"}`},
		{"hasty", `{"kind":"note"}`, `{"participant":"hasty","kind":"note","allowed":false,"needs":"note","why":"no pattern matches","refusal":{"error":"capability_violation","message":"you may not send note"}}`},
		{"agent", `{"kind":"mcp/request:tools/call:w"}`, `{"participant":"agent","kind":"mcp/request:tools/call:w","allowed":false,"needs":"mcp/request:tools/call:w","why":"no pattern matches",` +
			`"refusal":{"error":"capability_violation","message":"you may not send mcp/request:tools/call:w","hint":"send it as mcp/proposal:tools/call:w, and somebody who may can fulfil it"}}`},
		{"agent", `{"kind":"nonsense ","from":"agent"}`, `{"participant":"agent","allowed":false,"why":"`},
	} {
		got := h.ask("files", "POST", "/v1/spaces/demo/participants/"+c.of+"/may", c.body).ok(200).body
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s\ngot  %s\nwant %s", c.of, c.body, got, c.want)
		}
	}
	h.post("human", "envelopes", `{"kind":"capability/grant","payload":{"recipient":"hasty","capabilities":[{"kind":"mcp/request:tools/call:w","params":{"arguments":{"path":"/w/*"}}}]}}`)
	got := h.ask("hasty", "POST", "/v1/spaces/demo/participants/hasty/may", `{"kind":"mcp/request:tools/call:w"}`).ok(200).body
	if !strings.Contains(got, `"allowed":false,"depends":true,"by":{"kind":"mcp/request:tools/call:w","params":`) {
		t.Errorf("got %s", got)
	}

	// It is a question: nothing is on record but the grant, also of what would have
	// been refused.
	var head struct{ Index, Seq uint64 }
	h.get("human", "head").into(&head)
	if head.Seq != 1 || head.Index > 2 {
		t.Errorf("the head is %+v", head)
	}

	const path = "/v1/spaces/demo/participants/"
	h.ask("", "POST", path+"agent/may", `{"kind":"chat"}`).refused(401, parley.Unauthorized)
	h.ask("agent", "POST", path+"nobody/may", `{"kind":"chat"}`).refused(404, parley.NotFound)
	h.ask("agent", "POST", path+"agent/may", ``).refused(400, parley.MalformedEnvelope)
	h.ask("agent", "POST", path+"agent/may", `{"kind":"chat","KIND":"x"}`).refused(400, parley.MalformedEnvelope)
	h.ask("agent", "POST", path+"agent/may?x=1", `{"kind":"chat"}`).refused(400, parley.InvalidArgument)
	h.ask("agent", "POST", path+"agent/may", `{"kind":"chat","payload":"`+strings.Repeat("x", 5000)+`"}`).refused(413, parley.EnvelopeTooLarge)
	h.ask("agent", "POST", "/v1/spaces/lazy/participants/reader/may", `{"kind":"chat"}`).refused(404, parley.NotFound)
}

// Questions are not asked faster than envelopes are sent.
func TestMayIsLimited(t *testing.T) {
	h := newHouse(t, func(o *Options) { o.Spaces[0].Rules.Limits.Burst = 2 })
	ask := func() reply {
		return h.ask("agent", "POST", "/v1/spaces/demo/participants/human/may", `{"kind":"chat"}`)
	}
	ask().ok(200)
	ask().ok(200)
	ask().refused(429, parley.RateLimited)
}
