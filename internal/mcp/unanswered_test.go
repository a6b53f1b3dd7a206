package mcp

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley/internal/jsonrpc"
)

func TestUnanswered(t *testing.T) {
	said := Unanswered(&jsonrpc.Error{Code: -1, Message: "no", Data: jsontext.Value(`{"code":"declined"}`)})
	if want := `{"_meta":{"parley/error":{"code":-1,"message":"no","data":{"code":"declined"}}}}`; string(said) != want {
		t.Errorf("said %s, want %s", said, want)
	}
	if e := ReadUnanswered(said); e == nil || e.Code != -1 || e.Message != "no" || string(e.Data) != `{"code":"declined"}` {
		t.Errorf("read %v", e)
	}
	for _, answer := range []string{``, `null`, `[]`, `{}`, `{"_meta":null}`, `{"_meta":{"parley/error":null}}`, `{"action":"decline"}`, `{"parley/error":{}}`} {
		if e := ReadUnanswered(jsontext.Value(answer)); e != nil {
			t.Errorf("%s is %v", answer, e)
		}
	}
}

func TestGiveUp(t *testing.T) {
	params := jsontext.Value(`{"name":"x","arguments":{"n":1.50},"requestState":"old","inputResponses":{"z":1}}`)
	for result, want := range map[string]string{
		`{"inputRequests":{"a":{}},"requestState":"s"}`:                                  ``,
		`{"_meta":{"parley/errors":"true"},"inputRequests":{"a":{}}}`:                    ``,
		`{"_meta":{"parley/errors":true},"inputRequests":{"a":{},"b":{}}}`:               ``, // it would be a call of its own
		`{"_meta":{"parley/errors":true},"requestState":"new","inputRequests":{"a":{}}}`: `{"name":"x","arguments":{"n":1.50},"requestState":"new","inputResponses":{"parley/given-up":{}}}`,
	} {
		got := GiveUp(params, jsontext.Value(result))
		if string(got) != want || GivesUp(got) != (want != "") {
			t.Errorf("%s: %s, want %s", result, got, want)
		}
	}
	for _, params := range []string{`{}`, `{"inputResponses":{}}`, `{"inputResponses":{"a":{"_meta":{"parley/error":{"code":-32800,"message":"no"}}}}}`, `{"parley/given-up":{}}`} {
		if GivesUp(jsontext.Value(params)) {
			t.Errorf("%s gives up", params)
		}
	}
}
