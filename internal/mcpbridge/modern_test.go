package mcpbridge

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/parleyhq/parley"
	mcpwords "github.com/parleyhq/parley/internal/mcp"
)

// anyEra is a server whose era is to be found out.
func anyEra(s Server) Server {
	s.Era = ""
	return s
}

func TestModernSDKServer(t *testing.T) {
	t.Run("stdio", func(t *testing.T) { testModernSDKServer(t, anyEra(testServer(t, "sdk"))) })
	t.Run("http", func(t *testing.T) {
		_, at := serveHTTP(t, newSDKHandler(&mcp.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true}))
		testModernSDKServer(t, anyEra(at))
	})
}

func testModernSDKServer(t *testing.T, s Server) {
	notes := make(chan string, 100)
	u := open(t, s, &Options{OnNotification: func(_ context.Context, method string, params jsontext.Value) {
		if strings.Contains(string(params), "subscriptionId") {
			t.Errorf("%s has %s", method, params)
		}
		uri, _ := parley.MemberString(params, "uri")
		notes <- strings.TrimSpace(method + " " + uri)
	}})
	if u.Info().Version != mcpwords.Modern || parley.Member(u.Info().Capabilities(), "tools") == nil {
		t.Fatalf("got %s", u.Info().Raw)
	}
	got, err := callTool(t.Context(), u, "echo", "hi")
	if err != nil || !strings.Contains(string(got), `"hi"`) {
		t.Errorf("got %s, %v", got, err)
	}
	// What nobody may declare twice stays as the caller declared it.
	_, err = u.Call(t.Context(), "tools/call", jsontext.Value(`{"name":"echo","_meta":{"`+mcpwords.MetaVersion+`":"2031-01-01"}}`), nil)
	if err != nil {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := callTool(ctx, u, "block", "")
		ended <- err
	}()
	go func() { // the server is at work on the first call as soon as it takes another
		_, _ = callTool(t.Context(), u, "echo", "")
		cancel()
	}()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	heard := func(want string) {
		t.Helper()
		select {
		case got := <-notes:
			if got != want {
				t.Errorf("heard %q, want %q", got, want)
			}
		case <-time.After(10 * time.Second):
			t.Errorf("not heard: %q", want)
		}
	}
	if err := u.Subscribe(t.Context(), []string{"test://a"}); err != nil {
		t.Fatal(err)
	}
	if _, err := callTool(t.Context(), u, "touch", "test://a"); err != nil {
		t.Fatal(err)
	}
	heard(resourceUpdated + " test://a")
	if err := u.Subscribe(t.Context(), []string{"test://b", "test://c"}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"test://a", "test://b"} {
		if _, err := callTool(t.Context(), u, "touch", uri); err != nil {
			t.Fatal(err)
		}
	}
	heard(resourceUpdated + " test://b")
	if err := u.Subscribe(t.Context(), []string{"test://refused"}); err == nil {
		t.Error("a subscription that was refused stands")
	}
	if err := u.Subscribe(t.Context(), []string{"test://c"}); err != nil {
		t.Fatal(err)
	}
	if _, err := callTool(t.Context(), u, "grow", ""); err != nil {
		t.Fatal(err)
	}
	heard("notifications/tools/list_changed")
}

