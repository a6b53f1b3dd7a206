package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/journal"
	"github.com/parleyhq/parley/internal/space"
)

func TestConversation(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	if got := field(t, ann.welcome, "history", "epoch"); got != "e1" {
		t.Errorf("epoch %v", got)
	}
	if got := field(t, ann.welcome, "history", "last"); got != 1.0 {
		t.Errorf("ann's own presence is at %v", got)
	}
	bob := h.join("bob", "")
	if e := ann.next(); e.Kind != parley.KindPresence || e.Seq != 2 {
		t.Errorf("ann sees %s at %d, not bob's presence", e.Kind, e.Seq)
	}
	bob.send(chat("hello"))
	for _, p := range []*peer{ann, bob} {
		if e := p.next(); e.Kind != "chat" || e.From != "bob" || e.Seq != 3 {
			t.Errorf("got %s from %s at %d", e.Kind, e.From, e.Seq)
		}
	}
	bob.send(`{"id":"x1","kind":"system/welcome","payload":{}}`)
	if e := bob.next(); e.Kind != parley.KindError || e.Correlation.IDs[0] != "x1" || field(t, e, "error") != "reserved_kind" {
		t.Errorf("got %s %s", e.Kind, e.Payload)
	}
}

func TestAckWhereThereIsNoEcho(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	for _, query := range []string{"echo=off", "kinds=note"} {
		quiet := h.join("cy", query)
		ann.until(parley.KindPresence)
		quiet.send(`{"id":"` + query + `","kind":"chat","payload":{"text":"psst"}}`)
		e := quiet.next()
		if e.Kind != parley.KindAck || field(t, e, "id") != query || field(t, e, "epoch") != "e1" || e.Seq != 0 {
			t.Errorf("%s: got %s %s", query, e.Kind, e.Payload)
		}
		if echo := ann.until("chat"); float64(echo.Seq) != field(t, e, "seq") {
			t.Errorf("%s: acknowledged %v, delivered at %d", query, field(t, e, "seq"), echo.Seq)
		}
		quiet.ws.Close(websocket.StatusNormalClosure, "")
		ann.until(parley.KindPresence)
	}
}

// An acknowledgement keeps its place in the order.
func TestAckInOrder(t *testing.T) {
	h := serve(t, Options{})
	ann, bob := h.join("ann", "presence=off"), h.join("bob", "echo=off")
	for i := range 200 {
		from := ann
		if i%2 == 1 {
			from = bob
		}
		from.send(chat(fmt.Sprint(i)))
	}
	last := 0.0
	for range 200 {
		e := bob.next()
		seq := float64(e.Seq)
		if e.Kind == parley.KindAck {
			seq = field(t, e, "seq").(float64)
		}
		if seq <= last {
			t.Fatalf("%s at %v comes after %v", e.Kind, seq, last)
		}
		last = seq
	}
}

func TestQueryParameters(t *testing.T) {
	h := serve(t, Options{})
	for _, tc := range []struct{ query, names string }{
		{"history=x", "history"}, {"history=-1", "history"},
		{"routing=some", "routing"}, {"contexts=some", "contexts"}, {"contexts=tree:", "contexts"}, {"contexts=id:a,,b", "contexts"}, {"contexts=type:a%20b", "contexts"},
		{"contexts=id:" + strings.Repeat("a", 5_000), "contexts"},
		{"presence=no", "presence"}, {"echo=", "echo"}, {"exclusive=1", "exclusive"},
		{"kinds=!chat", "kinds"}, {"kinds=", "kinds"}, {"kinds=a" + strings.Repeat(",a", mostRepeated), "kinds"},
		{"kinds=" + strings.Repeat("a", 2_000) + strings.Repeat(","+strings.Repeat("a", 1_000), 3), "kinds"},
		{"after=1", "epoch"}, {"epoch=e1", "after"}, {"after=-1&epoch=e1", "after"},
		{"space=other", "space"}, {"echo=on&echo=off", "echo"}, {"kind=chat", `"kind"`}, {"unknown=1", `"unknown"`},
	} {
		_, res, err := h.dial("ann", tc.query)
		if err == nil || res == nil || res.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %v", tc.query, err)
			continue
		}
		body, _ := io.ReadAll(res.Body)
		var p struct{ Code, Detail string }
		if json.Unmarshal(body, &p) != nil || p.Code != "invalid_argument" || !strings.Contains(p.Detail+":", "parameter "+tc.names+":") {
			t.Errorf("%s: %s", tc.query, body)
		}
	}
	h.join("ann", "routing=directed&contexts=type:reasoning,workflow&presence=off&echo=off&exclusive=on&kinds=chat,mcp/request:*&history=5")
}

