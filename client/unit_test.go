package client

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// Where a room resumes, and what it takes for new, is told by a sequence of
// welcomes and envelopes.
func TestOrder(t *testing.T) {
	at := func(epoch string, seq uint64) *parley.Position { return &parley.Position{Epoch: epoch, Seq: seq} }
	type step struct {
		after *parley.Position // a welcome; nil for the first without After
		h     History
		seqs  []uint64 // that arrive then
		new   string   // which of them are new
		gap   string
		to    uint64 // where it would resume then
	}
	for name, c := range map[string]struct {
		history int
		limit   int
		steps   []step
	}{
		"from now on": {0, 0, []step{
			{nil, History{Epoch: "e", First: 1, Last: 9}, nil, "[]", "", 9},
			{at("e", 9), History{Epoch: "e", First: 1, Last: 12}, []uint64{10, 11, 12, 12, 13}, "[10 11 12 13]", "", 13},
		}},
		"history is lost half way": {5, 0, []step{
			{nil, History{Epoch: "e", First: 1, Last: 9}, []uint64{5, 6}, "[5 6]", "", 6},
			{at("e", 6), History{Epoch: "e", First: 1, Last: 9}, []uint64{6, 7}, "[7]", "", 7},
		}},
		"history is lost before it began":  {5, 0, []step{{nil, History{Epoch: "e", First: 1, Last: 9}, nil, "[]", "", 4}}},
		"history within the space's limit": {50, 3, []step{{nil, History{Epoch: "e", First: 1, Last: 9}, nil, "[]", "", 6}}},
		"history of a young space":         {50, 0, []step{{nil, History{Epoch: "e", First: 1, Last: 9}, nil, "[]", "", 0}}},
		"after a position": {0, 0, []step{
			{at("e", 4), History{Epoch: "e", First: 1, Last: 9}, []uint64{4, 5}, "[5]", "", 5},
		}},
		"too old": {0, 0, []step{
			{at("e", 4), History{Epoch: "e", First: 7, Last: 9, Gap: true}, []uint64{7}, "[7]", "e/4 e/9", 7},
		}},
		"another epoch": {0, 0, []step{
			{at("e", 40), History{Epoch: "f", First: 1, Last: 9, Gap: true}, []uint64{10, 11}, "[10 11]", "e/40 f/9", 11},
		}},
		"another epoch, history again": {0, 0, []step{
			{at("e", 40), History{Epoch: "f", First: 1, Last: 9, Gap: true}, []uint64{8, 9}, "[8 9]", "e/40 f/9", 9},
		}},
		"ahead of the space": {0, 0, []step{
			{at("e", 40), History{Epoch: "e", First: 1, Last: 9}, []uint64{10}, "[10]", "e/40 e/9", 10},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			var o order
			for i, s := range c.steps {
				w := Welcome{History: s.h, Space: Space{Limits: Limits{History: c.limit}}}
				gap := ""
				if g := o.join(s.after, c.history, &w); g != nil {
					gap = fmt.Sprint(g.After, " ", g.Next)
				}
				accepted := []uint64{}
				for _, seq := range s.seqs {
					if o.accept(seq) {
						accepted = append(accepted, seq)
					}
				}
				if gap != s.gap || fmt.Sprint(accepted) != s.new || *o.after() != (parley.Position{Epoch: s.h.Epoch, Seq: s.to}) {
					t.Errorf("step %d: gap %q, new %v, resumes at %v", i, gap, accepted, o.after())
				}
			}
			if !o.accept(0) {
				t.Error("what has no place is always new")
			}
		})
	}
}

// History under a filter begins further back than it is long.
func TestOrderBeganWithItsFirst(t *testing.T) {
	var o order
	o.join(nil, 5, &Welcome{History: History{Epoch: "e", First: 1, Last: 90}})
	o.accept(2)
	o.accept(88)
	if o.began.Seq != 1 || o.resume.Seq != 88 {
		t.Errorf("it began at %v and resumes at %v", o.began, o.resume)
	}
}

