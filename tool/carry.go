package tool

import (
	"bytes"
	"encoding/base64"
	"encoding/json" // the SDK's
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	rpc "github.com/parleyhq/parley/internal/jsonrpc"
)

// What a client answers goes through the SDK's types on its way to the tool, and
// those refuse a reply with a block that they do not know, round big integers and
// sort members. So at the edges (line.go, http.go) each answer is replaced by a
// small document that the SDK takes, with the bytes that came inside it, and
// where the answer is wanted they are taken out again. What makes no sense
// travels like anything else: it is for the tool to say so, to whom it matters.

// carriedKey is the member of a carrier's _meta that holds the bytes, in base64.
const carriedKey = "parley/raw"

// lenient reads whatever the SDK reads.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// carried is a document that carries an answer: the result of
// sampling/createMessage, of elicitation/create, or anything that came instead.
//
// The SDK reads it as either, since by a session's answer nobody can tell what
// was asked. In the answers of a retry it takes the members action and roots for
// what tells the kinds apart, so these stay. What is in them does not, but for a
// list of roots, which the SDK may have asked for itself.
func carried(raw jsontext.Value) jsontext.Value {
	if len(raw) == 0 {
		raw = jsontext.Value("null") // an answer that is none
	}
	size := base64.StdEncoding.EncodedLen(len(raw)) + 128
	doc := append(make([]byte, 0, size), `{"_meta":{"`+carriedKey+`":"`...)
	doc = append(base64.StdEncoding.AppendEncode(doc, raw), `"},"role":"assistant","model":"","content":{"type":"text","text":""}`...)
	switch k := kindOf(raw); {
	case k.action:
		doc = append(doc, `,"action":"cancel"`...)
	case !k.role && k.roots != nil:
		doc = append(append(doc, `,"roots":`...), k.roots...)
	}
	return append(doc, '}')
}

// kind is what an answer may be the answer to.
type kind struct {
	role, action bool
	roots        jsontext.Value
}

func kindOf(raw jsontext.Value) (k kind) {
	for f, err := range rpc.Members(raw, lenient...) {
		switch {
		case err != nil:
			return kind{}
		case f.Name == "role":
			k.role = true
		case f.Name == "action":
			k.action = true
		case f.Name == "roots" && f.Value.Kind() == '[':
			k.roots = f.Value
		}
	}
	return k
}

// rawOf is the answer as it came. Where nothing carried it, since the server is
// served by other means than this package's, it is what the SDK left of it.
func rawOf(result any) jsontext.Value {
	if r, ok := result.(interface{ GetMeta() map[string]any }); ok {
		text, _ := r.GetMeta()[carriedKey].(string)
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && len(raw) > 0 {
			return raw
		}
	}
	raw, err := json.Marshal(result)
	if err != nil {
		return nil
	}
	return raw
}

// carriedIn is a client's message with carriers for the answers that are in it:
// the result of a response, or the inputResponses of a tools/call. An error is
// about params that cannot be read, or hold too many.
func carriedIn(msg jsonrpc.Message) (jsonrpc.Message, error) {
	switch m := msg.(type) {
	case *jsonrpc.Response:
		if m.Error != nil {
			return m, nil
		}
		out := *m
		out.Result = json.RawMessage(carried(jsontext.Value(m.Result)))
		return &out, nil
	case *jsonrpc.Request:
		if m.Method != "tools/call" || !mayName(m.Params, "inputResponses") {
			return m, nil
		}
		params, err := carriedParams(jsontext.Value(m.Params))
		if err != nil {
			return m, err
		}
		out := *m
		out.Params = json.RawMessage(params)
		return &out, nil
	}
	return msg, nil
}

// mayName reports whether JSON may have a member of a name, which can be written
// with escapes.
func mayName(doc []byte, name string) bool {
	return bytes.Contains(doc, []byte(name)) || bytes.Contains(doc, []byte(`\u`))
}

// maxAnswers is how many answers a retry may bring: carriers of many small ones
// would take much more room than these did.
const maxAnswers = 1000

// carriedParams are params with a carrier for each of their inputResponses. All
// else stays byte for byte.
func carriedParams(params jsontext.Value) (jsontext.Value, error) {
	if params.Kind() != '{' {
		return params, nil
	}
	var out jsontext.Value
	done, n := 0, 0 // bytes of params that are in out, or replaced; answers
	for f, err := range rpc.Members(params, lenient...) {
		if err != nil {
			return nil, fmt.Errorf("params: %w", err)
		}
		if f.Name != "inputResponses" || f.Value.Kind() != '{' {
			continue
		}
		for answer, err := range rpc.Members(f.Value, lenient...) {
			if err != nil {
				return nil, fmt.Errorf("params.inputResponses: %w", err)
			}
			if n++; n > maxAnswers {
				return nil, fmt.Errorf("params.inputResponses: there are more than %d", maxAnswers)
			}
			out = append(out, params[done:f.Start+answer.Start]...)
			out = append(out, carried(answer.Value)...)
			done = f.Start + answer.End
		}
	}
	return append(out, params[done:]...), nil
}
