package client_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/parleyhq/parley"
	"github.com/parleyhq/parley/client"
	"github.com/parleyhq/parley/parleytest"
)

// What the gateway keeps of contexts is read as it was meant, over sockets and
// from a journal on disk.
func TestContextsOfAGateway(t *testing.T) {
	g := parleytest.Start(t, nil)
	a, err := client.NewAPI(g.URL, &client.Options{Token: g.Token("you"), Space: "demo"})
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range []parley.Context{
		{ID: "plan/1", Type: "reasoning", Metadata: []byte(`{"n":1}`)},
		{ID: "emoji-%F0/?#", Parent: "plan/1"},
		{ID: "plan/1", Metadata: []byte(`{"n":2}`)},
	} {
		if _, err := a.Post(t.Context(), client.NewChat(strings.Repeat("word ", i+1), client.InContext(&c))); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for c, err := range a.Contexts(t.Context(), &client.ContextQuery{Tree: "plan/1", State: client.ContextOpen, Descending: true}) {
		if n++; err != nil || c.Depth != 3-n || c.Opener != "you" || c.Kinds != nil {
			t.Errorf("got %+v, %v", c, err)
		}
	}
	one, err := a.Context(t.Context(), "plan/1")
	if err != nil || n != 2 || one.Count != 2 || one.Type != "reasoning" || string(one.Metadata) != `{"n":2}` || one.Kinds["chat"] != 2 {
		t.Errorf("%d listed, one is %+v, %v", n, one, err)
	}
	for id, want := range map[string][2]int{"plan/1": {2, 3}, "emoji-%F0/?#": {1, 1}} {
		for i, subtree := range []bool{false, true} {
			n := 0
			for _, err := range a.Replay(t.Context(), id, subtree) {
				if n++; err != nil {
					t.Fatal(err)
				}
			}
			if n != want[i] {
				t.Errorf("%s, %t: replayed %d", id, subtree, n)
			}
		}
	}
	d, err := a.Digest(t.Context(), "plan/1", 0)
	if err != nil || len(d.Messages) != 3 || d.Budget != 2000 || d.Used == 0 || d.Messages[0].Text != "word word word" || d.Kinds["chat"] != 3 {
		t.Errorf("got %+v, %v", d, err)
	}
	if _, err := a.Digest(t.Context(), "nothing", 0); !errors.Is(err, &parley.Error{Code: parley.NotFound}) {
		t.Errorf("of nothing: %v", err)
	}
	n = 0
	for _, err := range a.Envelopes(t.Context(), &client.Query{Context: "plan/1", Subtree: true, Text: "word"}) {
		if n++; err != nil {
			t.Fatal(err)
		}
	}
	if n != 3 {
		t.Errorf("found %d", n)
	}
}
