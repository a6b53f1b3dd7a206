package parley

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

func TestReadCall(t *testing.T) {
	const ok = ""
	for _, c := range []struct{ kind, payload, effective, refused string }{
		{"mcp/request:tools/call:read", `{"method":"tools/call","params":{"name":"read"}}`, "mcp/request:tools/call:read", ok},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":"read"}}`, "mcp/request:tools/call:read", ok},
		{"mcp/proposal:tools/call", `{"params":{"arguments":{},"name":"a:b"},"method":"tools/call"}`, "mcp/proposal:tools/call:a:b", ok},
		{"mcp/request:resources/read", `{"method":"resources/read","params":{"uri":"file:///a"}}`, "mcp/request:resources/read:file:///a", ok},
		{"mcp/request:resources/subscribe", `{"method":"resources/subscribe","params":{"uri":"u"}}`, "mcp/request:resources/subscribe:u", ok},
		{"mcp/request:resources/unsubscribe", `{"method":"resources/unsubscribe","params":{"uri":"u"}}`, "mcp/request:resources/unsubscribe:u", ok},
		{"mcp/request:prompts/get:p", `{"method":"prompts/get","params":{"name":"p"}}`, "mcp/request:prompts/get:p", ok},
		{"mcp/request:completion/complete", `{"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"}}}`, "mcp/request:completion/complete:p", ok},
		{"mcp/request:completion/complete", `{"method":"completion/complete","params":{"ref":{"uri":"file:///{x}"}}}`, "mcp/request:completion/complete:file:///{x}", ok},
		{"mcp/request:tools/list", `{"method":"tools/list"}`, "mcp/request:tools/list", ok},
		{"mcp/request:tools/list:label", `{"method":"tools/list"}`, "mcp/request:tools/list", ok},
		{"mcp/request:notifications/progress", `{"method":"notifications/progress","params":{"name":7}}`, "mcp/request:notifications/progress", ok},

		{"mcp/request:tools/call:read", `{"method":"tools/call","params":{"name":"delete"}}`, "", `the kind names "read", the payload "delete"`},
		{"mcp/request:tools/list", `{"method":"tools/call","params":{"name":"delete"}}`, "", `the kind says "tools/list", the payload's method is "tools/call"`},
		{"mcp/request:tools/call", `[{"method":"tools/call"}]`, "", "the payload of mcp/request is not an object with a method"},
		{"mcp/request:tools/call", `"tools/call"`, "", "the payload of mcp/request is not an object with a method"},
		{"mcp/request:tools/call", ``, "", "the payload of mcp/request is not an object with a method"},
		{"mcp/request:tools/call", `{"params":{"name":"x"}}`, "", "the payload has no method that is a string"},
		{"mcp/request:tools/call", `{"method":["tools/call"],"params":{"name":"x"}}`, "", "the payload has no method that is a string"},
		{"mcp/request:tools/call", `{"method":"tools/call"}`, "", "tools/call needs params that are an object"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":[]}`, "", "tools/call needs params that are an object"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":["x"]}}`, "", "params.name is not a string"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{}}`, "", "params.name is not a string"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":""}}`, "", "params.name is empty"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":"a\u0000"}}`, "", "params.name has a control character"},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":"` + strings.Repeat("n", MaxKind+1) + `"}}`, "", "params.name is longer than 2048 bytes"},
		{"mcp/request:completion/complete", `{"method":"completion/complete","params":{"ref":{"name":"p","uri":"u"}}}`, "mcp/request:completion/complete:p", ok},
		{"mcp/request:resources/read", `{"method":"resources/read","params":{"uri":1}}`, "", "params.uri is not a string"},
		{"mcp/request:completion/complete", `{"method":"completion/complete","params":{}}`, "", "params.ref.uri is not a string"},
		{"mcp/request:tools/call", `{"method":"tools/call","Method":"x","params":{"name":"x"}}`, "", `payload has a member "Method", which differs from "method" only by case`},
		{"mcp/request:tools/call", `{"method":"tools/call","paramſ":{},"params":{"name":"x"}}`, "", `payload has a member "paramſ", which differs from "params" only by case`},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":"x","NAME":"y"}}`, "", `params has a member "NAME", which differs from "name" only by case`},
		{"mcp/request:tools/call", `{"method":"tools/call","params":{"name":"x","Uri":"y"}}`, "", `params has a member "Uri", which differs from "uri" only by case`},
		{"mcp/request:completion/complete", `{"method":"completion/complete","params":{"ref":{"name":"x","Name":"y"}}}`, "", `params.ref has a member "Name", which differs from "name" only by case`},
	} {
		call, err := ReadCall(SplitKind(c.kind), jsontext.Value(c.payload))
		got := ""
		if e, ok := errors.AsType[*Error](err); ok {
			if got = e.Message; e.Code != KindMismatch {
				t.Errorf("%s %s: code %s", c.kind, c.payload, e.Code)
			}
		}
		if got != c.refused || call.Kind.String() != c.effective {
			t.Errorf("%s %s\n got %q, refused %q\nwant %q, refused %q", c.kind, c.payload, call.Kind, got, c.effective, c.refused)
		}
	}
}

