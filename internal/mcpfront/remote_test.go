package mcpfront_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/internal/mcpfront"
	"github.com/parleyhq/parley/internal/space"
)

// TestServerWithoutMeasure holds that one whose lists have no end, or are none,
// costs its own tools and nothing else.
func TestServerWithoutMeasure(t *testing.T) {
	t.Parallel()
	// A list whose time is over before its pages are is read anew.
	s := begin(t, mcpfront.Options{Patience: patience}, func(r *space.Rules) { r.Limits.Rate, r.Limits.Burst = 100_000, 100_000 })
	s.offer("remote", nil)
	var pages atomic.Int64
	s.join("remote", client.Options{Handler: func(_ context.Context, q *client.Request) (any, error) {
		switch q.Kind.Method {
		case "initialize":
			return jsontext.Value(`[7]`), nil
		case "tools/list":
			return jsontext.Value(fmt.Sprintf(`{"tools":[{"name":"t%d"},{"name":7},"x"],"nextCursor":"more"}`, pages.Add(1))), nil
		}
		return jsontext.Value(`"none"`), nil
	}})
	in := s.session("/mcp/demo", "agent", `{}`)
	for range 2 {
		if got := s.do(request{headers: []string{in}, body: call(1, "tools/list", `{}`)}).last(); !strings.Contains(got, "files__echo") {
			t.Errorf("%.300s", got)
		}
	}
	if n := pages.Load(); n > 1_000 {
		t.Errorf("%d pages were read", n)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.listed) > 0 {
		t.Errorf("told of lists of %v", s.listed)
	}
}

// TestServerThatJoinsByItself holds that its lists are read in the room, by the
// rights of who asks, and again when they change.
func TestServerThatJoinsByItself(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	s.offer("remote", nil)
	var asked, tools atomic.Int64
	tools.Store(3)
	room := s.join("remote", client.Options{Handler: func(_ context.Context, q *client.Request) (any, error) {
		asked.Add(1)
		cursor, _ := parley.MemberString(q.Params, "cursor")
		switch q.Kind.Method {
		case "initialize":
			return jsontext.Value(`{"capabilities":{"tools":{}},"serverInfo":{"name":"r","version":"1"}}`), nil
		case "tools/list":
			at := len(cursor)
			next := ""
			if int64(at+1) < tools.Load() {
				next = `,"nextCursor":"` + cursor + `x"`
			}
			return jsontext.Value(fmt.Sprintf(`{"tools":[{"name":"t%d","inputSchema":{}},7,null]%s}`, at, next)), nil
		}
		return jsontext.Value(`{"content":[]}`), nil
	}})
	in := s.session("/mcp/demo", "agent", `{}`)
	names := func(as, in string) (list []string) {
		last := s.do(request{as: as, headers: []string{in}, body: call(1, "tools/list", `{}`)}).last()
		for v := range parley.Elements(jsontext.Value(member(t, last, "result", "tools"))) {
			if name, _ := parley.MemberString(v, "name"); strings.HasPrefix(name, "remote__") {
				list = append(list, name)
			}
		}
		return list
	}
	if got := names("agent", in); !slices.Equal(got, []string{"remote__t0", "remote__t1", "remote__t2"}) {
		t.Errorf("%q", got)
	}
	before := asked.Load()
	names("agent", in)
	if r := s.do(request{headers: []string{in}, body: call(1, "tools/call", `{"name":"remote__t2"}`)}); member(t, r.last(), "result", "content") != "[]" {
		t.Errorf("%s", r.last())
	}
	if n := asked.Load() - before; n != 1 {
		t.Errorf("%d requests for what was known, and a call", n)
	}
	get := s.open(request{method: http.MethodGet, headers: []string{in}})
	tools.Store(1)
	if _, err := room.Notify(t.Context(), "", "notifications/tools/list_changed", nil); err != nil {
		t.Fatal(err)
	}
	get.next()
	if got := names("agent", in); len(got) != 1 {
		t.Errorf("%q", got)
	}
	// Who may not read the lists does not make them empty for others.
	if got := names("silent", s.session("/mcp/demo", "silent", `{}`)); len(got) != 0 {
		t.Errorf("%q", got)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.listed, []int{9, 3}) {
		t.Errorf("told of lists of %v", s.listed)
	}
}

// TestServerIsDown holds that nobody waits for an answer that nobody will give.
func TestServerIsDown(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{}, nil)
	shared, through := s.session("/mcp/demo", "agent", `{}`), s.session("/mcp/demo/wiki", "agent", `{}`)
	s.offer("wiki", nil)
	for _, q := range []request{
		{headers: []string{shared}, body: call(1, "tools/call", `{"name":"wiki__search"}`)},
		{headers: []string{shared}, body: call(2, "resources/read", `{"uri":"parley://wiki/wiki:///home"}`)},
		{path: "/mcp/demo/wiki", headers: []string{through}, body: call(3, "tools/call", `{"name":"search"}`)},
	} {
		if got := s.do(q).last(); !strings.Contains(got, "target_absent") {
			t.Errorf("%s: %.300s", q.body, got)
		}
	}
}

// TestSlowServer holds that one that does not say what it offers costs its own
// entries, and that a caller whose own session takes its time is shown what
// everybody is.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	s := begin(t, mcpfront.Options{Patience: 20 * time.Millisecond}, nil)
	in := s.session("/mcp/demo", "agent", `{}`)
	own := s.session("/mcp/demo", "agent", `{"elicitation":{}}`)
	through := s.session("/mcp/demo/wiki", "agent", `{}`)
	s.slow = map[string]string{"wiki": "", "files": "own"}
	for _, session := range []string{in, own} {
		got := s.do(request{headers: []string{session}, body: call(1, "tools/list", `{}`)}).last()
		if !strings.Contains(got, "files__echo") || strings.Contains(got, "wiki__") {
			t.Errorf("%.400s", got)
		}
	}
	got := s.do(request{path: "/mcp/demo/wiki", headers: []string{through}, body: call(1, "tools/list", `{}`)}).last()
	if !strings.Contains(got, "has not said what it offers") {
		t.Errorf("%.400s", got)
	}
}
