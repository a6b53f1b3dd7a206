package mcp

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestHeaderValues(t *testing.T) {
	for _, value := range []string{"", "Hello", "a b", " outer", "grüß", "=?base64?SGVsbG8=?=", "line\nbreak"} {
		if got, ok := DecodeHeader(EncodeHeader(value)); !ok || got != value {
			t.Errorf("%q came back as %q, %v", value, got, ok)
		}
	}
	for header, want := range map[string]string{"=?base64?SGVsbG8=?=": "Hello", "SGVsbG8=": "SGVsbG8=", "=?base64?SGVsbG8=": "=?base64?SGVsbG8="} {
		if got, ok := DecodeHeader(header); !ok || got != want {
			t.Errorf("%q says %q, %v", header, got, ok)
		}
	}
	for _, header := range []string{"=?base64?SGVsbG8?=", "=?base64?SGVs!!!bG8=?="} {
		if got, ok := DecodeHeader(header); ok {
			t.Errorf("%q says %q", header, got)
		}
	}
}

func TestParamHeaders(t *testing.T) {
	tool := jsontext.Value(`{"inputSchema":{"properties":{
		"region":{"type":"string","x-mcp-header":"Region"},
		"deep":{"properties":{"n":{"type":"integer","x-mcp-header":"N"}}},
		"odd":{"x-mcp-header":"a b"},"none":{}}}}`)
	arguments := jsontext.Value(`{"region":"west","deep":{"n":1e3}}`)
	var got strings.Builder
	for _, p := range ParamHeaders(tool) {
		text, ok := p.Text(arguments)
		got.WriteString(fmt.Sprintln(p.Header, text, ok))
	}
	if want := "Mcp-Param-Region west true\nMcp-Param-N 1000 true\n"; got.String() != want {
		t.Errorf("got %q", got.String())
	}
	for in, want := range map[string]bool{`{"region":1.5}`: false, `{"region":9007199254740993}`: false, `{"region":null}`: false, `{"region":[]}`: false, `{}`: false, `{"region":true}`: true} {
		p := ParamHeaders(tool)[0]
		if _, ok := p.Text(jsontext.Value(in)); ok != want {
			t.Errorf("%s: %v", in, ok)
		}
	}
}
