package tool

import (
	"context"
	"encoding/json"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// level is read from a name and written as a number.
type level int

func (l *level) UnmarshalText(text []byte) error {
	if string(text) != "high" {
		return errors.New("no such level")
	}
	*l = 2
	return nil
}

// either is a string or a list of them.
type either []string

func (e *either) UnmarshalJSON(text []byte) error {
	if text[0] == '[' {
		return json.Unmarshal(text, (*[]string)(e))
	}
	*e = make(either, 1)
	return json.Unmarshal(text, &(*e)[0])
}

type ownTypes struct {
	Addr    netip.Addr            `json:"addr"`
	Pointer *netip.Addr           `json:"pointer"`
	List    []netip.Prefix        `json:"list"`
	Map     map[string]netip.Addr `json:"map"`
	IP      net.IP                `json:"ip"`
	Time    time.Time             `json:"time"`
	Int     big.Int               `json:"int"`
	Bytes   [2]byte               `json:"bytes"`
	Raw     *jsontext.Value       `json:"raw"`
	Level   level                 `json:"level"`
	Either  either                `json:"either"`
	Enum    *string               `json:"enum" enum:"a,b"`
}

// Types that read and write themselves have schemas which fit what they do.
func TestTypesWithMethods(t *testing.T) {
	r := newRoom(t, Options{}, func(s *Server) {
		Add(s, Tool{Name: "own"}, func(_ context.Context, _ *Call, in ownTypes) (ownTypes, error) { return in, nil })
		Add(s, Tool{Name: "some"}, func(context.Context, *Call, struct {
			Addr   netip.Addr            `json:"addr,omitzero"`
			Map    map[string]netip.Addr `json:"map,omitzero"`
			Bytes  [2]byte               `json:"bytes,omitzero"`
			Pair   [2]int                `json:"pair,omitzero"`
			Level  level                 `json:"level,omitzero"`
			Either either                `json:"either,omitzero"`
		}) (int, error) {
			return 0, nil
		})
	})
	const all = `"addr":"::1","pointer":"127.0.0.1","list":["10.0.0.0/8"],"map":{"a":"::2"},"ip":"127.0.0.1","time":"2026-01-02T03:04:05Z",` +
		`"int":123456789012345678901234567890,"bytes":"AQI=","raw":[7],`
	r.want("own", json.RawMessage(`{`+all+`"level":"high","either":"a","enum":"b"}`), `{"data":{`+all+`"level":2,"either":["a"],"enum":"b"}}`)
	r.want("own", json.RawMessage(`{`+all+`"level":"high","either":["a","b"],"enum":null}`), `{"data":{`+all+`"level":2,"either":["a","b"],"enum":null}}`)
	for raw, want := range map[string]string{
		`{"addr":7}`:              `argument "addr": expected a string, got a number`,
		`{"addr":"localhost"}`:    `argument "addr": expected a string that fits, got another one`,
		`{"level":2}`:             `argument "level": expected a string, got a number`,
		`{"level":"low"}`:         `argument "level": expected a string that fits, got another one`,
		`{"either":{}}`:           `argument "either": expected a value that fits, got another one`,
		`{"map":{"a":{}}}`:        `argument "map.a": expected a string, got an object`,
		`{"pair":[1]}`:            `argument "pair": expected at least 2 elements, got 1`,
		`{"pair":[1,2,3]}`:        `argument "pair": expected at most 2 elements, got 3`,
		`{"bytes":"AQIDBAUGBw="}`: `argument "bytes": expected a string that fits, got another one`,
	} {
		if got, failed := r.call("some", json.RawMessage(raw)); !failed || !strings.Contains(got, strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s:\n got %s\nwant %s", raw, got, want)
		}
	}
	list, err := r.client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"addr": "string", "pointer": []any{"null", "string"}, "ip": "string", "time": "string", "int": nil, "bytes": "string", "raw": nil, "level": "string", "either": nil,
	} {
		p := list.Tools[0].InputSchema.(args)["properties"].(args)[name]
		if m, ok := p.(args); ok && !reflect.DeepEqual(m["type"], want) || !ok && want != nil {
			t.Errorf("%s has the schema %v, want the type %v", name, p, want)
		}
	}
}