// TestEras finds out the eras of servers that know nothing of such questions.
func TestEras(t *testing.T) {
	answering := func(answer string) func(in io.Reader, out io.Writer) {
		return func(in io.Reader, out io.Writer) {
			scan := newScanner(in)
			for scan.Scan() {
				line := jsontext.Value(scan.Text())
				if method, _ := parley.MemberString(line, "method"); method != "server/discover" {
					rawServer{strings.NewReader(scan.Text()), out}.run()
				} else if answer != "" {
					fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,%s}`+"\n", parley.Member(line, "id"), answer)
				}
			}
		}
	}
	for _, c := range []struct{ name, answer, version string }{
		{"method not found", `"error":{"code":-32601,"message":"?"}`, "2025-06-18"},
		{"an error without sense", `"error":"?"`, "2025-06-18"},
		{"no answer", ``, "2025-06-18"},
		{"anything is fine", `"result":{}`, "2025-06-18"},
		{"a broken answer", `"result":{"a":1,"a":1}`, "2025-06-18"},
		{"a list of tools", `"result":{"tools":[]}`, "2025-06-18"},
		{"no list", `"result":{"supportedVersions":"2026-07-28"}`, "2025-06-18"},
		{"others", `"result":{"supportedVersions":["2025-11-25",1]}`, "2025-06-18"},
		{"modern", `"result":{"supportedVersions":["2025-11-25","2026-07-28"],"capabilities":{}}`, mcpwords.Modern},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u, err := connectMemoryOf(t.Context(), "", nil, answering(c.answer))
				if err != nil {
					t.Fatal(err)
				}
				defer u.Close()
				if u.Info().Version != c.version {
					t.Errorf("it speaks %s", u.Info().Version)
				}
			})
		})
	}
	t.Run("it dies of the question", func(t *testing.T) {
		if u := open(t, anyEra(testServer(t, "fearful")), nil); u.Info().Version != "2025-06-18" {
			t.Errorf("it speaks %s", u.Info().Version)
		}
	})
	t.Run("modern is wanted", func(t *testing.T) {
		s := testServer(t, "raw")
		s.Era = Modern
		_, err := Connect(t.Context(), s, nil)
		if !errors.Is(err, &parley.Error{Code: parley.Unavailable}) || !strings.Contains(err.Error(), "does not speak 2026-07-28") {
			t.Errorf("got %v", err)
		}
	})
	t.Run("over HTTP", func(t *testing.T) {
		for _, status := range []int{400, 404, 405, 500} {
			s := &script{}
			_, at := serveHTTP(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Header.Get(mcpwords.VersionHeader) == mcpwords.Modern {
					w.Header().Set(mcpwords.SessionHeader, "not a session")
					w.WriteHeader(status)
					return
				}
				s.ServeHTTP(w, r)
			}))
			u := open(t, anyEra(at), nil)
			if u.Info().Version != "2025-03-26" {
				t.Errorf("%d: it speaks %s", status, u.Info().Version)
			}
			u.Close()
			if all := strings.Join(s.seen, "\n"); strings.Contains(all, "not a session") {
				t.Errorf("got %s", all)
			}
		}
	})
}

// fearful ends unless it hears initialize first.
func fearful(in io.Reader, out io.Writer) {
	r := bufio.NewReader(in)
	first, _ := r.ReadString('\n')
	if !strings.Contains(first, `"initialize"`) {
		return
	}
	rawServer{io.MultiReader(strings.NewReader(first), r), out}.run()
}

func TestWithoutModern(t *testing.T) {
	const v, i, c, l = `"io.modelcontextprotocol/protocolVersion":"2026-07-28"`, `"io.modelcontextprotocol/clientInfo":{}`,
		`"io.modelcontextprotocol/clientCapabilities":{"sampling":{}}`, `"io.modelcontextprotocol/logLevel":"debug"`
	for _, one := range [][2]string{
		{`{"a":9007199254740993 }`, `{"a":9007199254740993 }`},
		{`{ "_meta" : {"x": 1} }`, `{ "_meta" : {"x": 1} }`},
		{`{"a":1.0,"_meta":{` + v + `,` + i + `,` + c + `,` + l + `}}`, `{"a":1.0}`},
		{`{"a":1,"_meta":{` + v + `,"progressToken":1.0,"io.modelcontextprotocol/related-task":{}}}`,
			`{"a":1,"_meta":{"progressToken":1.0,"io.modelcontextprotocol/related-task":{}}}`},
		{`{"_meta":{}}`, `{"_meta":{}}`},
		{`{"_meta":3}`, `{"_meta":3}`},
		{`[]`, `[]`},
		{``, ``},
	} {
		if got := withoutModern(jsontext.Value(one[0])); string(got) != one[1] {
			t.Errorf("%s became %s", one[0], got)
		}
	}
}

func TestHeaders(t *testing.T) {
	u := &Upstream{}
	u.modern.Store(true)
	u.learn([]jsontext.Value{jsontext.Value(`{"name":"t","inputSchema":{"properties":{
		"plain":{"type":"string","x-mcp-header":"Plain"},"n":{"x-mcp-header":"N"},"b":{"x-mcp-header":"B"},"bad":{"x-mcp-header":"a b"},
		"o":{"properties":{"deep":{"x-mcp-header":"Deep"}}},"x":{"x-mcp-header":"X"}}}}`)})
	for _, c := range []struct{ method, params, want string }{
		{"tools/call", `{"name":"t","arguments":{"plain":"a b","n":3.0,"b":true,"bad":"x","o":{"deep":"grüß"},"x":[]}}`,
			"Mcp-Method=tools/call Mcp-Name=t Mcp-Param-B=true Mcp-Param-Deep==?base64?Z3LDvMOf?= Mcp-Param-N=3 Mcp-Param-Plain=a b"},
		{"tools/call", `{"name":"t","arguments":{"plain":null,"n":1e300,"b":" x"}}`, "Mcp-Method=tools/call Mcp-Name=t Mcp-Param-B==?base64?IHg=?="},
		{"tools/call", `{"name":"a\r\nEvil: 1"}`, "Mcp-Method=tools/call Mcp-Name==?base64?YQ0KRXZpbDogMQ==?="},
		{"prompts/get", `{"name":"=?base64?x?="}`, "Mcp-Method=prompts/get Mcp-Name==?base64?PT9iYXNlNjQ/eD89?="},
		{"resources/read", `{"uri":"test://a"}`, "Mcp-Method=resources/read Mcp-Name=test://a"},
		{"tools/list", `{"name":"t"}`, "Mcp-Method=tools/list"},
	} {
		h := u.headers(c.method, jsontext.Value(c.params))
		var got []string
		for _, name := range []string{"Mcp-Method", "Mcp-Name", "Mcp-Param-B", "Mcp-Param-Bad", "Mcp-Param-Deep", "Mcp-Param-N", "Mcp-Param-Plain", "Mcp-Param-X"} {
			if h.Get(name) != "" {
				got = append(got, name+"="+h.Get(name))
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %s\ngot  %s\nwant %s", c.method, c.params, strings.Join(got, " "), c.want)
		}
	}
}

func TestUnknownResultType(t *testing.T) {
	u := &Upstream{}
	u.modern.Store(true)
	for _, c := range []struct {
		method, result string
		ok             bool
	}{
		{"tools/call", `{}`, true},
		{"tools/call", `{"resultType":"complete"}`, true},
		{"tools/call", `{"resultType":"input_required"}`, true},
		{"tools/list", `{"resultType":"input_required"}`, false},
		{"tools/call", `{"resultType":"song"}`, false},
		{"tools/call", `{"resultType":1}`, false},
	} {
		if err := u.judge(c.method, jsontext.Value(c.result)); (err == nil) != c.ok || err != nil && !errors.Is(err, ErrBadAnswer) {
			t.Errorf("%s of %s: %v", c.result, c.method, err)
		}
	}
}

// TestHeadersOfArguments calls a server that insists on them.
func TestHeadersOfArguments(t *testing.T) {
	h := newSDKHandler(&mcp.StreamableHTTPOptions{Stateless: true})
	region := func(header string) *mcp.Tool {
		return &mcp.Tool{Name: "region", InputSchema: map[string]any{"type": "object", "properties": map[string]any{
			"region": map[string]any{"type": "string", "x-mcp-header": header},
		}}}
	}
	run := func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: req.Extra.Header.Get("Mcp-Param-Region") + req.Extra.Header.Get("Mcp-Param-Place")}}}, nil
	}
	h.servers[0].AddTool(region("Region"), run)
	_, at := serveHTTP(t, h)
	b := bridge(t, anyEra(at), Join{})
	you := b.dial("you")
	call := jsontext.Value(`{"name":"region","arguments":{"region":"süd"}}`)
	r, err := you.Request(t.Context(), "files", "tools/call", call)
	if got := text(t, r, err); got != mcpwords.EncodeHeader("süd") {
		t.Errorf("got %q", got)
	}
	// Nobody has to hear of a change before it counts.
	h.servers[0].AddTool(region("Place"), run)
	r, err = you.Request(t.Context(), "files", "tools/call", call)
	if got := text(t, r, err); got != mcpwords.EncodeHeader("süd") {
		t.Errorf("got %q", got)
	}
}

// TestListeningBreaks sees that it is taken up again, and that what may have
// been missed is told.
func TestListeningBreaks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		notes := make(chan string, 100)
		listens := make(chan string, 10)
		answers := make(chan string, 10)
		u, err := connectMemoryOf(t.Context(), "", &Options{OnNotification: func(_ context.Context, method string, params jsontext.Value) {
			uri, _ := parley.MemberString(params, "uri")
			notes <- strings.TrimSpace(method + " " + uri)
		}}, func(in io.Reader, out io.Writer) {
			scan := newScanner(in)
			for scan.Scan() {
				line := jsontext.Value(strings.Clone(scan.Text()))
				id := parley.Member(line, "id")
				switch method, _ := parley.MemberString(line, "method"); method {
				case "server/discover":
					fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}}}}`+"\n", id)
				case "subscriptions/listen":
					wishes := parley.Member(parley.Member(line, "params"), "notifications")
					listens <- string(wishes)
					switch how := <-answers; how {
					case "ack":
						fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"%s":%s},"notifications":%s}}`+"\n",
							mcpwords.MetaSubscriptionID, id, wishes)
					case "ack and end":
						fmt.Fprintf(out, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"%s":%s},"notifications":%s}}`+"\n",
							mcpwords.MetaSubscriptionID, id, wishes)
						fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{}}`+"\n", id)
					default:
						fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32603,"message":%q}}`+"\n", id, how)
					}
				}
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer u.Close()
		const lists, both = `{"toolsListChanged":true}`, `{"toolsListChanged":true,"resourceSubscriptions":["test://a"]}`
		answers <- "ack and end" // ends at once; the next one stands
		answers <- "ack"
		for range 2 {
			if got := <-listens; got != lists {
				t.Errorf("it listens for %s", got)
			}
		}
		if got := <-notes; got != "notifications/tools/list_changed" {
			t.Errorf("heard %s", got)
		}
		answers <- "ack"
		if err := u.Subscribe(t.Context(), []string{"test://a"}); err != nil || <-listens != both {
			t.Errorf("got %v", err)
		}
		answers <- "no"
		if err := u.Subscribe(t.Context(), []string{"test://b"}); err == nil || !strings.Contains(err.Error(), "no") {
			t.Errorf("got %v", err)
		}
		<-listens
		synctest.Wait()
		if len(listens) > 0 {
			t.Error("it asks for what was refused")
		}
		answers <- "ack and end"
		answers <- "ack"
		if err := u.Subscribe(t.Context(), []string{"test://a"}); err != nil {
			t.Errorf("got %v", err)
		}
		got := []string{<-notes, <-notes}
		if got[0] != "notifications/tools/list_changed" || got[1] != resourceUpdated+" test://a" {
			t.Errorf("heard %q", got)
		}
	})
}
