package mcpfront

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
	"github.com/parleyhq/parley/internal/mcp"
)

// FuzzDecode holds that whatever a body is, its answer is JSON on one line, and
// that what is taken can be read in one way alone.
func FuzzDecode(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[]`, `{"id":1}`, "{\n\"jsonrpc\":\"2.0\",\r\"id\":\"\\n\",\"method\":\"\\u0000\"}",
		`{"jsonrpc":"2.0","id":1e400,"method":"a","params":{}}`, `{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}`, "{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}",
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1}}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		m, problem := decode(bytes.Clone(body))
		answer := jsonrpc.EncodeResult(m.ID, jsontext.Value(`{}`))
		if problem != nil {
			answer = jsonrpc.EncodeError(m.ID, problem)
		} else if m.ID == nil {
			answer = jsonrpc.EncodeError(nil, methodNotFound(m.Method))
		}
		if !jsontext.Value(answer).IsValid() || bytes.ContainsAny(answer, "\r\n") {
			t.Fatalf("the answer to %q is %q", body, answer)
		}
		if problem != nil {
			return
		}
		if !jsontext.Value(body).IsValid() || m.Fault != nil {
			t.Fatalf("%q was taken", body)
		}
		if m.Params != nil && m.Method != "" && m.Params.Kind() != '{' {
			t.Fatalf("%q has the params %s", body, m.Params)
		}
	})
}

// FuzzCheckModern holds that what passes says the same in headers and body.
func FuzzCheckModern(f *testing.F) {
	f.Add("tools/call", `{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`, "2026-07-28", "tools/call", "a", "")
	f.Add("tools/list", `{}`, "2026-07-28", " tools/list ", "=?base64?YQ==?=", "x")
	f.Fuzz(func(t *testing.T, method, params, version, headerMethod, name, session string) {
		if !jsontext.Value(params).IsValid() {
			return
		}
		h := http.Header{}
		for key, value := range map[string]string{mcp.VersionHeader: version, mcp.MethodHeader: headerMethod, mcp.NameHeader: name, mcp.SessionHeader: session} {
			if value != "" {
				h.Set(key, value)
			}
		}
		m := jsonrpc.Message{ID: jsontext.Value("1"), Method: method, Params: jsontext.Value(params)}
		if problem := checkModern(h, m); problem != nil {
			if !problem.JSON().IsValid() {
				t.Fatalf("%s", problem.JSON())
			}
			return
		}
		if version != mcp.Modern && strings.TrimSpace(version) != mcp.Modern || strings.TrimSpace(headerMethod) != method || session != "" || !isModern(h, m) {
			t.Fatalf("%q %q %q %q passed", version, headerMethod, method, session)
		}
		if want, has := mcp.NameOf(method, m.Params); has {
			if got, ok := mcp.DecodeHeader(strings.TrimSpace(name)); !ok || got != want {
				t.Fatalf("%q stands for %q", name, want)
			}
		}
	})
}

// FuzzCursor holds that a cursor comes back as the key that it was made of.
func FuzzCursor(f *testing.F) {
	f.Add("files__a", `"eA"`)
	f.Add("\x00\xff", `7`)
	f.Fuzz(func(t *testing.T, key, cursor string) {
		if got, err := readCursor(mcp.Quote(writeCursor(key))); key != "" && (err != nil || got != key) {
			t.Fatalf("%q came back as %q, %v", key, got, err)
		}
		if v := jsontext.Value(cursor); v.IsValid() {
			_, _ = readCursor(v)
		}
	})
}

// FuzzEvents holds that events are read as they were put: no message and no id
// can make another of itself.
func FuzzEvents(f *testing.F) {
	f.Add("r1", []byte(`{"a":"b\nc"}`), "r1-1")
	f.Add("", []byte("{\n\"a\":1}"), "g--1")
	f.Fuzz(func(t *testing.T, id string, params []byte, last string) {
		if _, n, ok := readEventID(last); ok && n < 0 {
			t.Fatalf("%q is number %d", last, n)
		}
		if !jsontext.Value(params).IsValid() || strings.ContainsAny(id, "\r\n\x00-: ") {
			return
		}
		o := newOutlet(id)
		want := []string{
			string(jsonrpc.EncodeRequest(nil, "notifications/message", params)),
			string(jsonrpc.EncodeResult(jsontext.Value(`"\n"`), params)),
		}
		o.put([]byte(want[0]), false)
		o.finish([]byte(want[1]), nil)
		w := httptest.NewRecorder()
		if err := o.follow(t.Context(), w, 0, o.claim()); err != nil {
			t.Fatal(err)
		}
		var got []string
		for e, err := range mcp.Events(bytes.NewReader(w.Body.Bytes()), 1<<20) {
			if err != nil {
				t.Fatal(err)
			}
			if len(e.Data) > 0 {
				got = append(got, string(e.Data))
			}
			if outlet, _, ok := readEventID(e.ID); id != "" && (!ok || outlet != id) {
				t.Fatalf("the id %q", e.ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

// TestOutletKeeps holds what goes first where there is no room: what nobody
// waits for.
func TestOutletKeeps(t *testing.T) {
	o := newOutlet("x")
	o.put([]byte("request"), true)
	for range maxEvents + 10 {
		o.put([]byte("note"), false)
	}
	o.finish([]byte("answer"), nil)
	o.put([]byte("late"), true)
	list, over, _, _ := o.after(0, 0)
	if len(list) != maxEvents || !over || string(list[0].msg) != "request" || string(list[len(list)-1].msg) != "answer" {
		t.Errorf("%d events are kept, from %s to %s", len(list), list[0].msg, list[len(list)-1].msg)
	}
	o = newOutlet("y")
	for range 10 {
		o.put(make([]byte, maxEventBytes/2), true)
	}
	if list, _, _, _ = o.after(0, 0); len(list) != 2 {
		t.Errorf("%d large ones are kept", len(list))
	}
}
