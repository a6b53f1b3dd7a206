package mcpbridge

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/parleyhq/parley"
)

// pages is a server's list in pages, each one the result for the cursor that
// is its index.
func pages(list ...string) func(context.Context, string, jsontext.Value) (jsontext.Value, error) {
	return func(_ context.Context, _ string, params jsontext.Value) (jsontext.Value, error) {
		at := 0
		if cursor, ok := parley.MemberString(params, "cursor"); ok {
			fmt.Sscan(cursor, &at)
		}
		if list[at] == "" {
			return nil, errors.New("no such page")
		}
		return jsontext.Value(list[at]), nil
	}
}

func TestLists(t *testing.T) {
	long := `{"name":"long","x":"` + strings.Repeat("x", maxEntry) + `"}`
	var many, big []string
	for i := range maxEntries + 1 {
		many = append(many, fmt.Sprintf(`{"name":"%d"}`, i))
	}
	for i := range 17 {
		big = append(big, fmt.Sprintf(`{"name":"%d","x":"%s"}`, i, strings.Repeat("x", maxEntry-30)))
	}
	var endless []string
	for i := range maxPages + 10 {
		endless = append(endless, fmt.Sprintf(`{"tools":[{"name":"%d"}],"nextCursor":"%d"}`, i, i+1))
	}
	for _, c := range []struct {
		name     string
		pages    []string
		want     string // the names
		count    int    // instead of want
		warnings int
		err      string
	}{
		{name: "one page", pages: []string{`{"tools":[{"name":"a"},{"name":"b"}]}`}, want: "a b"},
		{name: "null cursor", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":null}`}, want: "a"},
		{name: "two pages", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":"1"}`, `{"tools":[{"name":"b"}]}`}, want: "a b"},
		{name: "odd names", pages: []string{`{"tools":[{"name":"a b"},{"name":"🦜"},{"name":"` + strings.Repeat("n", 300) + `"}]}`}, want: "a b 🦜 " + strings.Repeat("n", 300)},
		{name: "a loop", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":"0"}`}, want: "a", err: errEndless.Error(), warnings: 1},
		{name: "twice", pages: []string{`{"tools":[{"name":"a","x":1},{"name":"a","x":2}]}`}, want: "a", warnings: 1},
		{name: "no objects", pages: []string{`{"tools":[1,null,[],{},{"name":2},{"name":"a"}]}`}, want: "a", warnings: 5},
		{name: "absurd size", pages: []string{`{"tools":[` + long + `,{"name":"a"}]}`}, want: "a", warnings: 1},
		{name: "ref cycle", pages: []string{`{"tools":[{"name":"a","inputSchema":{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}}]}`}, want: "a"},
		{name: "no list", pages: []string{`{"tools":{}}`}, err: "tools is not a list"},
		{name: "nothing", pages: []string{`{}`}, err: "tools is not a list"},
		{name: "cursor is a number", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":1}`}, want: "a", err: errOddCursor.Error()},
		{name: "cursor is a novel", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":"` + strings.Repeat("1", maxCursor) + `"}`}, want: "a", err: errOddCursor.Error()},
		{name: "nothing but rubbish", pages: []string{`{"tools":[` + strings.Repeat("1,", 1_000) + `1]}`}, warnings: maxWarnings},
		{name: "breaks off", pages: []string{`{"tools":[{"name":"a"}],"nextCursor":"1"}`, ""}, want: "a", err: "no such page"},
		{name: "too many", pages: []string{`{"tools":[` + strings.Join(many, ",") + `]}`}, count: maxEntries, err: errTooMuch.Error()},
		{name: "too big", pages: []string{`{"tools":[` + strings.Join(big, ",") + `]}`}, count: 16, err: errTooMuch.Error()},
		{name: "endless", pages: endless, count: maxPages + 1, err: errEndless.Error()},
	} {
		t.Run(c.name, func(t *testing.T) {
			warnings := 0
			l := &lister{ask: pages(c.pages...), warn: func(string, ...any) { warnings++ }}
			all, err := l.read(t.Context(), toolList)
			var names []string
			for _, tool := range all {
				name, _ := parley.MemberString(tool, "name")
				names = append(names, name)
			}
			if got := strings.Join(names, " "); c.count == 0 && got != c.want || c.count > 0 && len(all) != c.count {
				t.Errorf("got %d: %.300q", len(all), got)
			}
			if warnings != c.warnings {
				t.Errorf("%d warnings", warnings)
			}
			if fmt.Sprint(err) != c.err && (err != nil || c.err != "") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestBridgeOffers(t *testing.T) {
	offers := make(chan *Offer, 10)
	b := bridge(t, testServer(t, "sdk"), Join{OnOffer: func(who string, o *Offer) {
		if who != "files" {
			t.Errorf("%q offers", who)
		}
		offers <- o
	}})
	you := b.dial("you")
	first := <-offers
	if len(first.Tools) == 0 || first.Info.Version == "" {
		t.Fatalf("got %+v", first)
	}
	if again, err := b.OfferFor(t.Context(), "you", nil); err != nil || again != first {
		t.Errorf("got %v, %v", again, err)
	}
	if _, err := you.Request(t.Context(), "files", "tools/call", toolCall("grow", "")); err != nil {
		t.Fatal(err)
	}
	if second := <-offers; len(second.Tools) != len(first.Tools)+1 {
		t.Errorf("got %d tools after %d", len(second.Tools), len(first.Tools))
	}
	if err := b.end(); err != nil {
		t.Error(err)
	}
	if last := <-offers; last != nil {
		t.Errorf("the last offer is %+v", last)
	}
	if _, err := b.OfferFor(t.Context(), "you", nil); !errors.Is(err, &parley.Error{Code: parley.Unavailable}) {
		t.Errorf("got %v", err)
	}
}