func TestWhoMayJoin(t *testing.T) {
	hidden := demo("zoe")
	hidden.Rules.Name = "hidden"
	h := serve(t, Options{Spaces: []Space{demo("ann"), hidden}})
	for _, tc := range []struct {
		path, token string
		status      int
		code        string
	}{
		{"/ws?topic=demo", "", 401, "unauthorized"},
		{"/ws?topic=demo", "Bearer", 401, "unauthorized"},
		{"/ws?topic=demo", "Basic token-ann", 401, "unauthorized"},
		{"/ws?topic=demo", "Bearer wrong", 401, "unauthorized"},
		{"/ws?topic=nowhere", "Bearer wrong", 401, "unauthorized"},
		{"/ws?topic=nowhere", "Bearer token-ann", 404, "not_found"},
		{"/ws?topic=hidden", "Bearer token-ann", 404, "not_found"},
		{"/ws", "Bearer token-ann", 400, "invalid_argument"},
		{"/ws?topic=demo", "Bearer token-ann", 400, "invalid_argument"}, // no handshake
	} {
		req, _ := http.NewRequest("GET", h.url+tc.path, nil)
		if tc.token != "" {
			req.Header.Set("Authorization", tc.token)
		}
		res, err := h.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		res.Body.Close()
		var p struct{ Code string }
		if json.Unmarshal(body, &p); res.StatusCode != tc.status || p.Code != tc.code {
			t.Errorf("%s as %q: %d %s", tc.path, tc.token, res.StatusCode, body)
		}
	}
}

func TestLimitOfConnections(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.Connections = 1
	h := serve(t, Options{Spaces: []Space{s}})
	ann := h.join("ann", "")
	if _, res, err := h.dial("ann", ""); err == nil || res == nil || !strings.Contains(readAll(res.Body), "limit_reached") {
		t.Errorf("a second connection: %v", err)
	}
	ann.ws.Close(websocket.StatusNormalClosure, "")
	h.settle()
	h.join("ann", "")
}

func readAll(r io.Reader) string {
	b, _ := io.ReadAll(r)
	return string(b)
}

// settle waits until a connection that was closed is gone.
func (h *harness) settle() {
	for h.g.connections("demo") > 0 {
		_ = h.g.rooms["demo"].do(context.Background(), func() {})
	}
}

// connections is how many are open in a space.
func (g *Gateway) connections(space string) int { return len(g.rooms[space].everyConn(nil)) }

func TestFramesThatAreNotTaken(t *testing.T) {
	s := demo("ann", "bob")
	s.Rules.Limits.EnvelopeBytes = 1024
	h := serve(t, Options{Spaces: []Space{s}})
	ann := h.join("ann", "")

	ann.send(chat(strings.Repeat("x", 2000)))
	if e := ann.next(); field(t, e, "error") != "envelope_too_large" {
		t.Errorf("too large: %s", e.Payload)
	}
	exact := chat("")
	ann.send(chat(strings.Repeat("x", 1024-len(exact))))
	if e := ann.next(); e.Kind != "chat" {
		t.Errorf("of exactly the limit: %s %s", e.Kind, e.Payload)
	}
	ann.send(`{"kind":"chat","KIND":"chat"}`)
	if e := ann.next(); field(t, e, "error") != "malformed_envelope" {
		t.Errorf("malformed: %s", e.Payload)
	}
	for _, tc := range []struct {
		name string
		typ  websocket.MessageType
		data string
		code websocket.StatusCode
	}{
		{"binary", websocket.MessageBinary, "x", 1003},
		{"not UTF-8", websocket.MessageText, "{\"kind\":\"chat\xff\"}", 1007},
		{"far too large", websocket.MessageText, strings.Repeat("x", 10_000), 4029},
	} {
		bob := h.join("bob", "")
		_ = bob.ws.Write(context.Background(), tc.typ, []byte(tc.data))
		if code := bob.closed(); code != tc.code {
			t.Errorf("%s: closed with %d, want %d", tc.name, code, tc.code)
		}
	}
}

