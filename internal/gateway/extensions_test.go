package gateway

import (
	"net/http"
	"strings"
	"testing"
)

const agreed = "permessage-deflate; server_no_context_takeover; client_no_context_takeover"

func TestAgreeOn(t *testing.T) {
	const malformed = "malformed"
	for _, tc := range []struct {
		offer []string
		want  string
	}{
		{nil, ""},
		{[]string{"permessage-deflate"}, agreed},
		{[]string{"permessage-deflate; client_max_window_bits"}, agreed}, // as browsers do
		{[]string{"permessage-deflate; client_max_window_bits=8"}, agreed},
		{[]string{"permessage-deflate; client_max_window_bits=\"12\""}, agreed},
		{[]string{"permessage-deflate;client_no_context_takeover;\tserver_no_context_takeover "}, agreed},
		{[]string{"permessage-deflate; server_max_window_bits=15"}, agreed + "; server_max_window_bits=15"},
		{[]string{"permessage-deflate; server_max_window_bits=10"}, ""},
		{[]string{"permessage-deflate; server_max_window_bits"}, ""},
		{[]string{"permessage-deflate; server_max_window_bits=16"}, ""},
		{[]string{"permessage-deflate; server_max_window_bits=015"}, ""},
		{[]string{"permessage-deflate; client_max_window_bits=7"}, ""},
		{[]string{"permessage-deflate; client_max_window_bits=08"}, ""},
		{[]string{"permessage-deflate; server_no_context_takeover=1"}, ""},
		{[]string{"permessage-deflate; client_max_window_bits; client_max_window_bits"}, ""},
		{[]string{"permessage-deflate; more"}, ""},
		{[]string{"Permessage-Deflate"}, ""},
		{[]string{"permessage-bzip2; x=y"}, ""},
		{[]string{"permessage-deflate; server_max_window_bits=10, permessage-deflate"}, agreed},
		{[]string{"x-webkit-deflate-frame, permessage-deflate; server_max_window_bits=15, permessage-deflate"}, agreed + "; server_max_window_bits=15"},
		{[]string{"permessage-deflate; server_max_window_bits=9", "permessage-deflate"}, agreed},
		{[]string{", permessage-deflate ,, x ,"}, agreed},
		{[]string{""}, malformed},
		{[]string{" , "}, malformed},
		{[]string{"permessage-deflate;"}, malformed},
		{[]string{"permessage-deflate; =1"}, malformed},
		{[]string{"permessage-deflate; a="}, malformed},
		{[]string{"permessage-deflate; a=\"\""}, malformed},
		{[]string{"permessage-deflate; a=\"b"}, malformed},
		{[]string{"permessage-deflate; a=\"b c\""}, malformed},
		{[]string{"permessage-deflate; a=\"b\\"}, malformed},
		{[]string{"permessage-deflate x"}, malformed},
		{[]string{"permessage-deflate", "@"}, malformed},
	} {
		got, err := agreeOn(http.Header{"Sec-Websocket-Extensions": tc.offer})
		if err != nil {
			got = malformed
		}
		if got != tc.want {
			t.Errorf("%q: %q, want %q", tc.offer, got, tc.want)
		}
	}
}

// Whatever a client offers, what is agreed on is one of two answers, and what
// can be read can be written and read again.
func FuzzExtensions(f *testing.F) {
	f.Add("permessage-deflate; client_max_window_bits, x; y=\"z\"")
	f.Add(`permessage-deflate; server_max_window_bits="1\5"`)
	f.Add(", ;=\"\\")
	f.Fuzz(func(t *testing.T, line string) {
		answer, err := agreeOn(http.Header{"Sec-Websocket-Extensions": {line}})
		if answer != "" && (err != nil || answer != agreed && answer != agreed+"; server_max_window_bits=15") {
			t.Errorf("%q is answered with %q, %v", line, answer, err)
		}
		list, ok := parseExtensions(line)
		if ok != (err == nil) {
			t.Errorf("%q: read %v, error %v", line, ok, err)
		}
		if !ok {
			return
		}
		var said []string
		for _, e := range list {
			one := []string{e.name}
			for _, p := range e.params {
				if p.has {
					p.name += "=" + p.value
				}
				one = append(one, p.name)
			}
			said = append(said, strings.Join(one, ";"))
		}
		again := strings.Join(said, ",")
		if other, err := agreeOn(http.Header{"Sec-Websocket-Extensions": {again}}); err != nil || other != answer {
			t.Errorf("%q, written %q: %q, %v, was %q", line, again, other, err, answer)
		}
	})
}
