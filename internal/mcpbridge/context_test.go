package mcpbridge

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/internal/mcp"
)

// FuzzTakeContext holds that whatever a server writes, what becomes of it is a
// context that a room can judge, and nothing of it is left in the params.
func FuzzTakeContext(f *testing.F) {
	for _, seed := range []string{
		`{"id":"c","type":"reasoning","parent":"p","metadata":{"n":9007199254740993}}`, `"a/b/c"`, `""`, `null`, `[]`, `{}`, `{"id":7}`,
		`{"id":"c","parent":"c"}`, `{"id":"c","ID":"d"}`, `{"id":"c","metadata":[]}`, `{"id":"work"}`, `"},"kind":"chat"`, `{"id":"é"}`, `"a","":""`,
	} {
		f.Add([]byte(seed))
	}
	call := &parley.Context{ID: "work", Type: "workflow"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		params := mcp.SetMeta(jsontext.Value(`{"x":1}`), mcp.MetaContext, raw)
		if !jsontext.Value(raw).IsValid() || !params.IsValid() {
			return // what is no strict JSON has been refused before
		}
		within, rest, err := takeContext(params, call)
		if err != nil {
			if _, ok := err.(*parley.Error); !ok {
				t.Fatalf("%s: %v", raw, err)
			}
			return
		}
		switch {
		case within == nil || within.Check() != nil:
			t.Errorf("%s became %v", raw, within)
		case within.ID != call.ID && within.Parent == "":
			t.Errorf("%s does not belong to the call", raw)
		case string(rest) != `{"x":1}`:
			t.Errorf("%s left %s", raw, rest)
		}
		e := parley.Envelope{Kind: "chat", Context: within, Payload: jsontext.Value(`{"text":"x"}`)}
		if got, err := parley.Decode(e.AppendBody(nil), parley.DefaultNesting+1); err != nil || got.Context.ID != within.ID || got.Context.Parent != within.Parent || got.Kind != "chat" {
			t.Errorf("%s is sent as %s: %v", raw, e.AppendBody(nil), err)
		}
	})
}
