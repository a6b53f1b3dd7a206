package client_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
)

const contextJSON = `{"id":"reason/1","type":"reasoning","parent":"top","depth":2,"opener":"agent","first":3,"last":9,"count":4,` +
	`"state":"concluded","opened":"2026-01-02T03:04:05.678Z","touched":"2026-01-02T03:04:06.000Z","metadata":{"n":1}}`

func TestAPIContexts(t *testing.T) {
	g := newGateway(t)
	calls := replies(g, `{"items":[`+contextJSON+`],"next":3}`, `{"items":[{"id":"b","first":2}]}`, contextJSON[:len(contextJSON)-1]+`,"kinds":{"chat":3,"mcp/request:tools/call":1}}`)
	a := newAPI(t, g)
	var ids []string
	for c, err := range a.Contexts(t.Context(), &client.ContextQuery{
		Before: 9, State: client.ContextConcluded, Type: "reasoning", Parent: "p", Opener: "agent", Tree: "a/b", Descending: true,
	}) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, c.ID)
	}
	if !slices.Equal(ids, []string{"reason/1", "b"}) {
		t.Errorf("got %q", ids)
	}
	if want := "GET /v1/spaces/demo/contexts?before=3&limit=1000&opener=agent&order=desc&parent=p&state=concluded&tree=a%2Fb&type=reasoning "; (*calls)[1] != want {
		t.Errorf("asked %q", (*calls)[1])
	}
	c, err := a.Context(t.Context(), "reason/1")
	if err != nil || (*calls)[2] != "GET /v1/spaces/demo/contexts/reason%2F1 " {
		t.Fatalf("asked %q, %v", (*calls)[2], err)
	}
	if c.Type != "reasoning" || c.Parent != "top" || c.Depth != 2 || c.Opener != "agent" || c.First != 3 || c.Last != 9 || c.Count != 4 ||
		c.State != client.ContextConcluded || c.Touched.Sub(c.Opened) != 322*time.Millisecond || string(c.Metadata) != `{"n":1}` ||
		c.Kinds["chat"] != 3 || c.Kinds["mcp/request:tools/call"] != 1 {
		t.Errorf("got %+v", c)
	}
}

func TestAPIDigest(t *testing.T) {
	g := newGateway(t)
	calls := replies(g, `{"context":`+contextJSON+`,"tokens":{"budget":500,"used":123,"tokenizer":"o200k_base"},`+
		`"proposals":[{"seq":4,"id":"p","kind":"mcp/proposal:tools/call","from":"agent","to":["files"],"to_omitted":2,"text":"write"}],`+
		`"conclusion":{"seq":9,"id":"c","from":"agent","ts":"2026-01-02T03:04:06.000Z","text":"deny"},"kinds":{"chat":3},`+
		`"messages":[{"seq":9,"id":"c","from":"agent","kind":"conclusion","ts":"2026-01-02T03:04:06.000Z","text":"deny"}],"omitted":7}`)
	d, err := newAPI(t, g).Digest(t.Context(), "reason/1", 500)
	if err != nil || (*calls)[0] != "GET /v1/spaces/demo/contexts/reason%2F1/digest?tokens=500 " {
		t.Fatalf("asked %q, %v", *calls, err)
	}
	if d.Context.ID != "reason/1" || d.Budget != 500 || d.Used != 123 || d.Tokenizer != "o200k_base" || d.Omitted != 7 || d.Kinds["chat"] != 3 ||
		len(d.Proposals) != 1 || d.Proposals[0].To[0] != "files" || d.Proposals[0].ToOmitted != 2 || d.Conclusion == nil || d.Conclusion.Text != "deny" ||
		len(d.Messages) != 1 || d.Messages[0].Seq != 9 || d.Messages[0].TS.IsZero() {
		t.Errorf("got %+v", d)
	}
}

// What is no context passes for none.
func TestAPIContextNonsense(t *testing.T) {
	for _, answer := range []string{`{"id":7}`, `{"id":"a","count":-1}`, `{"id":"a","opened":"yesterday"}`, `[]`} {
		g := newGateway(t)
		replies(g, answer, `{"items":[`+answer+`]}`, answer)
		a := newAPI(t, g)
		if c, err := a.Context(t.Context(), "a"); !errors.Is(err, &parley.Error{Code: parley.Internal}) {
			t.Errorf("%s is the context %+v, %v", answer, c, err)
		}
		for c, err := range a.Contexts(t.Context(), nil) {
			if !errors.Is(err, &parley.Error{Code: parley.Internal}) {
				t.Errorf("%s is listed as %+v, %v", answer, c, err)
			}
		}
	}
}

// A replay that was cut off is an error, whatever it was cut off in.
func TestAPIReplay(t *testing.T) {
	const line = `{"seq":1,"id":"a","kind":"chat","payload":{}}`
	for name, c := range map[string]struct {
		body  string
		abort bool
		want  int
		fails bool
	}{
		"whole":          {line + "\n" + line + "\n", false, 2, false},
		"none":           {"", false, 0, false},
		"within a line":  {line + "\n" + line[:9], false, 1, true},
		"between lines":  {line + "\n", true, 1, true},
		"not what it is": {"<html>\n", false, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGateway(t)
			asked := ""
			g.extra = func(w http.ResponseWriter, r *http.Request) bool {
				asked = r.URL.String()
				w.Write([]byte(c.body))
				if c.abort {
					http.NewResponseController(w).Flush()
					panic(http.ErrAbortHandler)
				}
				return true
			}
			n := 0
			var failed error
			for _, err := range newAPI(t, g).Replay(t.Context(), "a/b", true) {
				if failed = err; err == nil {
					n++
				}
			}
			if n != c.want || (failed != nil) != c.fails || asked != "/v1/spaces/demo/contexts/a%2Fb/replay?subtree=true" {
				t.Errorf("asked %q, got %d, %v", asked, n, failed)
			}
		})
	}
	g := newGateway(t)
	g.extra = func(w http.ResponseWriter, _ *http.Request) bool {
		writeProblem(w, 404, "not_found", "no context")
		return true
	}
	for _, err := range newAPI(t, g).Replay(t.Context(), "x", false) {
		if !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
			t.Errorf("got %v", err)
		}
	}
}