func TestExclusive(t *testing.T) {
	h := serve(t, Options{})
	first, plain := h.join("ann", "exclusive=on"), h.join("ann", "")
	second := h.join("ann", "exclusive=on")
	for _, p := range []*peer{first, plain} {
		if code := p.closed(); code != statusReplaced {
			t.Errorf("closed with %d", code)
		}
	}
	h.join("bob", "") // by now those who were replaced are gone
	if e := second.next(); e.Kind != parley.KindPresence || field(t, e, "participant", "id") != "bob" {
		t.Errorf("the one that stays sees %s %s: the others' end concerned it", e.Kind, e.Payload)
	}
	second.send(chat("still here"))
	second.until("chat")
}

func TestDirected(t *testing.T) {
	h := serve(t, Options{})
	ann, bob := h.join("ann", "routing=directed&presence=off"), h.join("bob", "presence=off")
	for _, to := range []string{`["bob"]`, `["ann"]`, `["cy"]`, `[]`} {
		bob.send(`{"kind":"note","to":` + to + `,"payload":` + to + `}`)
	}
	for _, want := range []string{`["ann"]`, `[]`} {
		if e := ann.next(); string(e.Payload) != want {
			t.Errorf("got what is for %s, want %s", e.Payload, want)
		}
	}
}

func TestKick(t *testing.T) {
	h := serve(t, Options{})
	ann, bob := h.join("ann", ""), h.join("bob", "")
	ann.send(`{"kind":"space/kick","payload":{"participant":"bob","reason":"enough"}}`)
	if e := bob.next(); e.Kind != parley.KindKick {
		t.Errorf("bob sees %s, not why it is closed", e.Kind)
	}
	if code := bob.closed(); code != statusRemoved {
		t.Errorf("closed with %d", code)
	}
	ann.until(parley.KindKick)
	if e := ann.next(); e.Kind != parley.KindPresence || field(t, e, "event") != "leave" {
		t.Errorf("then %s %s", e.Kind, e.Payload)
	}
}

func TestFreshWelcomeKeepsTheOrder(t *testing.T) {
	h := serve(t, Options{})
	ann, bob := h.join("ann", ""), h.join("bob", "")
	ann.send(`{"id":"g","kind":"capability/grant","payload":{"recipient":"bob","capabilities":["chat"]}}`)
	if e := bob.next(); e.Kind != parley.KindGrant {
		t.Errorf("bob sees %s before the grant", e.Kind)
	}
	if e := bob.next(); e.Kind != parley.KindWelcome {
		t.Errorf("bob sees %s after it", e.Kind)
	}
}