func TestParseEndpoint(t *testing.T) {
	for raw, want := range map[string]string{
		"http://127.0.0.1:7717":             "http://127.0.0.1:7717/ws",
		"http://127.0.0.1:7717/":            "http://127.0.0.1:7717/ws",
		"ws://127.0.0.1:7717/ws":            "http://127.0.0.1:7717/ws",
		"wss://host/base/ws?topic=demo":     "https://host/base/ws?space=demo",
		"https://host/base/?space=a%20b":    "https://host/base/ws?space=a+b",
		"https://user:pass@host/ws?space=x": "https://host/ws?space=x",
	} {
		e, err := parseEndpoint(raw, "")
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got := e.websocket(&Options{}, nil); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
	e, err := parseEndpoint("http://host/base", "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if got := e.call(e.space, "envelopes", "x/y").String(); got != "http://host/base/v1/spaces/a%2Fb/envelopes/x%2Fy" {
		t.Errorf("got %s", got)
	}
}

func TestProgressToken(t *testing.T) {
	for params, want := range map[string]string{
		``:                              `{"_meta":{"progressToken":"q"}}`,
		`{}`:                            `{"_meta":{"progressToken":"q"}}`,
		`{"a":1.0}`:                     `{"_meta":{"progressToken":"q"},"a":1.0}`,
		`{"_meta":{"x":1},"a":1}`:       `{"_meta":{"progressToken":"q","x":1},"a":1}`,
		`{"_meta":{"progressToken":7}}`: `{"_meta":{"progressToken":7}}`,
		`{"_meta":3}`:                   `{"_meta":3}`,
		`[1]`:                           `[1]`,
	} {
		var v jsontext.Value
		if params != "" {
			v = jsontext.Value(params)
		}
		if got := string(withProgressToken(v, "q")); got != want {
			t.Errorf("%s: got %s, want %s", params, got, want)
		}
	}
}

func TestWindow(t *testing.T) {
	w := newWindow[int](2)
	if !w.add("a", 1) || w.add("a", 2) || !w.add("b", 3) || !w.add("c", 4) {
		t.Error("what is new is not told")
	}
	if _, ok := w.get("a"); ok {
		t.Error("the oldest is still there")
	}
	if v, ok := w.get("c"); !ok || v != 4 {
		t.Error("the newest is not there")
	}
}

func TestOutboxBounds(t *testing.T) {
	var o outbox
	o.init()
	for i := range maxDetached {
		if _, err := o.add(fmt.Sprint(i), nil, false); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := o.add("more", nil, false); err == nil {
		t.Error("one more was taken")
	}
	if _, err := o.add("0", nil, true); err == nil {
		t.Error("the same id was taken twice")
	}
	s, err := o.add("waited", nil, true)
	if err != nil {
		t.Fatal(err)
	}
	o.close(ErrClosed)
	if res := <-s.done; res.err != ErrClosed {
		t.Errorf("got %v", res.err)
	}
	if _, err := o.add("late", nil, true); err != ErrClosed {
		t.Errorf("got %v", err)
	}
}

// Whatever arrives, the room stands, and believes the gateway alone.
func FuzzFrame(f *testing.F) {
	for _, frame := range []string{
		`{"seq":1,"from":"you","to":["me"],"kind":"mcp/request:tools/call:x","payload":{"method":"tools/call","params":{"name":"x"}}}`,
		`{"seq":1,"from":"you","to":["me"],"kind":"mcp/request:tools/call:y","payload":{"method":"tools/call","params":{"name":"x"}}}`,
		`{"from":"you","to":["me"],"correlation_id":"q","kind":"mcp/request:notifications/cancelled","payload":{"method":"notifications/cancelled","params":{"requestId":"q"}}}`,
		`{"from":"system:gateway","kind":"system/welcome","payload":{"you":{"id":"me","capabilities":["chat",{"kind":"x"}]},"participants":[{}],"space":{"limits":{"envelope_bytes":1e99}}}}`,
		`{"from":"system:gateway","kind":"system/presence","payload":{"event":"join","participant":{"id":7}}}`,
		`{"from":"system:gateway","correlation_id":["q"],"kind":"system/error","payload":{"error":"duplicate_id","seq":3}}`,
		`{"from":"system:gateway","kind":"system/ack","payload":{"id":"q","seq":-1}}`,
		`{"from":"you","correlation_id":"p","kind":"mcp/request:tools/list","payload":{"method":"tools/list"}}`,
	} {
		f.Add([]byte(frame))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := newRoom("http://host", &Options{Strict: true, Buffer: 4})
		if err != nil {
			t.Fatal(err)
		}
		r.welcome.You.ID = "me"
		before := string(r.welcome.You.ID)
		p, err := NewProposal("", "tools/list", nil, WithID("p"))
		if err != nil {
			t.Fatal(err)
		}
		r.offers.follow(r, p)
		r.take(t.Context(), data)
		e, err := parley.Decode(data, maxNesting)
		if (err != nil || e.From != parley.GatewayID) && r.ID() != before {
			t.Errorf("%s made us %q", data, r.ID())
		}
	})
}