func TestCheckResponse(t *testing.T) {
	for payload, ok := range map[string]bool{
		`{"result":{}}`:                         true,
		`{"jsonrpc":"2.0","id":1,"error":null}`: true,
		`{"result":1,"error":{}}`:               false,
		`{}`:                                    false,
		`{"result":{},"method":"x"}`:            false,
		`{"result":{},"Result":{}}`:             false,
		`{"result":{},"ERROR":{}}`:              false,
		`{"Result":{}}`:                         false,
		`[]`:                                    false,
		`null`:                                  false,
	} {
		if err := CheckResponse(jsontext.Value(payload)); (err == nil) != ok {
			t.Errorf("%s: %v", payload, err)
		}
	}
}

func TestParseKind(t *testing.T) {
	for kind, ok := range map[string]bool{
		"chat": true, "chat:a": true, "chat:a:b c:d": true, "reflection": true, "acme/build-status": true,
		"mcp/request:tools/call": true, "mcp/request:resources/read:file:///a/b": true,
		"mcp/response:tools/list": true, "mcp/reject:tools/call": true, "mcp/withdraw:tools/call": true,
		"capability/grant": true, "space/kick": true, "space/redact": true, "system/welcome": true, "mcpx/request": true,

		"": false, ":": false, "chat:": false, ":a": false, "chat::b": false, "chat:a:": false,
		"chat ": false, "ch at": false, "chat:a b": false, "chät": false, "chat:ä": false, "chat:a:\x01": false, "chat:a:\u0085": false,
		"mcp/request": false, "mcp/fulfill:tools/call": false, "mcp/": false, "mcp/Request:x": false,
		"capability/take": false, "capability/grant:x": false, "space/burn": false, "space/kick:x": false, "system/hello": false,
		"chat:a:\xff": false,
	} {
		k, err := ParseKind(kind)
		if (err == nil) != ok {
			t.Errorf("%q: %v", kind, err)
		}
		if err == nil && k.String() != kind {
			t.Errorf("%q came back as %q", kind, k)
		}
	}
}

func TestDigestParams(t *testing.T) {
	digest := func(params string) Digest {
		if params == "" {
			return DigestParams(nil, "_meta")
		}
		return DigestParams(jsontext.Value(params), "_meta")
	}
	same := [][]string{
		{``, `{}`, ` { } `, `{"_meta":{"a":1}}`},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{ "a" : 1.0 , "b" : 2e0, "_meta":null }`, `{"\u0061":10E-1,"b":0.2e+1}`},
		{`{"n":9007199254740993}`, `{"n":9007199254740993.0}`, `{"n":9.007199254740993e15}`},
		{`{"n":0}`, `{"n":-0.0}`, `{"n":0e99999999999999999999}`},
		{`{"s":"é\n"}`, `{"s":"\u00e9\u000a"}`},
		{`{"n":100}`, `{"n":1e2}`, `{"n":1000e-1}`},
		{`{"a":[1,{"x":null,"y":true}]}`, `{"a":[1.0,{"y":true,"x":null}]}`},
	}
	for i, group := range same {
		for _, v := range group {
			if digest(v) != digest(group[0]) {
				t.Errorf("%s and %s differ", v, group[0])
			}
		}
		for _, other := range same[:i] {
			if digest(other[0]) == digest(group[0]) {
				t.Errorf("%s and %s are the same", other[0], group[0])
			}
		}
	}
	for _, pair := range [][2]string{
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`},
		{`{"n":"1"}`, `{"n":1}`},
		{`{"a":[1,2]}`, `{"a":[2,1]}`},
		{`{"a":null}`, `{}`},
		{`{"a":{"_meta":1}}`, `{"a":{}}`},
		{`{"a":"b","c":"d"}`, `{"a":"b\",\"c\":\"d"}`},
		{`{"a":1}`, `{"a":-1}`},
		{`{"a":true}`, `{"a":false}`},
		{`{"a":[[],[]]}`, `{"a":[[[]]]}`},
		{`{"a":""}`, `{"a":[]}`},
	} {
		if digest(pair[0]) == digest(pair[1]) {
			t.Errorf("%s and %s are the same", pair[0], pair[1])
		}
	}
}

// TestDigestTakesLinearTime compares a deep value with a flat one of the same
// size: a megabyte that nests must not cost as many passes as it has levels.
func TestDigestTakesLinearTime(t *testing.T) {
	ones := strings.Repeat("1,", 50_000) + "1"
	digest := func(v string) time.Duration {
		best := time.Hour
		for range 3 {
			start := time.Now()
			DigestParams(jsontext.Value(v))
			best = min(best, time.Since(start))
		}
		return best
	}
	flat := digest("[" + ones + "]")
	for name, deep := range map[string]string{
		"arrays":  strings.Repeat("[", 2_000) + ones + strings.Repeat("]", 2_000),
		"objects": strings.Repeat(`{"b":0,"a":`, 2_000) + "[" + ones + "]" + strings.Repeat("}", 2_000),
	} {
		if took := digest(deep); took > 20*flat {
			t.Errorf("%s: %v, flat %v", name, took, flat)
		}
	}
}

// TestScanEnds reads what is no JSON: nobody should, and it must end.
func TestScanEnds(t *testing.T) {
	for _, v := range []string{``, `[`, `[}`, `[,`, `[1,}`, `{`, `{]`, `{"a`, `{"a"`, `{"a":`, `{"a":]`, `{"a":}`, `{,`, `"`, `{"a":1,,}`, `[}]`, `[e]`} {
		for range elements(jsontext.Value(v)) {
		}
		for range members(jsontext.Value(v)) {
		}
		DigestParams(jsontext.Value(v))
	}
}