func TestHistory(t *testing.T) {
	s := demo("ann", "bob", "cy")
	s.Rules.Limits.History = 5
	p := s.Participants["cy"]
	p.History, p.Settings = 2, space.Settings{PresenceOff: true}
	s.Participants["cy"] = p
	h := serve(t, Options{Spaces: []Space{s}})
	ann := h.join("ann", "")
	for i := range 8 {
		ann.send(chat(fmt.Sprint(i)))
		ann.until("chat")
	}
	for i, tc := range []struct{ id, query, want string }{
		{"bob", "", ""},
		{"bob", "history=2", "6 7"},
		{"bob", "history=100", "3 4 5 6 7"},
		{"cy", "", "6 7"},
		{"cy", "history=0", ""},
		{"bob", "after=6&epoch=e1", "5 6 7"},
		{"bob", "after=6&epoch=e1&history=1", "5 6 7"},
		{"bob", "after=6&epoch=other&history=1", "7 gap"},
		{"bob", "after=99999&epoch=e1", "gap"},
	} {
		// Only notes follow, which mark where the history ends.
		c := h.join(tc.id, tc.query+"&presence=off&kinds=chat,end-"+fmt.Sprint(i))
		ann.send(fmt.Sprintf(`{"kind":"end-%d"}`, i))
		var got []string
		for e := c.next(); e.Kind == "chat"; e = c.next() {
			got = append(got, field(t, e, "text").(string))
		}
		if field(t, c.welcome, "history", "gap") == true {
			got = append(got, "gap")
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s %s: got %v, want %s", tc.id, tc.query, got, tc.want)
		}
		c.ws.CloseNow()
	}
}

func TestRefusalsAreOnRecord(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	const sent = 60
	for i := range sent {
		ann.send(fmt.Sprintf(`{"id":"r%d","kind":"system/error"}`, i))
	}
	for range sent {
		if e := ann.next(); e.Kind != parley.KindError {
			t.Fatalf("got %s", e.Kind)
		}
	}
	ann.ws.CloseNow()
	h.stop()
	single, counted := 0, 0
	reader, _ := h.journal.Reader(context.Background(), "demo")
	for rec := range reader.Read(context.Background(), journal.Query{Chain: true}) {
		switch rec.Type {
		case journal.Refused:
			single++
		case journal.Flood:
			counted += rec.DecodeRefusal().Count
		}
	}
	if single+counted != sent || counted == 0 {
		t.Errorf("%d on record one by one, %d counted, of %d", single, counted, sent)
	}
}

func TestFloodIsEnded(t *testing.T) {
	h := serve(t, Options{})
	ann := h.join("ann", "")
	go func() {
		for range floodRefusals + 100 {
			if ann.ws.Write(context.Background(), websocket.MessageText, []byte(`{"kind":"system/x"}`)) != nil {
				return
			}
		}
	}()
	if code := ann.closed(); code != statusFlooding {
		t.Errorf("closed with %d", code)
	}
}

// A fault in the rules refuses one envelope, and nothing else comes of it.
func TestFaultInOneEnvelope(t *testing.T) {
	s := demo("ann", "bob")
	fault := false
	s.Rules.NewID = func() string {
		if fault {
			fault = false
			panic("no more ids")
		}
		return newID()
	}
	h := serve(t, Options{Spaces: []Space{s}})
	ann := h.join("ann", "")
	_ = h.g.rooms["demo"].do(context.Background(), func() { fault = true })
	ann.send(chat("without an id"))
	if e := ann.next(); field(t, e, "error") != "internal" {
		t.Errorf("got %s %s", e.Kind, e.Payload)
	}
	ann.send(chat("again"))
	if e := ann.next(); e.Kind != "chat" || e.Seq != 2 {
		t.Errorf("got %s at %d", e.Kind, e.Seq)
	}
}

func TestTokensAreNotLogged(t *testing.T) {
	var log strings.Builder
	h := serve(t, Options{Logger: textLog(&log)})
	ann := h.join("ann", "")
	ann.send(`{"kind":"chat","from":"bob","payload":"secret-payload"}`)
	ann.next()
	req := httptest.NewRequest("GET", "/ws?topic=demo", nil)
	req.Header.Set("Authorization", "Bearer secret-wrong")
	h.g.Handler().ServeHTTP(httptest.NewRecorder(), req)
	ann.ws.CloseNow()
	h.stop()
	for _, secret := range []string{"token-ann", "secret-wrong", "secret-payload"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("the log has %s:\n%s", secret, log.String())
		}
	}
}
