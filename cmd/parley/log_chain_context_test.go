package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func TestChainTellsItsContexts(t *testing.T) {
	in := func(id, context string, correlations ...string) jsontext.Value {
		return fmt.Appendf(nil, `{"id":%q,"from":"you","kind":"chat","context":{"id":%q},"correlation_id":["%s"]}`,
			id, context, strings.Join(correlations, `","`))
	}
	many := make([]jsontext.Value, 7)
	for i := range many {
		many[i] = in(fmt.Sprint("e", i), fmt.Sprint("c", i), "e0")
	}
	for name, c := range map[string]struct {
		thread thread
		want   string
	}{
		"none":             {thread{id: "a", list: []jsontext.Value{[]byte(`{"id":"a","from":"you","kind":"chat"}`)}}, ""},
		"one":              {thread{id: "a", list: []jsontext.Value{in("a", "it's", "b"), in("b", "it's", "a")}}, `the context 'it'\''s'; parley log replay 'it'\''s' shows`},
		"asked for":        {thread{id: "c", list: []jsontext.Value{in("a", "c", "b")}}, ""},
		"named":            {thread{id: "a", list: []jsontext.Value{in("a", "c", "b"), in("b", "d", "c")}}, "the context d;"},
		"named, but cut":   {thread{id: "c", list: []jsontext.Value{in("a", "c", "b")}, cut: true}, "the context c;"},
		"also an envelope": {thread{id: "a", list: []jsontext.Value{in("a", "b", "b"), in("b", "b", "a")}}, "the context b;"},
		"many":             {thread{id: "e0", list: many}, "in 7 contexts; parley log replay CONTEXT shows all that was said in one: c0, c1, c2, c3, c4 and 2 more\n"},
	} {
		var said bytes.Buffer
		term := &terminal{err: &said, outTTY: true}
		if err := term.tellContexts(&c.thread); err != nil || (c.want == "") != (said.Len() == 0) || !strings.Contains(said.String(), c.want) {
			t.Errorf("%s: %q, %v; want %q", name, said.String(), err, c.want)
		}
	}
}
